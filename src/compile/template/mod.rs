//! Texts with `${…}`, compiled: properties are folded into constants, constant parts are merged,
//! names become numbers.

mod function;
mod parse;
mod signature;
mod text_call;
mod time_pattern;

use crate::compile::compiler::{Compiler, When};
use crate::plan::{At, Path, Problem};
use crate::program::{Part, Template};

pub use signature::{FUNCTIONS, FunctionInfo};

use parse::{Content, Expression, Piece};

impl Compiler<'_> {
    /// Compiles a text. `None` if something is wrong with it, which is then noted.
    pub(super) fn template(&mut self, text: &str, path: &Path, when: When) -> Option<Template> {
        if !text.contains("${") {
            return Some(Template::constant(text));
        }
        match parse::parse(text) {
            Ok(pieces) => self.pieces(&pieces, text, path, when),
            Err(error) => {
                let at = self.part_of(error.start, error.length);
                self.note(Problem::error(path, error.title).at(at).help(error.help));
                None
            }
        }
    }

    /// All pieces are compiled even if one is wrong, so that all errors are found.
    fn pieces(
        &mut self,
        pieces: &[Piece],
        source: &str,
        path: &Path,
        when: When,
    ) -> Option<Template> {
        let source = self.with_parameters(source, || variables(pieces));
        let mut template = Template { source, parts: Vec::new() };
        let mut complete = true;
        for piece in pieces {
            match piece {
                Piece::Text(text) => push(&mut template.parts, Part::Text(text.clone())),
                Piece::Expression(expression) => match self.expression(expression, path, when) {
                    Some(parts) => {
                        for part in parts {
                            push(&mut template.parts, part);
                        }
                    }
                    None => complete = false,
                },
            }
        }
        complete.then_some(template)
    }

    fn expression(
        &mut self,
        expression: &Expression,
        path: &Path,
        when: When,
    ) -> Option<Vec<Part>> {
        let at = self.part_of(expression.start, expression.length);
        match &expression.content {
            Content::Variable(name) if let Some(parameter) = self.parameter_named(name) => {
                self.parameter_parts(name, parameter, (path, at), when)
            }
            Content::Variable(name) if when == When::BeforeTheRun => {
                self.too_late(&format!("the variable `{name}`"), path, at);
                None
            }
            Content::Variable(name) => {
                Some(vec![Part::Variable(self.variables.used(name, path, at))])
            }
            Content::Call { name, arguments } => {
                function::Call { name, arguments, path, at, when }.compile(self)
            }
        }
    }

    /// A part of the text at hand; the whole value where that text is a file's and not the plan's.
    fn part_of(&self, start: usize, length: usize) -> At {
        if self.in_a_file { At::Value } else { At::Within { start, length } }
    }

    /// The error for what is only known in the run, where the value is needed before.
    pub(super) fn too_late(&mut self, what: &str, path: &Path, at: At) {
        let field = path.last_key().unwrap_or("this field");
        let title = format!("{what} is not known yet: `{field}` is fixed before the run");
        let help = "only `__P`, `__property` and `__env` can be used here: `-J name=value` sets a property";
        self.note(Problem::error(path, title).at(at).help(help));
    }
}

/// The variables that stand for themselves in a text: first byte, length, name.
fn variables(pieces: &[Piece]) -> Vec<(usize, usize, &str)> {
    let pieces = pieces.iter();
    let variables = pieces.filter_map(|piece| match piece {
        Piece::Expression(Expression { start, length, content: Content::Variable(name) }) => {
            Some((*start, *length, name.as_str()))
        }
        _ => None,
    });
    variables.collect()
}

/// Appends a part; constant parts are merged, empty ones left out.
fn push(parts: &mut Vec<Part>, part: Part) {
    match (parts.last_mut(), part) {
        (_, Part::Text(text)) if text.is_empty() => {}
        (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
        (_, part) => parts.push(part),
    }
}

/// Whether a text is one `${…}` from end to end.
pub(super) fn is_one_expression(text: &str) -> bool {
    parse::parse(text).is_ok_and(|pieces| matches!(pieces[..], [Piece::Expression(_)]))
}

//! Conditions of `if` and `while`.
//!
//! The parser is our own. The expression libraries that are well kept (CEL, Zen, Expr) have types:
//! text never equals a number, a dot looks into an object, an unknown name is nothing rather than a
//! mistake. Here all values are text as in JMeter, dots are part of names, and a mistake is shown
//! with its place in the plan.

mod lex;
mod parse;

use crate::compile::compiler::Compiler;
use crate::diag::nearest;
use crate::plan::{self, At, Path, Problem, Text};
use crate::program::{Comparison, Condition, Operand, Part, Test};

use parse::{Node, Value};

/// What is wrong with a condition, and which bytes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wrong {
    start: usize,
    length: usize,
    title: String,
    help: Option<String>,
}

impl Wrong {
    fn new(start: usize, length: usize, title: impl Into<String>) -> Self {
        Self { start, length, title: title.into(), help: None }
    }

    fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Compiler<'_> {
    /// The condition at `path`.
    pub(super) fn flow_condition(
        &mut self,
        setting: &plan::Setting<Text>,
        path: &Path,
    ) -> Option<Condition> {
        let source = &setting.text;
        let test = match parse::parse(source) {
            Ok(node) => self.test(&node, path),
            Err(wrong) => Err(wrong),
        };
        match test {
            Ok(test) => Some(Condition { source: source.clone(), test }),
            Err(Wrong { start, length, title, help }) => {
                let mut problem = Problem::error(path, title).at(At::Within { start, length });
                problem.help = help;
                self.note(problem);
                None
            }
        }
    }

    fn test(&mut self, node: &Node, path: &Path) -> Result<Test, Wrong> {
        let mut tests = |nodes: &[Node]| -> Result<Vec<Test>, Wrong> {
            nodes.iter().map(|node| self.test(node, path)).collect()
        };
        Ok(match node {
            Node::Any(nodes) => Test::Any(tests(nodes)?),
            Node::All(nodes) => Test::All(tests(nodes)?),
            Node::Not(node) => Test::Not(Box::new(self.test(node, path)?)),
            Node::Compare(left, comparison, right) => {
                comparable(left, *comparison, right)?;
                Test::Compare(self.operand(left, path)?, *comparison, self.operand(right, path)?)
            }
            Node::In(left, list) => {
                let left = self.operand(left, path)?;
                let list = list.iter().map(|operand| self.operand(operand, path));
                Test::In(left, list.collect::<Result<_, _>>()?)
            }
            Node::Defined(operand) => match &operand.value {
                Value::Name(name) => match self.parameter_in(operand, name)? {
                    Some(Operand::Variable(id)) => Test::Defined(id),
                    Some(_) => Test::All(Vec::new()),
                    None => Test::Defined(self.variables.asked(name)),
                },
                Value::Number(_) | Value::Text(_) => Test::Truth(self.operand(operand, path)?),
            },
            Node::Truth(operand) => {
                let (Value::Number(text) | Value::Text(text)) = &operand.value else {
                    return Ok(Test::Truth(self.operand(operand, path)?));
                };
                let title = format!("`{text}` is neither true nor false");
                return Err(Wrong::new(operand.start, operand.length, title)
                    .help(format!("compare it with something: `x == {}`", shown(operand))));
            }
        })
    }

    fn operand(&mut self, operand: &parse::Operand, path: &Path) -> Result<Operand, Wrong> {
        let at = At::Within { start: operand.start, length: operand.length };
        Ok(match &operand.value {
            Value::Number(text) | Value::Text(text) => Operand::Text(text.clone()),
            Value::Name(name) => match name.as_str() {
                "last_ok" => Operand::LastOk,
                "iteration" => Operand::Iteration,
                "thread" => Operand::Thread,
                "true" | "false" => Operand::Text(name.clone()),
                _ => match self.parameter_in(operand, name)? {
                    Some(value) => value,
                    None => Operand::Variable(self.variables.used(name, path, at)),
                },
            },
        })
    }

    /// What a name stands for that is a parameter of the included file at hand.
    fn parameter_in(
        &mut self,
        operand: &parse::Operand,
        name: &str,
    ) -> Result<Option<Operand>, Wrong> {
        let Some(parameter) = self.parameter_named(name) else { return Ok(None) };
        // Without one, something is wrong with it, and the plan is refused.
        let Some(template) = parameter.template else {
            return Ok(Some(Operand::Text(String::new())));
        };
        if let Some(constant) = template.as_constant() {
            return Ok(Some(Operand::Text(constant.to_owned())));
        }
        if let [Part::Variable(variable)] = template.parts.as_slice() {
            return Ok(Some(Operand::Variable(*variable)));
        }
        let title = format!("a condition cannot take `{name}`, a text with variables in it");
        Err(Wrong::new(operand.start, operand.length, title)
            .help(format!("give it to a variable first: `set: {{ x: '${{{name}}}' }}`")))
    }
}

/// A constant text that is no number cannot be meant to be above or below one.
fn comparable(
    left: &parse::Operand,
    comparison: Comparison,
    right: &parse::Operand,
) -> Result<(), Wrong> {
    if matches!(comparison, Comparison::Equal | Comparison::Unequal) {
        return Ok(());
    }
    let own = |name: &str| matches!(name, "last_ok" | "true" | "false");
    let number = |operand: &parse::Operand| match &operand.value {
        Value::Number(_) => true,
        Value::Name(name) => matches!(name.as_str(), "iteration" | "thread"),
        Value::Text(_) => false,
    };
    for (one, other) in [(left, right), (right, left)] {
        let text = match &one.value {
            Value::Text(text) if text.parse::<f64>().is_err() => text,
            Value::Name(name) if own(name) => name,
            _ => continue,
        };
        if number(other) {
            let title = format!("`{text}` is no number, so it is neither above nor below one");
            return Err(Wrong::new(one.start, one.length, title)
                .help("compare numbers with numbers, or texts with `==`"));
        }
    }
    Ok(())
}

/// An operand as a condition has it.
fn shown(operand: &parse::Operand) -> String {
    match &operand.value {
        Value::Name(text) | Value::Number(text) => text.clone(),
        Value::Text(text) => format!("\"{text}\""),
    }
}

/// Advice for a name in a condition that nothing gives a value to, unless a variable has a similar
/// one: it may be one of the words, or a text.
pub(super) fn advice_for_name(name: &str) -> String {
    match nearest(name, ["last_ok", "iteration", "thread", "true", "false"]) {
        Some(word) => format!("write `{word}`"),
        None => format!("define it in `variables`, or write `\"{name}\"` for this text itself"),
    }
}

/// The text with `name` in place of `${name}`, and of quotes round nothing else.
fn without_braces(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = rest[start..].find('}') else { break };
        let (before, after) = (&rest[..start], &rest[start + length + 1..]);
        let name = rest[start + 2..start + length].trim();
        let quote = ['"', '\''].into_iter().find(|q| before.ends_with(*q) && after.starts_with(*q));
        let quotes = usize::from(quote.is_some());
        plain.push_str(&before[..before.len() - quotes]);
        plain.push_str(name);
        rest = &after[quotes..];
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_and_the_quotes_round_them_go() {
        for (text, plain) in [
            ("${t} == 1", "t == 1"),
            ("'${t}' == \"${ u }\"", "t == u"),
            ("${t} == 'a ${u}'", "t == 'a u'"),
            ("${t", "${t"),
        ] {
            assert_eq!(without_braces(text), plain);
        }
    }
}

//! `secrets` and `sample_variables`: lists of names of variables; and diagnostics without secrets.

use std::collections::HashSet;

use crate::compile::compiler::Compiler;
use crate::compile::variables::is_variable_name;
use crate::diag::{Diagnostic, Place};
use crate::plan::{At, List, Path, Problem, Setting, Text};
use crate::program::{Families, Secrets, Template, VariableId, is_secret_header};

impl Compiler<'_> {
    /// The variables that a list names; like any use, each must be defined somewhere.
    pub(super) fn named_variables(
        &mut self,
        names: &List<Setting<Text>>,
        path: &Path,
    ) -> Vec<VariableId> {
        let mut known = HashSet::new();
        let mut variables = Vec::new();
        for (index, Setting { text: name, .. }) in names.0.iter().enumerate() {
            let path = path.index(index);
            if !is_variable_name(name) {
                let title = format!("`{name}` is not a name of a variable");
                self.note(
                    Problem::error(&path, title).help("write the name alone, such as `room`"),
                );
            } else if known.insert(name) {
                variables.push(self.variables.used(name, &path, At::Value));
            } else {
                let title = format!("`{name}` is in the list twice");
                self.note(Problem::error(&path, title).help("remove one of them"));
            }
        }
        variables
    }

    /// All secret variables: those that are named, what extractors derive from them, and what is
    /// extracted from headers that hold secrets.
    pub(super) fn secret_variables(
        &self,
        named: &[VariableId],
        families: &Families,
    ) -> Vec<VariableId> {
        let mut secret: Vec<VariableId> = [named, &self.secret_headers].concat();
        for base in secret.clone() {
            let derived = families.get(&base).into_iter().flatten();
            secret.extend(derived.map(|(variable, _)| *variable));
        }
        secret.sort_unstable();
        secret.dedup();
        secret
    }

    /// A variable gets the value of this header.
    pub(super) fn extracts_header(&mut self, name: &str, variable: VariableId) {
        if is_secret_header(name) {
            self.secret_headers.push(variable);
        }
    }
}

/// Adds the plan's variables that are secret and the same in every thread.
pub(super) fn add_constants(
    secrets: &mut Secrets,
    variables: &[(VariableId, Template)],
    secret: &[VariableId],
) {
    for (variable, template) in variables {
        if let Some(value) = template.as_constant().filter(|_| secret.contains(variable)) {
            secrets.remember(value);
        }
    }
}

/// Hides secrets in what is told about a plan.
pub(super) fn hide(diagnostics: &mut [Diagnostic], secrets: &Secrets) {
    if secrets.is_empty() {
        return;
    }
    for diagnostic in diagnostics {
        diagnostic.title = secrets.mask(&diagnostic.title).into_owned();
        diagnostic.label = secrets.mask(&diagnostic.label).into_owned();
        diagnostic.help = diagnostic.help.as_ref().map(|help| secrets.mask(help).into_owned());
        if let Some(place) = &mut diagnostic.place {
            hide_in_line(place, secrets);
        }
    }
}

/// What is underlined stays so.
fn hide_in_line(place: &mut Place, secrets: &Secrets) {
    let at =
        |index: usize| place.text.char_indices().nth(index).map_or(place.text.len(), |(at, _)| at);
    let (start, end) = (at(place.column - 1), at(place.column - 1 + place.length));
    let whole = secrets.mask(&place.text);
    let parts = [&place.text[..start], &place.text[start..end], &place.text[end..]];
    let [before, marked, after] = parts.map(|part| secrets.mask(part));
    let joined = format!("{before}{marked}{after}");
    if joined == whole {
        place.column = before.chars().count() + 1;
        place.length = marked.chars().count().max(1);
    } else {
        // The mark begins or ends within a secret.
        (place.column, place.length) = (1, whole.chars().count().max(1));
    }
    place.text = whole.into_owned();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(column: usize, length: usize) -> (String, usize, usize) {
        let mut secrets = Secrets::default();
        secrets.remember("hunter2");
        let text = "a: hunter2 ä b".to_owned();
        let mut place = Place { file: "p".into(), line: 1, column, length, text };
        hide_in_line(&mut place, &secrets);
        (place.text, place.column, place.length)
    }

    #[test]
    fn what_is_underlined_stays_underlined_where_a_secret_is_hidden() {
        let line = || "a: *** ä b".to_owned();
        assert_eq!(hidden(1, 1), (line(), 1, 1));
        assert_eq!(hidden(4, 7), (line(), 4, 3));
        assert_eq!(hidden(12, 1), (line(), 8, 1));
        assert_eq!(hidden(6, 2), (line(), 1, 10));
        assert_eq!(hidden(15, 1), (line(), 11, 1));
    }
}

//! `secrets` and `sample_variables`: lists of names of variables; and diagnostics without secrets.

use std::collections::HashSet;

use crate::compile::compiler::Compiler;
use crate::compile::properties::Properties;
use crate::compile::variables::is_variable_name;
use crate::net;
use crate::plan::{At, List, Path, Problem, SecretTexts, Setting, Text};
use crate::program::{Families, Member, Template, VariableId};
use crate::secrets::{Found, Secrets};

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
            // How many there are is no secret, and would hide every such number.
            let is_value = |(variable, member): &(VariableId, Member)| {
                (*member != Member::Count).then_some(*variable)
            };
            secret.extend(families.get(&base).into_iter().flatten().filter_map(is_value));
        }
        secret.sort_unstable();
        secret.dedup();
        secret
    }

    /// A variable gets the value of this header.
    pub(super) fn extracts_header(&mut self, name: &str, variable: VariableId) {
        if net::is_secret(name) {
            self.secret_headers.push(variable);
        }
    }
}

/// What is secret before the run begins: what the compiler met, what is written in the plan, the values of
/// secret variables and properties.
pub(super) fn known_secrets(
    compiler: &mut Compiler<'_>,
    variables: &[(VariableId, Template)],
    secret_variables: &[VariableId],
    written: &SecretTexts,
) -> Secrets {
    let mut found = std::mem::take(&mut compiler.secrets);
    add_constants(&mut found, variables.iter().chain(&compiler.set_values), secret_variables);
    add_properties(&mut found, compiler.properties, written);
    let mut secrets = Secrets::from(found);
    secrets.learn(&written.found);
    secrets
}

/// Adds the values of secret variables that are known before the run.
fn add_constants<'p>(
    found: &mut Found,
    known: impl Iterator<Item = &'p (VariableId, Template)>,
    secret: &[VariableId],
) {
    for (variable, template) in known {
        if let Some(value) = template.as_constant().filter(|_| secret.contains(variable)) {
            found.remember(value);
        }
    }
}

/// Adds the properties whose names tell that they are secrets, or that secrets are made from.
fn add_properties(found: &mut Found, properties: &Properties, written: &SecretTexts) {
    for (name, value) in properties.iter() {
        if net::is_secret(name) || written.properties.contains(name) {
            found.remember_password(value);
        }
    }
}

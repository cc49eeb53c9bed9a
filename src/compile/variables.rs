//! The names of variables, where they are used and what defines them.

use std::collections::{HashMap, HashSet};

use crate::compile::compiler::Compiler;
use crate::compile::compiler::When;
use crate::diag::nearest;
use crate::plan::{At, Entries, Path, Problem, Setting, Text};
use crate::program::{Template, VariableId};

/// All variables of a plan.
#[derive(Debug, Default)]
pub(super) struct Variables {
    names: Vec<String>,
    ids: HashMap<String, VariableId>,
    /// What the plan's `variables` define, and its defaults' calls store.
    defined: HashSet<VariableId>,
    /// Uses since they were last judged.
    uses: Vec<Use>,
    /// Variables that calls store to, since they were last judged.
    stored: HashSet<VariableId>,
}

/// One place where a variable is read.
#[derive(Debug)]
struct Use {
    variable: VariableId,
    path: Path,
    at: At,
}

impl Variables {
    fn id(&mut self, name: &str) -> VariableId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = VariableId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }

    /// A variable that is read.
    pub(super) fn used(&mut self, name: &str, path: &Path, at: At) -> VariableId {
        let variable = self.id(name);
        if !self.defined.contains(&variable) {
            self.uses.push(Use { variable, path: path.clone(), at });
        }
        variable
    }

    /// A variable that a call stores to.
    pub(super) fn stored(&mut self, name: &str) -> VariableId {
        let variable = self.id(name);
        self.stored.insert(variable);
        variable
    }

    fn name(&self, variable: VariableId) -> &str {
        &self.names[variable.0 as usize]
    }

    pub(super) fn into_names(self) -> Vec<String> {
        self.names
    }
}

/// Uses of the plan's defaults, which a group may still define.
#[derive(Debug, Default)]
pub(super) struct Pending {
    uses: Vec<Use>,
    stored: HashSet<VariableId>,
}

impl Compiler<'_> {
    /// The plan's `variables`: each may use those before it.
    pub(super) fn plan_variables(
        &mut self,
        variables: &Entries<Setting<Text>>,
    ) -> Vec<(VariableId, Template)> {
        let top = Path::root().key("variables");
        let mut compiled = Vec::new();
        // Which later variables an earlier one wants: where they want it back, it is a cycle.
        let mut wanted: HashMap<String, Vec<Use>> = HashMap::new();
        for (name, value) in &variables.0 {
            let path = top.key(name.clone());
            if !is_variable_name(name) {
                let title = format!("`{name}` is not a name for a variable");
                let problem = Problem::error(&path, title).at(At::Key);
                self.note(problem.help("use letters, digits, `_`, `-` and `.`"));
                continue;
            }
            let template = self.template(&value.text, &path, When::InTheRun);
            let uses = std::mem::take(&mut self.variables.uses);
            wanted.insert(name.clone(), uses);
            let stored = std::mem::take(&mut self.variables.stored);
            self.variables.defined.extend(stored);
            let id = self.variables.id(name);
            self.variables.defined.insert(id);
            compiled.extend(template.map(|template| (id, template)));
        }
        for (name, _) in &variables.0 {
            for used in wanted.remove(name).unwrap_or_default() {
                let problem = self.too_early(name, &used, variables);
                self.note(problem);
            }
        }
        compiled
    }

    /// The error for a variable that is used in `variables` before it is defined there.
    fn too_early(&self, user: &str, used: &Use, variables: &Entries<Setting<Text>>) -> Problem {
        let name = self.variables.name(used.variable);
        let Some((_, value)) = variables.0.iter().find(|(known, _)| known == name) else {
            return self.undefined(used);
        };
        let problem = |title: String| Problem::error(&used.path, title).at(used.at);
        if name == user {
            return problem(format!("`{name}` is defined by itself"));
        }
        if value.text.contains(&format!("${{{user}}}")) {
            return problem(format!("`{user}` and `{name}` are defined by each other"));
        }
        problem(format!("`{name}` is used before it is defined"))
            .help(format!("move `{name}` above `{user}`: variables are evaluated in order"))
    }

    /// What the plan's defaults use and store; judged with the groups.
    pub(super) fn pending_variables(&mut self) -> Pending {
        Pending {
            uses: std::mem::take(&mut self.variables.uses),
            stored: std::mem::take(&mut self.variables.stored),
        }
    }

    /// Judges the uses of a group's steps, and adds what the group stores to `pending`.
    pub(super) fn group_variables(&mut self, pending: &mut Pending) {
        let stored = std::mem::take(&mut self.variables.stored);
        for used in std::mem::take(&mut self.variables.uses) {
            if !stored.contains(&used.variable) && !pending.stored.contains(&used.variable) {
                let problem = self.undefined(&used);
                self.note(problem);
            }
        }
        // What one group stores does not help another group's threads; only the plan's defaults,
        // which belong to all groups, get the benefit of the doubt.
        pending.uses.retain(|used| !stored.contains(&used.variable));
    }

    /// Judges what is left of the uses of the plan's defaults.
    pub(super) fn default_variables(&mut self, pending: &Pending) {
        for used in pending.uses.iter().filter(|used| !pending.stored.contains(&used.variable)) {
            let problem = self.undefined(used);
            self.note(problem);
        }
    }

    fn undefined(&self, used: &Use) -> Problem {
        let name = self.variables.name(used.variable);
        let known = self.variables.defined.iter().chain(&self.variables.stored);
        let mut names: Vec<&str> = known.map(|id| self.variables.name(*id)).collect();
        names.sort_unstable();
        let problem =
            Problem::error(&used.path, format!("undefined variable `{name}`")).at(used.at);
        match nearest(name, names) {
            Some(similar) => problem.help(format!("a similar variable exists: `{similar}`")),
            None if name.starts_with('_') => {
                problem.help("functions begin with two underscores: `${__name()}`")
            }
            None => problem.help(format!(
                "define it in `variables`, or write `\\${{{name}}}` for this text itself"
            )),
        }
    }
}

/// What `${…}` can name.
pub(super) fn is_variable_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with("__")
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

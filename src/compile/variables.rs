//! The names of variables, where they are used and what defines them.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::compile::compiler::Compiler;
use crate::compile::compiler::When;
use crate::compile::condition::advice_for_name;
use crate::compile::warning::Warning;
use crate::diag::nearest;
use crate::plan::{At, Entries, Path, Problem, Setting, Text};
use crate::program::{Families, LAST_FRAME_FINAL, Member, Template, VariableId, Which};

/// All variables of a plan.
#[derive(Debug, Default)]
pub(super) struct Variables {
    names: Vec<String>,
    ids: HashMap<String, VariableId>,
    /// What the plan's `variables` define, and its defaults' calls store.
    defined: HashSet<VariableId>,
    /// Uses since they were last judged.
    uses: Vec<Use>,
    /// What calls and extractors store to, since it was last judged.
    stored: Stored,
    /// All extractors' variables.
    extracted: HashSet<VariableId>,
    /// Everything that was read, in order: see [`Self::reads_since`].
    reads: Vec<VariableId>,
    /// All that is read anywhere in the plan.
    pub(super) ever_read: HashSet<VariableId>,
    /// Names that `for_each` reads with numbers.
    numbered: Vec<VariableId>,
    /// The names of the parameters of the included file at hand.
    pub(super) parameters: Rc<[String]>,
}

/// Variables that steps give values to.
#[derive(Debug, Default)]
struct Stored {
    ids: HashSet<VariableId>,
    /// By the name of an extractor's variable: how it gives values to `x_1` and the like.
    families: HashMap<String, Vec<(Which, bool)>>,
    /// Whether a sampler reads, and so sets [`LAST_FRAME_FINAL`].
    reader: bool,
}

impl Stored {
    fn has(&self, variable: VariableId, name: &str) -> bool {
        self.ids.contains(&variable)
            || (self.reader && name == LAST_FRAME_FINAL)
            || family(name).any(|(base, member)| {
                self.families.get(base).is_some_and(|kinds| {
                    kinds.iter().any(|(which, regex)| member.is_given_by(*which, *regex))
                })
            })
    }
}

/// The shortest way from one variable of the plan to another, each using the next: those before the
/// last.
fn way<'v>(
    from: &'v str,
    to: &str,
    variables: &'v [(String, Setting<Text>)],
) -> Option<Vec<&'v str>> {
    let mut ways = vec![(from, None)];
    let mut next = 0;
    while let Some(&(here, _)) = ways.get(next) {
        let (_, value) = variables.iter().find(|(name, _)| name == here)?;
        for (name, _) in
            variables.iter().filter(|(name, _)| value.text.contains(&format!("${{{name}}}")))
        {
            if name == to {
                let mut way = Vec::new();
                let mut at = Some(next);
                while let Some((name, before)) = at.map(|at| ways[at]) {
                    way.insert(0, name);
                    at = before;
                }
                return Some(way);
            }
            if !ways.iter().any(|(known, _)| known == name) {
                ways.push((name, Some(next)));
            }
        }
        next += 1;
    }
    None
}

/// The ways in which a name can be one that an extractor derives from its own: `a_1_g1` is `_1_g1`
/// of `a` and `_g1` of `a_1`.
fn family(name: &str) -> impl Iterator<Item = (&str, Member)> {
    name.match_indices('_')
        .filter_map(|(at, _)| Member::parse(&name[at + 1..]).map(|member| (&name[..at], member)))
}

/// One place where a variable is read.
#[derive(Debug)]
struct Use {
    variable: VariableId,
    path: Path,
    at: At,
    /// The parameters that could be meant.
    parameters: Rc<[String]>,
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
        self.reads.push(variable);
        self.ever_read.insert(variable);
        if !self.defined.contains(&variable) {
            let parameters = Rc::clone(&self.parameters);
            self.uses.push(Use { variable, path: path.clone(), at, parameters });
        }
        variable
    }

    /// A variable of which a condition asks whether it has a value.
    pub(super) fn asked(&mut self, name: &str) -> VariableId {
        let variable = self.id(name);
        self.ever_read.insert(variable);
        variable
    }

    /// The variables `name_1`, `name_2` and so on, which are read one after the other: the name alone,
    /// and the variable in which an extractor of that name keeps all values.
    pub(super) fn numbered(&mut self, name: &str, path: &Path) -> (VariableId, VariableId) {
        self.used(&format!("{name}_1"), path, At::Value);
        let base = self.id(name);
        self.ever_read.insert(base);
        if !self.numbered.contains(&base) {
            self.numbered.push(base);
        }
        (base, self.id(&format!("{name}_{}", Member::EVERY)))
    }

    /// Whether it is one of the variables `x_1`, `x_2` that are read one after the other.
    fn is_counted(&self, name: &str) -> bool {
        family(name).any(|(base, member)| {
            let base = self.ids.get(base).is_some_and(|id| self.numbered.contains(id));
            base && matches!(member, Member::Match(_))
        })
    }

    /// Of the names that are read with numbers, the variables that the plan has: `x_1` first.
    pub(super) fn numbers(&self) -> HashMap<VariableId, Vec<VariableId>> {
        let of = |base: &VariableId| {
            let name = self.name(*base);
            let ids = (1..).map_while(|number| self.ids.get(&format!("{name}_{number}")).copied());
            (*base, ids.collect())
        };
        self.numbered.iter().map(of).collect()
    }

    /// A variable that always has a value before a step is reached.
    pub(super) fn define(&mut self, name: &str) -> VariableId {
        let variable = self.id(name);
        self.defined.insert(variable);
        variable
    }

    /// A variable that a call stores to.
    pub(super) fn stored(&mut self, name: &str) -> VariableId {
        let variable = self.id(name);
        self.stored.ids.insert(variable);
        variable
    }

    /// A variable that an extractor stores to, and what is derived from it. Of several values `x`
    /// itself gets none, as in JMeter, unless there is a default.
    pub(super) fn extracted(
        &mut self,
        name: &str,
        which: Which,
        regex: bool,
        has_default: bool,
    ) -> VariableId {
        let variable = self.id(name);
        self.extracted.insert(variable);
        if which != Which::All || has_default {
            self.stored.ids.insert(variable);
        }
        let kinds = self.stored.families.entry(name.to_owned()).or_default();
        if !kinds.contains(&(which, regex)) {
            kinds.push((which, regex));
        }
        variable
    }

    /// Variables that are read here because a parameter stands for them.
    pub(super) fn read_here(&mut self, variables: &[VariableId]) {
        self.reads.extend_from_slice(variables);
    }

    /// A sampler reads messages.
    pub(super) fn reader(&mut self) {
        self.stored.reader = true;
    }

    /// The variable of this name, if the plan names it anywhere.
    pub(super) fn known(&self, name: &str) -> Option<VariableId> {
        self.ids.get(name).copied()
    }

    /// A mark for [`Self::reads_since`].
    pub(super) fn reads_so_far(&self) -> usize {
        self.reads.len()
    }

    /// The variables that were read since the mark.
    pub(super) fn reads_since(&mut self, mark: usize) -> Vec<VariableId> {
        self.reads.split_off(mark)
    }

    /// The names in use that extractors derive from their own.
    pub(super) fn families(&self) -> Families {
        let mut families = Families::new();
        for (index, name) in self.names.iter().enumerate() {
            let variable = VariableId(u32::try_from(index).unwrap_or(u32::MAX));
            for (base, member) in family(name) {
                if let Some(base) = self.ids.get(base).filter(|id| self.extracted.contains(id)) {
                    families.entry(*base).or_default().push((variable, member));
                }
            }
        }
        families
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
    stored: Stored,
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
                self.bad_variable_name(name, &path, At::Key);
                continue;
            }
            let template = self.template(&value.text, &path, When::InTheRun);
            let uses = std::mem::take(&mut self.variables.uses);
            wanted.insert(name.clone(), uses);
            let stored = std::mem::take(&mut self.variables.stored);
            self.variables.defined.extend(stored.ids);
            let id = self.variables.id(name);
            self.variables.defined.insert(id);
            compiled.extend(template.map(|template| (id, template)));
        }
        // The variables of cycles that have been told.
        let mut told = HashSet::new();
        for (name, _) in &variables.0 {
            for used in wanted.remove(name).unwrap_or_default() {
                if !told.contains(name) {
                    let problem = self.too_early(name, &used, variables, &mut told);
                    self.note(problem);
                }
            }
        }
        compiled
    }

    /// The error for a variable that is used in `variables` before it is defined there.
    fn too_early(
        &self,
        user: &str,
        used: &Use,
        variables: &Entries<Setting<Text>>,
        told: &mut HashSet<String>,
    ) -> Problem {
        let name = self.variables.name(used.variable);
        if !variables.0.iter().any(|(known, _)| known == name) {
            return self.undefined(used, &Stored::default());
        }
        let problem = |title: String| Problem::error(&used.path, title).at(used.at);
        if name == user {
            return problem(format!("`{name}` is defined by itself"));
        }
        if let Some(cycle) = way(name, user, &variables.0) {
            let others: Vec<String> = cycle.iter().map(|name| format!("`{name}`")).collect();
            told.extend(cycle.into_iter().map(str::to_owned));
            return problem(match others.as_slice() {
                [one] => format!("`{user}` and {one} are defined by each other"),
                more => format!("`{user}` is defined by itself, through {}", more.join(", ")),
            });
        }
        problem(format!("`{name}` is used before it is defined"))
            .help(format!("move `{name}` above `{user}`: variables are evaluated in order"))
    }

    pub(super) fn bad_variable_name(&mut self, name: &str, path: &Path, at: At) {
        let problem = Problem::error(path, format!("`{name}` is not a name for a variable")).at(at);
        self.note(problem.help("use letters, digits, `_`, `-` and `.`"));
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
            let name = self.variables.name(used.variable);
            if !stored.has(used.variable, name) && !pending.stored.has(used.variable, name) {
                let problem = self.undefined(&used, &stored);
                self.note(problem);
            }
        }
        // What one group stores does not help another group's threads; only the plan's defaults,
        // which belong to all groups, get the benefit of the doubt.
        let variables = &self.variables;
        pending.uses.retain(|used| !stored.has(used.variable, variables.name(used.variable)));
    }

    /// Judges what is left of the uses of the plan's defaults.
    pub(super) fn default_variables(&mut self, pending: &Pending) {
        for used in &pending.uses {
            if pending.stored.has(used.variable, self.variables.name(used.variable)) {
                continue;
            }
            let problem = self.undefined(used, &pending.stored);
            self.note(problem);
        }
    }

    /// Warns of the plan's `variables` that nothing reads.
    pub(super) fn unused_variables(&mut self, variables: &Entries<Setting<Text>>) {
        for (name, _) in &variables.0 {
            let read =
                |id| self.variables.ever_read.contains(id) || self.variables.is_counted(name);
            if self.variables.ids.get(name).is_some_and(|id| !read(id)) {
                let warning = Warning::UnusedVariable { name: name.clone() };
                self.note(warning.at(&Path::root().key("variables").key(name.clone()), At::Key));
            }
        }
    }

    /// `stored`: what is given values where the variable is used.
    fn undefined(&self, used: &Use, stored: &Stored) -> Problem {
        let name = self.variables.name(used.variable);
        let known = self.variables.defined.iter().chain(&self.variables.stored.ids);
        let mut names: Vec<&str> = known.map(|id| self.variables.name(*id)).collect();
        names.extend(used.parameters.iter().map(String::as_str));
        names.sort_unstable();
        let problem =
            Problem::error(&used.path, format!("undefined variable `{name}`")).at(used.at);
        if let Some(help) = self.extraction(used.variable, stored) {
            return problem.help(help);
        }
        if name == LAST_FRAME_FINAL {
            return problem
                .help("reading samplers such as `single_read` set it, and this group has none");
        }
        match nearest(name, names) {
            Some(similar) if used.parameters.iter().any(|name| name == similar) => {
                problem.help(format!("a similar parameter exists: `{similar}`"))
            }
            Some(similar) => problem.help(format!("a similar variable exists: `{similar}`")),
            None if used.path.last_key() == Some("condition") => {
                problem.help(advice_for_name(name))
            }
            None if used.path.last_key() == Some("in") => {
                let base = name.trim_end_matches("_1");
                problem.help(format!("write a list for the values themselves: `in: [{base}]`"))
            }
            None if name == "iteration" => {
                problem.help("conditions know `iteration`; in a text write `${__counter(TRUE)}`")
            }
            None if name == "thread" => {
                problem.help("conditions know `thread`; in a text write `${__threadNum}`")
            }
            None if name.starts_with('_') => {
                problem.help("functions begin with two underscores: `${__name()}`")
            }
            None if used.path.is_within(&["secrets", "sample_variables"]) => problem
                .help("define it in `variables`, or give it a value with `extract` or a function"),
            None => problem.help(format!(
                "define it in `variables`, or write `\\${{{name}}}` for this text itself"
            )),
        }
    }
}

impl Compiler<'_> {
    /// Advice where an extractor nearly gives a value to the variable.
    fn extraction(&self, variable: VariableId, stored: &Stored) -> Option<String> {
        let name = self.variables.name(variable);
        if stored.families.contains_key(name) {
            return Some(format!(
                "`match: all` gives `{name}_1`, `{name}_2` and so on, and `{name}_matchNr`"
            ));
        }
        if self.variables.extracted.contains(&variable) {
            return Some(format!(
                "`{name}` is extracted in another thread group, and each thread has its own variables"
            ));
        }
        let (base, member) = family(name).find(|(base, _)| stored.families.contains_key(*base))?;
        Some(match member {
            Member::Match(_) => {
                format!("`{base}` is one match; with `match: all` there are `{base}_1`, `{base}_2`")
            }
            Member::Groups | Member::Group(_) if stored.families[base].iter().any(|(_, r)| *r) => {
                format!("with `match: all` the groups of the first match are `{base}_1_g1`, …")
            }
            _ => format!(
                "`_g1` and the like are the groups of a `regex` extractor; write `${{{base}}}`"
            ),
        })
    }
}

/// What `${…}` can name.
pub(super) fn is_variable_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with("__")
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

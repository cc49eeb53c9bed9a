//! The plan as a whole and its thread groups: what is fixed before the run.

use std::time::Duration;

use crate::compile::compiler::Compiler;
use crate::compile::connections::Connections;
use crate::compile::reply::settle_readers;
use crate::compile::scope::Scope;
use crate::compile::secrets::add_constants;
use crate::compile::warning::Warning;
use crate::plan::{At, Loaded, Path, Problem, Setting, Text, ThreadGroup};
use crate::program::{
    BadValue, DataSet, FromText, Group, LAST_FRAME_FINAL, Phase, Program, Times, VariableId,
};

const MAX_THREADS: u32 = 1_000_000;

/// `threads`: from 1 to 1,000,000.
struct Threads(u32);

impl FromText for Threads {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        match text.parse() {
            Ok(0) => Err(BadValue::new("a group without threads does nothing")
                .with_help("write 1 or more, or remove the group")),
            Ok(threads) if threads <= MAX_THREADS => Ok(Self(threads)),
            _ => Err(BadValue::new(format!("`{text}` is not a number of threads"))
                .with_help("write a whole number from 1 to 1000000")),
        }
    }
}

/// The name of a group that has none, as in JMeter.
fn default_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Setup => "setUp Thread Group",
        Phase::Main => "Thread Group",
        Phase::Teardown => "tearDown Thread Group",
    }
}

/// Compiles everything. The program is only whole if no problem was noted.
pub(super) fn program(compiler: &mut Compiler<'_>, loaded: &Loaded) -> Program {
    let plan = &loaded.plan;
    let top = Path::root();
    let stem = || {
        loaded.path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
    };
    let name = plan
        .name
        .as_ref()
        .and_then(|name| compiler.plain_name(name, &top.key("name")))
        .unwrap_or_else(stem);
    let variables = compiler.plan_variables(&plan.variables);
    let data_sets = compiler.data_sets(&plan.data_sets.0);
    let named_secrets = compiler.named_variables(&plan.secrets, &top.key("secrets"));
    let sample_variables =
        compiler.named_variables(&plan.sample_variables, &top.key("sample_variables"));
    let scope = compiler.inner_scope(&Scope::default(), &top, plan.scoped());
    let mut pending = compiler.pending_variables();
    let reads_of_all = std::mem::take(&mut compiler.variables.ever_read);
    let mut reads = reads_of_all.clone();
    let mut groups = Vec::new();
    for phase in Phase::ALL {
        let (key, written) = match phase {
            Phase::Setup => ("setup", &plan.setup),
            Phase::Main => ("thread_groups", &plan.thread_groups),
            Phase::Teardown => ("teardown", &plan.teardown),
        };
        let list = top.key(key);
        let before = groups.len();
        for (index, group) in written.0.iter().enumerate() {
            let path = list.index(index);
            if compiler.is_enabled(group.enabled.as_ref(), &path) {
                let place = (phase, groups.len() - before + 1);
                let mut compiled = compiler.group(group, &path, &scope, place);
                let own = std::mem::take(&mut compiler.variables.ever_read);
                compiled.data_sets =
                    used(&data_sets, |id| own.contains(id) || reads_of_all.contains(id));
                reads.extend(own);
                groups.push(compiled);
            }
            compiler.group_variables(&mut pending);
        }
        if phase == Phase::Main && groups.len() == before {
            compiler.no_group(&list, written.0.is_empty());
        }
    }
    compiler.variables.ever_read.extend(reads);
    compiler.default_variables(&pending);
    compiler.unused_variables(&plan.variables);
    let thresholds = compiler.thresholds(&plan.thresholds, &groups);
    let families = compiler.variables.families();
    let last_frame_final = compiler.variables.known(LAST_FRAME_FINAL);
    let numbered = compiler.variables.numbers();
    let secret_variables = compiler.secret_variables(&named_secrets, &families);
    let mut secrets = std::mem::take(&mut compiler.secrets);
    add_constants(&mut secrets, &variables, &secret_variables);
    add_constants(&mut secrets, &compiler.set_values, &secret_variables);
    Program {
        name,
        families,
        data_sets,
        numbered,
        secrets,
        secret_variables,
        last_frame_final,
        show_secrets: false,
        in_turn: false,
        sample_variables,
        variable_names: std::mem::take(&mut compiler.variables).into_names(),
        variables,
        counters: compiler.counters as usize,
        rendezvous: compiler.rendezvous,
        groups,
        thresholds,
    }
}

/// The places of the data sets of which some variable is read.
fn used(sets: &[DataSet], is_read: impl Fn(&VariableId) -> bool) -> Vec<usize> {
    let places = sets.iter().enumerate();
    places.filter(|(_, set)| set.variables.iter().any(&is_read)).map(|(place, _)| place).collect()
}

impl Compiler<'_> {
    fn no_group(&mut self, list: &Path, none_written: bool) {
        let (title, help) = if none_written {
            let help = "add `thread_groups:` with at least one entry and its `steps`";
            ("the plan has no thread groups", help)
        } else {
            let help = "a run needs at least one; remove an `enabled: false`";
            ("no thread group is enabled", help)
        };
        self.note(Problem::error(list, title).at(At::Key).help(help));
    }

    /// `place`: its phase, and which of it the group is.
    fn group(
        &mut self,
        group: &ThreadGroup,
        path: &Path,
        scope: &Scope,
        (phase, number): (Phase, usize),
    ) -> Group {
        let name = group.name.as_ref().and_then(|name| self.plain_name(name, &path.key("name")));
        let threads = group
            .threads
            .as_ref()
            .and_then(|threads| self.fixed::<_, Threads>(threads, &path.key("threads")));
        let mut time = |setting: &Option<Setting<_>>, key: &'static str| -> Option<Duration> {
            setting.as_ref().and_then(|setting| self.fixed(setting, &path.key(key)))
        };
        let ramp_up = time(&group.ramp_up, "ramp_up").unwrap_or_default();
        let delay = time(&group.delay, "delay").unwrap_or_default();
        let duration = time(&group.duration, "duration");
        if duration.is_some_and(|duration| duration.is_zero()) {
            let problem = Problem::error(&path.key("duration"), "`duration` is zero");
            self.note(problem.help("leave it out for a group that only `loops` ends"));
        }
        let default_loops = if group.duration.is_some() { Times::Forever } else { Times::Count(1) };
        let loops = group
            .loops
            .as_ref()
            .and_then(|loops| self.fixed(loops, &path.key("loops")))
            .unwrap_or(default_loops);
        self.group_threads = threads.as_ref().map(|threads| threads.0);
        if group.threads.is_none() {
            self.group_threads = Some(1);
        }
        let scope = self.inner_scope(scope, path, group.scoped());
        let mut connections = Connections::default();
        let mut steps = self.steps(&group.steps, path, &scope, &mut connections);
        settle_readers(&mut steps);
        self.connections(&connections);
        let threads = threads.map_or(1, |threads| threads.0);
        if let Some(warning) = Warning::all_at_once(threads, ramp_up) {
            self.note(warning.at(&path.key("threads"), At::Value));
        }
        self.endless(path, loops, duration, &steps);
        Group {
            name: name.unwrap_or_else(|| default_name(phase).to_owned()),
            phase,
            number,
            threads,
            ramp_up,
            delay,
            loops,
            duration,
            data_sets: Vec::new(),
            steps,
        }
    }

    /// A name that stands in rows and reports: on one line, not empty.
    fn plain_name(&mut self, setting: &Setting<Text>, path: &Path) -> Option<String> {
        let name = self.fixed_text(setting, path)?;
        let wrong = if name.trim().is_empty() {
            "a name cannot be empty"
        } else if name.contains(char::is_control) {
            "a name cannot hold line breaks or other control characters"
        } else {
            return Some(name);
        };
        self.note(Problem::error(path, wrong));
        None
    }
}

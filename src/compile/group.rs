//! The plan as a whole and its thread groups: what is fixed before the run.

use std::time::Duration;

use crate::compile::compiler::Compiler;
use crate::compile::connections::Connections;
use crate::compile::reply::settle_readers;
use crate::compile::schedule::Load;
use crate::compile::scope::Scope;
use crate::compile::secrets::known_secrets;
use crate::net;
use crate::plan::{At, Loaded, Path, Plan, Problem, Setting, Text, ThreadGroup};
use crate::program::{
    ConnectionCount, DataSet, Group, LAST_FRAME_FINAL, Phase, Program, VariableId,
};

/// How long samplers at work may go on after the end, where the plan does not say.
const GRACEFUL_STOP: Duration = Duration::from_secs(30);

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
    let written = loaded.secret_texts();
    let secrets = known_secrets(compiler, &variables, &secret_variables, &written);
    let (graceful_stop, time_limit) = compiler.ends(plan);
    let variable_names = std::mem::take(&mut compiler.variables).into_names();
    Program {
        name,
        graceful_stop,
        time_limit,
        families,
        data_sets,
        numbered,
        secrets,
        secret_variables,
        telling_variables: those(&variable_names, |name| net::is_secret(name)),
        parts_of_secrets: those(&variable_names, |name| written.variables.contains(name)),
        last_frame_final,
        show_secrets: false,
        in_turn: false,
        sample_variables,
        variable_names,
        variables,
        counters: compiler.counters as usize,
        rendezvous: compiler.rendezvous,
        groups,
        thresholds,
        compare: compiler.tolerances(plan.compare.as_ref()),
    }
}

/// The variables with such names.
fn those(names: &[String], are: impl Fn(&String) -> bool) -> Vec<VariableId> {
    (0..).map(VariableId).zip(names).filter(|(_, name)| are(name)).map(|(id, _)| id).collect()
}

/// The places of the data sets of which some variable is read.
fn used(sets: &[DataSet], is_read: impl Fn(&VariableId) -> bool) -> Vec<usize> {
    let places = sets.iter().enumerate();
    places.filter(|(_, set)| set.variables.iter().any(&is_read)).map(|(place, _)| place).collect()
}

impl Compiler<'_> {
    /// `graceful_stop` and `time_limit`.
    fn ends(&mut self, plan: &Plan) -> (Duration, Option<Duration>) {
        let top = Path::root();
        let graceful_stop = self.group_time(plan.graceful_stop.as_ref(), &top, "graceful_stop");
        let time_limit = self.group_time(plan.time_limit.as_ref(), &top, "time_limit");
        if time_limit.is_some_and(|limit| limit.is_zero()) {
            let problem = Problem::error(&top.key("time_limit"), "`time_limit` is zero");
            self.note(problem.help("leave it out for a run without one"));
        }
        (graceful_stop.unwrap_or(GRACEFUL_STOP), time_limit)
    }

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
        let delay = self.group_time(group.delay.as_ref(), path, "delay").unwrap_or_default();
        let Load { threads, schedule, loops, duration } = self.load(group, path);
        self.group_threads = threads;
        let scope = self.inner_scope(scope, path, group.scoped());
        let mut connections = Connections::default();
        let mut steps = self.steps(&group.steps, path, &scope, &mut connections);
        settle_readers(&mut steps);
        self.connections(&connections);
        self.endless(path, loops, duration, &steps);
        Group {
            name: name.unwrap_or_else(|| default_name(phase).to_owned()),
            phase,
            number,
            threads: threads.unwrap_or(1),
            schedule,
            delay,
            loops,
            duration,
            connections: ConnectionCount::of(&steps),
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

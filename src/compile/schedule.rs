//! How many threads a group has at which time: `threads`, `stages` or `arrivals`.

use std::time::Duration;

use crate::compile::compiler::Compiler;
use crate::compile::warning::Warning;
use crate::plan::{self, At, List, Path, Problem, ThreadGroup};
use crate::program::{
    Arrivals, BadValue, FromText, PerSecond, Schedule, Spacing, Stage, Stages, Stretch, Times,
};

const MAX_THREADS: u32 = 1_000_000;

/// How many threads arrivals may be at once, where the plan does not say.
const ARRIVING_AT_ONCE: u32 = 10_000;

/// What to do about a key that only arrivals have.
const ARRIVALS_ONLY: &str = "it is for `arrivals`; remove it";

/// `threads`, `max_threads`: from 1 to 1,000,000.
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

/// `ramp_to`: from 0 to 1,000,000.
struct Target(u32);

impl FromText for Target {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        match text.parse() {
            Ok(threads) if threads <= MAX_THREADS => Ok(Self(threads)),
            _ => Err(BadValue::new(format!("`{text}` is not a number of threads"))
                .with_help("write a whole number from 0 to 1000000")),
        }
    }
}

/// What a group says of its threads.
pub(super) struct Load {
    /// As many as there are at most; `None` where the plan is wrong.
    pub(super) threads: Option<u32>,
    pub(super) schedule: Schedule,
    pub(super) loops: Times,
    pub(super) duration: Option<Duration>,
}

impl Compiler<'_> {
    pub(super) fn load(&mut self, group: &ThreadGroup, path: &Path) -> Load {
        match (&group.stages, &group.arrivals) {
            (Some(_), Some(_)) => {
                let title = "the group has both `stages` and `arrivals`";
                let problem = Problem::error(&path.key("arrivals"), title).at(At::Key);
                self.note(problem.help("make two groups of it"));
                self.ramp(group, path)
            }
            (Some(stages), None) => self.stages(stages, group, path),
            (None, Some(arrivals)) => self.arrivals(arrivals, group, path),
            (None, None) => self.ramp(group, path),
        }
    }

    fn ramp(&mut self, group: &ThreadGroup, path: &Path) -> Load {
        self.refuse(&arriving(group), "without `arrivals`", path, ARRIVALS_ONLY);
        let threads = match &group.threads {
            Some(threads) => self.fixed::<_, Threads>(threads, &path.key("threads")).map(|it| it.0),
            None => Some(1),
        };
        let ramp_up = self.group_time(group.ramp_up.as_ref(), path, "ramp_up").unwrap_or_default();
        let duration = self.group_time(group.duration.as_ref(), path, "duration");
        if duration.is_some_and(|duration| duration.is_zero()) {
            let problem = Problem::error(&path.key("duration"), "`duration` is zero");
            self.note(problem.help("leave it out for a group that only `loops` ends"));
        }
        if let Some(warning) = Warning::all_at_once(threads.unwrap_or(1), ramp_up) {
            self.note(warning.at(&path.key("threads"), At::Value));
        }
        let default = if group.duration.is_some() { Times::Forever } else { Times::Count(1) };
        let loops = self.loops(group, path, default);
        Load { threads, schedule: Schedule::Ramp(ramp_up), loops, duration }
    }

    fn stages(&mut self, stages: &List<plan::Stage>, group: &ThreadGroup, path: &Path) -> Load {
        let written = [
            ("threads", group.threads.is_some()),
            ("ramp_up", group.ramp_up.is_some()),
            ("duration", group.duration.is_some()),
        ];
        self.refuse(&written, "beside `stages`", path, "the stages say it; remove it");
        self.refuse(&arriving(group), "without `arrivals`", path, ARRIVALS_ONLY);
        let list = path.key("stages");
        let each = stages.0.iter().enumerate();
        let compiled: Vec<Option<Stage>> =
            each.map(|(index, stage)| self.stage(stage, &list.index(index))).collect();
        let whole: Option<Vec<Stage>> = compiled.into_iter().collect();
        let stages = Stages(whole.clone().unwrap_or_default());
        if whole.is_some() && (stages.most() == 0 || stages.duration().is_zero()) {
            let problem = Problem::error(&list, "the stages never have a thread").at(At::Key);
            self.note(problem.help("write `stages: [{ ramp_to: 200, over: 30s }, { hold: 5m }]`"));
        }
        let threads = whole.map(|_| stages.most().max(1));
        let duration = Some(stages.duration());
        let loops = self.loops(group, path, Times::Forever);
        Load { threads, schedule: Schedule::Stages(stages), loops, duration }
    }

    fn stage(&mut self, stage: &plan::Stage, path: &Path) -> Option<Stage> {
        match (&stage.ramp_to, &stage.over, &stage.hold) {
            (Some(threads), Some(over), None) => {
                let threads = self.fixed::<_, Target>(threads, &path.key("ramp_to"));
                let over = self.fixed(over, &path.key("over"));
                Some(Stage::RampTo { threads: threads?.0, over: over? })
            }
            (None, None, Some(hold)) => self.fixed(hold, &path.key("hold")).map(Stage::Hold),
            _ => {
                let title = "a stage is a ramp or holds";
                let help = "write `{ ramp_to: 200, over: 30s }` or `{ hold: 5m }`";
                self.note(Problem::error(path, title).help(help));
                None
            }
        }
    }

    fn arrivals(&mut self, own: &List<plan::Arrivals>, group: &ThreadGroup, path: &Path) -> Load {
        let written = [
            ("threads", group.threads.is_some()),
            ("ramp_up", group.ramp_up.is_some()),
            ("loops", group.loops.is_some()),
            ("duration", group.duration.is_some()),
        ];
        let help = "each arrival is a thread that does the steps once; `max_threads` bounds them";
        self.refuse(&written, "beside `arrivals`", path, help);
        let list = path.key("arrivals");
        let each = own.0.iter().enumerate();
        let compiled: Vec<Option<Stretch>> =
            each.map(|(index, one)| self.stretch(one, &list.index(index))).collect();
        let stretches: Option<Vec<Stretch>> = compiled.into_iter().collect();
        let spacing = group.spacing.as_ref();
        let spacing: Option<Spacing> =
            spacing.and_then(|spacing| self.fixed(spacing, &path.key("spacing")));
        let (is_whole, stretches) = (stretches.is_some(), stretches.unwrap_or_default());
        let arrivals = Arrivals { stretches, spacing: spacing.unwrap_or_default() };
        if is_whole && arrivals.count() == 0 {
            let problem = Problem::error(&list, "nobody arrives").at(At::Key);
            self.note(problem.help("write `arrivals: { rate: 50/s, over: 1m }`"));
        }
        let threads = match &group.max_threads {
            Some(most) => self.fixed::<_, Threads>(most, &path.key("max_threads")).map(|it| it.0),
            None => Some(ARRIVING_AT_ONCE),
        };
        // There are never more than arrive.
        let count = u32::try_from(arrivals.count().max(1)).unwrap_or(u32::MAX);
        let threads = threads.map(|threads| threads.min(count));
        let (schedule, loops) = (Schedule::Arrivals(arrivals), Times::Count(1));
        Load { threads, schedule, loops, duration: None }
    }

    fn stretch(&mut self, own: &plan::Arrivals, path: &Path) -> Option<Stretch> {
        let (Some(rate), Some(over)) = (&own.rate, &own.over) else {
            let title = "arrivals have a rate, and a time over which they come";
            let help =
                "write `{ rate: 50/s, over: 1m }` or `{ from: 50/s, rate: 200/s, over: 1m }`";
            self.note(Problem::error(path, title).help(help));
            return None;
        };
        let to: Option<PerSecond> = self.fixed(rate, &path.key("rate"));
        let from: Option<PerSecond> = match &own.from {
            Some(from) => self.fixed(from, &path.key("from")),
            None => to,
        };
        let over: Option<Duration> = self.fixed(over, &path.key("over"));
        if over == Some(Duration::ZERO) {
            let problem = Problem::error(&path.key("over"), "`over` is zero");
            self.note(problem.help("write for how long they arrive, `1m`"));
            return None;
        }
        Some(Stretch { from: from?.0, to: to?.0, over: over? })
    }

    fn loops(&mut self, group: &ThreadGroup, path: &Path, default: Times) -> Times {
        let loops = group.loops.as_ref();
        loops.and_then(|loops| self.fixed(loops, &path.key("loops"))).unwrap_or(default)
    }

    /// A duration that must be known before the run.
    pub(super) fn group_time(
        &mut self,
        setting: Option<&plan::Setting<plan::Time>>,
        path: &Path,
        key: &'static str,
    ) -> Option<Duration> {
        setting.and_then(|setting| self.fixed(setting, &path.key(key)))
    }

    /// Refuses keys that have no meaning here; `place` says where that is.
    fn refuse(&mut self, keys: &[(&'static str, bool)], place: &str, path: &Path, help: &str) {
        for (key, _) in keys.iter().filter(|(_, is_written)| *is_written) {
            let title = format!("`{key}` has no meaning {place}");
            self.note(Problem::error(&path.key(*key), title).at(At::Key).help(help));
        }
    }
}

/// The keys that only arrivals have, and whether they are written.
fn arriving(group: &ThreadGroup) -> [(&'static str, bool); 2] {
    [("spacing", group.spacing.is_some()), ("max_threads", group.max_threads.is_some())]
}

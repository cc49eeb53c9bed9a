//! Steps: samplers, controllers, pauses.

use std::cell::Cell;
use std::convert::identity;
use std::time::Duration;

use crate::compile::compiler::Compiler;
use crate::compile::connections::Connections;
use crate::compile::sampler::Place;
use crate::compile::scope::Scope;
use crate::plan::{self, At, List, Path, Problem, Time};
use crate::program::{Loop, OnError, Pause, Setting, Step, Times};

impl Compiler<'_> {
    /// The list `steps` of what stands at `path`; an empty one is an error.
    pub(super) fn steps(
        &mut self,
        steps: &List<plan::Step>,
        path: &Path,
        scope: &Scope,
        connections: &mut Connections,
    ) -> Vec<Step> {
        let list = path.key("steps");
        if steps.0.is_empty() {
            let what = match path.last_key() {
                None | Some("thread_groups") => "the thread group".to_owned(),
                Some(key) => format!("`{key}`"),
            };
            let problem = Problem::error(&list, format!("{what} has no steps")).at(At::Key);
            self.note(problem.help("add `steps:` with at least one, such as `- open: /chat`"));
        }
        let mut compiled = Vec::new();
        for (index, step) in steps.0.iter().enumerate() {
            self.step(step, &list.index(index), scope, connections, &mut compiled);
        }
        compiled
    }

    fn step(
        &mut self,
        step: &plan::Step,
        path: &Path,
        scope: &Scope,
        connections: &mut Connections,
        out: &mut Vec<Step>,
    ) {
        macro_rules! sampler {
            ($kind:ident, $own:expr, $wrap:expr) => {{
                let kind = stringify!($kind);
                let connects = Cell::new(false);
                let place = Place { kind, path: path.key(kind), scope, connects };
                if !self.is_enabled($own.common().enabled, &place.path) {
                    return;
                }
                let own = $wrap(self.$kind($own, &place));
                let sampler = self.sampler(&place, $own.common(), own, connections);
                out.extend(sampler.map(|sampler| Step::Sampler(Box::new(sampler))));
            }};
        }
        match step {
            plan::Step::Open(own) => sampler!(open, own, identity),
            plan::Step::RequestResponse(own) => sampler!(request_response, own, identity),
            plan::Step::SingleWrite(own) => sampler!(single_write, own, identity),
            plan::Step::SingleRead(own) => sampler!(single_read, own, identity),
            plan::Step::Read(own) => sampler!(read, own, identity),
            plan::Step::PingPong(own) => sampler!(ping_pong, own, Some),
            plan::Step::Close(own) => sampler!(close, own, Some),
            plan::Step::Pause(pause) => {
                out.extend(self.pause(pause, &path.key("pause")).map(Step::Pause));
            }
            plan::Step::Block(block) => {
                let path = path.key("block");
                if !self.is_enabled(block.enabled.as_ref(), &path) {
                    return;
                }
                let scope = self.inner_scope(scope, &path, block.scoped());
                out.extend(self.steps(&block.steps, &path, &scope, connections));
            }
            plan::Step::Loop(own) => {
                let path = path.key("loop");
                if !self.is_enabled(own.enabled.as_ref(), &path) {
                    return;
                }
                let scope = self.inner_scope(scope, &path, own.scoped());
                let times =
                    own.times.as_ref().and_then(|times| self.setting(times, &path.key("times")));
                if own.times.is_none() {
                    let problem = Problem::error(&path, "`loop` has no `times`").at(At::Key);
                    self.note(problem.help("write `times: 10`, or `times: forever`"));
                }
                let steps = self.steps(&own.steps, &path, &scope, connections);
                if times == Some(Setting::Fixed(Times::Forever)) && !can_end(&steps) {
                    self.endless.push(path);
                }
                out.extend(times.map(|times| Step::Loop(Loop { times, steps })));
            }
        }
    }

    /// Whether what stands at `path` is part of the run. What is not is not looked at any further.
    pub(super) fn is_enabled(
        &mut self,
        enabled: Option<&plan::Setting<plan::Flag>>,
        path: &Path,
    ) -> bool {
        enabled.and_then(|enabled| self.fixed(enabled, &path.key("enabled"))).unwrap_or(true)
    }

    fn pause(&mut self, pause: &plan::Pause, path: &Path) -> Option<Pause> {
        match (&pause.constant, &pause.uniform) {
            (Some(time), None) => self.setting(time, &path.key("constant")).map(Pause::Constant),
            (None, Some(ends)) => self.uniform(ends, &path.key("uniform")),
            (None, None) => {
                let problem = Problem::error(path, "`pause` does not say how long").at(At::Key);
                self.note(problem.help("write `pause: 1s` or `pause: { uniform: [1s, 2s] }`"));
                None
            }
            (Some(_), Some(_)) => {
                let problem = Problem::error(path, "`pause` has both `constant` and `uniform`");
                self.note(problem.at(At::Key).help("give one of them"));
                None
            }
        }
    }

    fn uniform(&mut self, ends: &List<plan::Setting<Time>>, path: &Path) -> Option<Pause> {
        let [min, max] = ends.0.as_slice() else {
            let problem = Problem::error(path, "`uniform` takes two durations");
            self.note(problem.help("write `uniform: [500ms, 1500ms]`"));
            return None;
        };
        let min: Option<Setting<Duration>> = self.setting(min, &path.index(0));
        let max = self.setting(max, &path.index(1));
        let (min, max) = (min?, max?);
        if let (Setting::Fixed(least), Setting::Fixed(most)) = (&min, &max)
            && least > most
        {
            let title =
                format!("the ends of `uniform` are the wrong way round: {least:?} > {most:?}");
            let problem = Problem::error(path, title);
            self.note(problem.help(format!("write `uniform: [{most:?}, {least:?}]`")));
            return None;
        }
        Some(Pause::Uniform(min, max))
    }
}

/// Whether some step can end the loop around it.
pub(super) fn can_end(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Sampler(sampler) => sampler.on_error != OnError::Continue,
        Step::Loop(inner) => can_end(&inner.steps),
        Step::Pause(_) => false,
    })
}

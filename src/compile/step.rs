//! Steps: which kind each is.

use std::cell::Cell;
use std::convert::identity;

use crate::compile::compiler::Compiler;
use crate::compile::connections::Connections;
use crate::compile::controller::Around;
use crate::compile::sampler::Place;
use crate::compile::scope::Scope;
use crate::plan::{self, At, List, Path, Problem};
use crate::program::{Jump, Step};

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
        self.must_have_steps(steps, path);
        let mut compiled = Vec::new();
        for (index, step) in steps.0.iter().enumerate() {
            self.step(step, &list.index(index), scope, connections, &mut compiled);
        }
        compiled
    }

    /// Notes a list without steps of what stands at `path`.
    pub(super) fn must_have_steps(&mut self, steps: &List<plan::Step>, path: &Path) {
        if !steps.0.is_empty() {
            return;
        }
        let what = match path.last_key() {
            None | Some("thread_groups" | "setup" | "teardown") => "the thread group".to_owned(),
            Some(key) => format!("`{key}`"),
        };
        let problem = Problem::error(&path.key("steps"), format!("{what} has no steps"));
        let help = "add `steps:` with at least one, such as `- open: /chat`";
        self.note(problem.at(At::Key).help(help));
    }

    /// Adds what the step at `path` becomes: nothing where it is not enabled or wrong, several steps
    /// for a `block` and an `include`.
    pub(super) fn step(
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
        macro_rules! controller {
            ($kind:literal, $own:expr, $compile:ident) => {{
                let path = path.key($kind);
                if !self.is_enabled($own.enabled.as_ref(), &path) {
                    return;
                }
                let scope = self.inner_scope(scope, &path, $own.scoped());
                let controller = self.$compile($own, &mut Around { path, scope, connections });
                out.extend(controller.map(|own| Step::Controller(Box::new(own))));
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
            plan::Step::Http(own) => sampler!(http, own, identity),
            plan::Step::Pause(own) => {
                out.extend(self.pause(own, &path.key("pause")).map(Step::Pause));
            }
            plan::Step::Pace(own) => out.extend(self.pace(own, &path.key("pace")).map(Step::Pace)),
            plan::Step::Rendezvous(own) => {
                let own = self.rendezvous(own, &path.key("rendezvous"));
                out.extend(own.map(Step::Rendezvous));
            }
            plan::Step::Block(block) => {
                let path = path.key("block");
                if !self.is_enabled(block.enabled.as_ref(), &path) {
                    return;
                }
                let scope = self.inner_scope(scope, &path, block.scoped());
                out.extend(self.steps(&block.steps, &path, &scope, connections));
            }
            plan::Step::Include(own) => {
                let path = path.key("include");
                if !self.is_enabled(own.enabled.as_ref(), &path) {
                    return;
                }
                let scope = self.inner_scope(scope, &path, own.scoped());
                self.include(own, &path, &scope, connections, out);
            }
            plan::Step::Loop(own) => controller!("loop", own, loop_),
            plan::Step::While(own) => controller!("while", own, while_),
            plan::Step::ForEach(own) => controller!("for_each", own, for_each),
            plan::Step::RunFor(own) => controller!("run_for", own, run_for),
            plan::Step::If(own) => controller!("if", own, if_),
            plan::Step::Once(own) => controller!("once", own, once),
            plan::Step::Random(own) => controller!("random", own, random),
            plan::Step::Interleave(own) => controller!("interleave", own, interleave),
            plan::Step::Chance(own) => controller!("chance", own, chance),
            plan::Step::Transaction(own) => controller!("transaction", own, transaction),
            plan::Step::Set(own) => out.push(Step::Set(self.set(own, &path.key("set")))),
            plan::Step::Log(text) => {
                out.extend(self.text(text, &path.key("log")).map(Step::Log));
            }
            plan::Step::NextPass => out.push(self.jump(Jump::NextPass, "next_pass", path)),
            plan::Step::Break => out.push(self.jump(Jump::Break, "break", path)),
            plan::Step::NextIteration | plan::Step::StartNextLoop => {
                out.push(Step::Jump(Jump::NextIteration));
            }
            plan::Step::StopThread => out.push(Step::Jump(Jump::StopThread)),
            plan::Step::StopTest => out.push(Step::Jump(Jump::StopTest)),
            plan::Step::StopTestNow => out.push(Step::Jump(Jump::StopTestNow)),
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
}

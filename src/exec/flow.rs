//! Controllers and jumps: where a thread goes on.
//!
//! A flat machine over the [`Cursor`](crate::exec::cursor::Cursor): entering a controller pushes a
//! level, its end pops it, and nothing here recurses or waits. Whatever leaves a level goes through
//! [`Thread::leave`], so that a transaction always ends with its row and a `run_for` with its limit.

use std::borrow::Cow;

use rand::RngExt;

use crate::clock;
use crate::exec::condition;
use crate::exec::cursor::Kind;
use crate::exec::evaluate::{Held, bad_value};
use crate::exec::outcome::Failure;
use crate::exec::row::{self, Whose};
use crate::exec::stop::Level;
use crate::exec::thread::Thread;
use crate::exec::transaction::{Ended, Transaction};
use crate::program::{
    self, Chance, Controller, ForEach, Jump, Setting, Step, Template, Values, VariableId,
};
use crate::sample::{Code, EndCause, Note, RunEnd};

/// What a thread does after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The next step.
    Go,
    /// The next pass of the innermost loop, if there is one.
    NextPass,
    /// What follows the innermost loop.
    Break,
    /// The next iteration.
    NextIteration,
    /// Nothing.
    End,
}

impl<'p> Thread<'p> {
    /// Enters a controller, if it has anything to do.
    pub(crate) fn enter(&mut self, controller: &'p Controller) {
        match controller {
            Controller::Loop(own) => match self.scope.value(&own.times) {
                Ok(left) => self.enter_loop(Kind::Loop { left }, &own.steps),
                Err(failure) => self.not_done("loop", failure),
            },
            Controller::While(own) => self.enter_loop(Kind::While(&own.condition), &own.steps),
            Controller::ForEach(own) => self.enter_for_each(own),
            Controller::RunFor(own) => self.enter_run_for(own),
            Controller::If(own) => match condition::holds(&self.scope, &own.condition) {
                Ok(true) => self.enter_once(Kind::Once, &own.then),
                Ok(false) => self.enter_once(Kind::Once, &own.otherwise),
                Err(failure) => self.not_done("if", failure),
            },
            Controller::Once(own) => {
                if self.scope.count(own.reached) == 1 {
                    self.enter_once(Kind::Once, &own.steps);
                }
            }
            Controller::Random(choices) => {
                let choice = rand::rng().random_range(0..choices.len());
                self.enter_once(Kind::Once, &choices[choice]);
            }
            Controller::Interleave(own) => {
                let before = self.scope.count(own.reached) - 1;
                // The remainder is below a length, so it fits.
                let choice = usize::try_from(before % own.choices.len() as u64).unwrap_or(0);
                self.enter_once(Kind::Once, &own.choices[choice]);
            }
            Controller::Chance(own) => match self.is_due(own) {
                Ok(true) => self.enter_once(Kind::Once, &own.steps),
                Ok(false) => {}
                Err(failure) => self.not_done("chance", failure),
            },
            Controller::Transaction(own) => self.enter_transaction(own),
        }
    }

    fn enter_once(&mut self, kind: Kind<'p>, steps: &'p [Step]) {
        self.cursor.enter(kind, steps, self.tally);
    }

    fn enter_loop(&mut self, kind: Kind<'p>, steps: &'p [Step]) {
        self.cursor.enter(kind, steps, self.tally);
        if !self.begins_pass() {
            self.leave(Ended::Whole);
        }
    }

    fn enter_for_each(&mut self, own: &'p ForEach) {
        let kind = match &own.values {
            Values::Listed(_) | Values::Numbered { .. } => Ok(Kind::ForEach { own, next: 0 }),
            Values::Range { from, to } => self.scope.value(from).and_then(|from| {
                let last = self.scope.value(to)?;
                Ok(Kind::Range { own, next: Some(from), last })
            }),
        };
        match kind {
            Ok(kind) => self.enter_loop(kind, &own.steps),
            Err(failure) => self.not_done("for_each", failure),
        }
    }

    fn enter_run_for(&mut self, own: &'p program::RunFor) {
        match self.scope.value(&own.duration) {
            Ok(duration) => {
                let outer = self.connections.pause_end;
                let own_end = clock::now() + duration;
                let end = outer.map_or(own_end, |outer| outer.min(own_end));
                self.connections.pause_end = Some(end);
                self.enter_loop(Kind::RunFor { end, outer }, &own.steps);
            }
            Err(failure) => self.not_done("run_for", failure),
        }
    }

    fn is_due(&mut self, chance: &Chance) -> Result<bool, Failure> {
        let percent = self.scope.value(&chance.percent)?;
        if !(0.0..=100.0).contains(&percent) {
            let source = match &chance.percent {
                Setting::Template(template) => template.source.as_str(),
                Setting::Fixed(_) => "percent",
            };
            return Err(bad_value(&format!("`{percent}` is not a percentage"), source));
        }
        Ok(Chance::is_due(percent, self.scope.shared.count(chance.reached)))
    }

    fn enter_transaction(&mut self, own: &'p program::Transaction) {
        let label = self.scope.label(&own.name).map(Cow::into_owned);
        let begun = label.and_then(|label| Ok((label, self.scope.value(&own.include_pauses)?)));
        match begun {
            Ok((label, include_pauses)) => {
                let begun = Transaction::begin(label, clock::now(), self.connections.paused);
                self.transactions.push(Transaction { include_pauses, ..begun });
                self.enter_once(Kind::Transaction, &own.steps);
            }
            Err(failure) => self.not_done(&own.name.source, failure),
        }
    }

    /// Whether the innermost level has another pass, which then begins.
    pub(crate) fn begins_pass(&mut self) -> bool {
        let Self { cursor, scope, .. } = self;
        let Some(kind) = cursor.innermost() else { return false };
        let begins = match kind {
            Kind::Once | Kind::Transaction => Ok(false),
            Kind::Loop { left: program::Times::Forever } => Ok(true),
            Kind::Loop { left: program::Times::Count(left) } => {
                let some = *left > 0;
                *left = left.saturating_sub(1);
                Ok(some)
            }
            Kind::While(condition) => condition::holds(scope, condition),
            Kind::ForEach { own, next } => {
                let value = match &own.values {
                    Values::Listed(values) => values
                        .get(*next)
                        .map(|value| scope.text(value))
                        .transpose()
                        .map(|text| text.map(|text| text.as_ref().into())),
                    Values::Numbered { base, all } => scope.numbered(*base, *all, *next),
                    Values::Range { .. } => Ok(None),
                };
                *next += 1;
                value.map(|value| {
                    let begins = value.is_some();
                    if let Some(value) = value {
                        scope.hold(own.variable, Held::Text(value));
                    }
                    begins
                })
            }
            Kind::Range { own, next, last } => {
                let number = next.filter(|number| number <= last);
                *next = number.and_then(|number| number.checked_add(1));
                if let Some(number) = number {
                    scope.hold(own.variable, Held::Text(number.to_string().into()));
                }
                Ok(number.is_some())
            }
            Kind::RunFor { end, .. } => Ok(clock::now() < *end),
        };
        let name = kind.name();
        begins.unwrap_or_else(|failure| {
            self.not_done(name, failure);
            false
        })
    }

    /// Whether the time of a `run_for` around the thread is over; then it is left.
    pub(crate) fn leaves_run_for(&mut self) -> bool {
        let Some(first) = self.connections.pause_end else { return false };
        let now = clock::now();
        if now < first {
            return false;
        }
        let over = |kind: &Kind<'_>| matches!(kind, Kind::RunFor { end, .. } if *end <= now);
        let Some(depth) = self.cursor.depth_of_first(over) else { return false };
        self.leave_down_to(depth - 1, Ended::Cut);
        true
    }

    /// Goes where a step says; gives back what the iteration has to know of it.
    pub(crate) fn follow(&mut self, flow: Flow) -> Option<Flow> {
        let innermost = self.cursor.depth_of_last(Kind::is_loop);
        match (flow, innermost) {
            (Flow::Go, _) | (Flow::NextPass | Flow::Break, None) => None,
            (Flow::NextPass, Some(depth)) => {
                self.leave_down_to(depth, Ended::Early);
                self.cursor.finish_pass();
                None
            }
            (Flow::Break, Some(depth)) => {
                self.leave_down_to(depth - 1, Ended::Early);
                None
            }
            (Flow::NextIteration | Flow::End, _) => {
                self.leave_down_to(0, Ended::Early);
                Some(flow)
            }
        }
    }

    /// Leaves everything because no new step may start.
    pub(crate) fn leave_at_end(&mut self) {
        let is_run_over = self.connections.worker.level() != Level::Run;
        self.leave_down_to(0, if is_run_over { Ended::Early } else { Ended::Cut });
    }

    fn leave_down_to(&mut self, depth: usize, how: Ended) {
        while self.cursor.depth() > depth {
            self.leave(how);
        }
    }

    /// Leaves the innermost level.
    pub(crate) fn leave(&mut self, how: Ended) {
        match self.cursor.leave() {
            Some(Kind::RunFor { outer, .. }) => self.connections.pause_end = outer,
            Some(Kind::Transaction) => {
                if let Some(transaction) = self.transactions.pop() {
                    self.end_transaction(&transaction, how);
                }
            }
            _ => {}
        }
    }

    fn end_transaction(&self, transaction: &Transaction, how: Ended) {
        let whose = Whose {
            label: &transaction.label,
            thread: &self.name,
            group: self.scope.group,
            url: "",
            variables: &self.scope.sample_variables(),
            opening: false,
            delay: None,
        };
        row::emit_transaction(&self.worker, &whose, transaction, how, self.connections.paused);
    }

    /// `set`. What cannot be evaluated leaves its variable without a value, and those after it: an
    /// old value would be the wrong one.
    pub(crate) fn set(&mut self, values: &[(VariableId, Template)]) {
        let mut failed: Option<Code> = None;
        for (variable, template) in values {
            match (failed, self.scope.text(template)) {
                (Some(cause), _) => self.scope.hold(*variable, Held::Missing(cause)),
                (None, Ok(value)) => self.scope.set(*variable, &value),
                (None, Err(failure)) => {
                    failed = Some(failure.code);
                    self.scope.hold(*variable, Held::Missing(failure.code));
                    self.not_done("set", failure);
                }
            }
            self.trace(|thread| thread.scope.trace_of(*variable));
        }
    }

    /// `log`.
    pub(crate) fn log(&mut self, text: &Template) {
        match self.scope.text(text) {
            Ok(text) => {
                let text = self.scope.shown_quote(text.into_owned());
                self.worker.note(&Note::Log { thread: &self.name, text: &text });
            }
            Err(failure) => self.not_done("log", failure),
        }
    }

    /// A step that goes on elsewhere. What it ends ends as the plan means it: the samples judge.
    pub(crate) fn jump(&mut self, jump: Jump) -> Flow {
        let stop = &self.worker.shared.stop;
        if matches!(jump, Jump::StopTest | Jump::StopTestNow) {
            self.end_early(EndCause::StopTest);
        }
        match jump {
            Jump::NextPass => return Flow::NextPass,
            Jump::Break => return Flow::Break,
            Jump::NextIteration => return Flow::NextIteration,
            Jump::StopThread => self.end_early(EndCause::StopThread),
            Jump::StopTest => stop.graceful(RunEnd::Completed),
            Jump::StopTestNow => stop.now(RunEnd::Completed),
        }
        Flow::End
    }
}

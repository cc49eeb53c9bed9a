//! A virtual thread: interprets its group's steps, iteration by iteration.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::clock;
use crate::exec::assertion;
use crate::exec::connections::Connections;
use crate::exec::cursor::{Cursor, EmptyPasses, Kind, Next, Pass, Tally};
use crate::exec::evaluate::Scope;
use crate::exec::extractor;
use crate::exec::flow::Flow;
use crate::exec::intended::Intended;
use crate::exec::outcome::{Execution, Failure, Outcome, Reason, is_http};
use crate::exec::row::{self, Whose};
use crate::exec::samplers;
use crate::exec::trace::SHOWN_BYTES;
use crate::exec::transaction::{Ended, Transaction};
use crate::exec::worker::Worker;
use crate::program::{Group, OnError, Program, Sampler, SamplerKind, Schedule, Step, Times};
use crate::sample::{Code, EndCause, Note, RunEnd, Trace};

/// Wait after a pass in which every sampler failed and nothing paused.
const FAILED_PAUSE: Duration = Duration::from_millis(100);

/// Iterations in a row in which everything was skipped, after which the thread ends.
const MAX_SKIPPED_ITERATIONS: u32 = 3;

/// Steps after which other tasks get their turn, even if nothing waited.
const STEPS_PER_TURN: u32 = 64;

/// A virtual thread.
pub(crate) struct Thread<'p> {
    pub(crate) scope: Scope,
    pub(crate) connections: Connections<'p>,
    pub(crate) worker: Rc<Worker>,
    group: &'p Group,
    pub(crate) name: Rc<str>,
    pub(crate) cursor: Cursor<'p>,
    /// Those that the thread is in, the innermost last.
    pub(crate) transactions: Vec<Transaction>,
    pub(crate) tally: Tally,
    empty_passes: EmptyPasses,
    last_skip: Code,
    steps: u32,
    /// When it is asked to leave.
    leave: Option<Instant>,
    /// When the next sampler was to begin.
    pub(crate) intended: Intended,
}

/// When a thread starts and ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    /// When it was to start.
    pub(crate) due: Instant,
    /// When it is asked to leave, at the end of its iteration.
    pub(crate) leave: Option<Instant>,
    /// When no new step starts.
    pub(crate) end: Option<Instant>,
}

impl Entry {
    /// When no new step starts, also because the thread takes too long to leave.
    fn end(&self, graceful_stop: Duration) -> Option<Instant> {
        let late = self.leave.map(|leave| leave + graceful_stop);
        self.end.into_iter().chain(late).min()
    }
}

/// Runs thread `index` (from 0) of a group to its end.
pub(crate) async fn run(worker: Rc<Worker>, group: usize, index: u32, entry: Entry) {
    let program = Arc::clone(&worker.shared.program);
    let presence = Presence::enter(&worker, group, index, entry.due);
    let mut thread = Thread::new(worker, &program, &presence, entry);
    thread.trace(|thread| Trace::Thread { name: thread.name.to_string() });
    if thread.set_variables() {
        thread.iterate().await;
    }
    samplers::close_all(&mut thread.connections).await;
    thread.show_traces();
}

/// Counts a thread as active while it lives, also if it ends by a bug of ours.
struct Presence {
    worker: Rc<Worker>,
    group: usize,
    index: u32,
    name: Rc<str>,
}

impl Presence {
    fn enter(worker: &Rc<Worker>, group: usize, index: u32, due: Instant) -> Self {
        let Group { name, number, .. } = &worker.shared.program.groups[group];
        let name = format!("{name} {number}-{}", index + 1).into();
        worker.shared.thread_started(group);
        worker.note(&Note::ThreadStarted { late: clock::now().saturating_duration_since(due) });
        Self { worker: Rc::clone(worker), group, index, name }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.worker.shared.thread_finished(self.group);
        self.worker.note(&Note::ThreadFinished);
        if std::thread::panicking() {
            let what = format!("thread `{}` ended by an internal error", self.name);
            self.worker.shared.stop.graceful(RunEnd::BrokeOff(what));
        }
    }
}

impl<'p> Thread<'p> {
    // Apart from `run`, which would hold all of this twice.
    fn new(worker: Rc<Worker>, program: &'p Program, own: &Presence, entry: Entry) -> Self {
        let group = &program.groups[own.group];
        let arrives = matches!(group.schedule, Schedule::Arrivals(_));
        Self {
            scope: Scope::new(Arc::clone(&worker.shared), own.group, own.index + 1),
            connections: Connections::new(Rc::clone(&worker), entry.end(program.graceful_stop)),
            worker,
            group,
            name: Rc::clone(&own.name),
            cursor: Cursor::default(),
            transactions: Vec::new(),
            tally: Tally::default(),
            empty_passes: EmptyPasses::default(),
            last_skip: Code::NoConnection,
            steps: 0,
            leave: entry.leave,
            intended: if arrives { Intended::arrival(entry.due) } else { Intended::default() },
        }
    }

    /// Evaluates the plan's variables; false if one cannot be, which is told by a row.
    fn set_variables(&mut self) -> bool {
        let program = Arc::clone(&self.worker.shared.program);
        for (variable, template) in &program.variables {
            match self.scope.text(template) {
                Ok(value) => self.scope.set(*variable, &value),
                Err(failure) => {
                    self.emit_failure("variables", failure);
                    return false;
                }
            }
        }
        true
    }

    async fn iterate(&mut self) {
        let mut skipped_iterations = 0;
        let mut left = self.group.loops;
        while left != Times::Count(0) && !self.connections.is_over() && !self.is_to_leave() {
            if let Times::Count(count) = &mut left {
                *count -= 1;
            }
            self.scope.iteration += 1;
            if !self.take_data() {
                return self.end_early(EndCause::DataUsedUp);
            }
            let began = self.tally;
            if self.iteration().await == Flow::End {
                return;
            }
            let pass = self.tally.since(began);
            skipped_iterations = if pass == Pass::AllSkipped { skipped_iterations + 1 } else { 0 };
            if skipped_iterations == MAX_SKIPPED_ITERATIONS {
                return self.end_early(EndCause::AllSkipped(self.last_skip));
            }
            if self.after_pass(pass).await == Flow::End {
                return;
            }
        }
    }

    fn is_to_leave(&self) -> bool {
        self.leave.is_some_and(|leave| clock::now() >= leave)
    }

    async fn iteration(&mut self) -> Flow {
        self.cursor.enter(Kind::Once, &self.group.steps, self.tally);
        loop {
            match self.cursor.next() {
                Next::Nothing => return Flow::Go,
                Next::Step(_) if self.connections.is_over() => {
                    self.leave_at_end();
                    return Flow::End;
                }
                Next::Step(_) if self.leaves_run_for() => {}
                Next::Step(step) => {
                    let flow = self.step(step).await;
                    if flow != Flow::Go
                        && let Some(flow) = self.follow(flow)
                    {
                        return flow;
                    }
                }
                Next::PassEnd(began) => {
                    let flow = self.pass_end(began).await;
                    if flow != Flow::Go
                        && let Some(flow) = self.follow(flow)
                    {
                        return flow;
                    }
                }
            }
            self.take_turns().await;
        }
    }

    async fn step(&mut self, step: &'p Step) -> Flow {
        match step {
            Step::Sampler(sampler) => return self.sampler(sampler).await,
            Step::Pause(pause) => self.pause(pause).await,
            // Rarer than a pause, and its state larger.
            Step::Pace(pace) => Box::pin(self.pace(pace)).await,
            Step::Rendezvous(own) => Box::pin(self.rendezvous(own)).await,
            Step::Controller(controller) => self.enter(controller),
            Step::Set(values) => self.set(values),
            Step::Log(text) => self.log(text),
            Step::Jump(jump) => return self.jump(*jump),
        }
        Flow::Go
    }

    /// The innermost level's steps are done: of a loop there may be another pass.
    async fn pass_end(&mut self, began: Tally) -> Flow {
        // The group's own pass is the iteration, which `iterate` judges.
        if let Some(kind) = self.cursor.innermost().filter(|kind| kind.is_loop()) {
            let goes_on_if_skipped = kind.ends_by_itself();
            let pass = self.tally.since(began);
            if self.after_pass(pass).await == Flow::End {
                return Flow::End;
            }
            if (pass != Pass::AllSkipped || goes_on_if_skipped) && self.begins_pass() {
                self.cursor.repeat(self.tally);
                return Flow::Go;
            }
        }
        self.leave(Ended::Whole);
        Flow::Go
    }

    /// Keeps a thread from spinning when a pass came to nothing.
    async fn after_pass(&mut self, pass: Pass) -> Flow {
        if self.empty_passes.are_too_many_after(pass) {
            let text = "10,000 passes reached no sampler and waited for nothing";
            self.emit_failure("loop", Failure::plain(Code::EmptyLoop, text));
            self.end_early(EndCause::EmptyLoop);
            return Flow::End;
        }
        if pass == Pass::AllFailed {
            self.connections.pause_until(clock::now() + FAILED_PAUSE).await;
        }
        Flow::Go
    }

    /// Nothing follows the timers where no new step may start then: whoever goes on sees that.
    async fn sampler(&mut self, sampler: &'p Sampler) -> Flow {
        // Why it cannot begin, if so.
        let mut ready = Ok(());
        if !sampler.timers.is_empty() {
            ready = self.wait_for_timers(&sampler.timers).await;
            if self.connections.is_over() {
                self.leave_at_end();
                return Flow::End;
            }
            if self.leaves_run_for() {
                return Flow::Go;
            }
        }
        self.tally.reached += 1;
        let label = match ready.and_then(|()| self.scope.label(&sampler.name)) {
            Ok(label) => label,
            Err(failure) => return Box::pin(self.not_begun(sampler, failure)).await,
        };
        self.trace(|_| Trace::Step { kind: sampler.kind.name(), label: label.to_string() });
        let Self { scope, connections, .. } = self;
        let execution = samplers::run(scope, connections, sampler, &label).await;
        let execution = samplers::row_or_skip(execution);
        self.conclude(sampler, &label, execution)
    }

    /// A sampler that cannot begin, and what that makes of its connection.
    async fn not_begun(&mut self, sampler: &'p Sampler, failure: Failure) -> Flow {
        let Self { scope, connections, .. } = self;
        samplers::not_begun(scope, connections, sampler, failure.clone()).await;
        let execution = if failure.is_skip {
            Execution::Skipped(failure.code)
        } else {
            Execution::Row(Outcome::unstarted(failure))
        };
        self.conclude(sampler, &sampler.name.source, execution)
    }

    /// What becomes of an execution: a row, or what tells that there is none.
    fn conclude(&mut self, sampler: &Sampler, label: &str, execution: Execution) -> Flow {
        match execution {
            Execution::Skipped(cause) => {
                extractor::lose(&mut self.scope, &sampler.extractors, cause);
                self.skip(label, cause);
                Flow::Go
            }
            Execution::Cut => {
                self.show_traces();
                self.worker.note(&Note::Cut { label });
                Flow::Go
            }
            Execution::Kept => {
                self.tally.reached -= 1;
                Flow::Go
            }
            Execution::Row(mut outcome) => {
                // Until the upgrade is accepted, its codes are HTTP's.
                let is_refused = match outcome.code {
                    Code::SWITCHING_PROTOCOLS => false,
                    Code::Number(status) => is_http(status),
                    _ => outcome.head.is_none(),
                };
                let opening = sampler.kind.opening().is_some() && is_refused;
                self.tell_last_frame(&sampler.kind, &outcome);
                self.judge(sampler, &mut outcome);
                self.emit(label, &mut outcome, opening);
                let has_failed = outcome.failure.is_some();
                self.worker.recycle(outcome);
                if has_failed { self.on_error(sampler.on_error, label) } else { Flow::Go }
            }
        }
    }

    /// Sets the variable [`LAST_FRAME_FINAL`](crate::program::LAST_FRAME_FINAL) after a reading sampler, if
    /// something reads it. Where nothing was read it is `true`: a loop that reads on until the end of
    /// a message ends then, too. In JMeter it keeps its value, and such a loop does not end.
    fn tell_last_frame(&mut self, kind: &SamplerKind, outcome: &Outcome) {
        let Some(variable) = self.worker.shared.program.last_frame_final else { return };
        if kind.expect().is_some() {
            let message = outcome.message.as_ref().filter(|_| outcome.failure.is_none());
            let last = message.is_none_or(|message| message.last);
            self.scope.set(variable, if last { "true" } else { "false" });
        }
    }

    /// What assertions and extractors make of a sample, in this order.
    fn judge(&mut self, sampler: &Sampler, outcome: &mut Outcome) {
        let (scope, extractors) = (&mut self.scope, &sampler.extractors);
        if outcome.failure.is_none() {
            let tracer = self.worker.tracer.as_deref();
            let failure = assertion::first_failure(scope, &sampler.assertions, outcome, tracer);
            outcome.fail_assertion(failure);
        }
        if outcome.failure.is_some() {
            extractor::hide(scope, extractors, outcome);
            extractor::lose(scope, extractors, cause_of(outcome.code));
        } else if outcome.code == Code::NoMessage {
            extractor::lose(scope, extractors, Code::NotExtracted);
        } else {
            let failure = extractor::extract(scope, extractors, outcome);
            outcome.fail_assertion(failure);
        }
        for extractor in extractors {
            self.trace(|thread| thread.scope.trace_of(extractor.variable));
        }
    }

    /// Tells what happens, if someone wants to see it.
    pub(crate) fn trace(&self, trace: impl FnOnce(&Self) -> Trace) {
        if let Some(tracer) = &self.worker.tracer {
            tracer.push(trace(self));
        }
    }

    /// How many threads its group has in all.
    pub(crate) fn threads_of_group(&self) -> u32 {
        self.group.threads
    }

    pub(crate) fn show_traces(&self) {
        if self.worker.tracer.is_some() {
            self.worker.show_traces(&self.scope);
        }
    }

    fn on_error(&mut self, action: OnError, label: &str) -> Flow {
        let stopped = || RunEnd::StoppedByOnError { label: label.to_owned() };
        match action {
            OnError::Continue => Flow::Go,
            OnError::NextIteration => Flow::NextIteration,
            OnError::StopThread => {
                self.end_early(EndCause::StopThread);
                Flow::End
            }
            OnError::StopTest => {
                self.worker.shared.stop.graceful(stopped());
                Flow::End
            }
            OnError::StopTestNow => {
                self.worker.shared.stop.now(stopped());
                Flow::End
            }
        }
    }

    fn emit(&mut self, label: &str, outcome: &mut Outcome, opening: bool) {
        self.show_traces();
        self.tally.ran += 1;
        self.tally.passed += u64::from(outcome.failure.is_none());
        self.scope.last_ok = outcome.failure.is_none();
        self.transactions.iter_mut().for_each(|transaction| transaction.add(outcome));
        let scope = &self.scope;
        if let Some(failure) = &mut outcome.failure {
            let Reason { text, cause, .. } = &mut **failure;
            for text in [text, cause] {
                *text = scope.shown_quote(std::mem::take(text));
            }
        }
        let outcome = &*outcome;
        if let (Some(failure), Some(_)) = (&outcome.failure, &outcome.head)
            && matches!(failure.code, Code::Number(status) if is_http(status))
        {
            self.tell_answer(label, failure, outcome);
        }
        let scope = &self.scope;
        let (thread, group) = (&*self.name, scope.group);
        // Without secrets since it was made.
        let url = outcome.url.as_deref().unwrap_or_default();
        let variables = &if scope.shared.program.sample_variables.is_empty() {
            Vec::new()
        } else {
            scope.sample_variables()
        };
        if scope.shared.is_first_sample(group) {
            self.worker.note(&Note::GroupBegan { group: &self.group.name });
        }
        let delay = self.intended.delay_of(outcome.start);
        let whose = Whose { label, thread, group, url, variables, opening, delay };
        row::emit(&self.worker, &whose, outcome);
    }

    /// Tells what an HTTP server answered that made a sample fail.
    fn tell_answer(&self, label: &str, failure: &Failure, outcome: &Outcome) {
        let head = String::from_utf8_lossy(outcome.head.as_deref().unwrap_or_default());
        let mut answer = head.into_owned();
        if let Some(message) = outcome.message.as_ref().filter(|one| !one.payload.is_empty()) {
            let body = &message.payload[..message.payload.len().min(SHOWN_BYTES)];
            let cut = if body.len() < message.payload.len() { "…" } else { "" };
            answer = format!("{}\n\n{}{cut}", answer.trim_end(), String::from_utf8_lossy(body));
        }
        let answer = self.scope.shown_quote(answer.replace("\r\n", "\n"));
        let (code, cause) = (failure.code, failure.cause.as_str());
        self.worker.note(&Note::Answer { label, code, cause, answer: answer.trim_end() });
    }

    fn skip(&mut self, label: &str, cause: Code) {
        self.show_traces();
        self.last_skip = cause;
        self.transactions.iter_mut().for_each(|transaction| transaction.skip(cause));
        self.worker.note(&Note::Skipped { label, cause });
    }

    /// A step other than a sampler failed, or is skipped because of an earlier failure.
    pub(crate) fn not_done(&mut self, label: &str, failure: Failure) {
        if failure.is_skip {
            self.tally.reached += 1;
            self.skip(label, failure.code);
        } else {
            self.emit_failure(label, failure);
        }
    }

    /// A row for what failed outside any sampler.
    fn emit_failure(&mut self, label: &str, failure: Failure) {
        self.tally.reached += 1;
        self.emit(label, &mut Outcome::unstarted(failure), false);
    }

    pub(crate) fn end_early(&self, cause: EndCause) {
        self.worker.note(&Note::ThreadEndedEarly { thread: &self.name, cause });
    }

    /// Lets other tasks run now and then, even if no step waits.
    async fn take_turns(&mut self) {
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS_PER_TURN) {
            self.connections.end_turn();
            tokio::task::yield_now().await;
        }
    }
}

/// Why a variable has no value after a failure with this code: that of a failed assertion says
/// nothing.
fn cause_of(code: Code) -> Code {
    match code {
        Code::OK | Code::SWITCHING_PROTOCOLS => Code::NotExtracted,
        code => code,
    }
}

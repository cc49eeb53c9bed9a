//! `read`: many messages in one row.

use std::rc::Rc;
use std::time::Instant;

use crate::clock;
use crate::exec::check::{self, Ready};
use crate::exec::judge::Subject;
use crate::exec::outcome::{Execution, Failure, Outcome};
use crate::exec::samplers::job::{Job, interrupted};
use crate::exec::samplers::take::{self, Take};
use crate::exec::wait::{AtEnd, Ended};
use crate::exec::worker::Worker;
use crate::program::{self, Expect};
use crate::sample::{Code, Note};
use crate::ws::{Fate, Frame, Message, Observer, Reaction};

pub(crate) async fn run<'p>(
    job: &mut Job<'_, 'p>,
    spec: &'p program::Read,
) -> Result<Execution, Failure> {
    let mut collect = evaluate(job, spec)?;
    let optional = job.scope.value(&spec.optional)?;
    let time = match &spec.time {
        Some(time) => job.scope.value(time)?,
        None => job.read_timeout()?,
    };
    let (late_replies, _) = job.policies(&spec.matching)?;
    if !job.awaits(collect.take.matcher.as_ref(), late_replies) {
        return Ok(Execution::Skipped(Code::OutOfSync));
    }
    let mut outcome = job.outcome();
    let start = outcome.start;
    take_waiting(job, &mut collect, &mut outcome);
    if !collect.is_done()
        && let Some(refusal) = job.refusal()
    {
        collect.finish(job, &mut outcome);
        return Ok(refusal);
    }
    job.exchange(&mut outcome);
    let ended = job
        .connections
        .wait(job.id, &mut collect, start + time, AtEnd::Cut, |slot, collect| {
            collect.is_done() || !slot.is_open()
        })
        .await;
    collect.finish(job, &mut outcome);
    let is_duration = spec.count.is_none() && spec.until.is_empty();
    Ok(Execution::Row(match ended {
        Ended::Cut => return Ok(Execution::Cut),
        _ if collect.is_done() => outcome,
        Ended::TimedOut if is_duration && collect.count > 0 => {
            outcome.end = clock::now();
            outcome
        }
        Ended::TimedOut if optional && collect.count == 0 => {
            outcome.code = Code::NoMessage;
            outcome.end = clock::now();
            outcome
        }
        Ended::TimedOut => {
            let end = clock::now();
            let failure = too_few(job, spec, &collect);
            outcome.failed(failure, end)
        }
        Ended::Done => {
            let failure = job.slot().meet_loss();
            outcome.failed(failure, clock::now())
        }
        Ended::Interrupted => outcome.failed(interrupted(), clock::now()),
    }))
}

fn evaluate<'p>(job: &mut Job<'_, 'p>, spec: &'p program::Read) -> Result<Collect<'p>, Failure> {
    let expect = job.scope.value(&spec.expect)?;
    let wanted = spec.count.as_ref().map(|count| job.scope.value(count)).transpose()?;
    let until = spec.until.iter().map(|one| check::ready(job.scope, &one.check));
    let until = until.collect::<Result<_, Failure>>()?;
    let (_, unmatched) = job.policies(&spec.matching)?;
    let filters = job.filters()?;
    let matcher = job.matcher(spec.matching.reply.as_ref(), &[])?;
    Ok(Collect {
        take: Take::new(None, filters, matcher, unmatched, job.tracer()),
        expect,
        wanted,
        until,
        count: 0,
        outcome: Outcome::begun(clock::now()),
        label: job.label.into(),
        worker: Rc::clone(&job.connections.worker),
        done: false,
        last: None,
    })
}

/// Takes what arrived before, also on a connection that has been lost since.
fn take_waiting(job: &mut Job<'_, '_>, collect: &mut Collect<'_>, outcome: &mut Outcome) {
    collect.outcome.start = outcome.start;
    let Some(connection) = &mut job.slot().connection else { return };
    let mut at = 0;
    while !collect.is_done() {
        let fate = |message: &Message| collect.take.fate(message);
        let Some(message) = connection.inbox().sift_from(&mut at, fate) else { return };
        collect.add(message);
    }
}

/// Why the sampler has waited in vain.
fn too_few(job: &mut Job<'_, '_>, spec: &program::Read, collect: &Collect<'_>) -> Failure {
    let limit = if spec.time.is_some() { "for" } else { "read_timeout" };
    let Collect { count, wanted, take, .. } = collect;
    let what = match wanted {
        _ if *count == 0 => format!("no message came within `{limit}`"),
        Some(wanted) if spec.until.is_empty() => {
            format!("{count} of {wanted} messages came within `{limit}`")
        }
        _ => format!("{count} messages came within `{limit}`, and none fitted `until`"),
    };
    let cause = if *count == 0 { &what } else { "too few messages came in time" };
    let mut failure = job.timed_out(cause, &take.passed_over());
    failure.text = failure.text.replacen(cause, &what, 1);
    failure
}

/// The observer that counts messages until there are enough.
struct Collect<'p> {
    take: Take<'p>,
    expect: Expect,
    wanted: Option<u64>,
    until: Vec<Ready<'p>>,
    count: u64,
    /// What the messages so far add up to.
    outcome: Outcome,
    label: Box<str>,
    worker: Rc<Worker>,
    /// A message fitted `until`, or had the wrong type.
    done: bool,
    /// When the newest message arrived.
    last: Option<Instant>,
}

impl Collect<'_> {
    fn is_done(&self) -> bool {
        self.done || self.wanted.is_some_and(|wanted| self.count >= wanted)
    }

    fn add(&mut self, message: Message) {
        self.count += 1;
        if let Some(last) = self.last.replace(message.arrived) {
            let gap = message.arrived.saturating_duration_since(last);
            self.worker.note(&Note::Gap { label: &self.label, gap });
        }
        let first_byte = self.outcome.first_byte.unwrap_or(message.first_byte);
        let subject = Subject::message(&message);
        let fits = self.until.iter().all(|check| subject.holds(check));
        self.done = !self.until.is_empty() && fits;
        take::receive(&mut self.outcome, message, self.expect, None);
        self.outcome.first_byte = Some(first_byte);
        self.done |= self.outcome.failure.is_some();
    }

    /// Puts into the sampler's outcome what the messages added up to.
    fn finish(&mut self, job: &mut Job<'_, '_>, outcome: &mut Outcome) {
        self.take.finish(job, outcome);
        let mut collected = std::mem::replace(&mut self.outcome, Outcome::begun(outcome.start));
        outcome.bytes += collected.bytes;
        outcome.end = collected.end;
        outcome.code = collected.code;
        outcome.failure = collected.failure.take();
        outcome.first_byte = collected.first_byte;
        outcome.data_type = collected.data_type;
        outcome.message = collected.message.take();
        if self.count > 0 {
            job.note(&Note::Read { label: job.label, messages: self.count });
        }
    }
}

impl Observer for Collect<'_> {
    fn is_waiting(&self) -> bool {
        !self.is_done()
    }

    fn message(&mut self, message: Message) -> Option<Message> {
        if self.is_done() {
            return Some(message);
        }
        match self.take.fate(&message) {
            Fate::Keep => Some(message),
            Fate::Drop => None,
            Fate::Take => {
                self.add(message);
                None
            }
        }
    }

    fn control(&mut self, _: &Frame, _: Instant) -> bool {
        false
    }

    fn take_reaction(&mut self) -> Option<Reaction> {
        self.take.take_reaction()
    }
}

//! `single_read`: waits for a message.

use crate::clock;
use crate::exec::outcome::{Execution, Failure, Outcome};
use crate::exec::samplers::job::{Job, interrupted};
use crate::exec::samplers::push_delay::Age;
use crate::exec::samplers::take::{self, Take};
use crate::exec::wait::{AtEnd, Ended};
use crate::program::{self, Expect};
use crate::sample::Code;
use crate::ws::Message;

pub(crate) async fn run<'p>(
    job: &mut Job<'_, 'p>,
    spec: &'p program::SingleRead,
) -> Result<Execution, Failure> {
    let read_timeout = job.read_timeout()?;
    let (expect, optional) = (job.scope.value(&spec.expect)?, job.scope.value(&spec.optional)?);
    let (late_replies, unmatched) = job.policies(&spec.matching)?;
    let age = spec.push_delay.as_ref().map(|spec| Age::evaluate(job, spec)).transpose()?;
    let filters = job.filters()?;
    let matcher = job.matcher(spec.matching.reply.as_ref(), &[])?;
    let opened = match job.connect(spec.connect.as_deref()).await? {
        Ok(opened) => opened,
        Err(over) => return Ok(over),
    };
    // What has connected has sent something, and is finished.
    let at_end = if opened.is_some() { AtEnd::Finish } else { AtEnd::Cut };
    // A close is nobody's late reply.
    if expect != Expect::Close && !job.awaits(matcher.as_ref(), late_replies) {
        return Ok(Execution::Skipped(Code::OutOfSync));
    }
    let mut next = Take::new(None, filters, matcher, unmatched, job.tracer());
    next.for_close = expect == Expect::Close;
    let mut outcome = opened.unwrap_or_else(|| job.outcome());
    // Until now it has connected, or done nothing.
    let begun = outcome.end;
    next.taken = waiting_message(job, &mut next);
    if expect == Expect::Close && job.slot().is_lost_unmet() {
        next.finish(job, &mut outcome);
        return Ok(Execution::Row(take::lost(job, outcome, expect)));
    }
    if spec.connect.is_none()
        && next.taken.is_none()
        && let Some(refusal) = job.refusal()
    {
        next.finish(job, &mut outcome);
        return Ok(refusal);
    }
    job.exchange(&mut outcome);
    let deadline = begun + read_timeout;
    let ended = job
        .connections
        .wait(job.id, &mut next, deadline, at_end, |slot, next| {
            next.taken.is_some() || !slot.is_open()
        })
        .await;
    if let Some(message) = next.finish(job, &mut outcome) {
        take::receive(&mut outcome, message, expect, None);
        if let (Some(age), None) = (age, &outcome.failure) {
            age.judge(job, &mut outcome);
        }
        return Ok(Execution::Row(outcome));
    }
    Ok(match ended {
        Ended::Cut => Execution::Cut,
        Ended::TimedOut => {
            Execution::Row(nothing_came(job, outcome, optional, &next.passed_over()))
        }
        Ended::Done => Execution::Row(take::lost(job, outcome, expect)),
        Ended::Interrupted => Execution::Row(outcome.failed(interrupted(), clock::now())),
    })
}

/// The oldest message that arrived before and that qualifies, also on a connection that has been
/// lost since.
fn waiting_message(job: &mut Job<'_, '_>, next: &mut Take<'_>) -> Option<Message> {
    let inbox = job.slot().connection.as_mut()?.inbox();
    inbox.sift(|message| next.fate(message))
}

fn nothing_came(
    job: &mut Job<'_, '_>,
    mut outcome: Outcome,
    optional: bool,
    passed_over: &str,
) -> Outcome {
    let end = clock::now();
    if optional {
        outcome.code = Code::NoMessage;
        outcome.end = end;
        return outcome;
    }
    let failure = job.timed_out("no message came within `read_timeout`", passed_over);
    outcome.failed(failure, end)
}

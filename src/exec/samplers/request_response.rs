//! `request_response`: sends a message and waits for its reply.

use std::rc::Rc;
use std::time::Instant;

use crate::clock;
use crate::exec::attribution::Request;
use crate::exec::filter::Filters;
use crate::exec::matcher::Matcher;
use crate::exec::outcome::{Execution, Failure, Outcome};
use crate::exec::samplers::job::Job;
use crate::exec::samplers::payload;
use crate::exec::samplers::take::{self, Take};
use crate::exec::wait::{AtEnd, Ended};
use crate::program::{self, Expect, LateReplies, Unmatched};
use crate::sample::{Code, Note};

pub(crate) async fn run<'p>(
    job: &mut Job<'_, 'p>,
    spec: &'p program::RequestResponse,
) -> Result<Execution, Failure> {
    if spec.connect.is_none()
        && let Some(refusal) = job.refusal()
    {
        return Ok(refusal);
    }
    let (read_timeout, write_timeout) = job.timeouts()?;
    let expect = job.scope.value(&spec.expect)?;
    let (late_replies, unmatched) = job.policies(&spec.matching)?;
    let (kind, bytes) = payload::evaluate(job.scope, &spec.payload)?;
    let filters = job.filters()?;
    let matcher = job.matcher(spec.matching.reply.as_ref(), &bytes)?;
    // From here on it has what it takes from them: held twice, that would be part of every thread.
    let mut reply = Take::new(None, filters, matcher, unmatched, job.tracer());
    reply.for_close = expect == Expect::Close;
    let opened = match &spec.connect {
        None => None,
        Some(own) => match job.connect(Some(own)).await? {
            Ok(opened) => opened,
            Err(over) => return Ok(over),
        },
    };
    if !job.awaits(reply.matcher.as_ref(), late_replies) {
        return Ok(Execution::Skipped(Code::OutOfSync));
    }
    // A reply answers what is sent from then on.
    let sent_at = match job.catch_up(write_timeout).await {
        Ok(now) => now,
        Err(over) => return Ok(Execution::Row(join(opened, over))),
    };
    let mut outcome = opened.unwrap_or_else(|| job.outcome_at(sent_at));
    job.exchange(&mut outcome);
    let is_of_use = spec.matching.others_read || unmatched == Unmatched::Keep;
    sort_out_early(job, &mut reply.filters, is_of_use);
    reply.since = Some(sent_at);
    let sent = job.send(&mut outcome, kind.opcode(), &bytes, &mut reply, write_timeout).await;
    if let Err(failure) = sent {
        reply.finish(job, &mut outcome);
        // Part of the frame may be on its way: its reply could still come.
        remember(job, reply.matcher, sent_at, late_replies);
        return Ok(Execution::Row(outcome.failed(failure, clock::now())));
    }
    let deadline = job.connections.recent() + read_timeout;
    let ended = job
        .connections
        .wait(job.id, &mut reply, deadline, AtEnd::Finish, |slot, reply| {
            reply.taken.is_some() || !slot.is_open()
        })
        .await;
    if let Some(message) = reply.finish(job, &mut outcome) {
        take::receive(&mut outcome, message, expect, Some(kind));
        return Ok(Execution::Row(outcome));
    }
    if reply.for_close && ended == Ended::Done {
        return Ok(Execution::Row(take::lost(job, outcome, expect)));
    }
    let failure = job.no_answer(ended, "no reply came within `read_timeout`", &reply.passed_over());
    remember(job, reply.matcher, sent_at, late_replies);
    Ok(Execution::Row(outcome.failed(failure, clock::now())))
}

/// A sample that failed after it had opened its connection, if it has one of its own.
fn join(opened: Option<Outcome>, mut over: Outcome) -> Outcome {
    match (opened, over.failure.take()) {
        (Some(opened), Some(failure)) => opened.failed(failure, over.end),
        (_, failure) => {
            over.failure = failure;
            over
        }
    }
}

/// Messages that are already there cannot be replies; what no filter discards stays for reading
/// samplers, if there are any.
fn sort_out_early(job: &mut Job<'_, '_>, filters: &mut Filters<'_>, is_of_use: bool) {
    let label = job.label;
    let Some(connection) = &mut job.slot().connection else { return };
    filters.sweep(connection);
    let count = connection.inbox().count_early();
    if count > 0 {
        if !is_of_use {
            connection.inbox().clear();
        }
        job.note(&Note::Early { label, count });
    }
}

/// Should the request's reply come later, it must not be taken for another's.
fn remember<'p>(
    job: &mut Job<'_, 'p>,
    matcher: Option<Rc<Matcher<'p>>>,
    sent: Instant,
    late_replies: LateReplies,
) {
    let request = Request { label: job.label.into(), sent };
    let attribution = job.slot().attribution.get_or_insert_default();
    if let Some(label) = attribution.remember(matcher, request, late_replies) {
        job.note(&Note::Unanswered { label: &label });
    }
}

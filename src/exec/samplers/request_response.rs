//! `request_response`: sends a message and waits for its reply.

use crate::clock;
use crate::exec::filter::Filters;
use crate::exec::outcome::{Execution, Failure, Outcome};
use crate::exec::samplers::job::Job;
use crate::exec::samplers::payload;
use crate::exec::samplers::take::{self, Take};
use crate::exec::wait::{AtEnd, Ended};
use crate::program;
use crate::sample::{Code, Note};

pub(crate) async fn run(
    job: &mut Job<'_>,
    spec: &program::RequestResponse,
) -> Result<Execution, Failure> {
    if let Some(refusal) = job.refusal() {
        return Ok(refusal);
    }
    if job.slot().out_of_sync {
        return Ok(Execution::Skipped(Code::OutOfSync));
    }
    let (read_timeout, write_timeout) = job.timeouts()?;
    let expect = job.scope.value(&spec.expect)?;
    let (kind, bytes) = payload::evaluate(job.scope, &spec.payload)?;
    let mut filters = job.filters()?;
    job.catch_up(write_timeout).await;
    let mut outcome = job.outcome();
    job.exchange(&mut outcome);
    sort_out_early(job, &mut filters);
    let mut reply = Take::since(outcome.start, filters);
    let sent = job.send(&mut outcome, kind.opcode(), &bytes, &mut reply, write_timeout).await;
    if let Err(failure) = sent {
        reply.finish(job, &mut outcome);
        // Part of the frame may be on its way: its reply could still come.
        job.slot().out_of_sync = true;
        return Ok(Execution::Row(outcome.failed(failure, clock::now())));
    }
    let deadline = clock::now() + read_timeout;
    let ended = job
        .connections
        .wait(job.id, &mut reply, deadline, AtEnd::Finish, |slot, reply| {
            reply.taken.is_some() || !slot.is_open()
        })
        .await;
    if let Some(message) = reply.finish(job, &mut outcome) {
        return Ok(Execution::Row(take::receive(outcome, message, expect, Some(kind))));
    }
    Ok(Execution::Row(unanswered(job, outcome, ended)))
}

/// Messages that are already there cannot be replies; what no filter discards stays for reading
/// samplers.
fn sort_out_early(job: &mut Job<'_>, filters: &mut Filters<'_>) {
    let label = job.label;
    let Some(connection) = &mut job.slot().connection else { return };
    filters.sweep(connection);
    let count = connection.inbox().count_early();
    if count > 0 {
        job.note(&Note::Early { label, count });
    }
}

/// The request's reply did not come; should it come later, it must not be taken for another's.
fn unanswered(job: &mut Job<'_>, outcome: Outcome, ended: Ended) -> Outcome {
    let end = clock::now();
    job.note(&Note::Unanswered { label: job.label });
    job.slot().out_of_sync = true;
    let failure = job.no_answer(ended, "no reply came within `read_timeout`");
    outcome.failed(failure, end)
}

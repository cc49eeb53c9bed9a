//! `ping_pong`: sends a ping and waits for its pong, or sends an unsolicited pong.

use std::borrow::Cow;
use std::time::Instant;

use crate::clock;
use crate::exec::outcome::{Execution, Failure};
use crate::exec::samplers::job::Job;
use crate::exec::samplers::take::Came;
use crate::exec::wait::AtEnd;
use crate::program::{self, PingKind};
use crate::sample::Code;
use crate::ws::{Frame, Message, Observer, Opcode};

/// The longest payload of a control frame (RFC 6455 5.5).
const MAX_CONTROL: usize = 125;

pub(crate) async fn run(
    job: &mut Job<'_, '_>,
    spec: &program::PingPong,
) -> Result<Execution, Failure> {
    if let Some(refusal) = job.refusal() {
        return Ok(refusal);
    }
    let (read_timeout, write_timeout) = job.timeouts()?;
    let kind = job.scope.value(&spec.kind)?;
    let payload = match &spec.payload {
        Some(template) => job.scope.text(template)?,
        // A pong for an earlier ping must not pass for this one's.
        None => Cow::Owned(format!("{:016x}", rand::random::<u64>())),
    };
    if payload.len() > MAX_CONTROL {
        let text =
            format!("the payload has {} bytes, and a ping carries at most 125", payload.len());
        return Err(Failure::new(Code::BadValue, text, "a payload is longer than 125 bytes"));
    }
    if kind == PingKind::Pong {
        let outcome = job.outcome();
        return Ok(job.send_only(outcome, Opcode::Pong, payload.as_bytes(), write_timeout).await);
    }
    if job.slot().unanswered_pings.contains(payload.as_bytes()) {
        return Ok(Execution::Skipped(Code::OutOfSync));
    }
    let now = match job.catch_up(write_timeout).await {
        Ok(now) => now,
        Err(outcome) => return Ok(Execution::Row(outcome)),
    };
    let mut outcome = job.outcome_at(now);
    job.exchange(&mut outcome);
    let mut pong = AwaitPong { payload: payload.as_bytes(), since: outcome.start, came: None };
    let sent =
        job.send(&mut outcome, Opcode::Ping, payload.as_bytes(), &mut pong, write_timeout).await;
    if let Err(failure) = sent {
        remember(job, spec, &payload);
        return Ok(Execution::Row(outcome.failed(failure, clock::now())));
    }
    let deadline = clock::now() + read_timeout;
    let ended = job
        .connections
        .wait(job.id, &mut pong, deadline, AtEnd::Finish, |slot, pong| {
            pong.came.is_some() || !slot.is_open()
        })
        .await;
    if let Some(came) = pong.came {
        came.fill(&mut outcome);
        return Ok(Execution::Row(outcome));
    }
    remember(job, spec, &payload);
    let end = clock::now();
    let failure = job.no_answer(ended, "no pong came within `read_timeout`", "");
    Ok(Execution::Row(outcome.failed(failure, end)))
}

/// The pong may still come, and pass for that of a ping with the same payload: one that the plan
/// gives, for ours are unique.
fn remember(job: &mut Job<'_, '_>, spec: &program::PingPong, payload: &str) {
    if spec.payload.is_some() {
        job.slot().unanswered_pings.remember(payload.as_bytes());
    }
}

/// Waits for the pong with this payload; messages go to the inbox.
struct AwaitPong<'p> {
    payload: &'p [u8],
    /// A pong that began before this answers no ping that was sent then.
    since: Instant,
    came: Option<Came>,
}

impl Observer for AwaitPong<'_> {
    fn is_waiting(&self) -> bool {
        self.came.is_none()
    }

    fn message(&mut self, message: Message) -> Option<Message> {
        Some(message)
    }

    fn control(&mut self, frame: &Frame, arrived: Instant) -> bool {
        let fits = frame.opcode == Opcode::Pong && frame.payload == self.payload;
        let awaited = self.came.is_none() && fits && frame.first_byte >= self.since;
        if awaited {
            self.came = Some(Came::of(frame, arrived));
        }
        awaited
    }
}

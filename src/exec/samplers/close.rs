//! `close`: the closing handshake (RFC 6455 7.1), and the closing of what a thread leaves open.

use std::time::{Duration, Instant};

use crate::clock;
use crate::exec::connections::{Connections, SlotId};
use crate::exec::outcome::{Execution, Failure, Outcome};
use crate::exec::samplers::job::{Job, interrupted};
use crate::exec::samplers::take::Came;
use crate::exec::stop::Level;
use crate::exec::wait::{AtEnd, Ended};
use crate::program;
use crate::sample::{Code, DataType};
use crate::ws::{CloseFrame, Frame, MAX_REASON, Message, NO_STATUS, Observer, Opcode, may_be_sent};

/// How long a peer has to answer a close that no step waits for.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);

pub(crate) async fn run(
    job: &mut Job<'_, '_>,
    spec: &program::Close,
) -> Result<Execution, Failure> {
    if let Some(refusal) = job.refusal() {
        return Ok(refusal);
    }
    let (read_timeout, write_timeout) = job.timeouts()?;
    let close = frame(job, spec)?;
    let mut passing = Vec::with_capacity(spec.expect_status.len());
    for status in &spec.expect_status {
        passing.push(job.scope.value(status)?);
    }
    if passing.is_empty() {
        passing = vec![1000, 1001, close.code, NO_STATUS];
    }
    let outcome = exchange(job, &close, read_timeout, write_timeout).await;
    // Whatever came of it, the step has closed the connection.
    job.connections.discard(job.id);
    Ok(Execution::Row(judge(outcome, &passing)))
}

fn frame(job: &mut Job<'_, '_>, spec: &program::Close) -> Result<CloseFrame, Failure> {
    let code = job.scope.value(&spec.status)?;
    let reason = job.scope.text(&spec.reason)?.into_owned();
    let bad = |what: String| Failure::new(Code::BadValue, what, "bad close status or reason");
    if !may_be_sent(code) {
        return Err(bad(format!("close status {code} must not be sent (RFC 6455 7.4)")));
    }
    if reason.len() > MAX_REASON {
        return Err(bad(format!(
            "the reason has {} bytes, and a close frame carries at most {MAX_REASON}",
            reason.len()
        )));
    }
    Ok(CloseFrame { code, reason })
}

async fn exchange(
    job: &mut Job<'_, '_>,
    close: &CloseFrame,
    read_timeout: Duration,
    write_timeout: Duration,
) -> Outcome {
    let mut outcome = job.outcome();
    let mut answer = AwaitClose::default();
    let sent =
        job.send(&mut outcome, Opcode::Close, &close.payload(), &mut answer, write_timeout).await;
    let ended = match sent {
        Ok(()) => {
            let deadline = clock::now() + read_timeout;
            job.connections
                .wait(job.id, &mut answer, deadline, AtEnd::Finish, |slot, _| !slot.is_open())
                .await
        }
        // The peer may have closed while our frame waited for the kernel.
        Err(_) if !job.slot().is_open() => Ended::Done,
        Err(failure) => return outcome.failed(failure, clock::now()),
    };
    let end = clock::now();
    let failure = match ended {
        Ended::Done => {
            let failure = job.slot().meet_loss();
            let Some(code) = job.slot().close_code() else {
                return outcome.failed(failure, end);
            };
            if let Some(came) = answer.came {
                came.fill(&mut outcome);
            }
            outcome.code = Code::Number(code);
            outcome.data_type = DataType::Text;
            return outcome;
        }
        Ended::TimedOut => job.timed_out("no close frame came within `read_timeout`", ""),
        Ended::Cut | Ended::Interrupted => interrupted(),
    };
    outcome.failed(failure, end)
}

/// An answer passes if its code is among those expected.
fn judge(outcome: Outcome, passing: &[u16]) -> Outcome {
    let Code::Number(code) = outcome.code else { return outcome };
    if outcome.failure.is_some() || passing.contains(&code) {
        return outcome;
    }
    let wanted: Vec<String> = passing.iter().map(u16::to_string).collect();
    let text = format!("the peer answered with {code}, not with one of {}", wanted.join(", "));
    let end = outcome.end;
    outcome.failed(Failure::plain(Code::Number(code), &text), end)
}

/// Waits for the close frame; messages are of no use to anyone any more.
#[derive(Debug, Default)]
struct AwaitClose {
    came: Option<Came>,
}

impl Observer for AwaitClose {
    fn is_waiting(&self) -> bool {
        true
    }

    fn message(&mut self, _: Message) -> Option<Message> {
        None
    }

    fn control(&mut self, frame: &Frame, arrived: Instant) -> bool {
        if frame.opcode == Opcode::Close {
            self.came = Some(Came::of(frame, arrived));
        }
        true
    }
}

/// Closes a connection before its name is used again, or does nothing if it is not open.
pub(crate) async fn close_one(connections: &mut Connections<'_>, id: SlotId) {
    connections.pump_once().await;
    close_these(connections, &[id]).await;
}

/// Closes everything a thread leaves open; no rows.
pub(crate) async fn close_all(connections: &mut Connections<'_>) {
    connections.pump_once().await;
    let all: Vec<SlotId> = connections.ids().collect();
    close_these(connections, &all).await;
}

async fn close_these(connections: &mut Connections<'_>, ids: &[SlotId]) {
    let mut closing = Vec::new();
    let payload = CloseFrame { code: 1000, reason: String::new() }.payload();
    let mut scratch = Vec::new();
    for &id in ids {
        let slot = connections.get_mut(id);
        if slot.is_open()
            && let Some(connection) = &mut slot.connection
        {
            connection.send(Opcode::Close, &payload, &mut scratch);
            slot.begin_closing();
            closing.push(id);
        }
    }
    if !closing.is_empty() && connections.worker.level() != Level::Now {
        connections.wait_for_closes(&closing, clock::now() + CLOSE_PATIENCE).await;
    }
    for &id in &closing {
        // What ended it now is our own close, not a loss that came over it while idle.
        connections.get_mut(id).expect_loss();
    }
    for &id in ids {
        connections.discard(id);
    }
}

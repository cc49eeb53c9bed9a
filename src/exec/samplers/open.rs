//! `open`: connects and upgrades; so does a sampler with `connect` before it does anything else.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use crate::clock;
use crate::exec::asking::Asking;
use crate::exec::assertion;
use crate::exec::connections::{Connections, SlotId};
use crate::exec::evaluate::{Scope, bad_value};
use crate::exec::heartbeat::Heartbeat;
use crate::exec::outcome::{Execution, Failure, Outcome, refused};
use crate::exec::samplers::close::close_one;
use crate::exec::samplers::job::{Job, interrupted, nonzero};
use crate::exec::samplers::journey::Journey;
use crate::exec::securing::Securing;
use crate::exec::wait::Ended;
use crate::net::{self, DialError, TlsPhase, Url};
use crate::program::{self, BadValue, Fragments, IfOpen, Pings, WhenFull, subprotocol};
use crate::sample::{Code, Note, Phases, TlsHandshake};
use crate::ws::{
    ConnectError, ConnectFailure, Connected, Connection, FrameRules, InboxBounds, Limits, Overflow,
    Refusal,
};

pub(crate) async fn run<'p>(
    job: &mut Job<'_, 'p>,
    spec: &'p program::Open,
) -> Result<Execution, Failure> {
    if job.scope.value(&spec.if_open)? == IfOpen::Keep && job.slot().is_in_sync() {
        return Ok(Execution::Kept);
    }
    Ok(match open(job, spec).await? {
        Ok(opened) => Execution::Row(opened),
        Err(over) => over,
    })
}

/// Opens the connection, for an `open` or for another sampler that begins so: its outcome so far; or,
/// where there is no connection, what came of the sampler. Fails, and nothing was sent, where a
/// setting cannot be evaluated.
pub(crate) async fn open<'p>(
    job: &mut Job<'_, 'p>,
    spec: &'p program::Open,
) -> Result<Result<Outcome, Execution>, Failure> {
    if let Some(wait) = backoff(job, spec)?
        && job.connections.pause_until(clock::now() + wait).await != Ended::Done
    {
        return Ok(Err(Execution::Cut));
    }
    let attempt = evaluate(job, spec)?;
    let heartbeat = Heartbeat::evaluate(job.scope, &spec.heartbeat, clock::now())?;
    let mut shown = shown_url(job, &attempt.url);
    // An open connection of this name is closed first, before timing starts.
    close_one(job.connections, job.id).await;
    let mut outcome = Outcome::begun(clock::now());
    let first = attempt.url.clone();
    let Attempt { url, securing, asking, subprotocols, timeout, limits } = attempt;
    let (deadline, tap) = (outcome.start + timeout, job.tap());
    let jar = std::mem::take(&mut job.scope.cookies);
    let journey = Journey { url, securing, asking, subprotocols, limits, deadline, tap, jar };
    let mut refusal = None;
    let failure = match job.connections.drive(Box::pin(journey.travel())).await {
        Some(mut arrival) => {
            arrival.hide(job.scope);
            if arrival.url != first {
                shown = shown_url(job, &arrival.url);
            }
            job.scope.cookies = std::mem::take(&mut arrival.jar);
            let (received, sent) = arrival.before;
            match arrival.result {
                Ok(connected) => {
                    outcome.url = Some(Rc::clone(&shown));
                    let connection = accepted(job, &mut outcome, connected, (received, sent));
                    job.connections.opened(job.id, connection, shown, heartbeat);
                    return Ok(Ok(outcome));
                }
                Err(mut failure) => {
                    outcome.bytes = received + failure.bytes;
                    outcome.sent_bytes = sent + failure.sent_bytes;
                    refusal = failure.refusal.take();
                    describe(&failure, refusal.as_deref(), arrival.why.as_deref())
                }
            }
        }
        None => interrupted(),
    };
    outcome.url = Some(Rc::clone(&shown));
    let (received_bytes, sent_bytes) = (outcome.bytes, outcome.sent_bytes);
    job.note(&Note::OpenFailed { received_bytes, sent_bytes });
    job.connections.open_failed(job.id, Some(shown), failure.clone());
    let slot = job.slot();
    slot.failed_attempts = slot.failed_attempts.saturating_add(1);
    let end = refusal.as_ref().map_or_else(clock::now, |refusal| refusal.done);
    outcome.connect = end - outcome.start;
    let mut outcome = outcome.failed(failure, end);
    if let Some(refusal) = refusal {
        outcome.answered(refusal.head, refusal.body, end);
        if assertion::expect_status(job.scope, &job.sampler.assertions, &outcome) {
            outcome.failure = None;
        }
    }
    Ok(Err(Execution::Row(outcome)))
}

/// Takes down what an accepted upgrade tells; `before`: bytes received and sent before it.
fn accepted(
    job: &Job<'_, '_>,
    outcome: &mut Outcome,
    connected: Connected,
    before: (u64, u64),
) -> Connection {
    job.note(&Note::Opened { phases: phases(&connected) });
    outcome.code = Code::SWITCHING_PROTOCOLS;
    outcome.end = connected.done;
    outcome.connect = connected.done - outcome.start;
    outcome.bytes = before.0 + connected.bytes;
    outcome.sent_bytes = before.1 + connected.sent_bytes;
    outcome.head = Some(connected.head.into());
    connected.connection
}

/// The address without secrets, as rows show it. Now: variables may have other values when a later
/// row shows it. And by value first: a secret may hold what separates the parameters of a query.
fn shown_url(job: &Job<'_, '_>, url: &Url) -> Rc<str> {
    shown_address(job.scope, job.connections, &url.uri.to_string())
}

/// An address without secrets.
pub(crate) fn shown_address(
    scope: &Scope,
    connections: &Connections<'_>,
    address: &str,
) -> Rc<str> {
    if scope.shared.program.show_secrets {
        connections.worker.shared_text(address)
    } else {
        let shown = net::shown(&scope.shown(address.into()));
        connections.worker.shared_text(&shown)
    }
}

fn phases(connected: &Connected) -> Phases {
    let Connected { dns, tcp, tls, upgrade, .. } = *connected;
    let tls = tls.map(|TlsPhase { time, resumed }| TlsHandshake { time, resumed });
    Phases { dns, tcp, tls, upgrade }
}

/// How long to wait before the next attempt, if an earlier one failed.
fn backoff(job: &mut Job<'_, '_>, spec: &program::Open) -> Result<Option<Duration>, Failure> {
    let failed = job.slot().failed_attempts;
    let Some(backoff) = spec.backoff.as_ref().filter(|_| failed > 0) else { return Ok(None) };
    let first = nonzero(job.scope.value(&backoff.first)?, "first")?;
    let max = nonzero(job.scope.value(&backoff.max)?, "max")?;
    Ok(Some(wait_after(failed, first, max)))
}

/// The wait after so many failed attempts, at least one: each is twice the one before.
fn wait_after(failed: u32, first: Duration, max: Duration) -> Duration {
    let doubled = 1_u32.checked_shl(failed.saturating_sub(1)).unwrap_or(u32::MAX);
    first.saturating_mul(doubled).min(max)
}

/// An `open` cannot be tried: its connection would have been another than one that is open now, so
/// that one is closed, and what needs it is skipped too.
pub(crate) async fn give_up(connections: &mut Connections<'_>, id: SlotId, failure: Failure) {
    close_one(connections, id).await;
    connections.open_failed(id, None, failure);
}

/// Everything evaluated, nothing sent.
struct Attempt {
    url: Url,
    securing: Option<Securing>,
    asking: Asking,
    subprotocols: Vec<(String, bool)>,
    timeout: Duration,
    limits: Limits,
}

fn evaluate(job: &mut Job<'_, '_>, spec: &program::Open) -> Result<Attempt, Failure> {
    let scope = &mut *job.scope;
    let url = scope.text(&spec.url)?;
    let path = spec.path.as_ref().map(|path| scope.text(path)).transpose()?;
    let url = Url::parse(&url, path.as_deref())
        .map_err(|error| bad_value(&error.what, &spec.url.source))?;
    let asking = Asking::evaluate(scope, &spec.head, &url)?;
    let securing = Securing::evaluate(scope, job.connections, spec.tls.as_deref(), &url, &asking)?;
    if url.uri.query().is_some_and(|query| query.split('&').any(net::is_secret)) {
        scope.hide(|secrets| secrets.remember_url(&url.uri.to_string()));
    }
    let timeout = nonzero(scope.value(&spec.connect_timeout)?, "connect_timeout")?;
    let inbox = InboxBounds {
        messages: scope.value(&spec.inbox.messages)?.max(1),
        bytes: scope.value(&spec.inbox.bytes)?.0,
        overflow: match scope.value(&spec.inbox.when_full)? {
            WhenFull::DropOldest => Overflow::DropOldest,
            WhenFull::Wait => Overflow::Wait,
            WhenFull::Fail => Overflow::Fail,
        },
    };
    let max_message_size = scope.value(&spec.max_message_size)?.0;
    let limits = Limits { max_message_size, inbox, frames: frame_rules(scope, spec)? };
    let subprotocols = subprotocols(scope, spec)?
        .into_iter()
        .map(|name| {
            let is_secret = scope.is_secret(&name);
            (name, is_secret)
        })
        .collect();
    Ok(Attempt { url, securing, asking, subprotocols, timeout, limits })
}

/// The subprotocols to offer; constants are checked when the plan is read.
fn subprotocols(scope: &mut Scope, spec: &program::Open) -> Result<Vec<String>, Failure> {
    let mut offered: Vec<String> = Vec::with_capacity(spec.subprotocols.len());
    for template in &spec.subprotocols {
        let name = scope.text(template)?.into_owned();
        let bad = |bad: BadValue| bad_value(&bad.what, &template.source);
        subprotocol(&name).map_err(bad)?;
        if offered.contains(&name) {
            return Err(bad(BadValue::new(format!("`{name}` is offered twice"))));
        }
        offered.push(name);
    }
    Ok(offered)
}

fn frame_rules(scope: &mut Scope, spec: &program::Open) -> Result<FrameRules, Failure> {
    let pings = scope.value(&spec.pings)?;
    Ok(FrameRules {
        answer_pings: match pings {
            Pings::Answer => true,
            Pings::Ignore => false,
            Pings::Deliver => scope.value(&spec.answer_pings)?,
        },
        deliver_pings: pings == Pings::Deliver,
        deliver_fragments: scope.value(&spec.fragments)? == Fragments::Deliver,
    })
}

/// What the operating system said; where it means this machine and not the server, that too.
fn os_error(source: &io::Error) -> String {
    /// Too many open files in the whole machine; the same number on every Unix.
    const ENFILE: i32 = 23;
    /// Too many open files in this process.
    const EMFILE: i32 = 24;
    if matches!(source.raw_os_error(), Some(EMFILE | ENFILE)) {
        format!("{source}; this machine allows no more: raise `ulimit -n`")
    } else if source.kind() == io::ErrorKind::AddrNotAvailable {
        format!("{source}; this machine has no free port left for that server")
    } else {
        source.to_string()
    }
}

/// How a failed attempt reads in its row. `why`: a redirect was not followed.
fn describe(failure: &ConnectFailure, refusal: Option<&Refusal>, why: Option<&str>) -> Failure {
    if let (ConnectError::Refused { status, line }, Some(refusal)) = (&failure.error, refusal) {
        let cause = match why {
            Some(_) => "the server redirects the upgrade too often, or to where it cannot go",
            None => "the server refused the upgrade",
        };
        let text = refused(line, why, &refusal.body);
        return Failure::new(Code::Number(*status), text, cause);
    }
    let (code, cause) = match &failure.error {
        ConnectError::Dial(error) => return dial_failure(error),
        ConnectError::Timeout { .. } => {
            (Code::ConnectTimeout, "no complete answer to the upgrade in time")
        }
        ConnectError::Disconnected { .. } => {
            (Code::Disconnected, "the connection ended during the upgrade")
        }
        ConnectError::Refused { status, .. } => {
            (Code::Number(*status), "the server refused the upgrade")
        }
        ConnectError::Invalid { .. } => {
            (Code::Upgrade, "the answer to the upgrade does not conform")
        }
    };
    Failure::new(code, failure.error.to_string(), cause)
}

/// How it reads that a server was not reached.
pub(crate) fn dial_failure(error: &DialError) -> Failure {
    match error {
        DialError::Dns { source, .. } => {
            let text = format!("{error}: {}", os_error(source));
            Failure::new(Code::Dns, text, "the name was not resolved")
        }
        DialError::Refused { source, .. } => {
            let source = os_error(source);
            let text = format!("{error}: {source}");
            Failure::new(Code::ConnectRefused, text, format!("failed to connect: {source}"))
        }
        DialError::Tls(tls) => Failure::new(Code::Tls, error.to_string(), tls.cause.as_str()),
        DialError::Timeout { .. } => {
            Failure::new(Code::ConnectTimeout, error.to_string(), "no connection in time")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_is_twice_the_one_before_up_to_the_longest() {
        let (first, max) = (Duration::from_millis(100), Duration::from_secs(1));
        let waits: Vec<u128> =
            (1..=6).map(|failed| wait_after(failed, first, max).as_millis()).collect();
        assert_eq!(waits, [100, 200, 400, 800, 1_000, 1_000]);
        assert_eq!(wait_after(u32::MAX, first, max), max);
        assert_eq!(wait_after(32, Duration::MAX, Duration::MAX), Duration::MAX);
    }
}

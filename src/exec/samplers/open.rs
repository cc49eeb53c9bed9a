//! `open`: connects and upgrades; so does a sampler with `connect` before it does anything else.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use crate::clock;
use crate::exec::connections::{Connections, SlotId};
use crate::exec::evaluate::{Scope, bad_value};
use crate::exec::heartbeat::Heartbeat;
use crate::exec::outcome::{Execution, Failure, Outcome};
use crate::exec::samplers::close::close_one;
use crate::exec::samplers::job::{Job, interrupted, nonzero};
use crate::exec::wait::Ended;
use crate::net::{self, DialError, Url};
use crate::program::{
    self, BadValue, Fragments, IfOpen, Pings, WhenFull, is_secret_header, subprotocol,
};
use crate::sample::{Code, Note, Phases};
use crate::ws::{
    Asked, ConnectError, ConnectFailure, FrameRules, InboxBounds, Limits, Overflow, connect,
};

pub(crate) async fn run<'p>(
    job: &mut Job<'_, 'p>,
    spec: &'p program::Open,
) -> Result<Execution, Failure> {
    if job.scope.value(&spec.if_open)? == IfOpen::Keep && job.slot().is_in_sync() {
        return Ok(Execution::Kept);
    }
    Ok(match open(job, spec).await? {
        Ok(opened) => Execution::Row(*opened),
        Err(over) => *over,
    })
}

/// Opens the connection, for an `open` or for another sampler that begins so: its outcome so far; or,
/// where there is no connection, what came of the sampler. Fails, and nothing was sent, where a
/// setting cannot be evaluated.
pub(crate) async fn open<'p>(
    job: &mut Job<'_, 'p>,
    spec: &'p program::Open,
) -> Result<Result<Box<Outcome>, Box<Execution>>, Failure> {
    if let Some(wait) = backoff(job, spec)?
        && job.connections.pause_until(clock::now() + wait).await != Ended::Done
    {
        return Ok(Err(Box::new(Execution::Cut)));
    }
    let attempt = evaluate(job, spec)?;
    let heartbeat = Heartbeat::evaluate(job.scope, &spec.heartbeat, clock::now())?;
    let shown = if job.scope.shared.program.show_secrets {
        attempt.url.uri.to_string()
    } else {
        // Now: variables may have other values when a later row shows it. And by value first: a
        // secret may hold what separates the parameters of a query.
        net::shown(&job.scope.shown(attempt.url.uri.to_string().into()))
    };
    let shown = job.connections.worker.shared_text(&shown);
    // An open connection of this name is closed first, before timing starts.
    close_one(job.connections, job.id).await;
    let mut outcome = Box::new(Outcome::begun(clock::now()));
    outcome.url = Some(Rc::clone(&shown));
    let deadline = outcome.start + attempt.timeout;
    let tap = job.tap();
    let connecting = Box::pin(async move {
        connect(&attempt.url, &attempt.asked, attempt.limits, deadline, tap).await
    });
    let failure = match job.connections.drive(connecting).await {
        Some(Ok(connected)) => {
            let phases =
                Phases { dns: connected.dns, tcp: connected.tcp, upgrade: connected.upgrade };
            job.note(&Note::Opened { phases });
            outcome.code = Code::SWITCHING_PROTOCOLS;
            outcome.end = connected.done;
            outcome.connect = connected.done - outcome.start;
            outcome.bytes = connected.bytes;
            outcome.sent_bytes = connected.sent_bytes;
            outcome.head = Some(connected.head.into());
            job.connections.opened(job.id, connected.connection, shown, heartbeat);
            return Ok(Ok(outcome));
        }
        Some(Err(failure)) => {
            outcome.bytes = failure.bytes;
            outcome.sent_bytes = failure.sent_bytes;
            describe(&failure)
        }
        None => interrupted(),
    };
    let (received_bytes, sent_bytes) = (outcome.bytes, outcome.sent_bytes);
    job.note(&Note::OpenFailed { received_bytes, sent_bytes });
    job.connections.open_failed(job.id, Some(shown), failure.clone());
    let slot = job.slot();
    slot.failed_attempts = slot.failed_attempts.saturating_add(1);
    let end = clock::now();
    outcome.connect = end - outcome.start;
    Ok(Err(Box::new(Execution::Row(outcome.failed(failure, end)))))
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
    asked: Asked,
    timeout: Duration,
    limits: Limits,
}

fn evaluate(job: &mut Job<'_, '_>, spec: &program::Open) -> Result<Attempt, Failure> {
    let scope = &mut *job.scope;
    let url = scope.text(&spec.url)?;
    let path = spec.path.as_ref().map(|path| scope.text(path)).transpose()?;
    let url = Url::parse(&url, path.as_deref())
        .map_err(|error| bad_value(&error.what, &spec.url.source))?;
    let mut headers = Vec::with_capacity(spec.headers.len());
    for header in &spec.headers {
        headers.push((header.name.clone(), scope.text(&header.value)?.into_owned()));
    }
    for (name, value) in headers.iter().filter(|(name, _)| is_secret_header(name)) {
        scope.hide(|secrets| secrets.remember_header(name, value));
    }
    if url.uri.query().is_some_and(|query| query.split('&').any(net::is_secret)) {
        scope.hide(|secrets| secrets.remember_query(&url.uri.to_string()));
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
    let asked = Asked { headers, subprotocols: subprotocols(scope, spec)? };
    Ok(Attempt { url, asked, timeout, limits })
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

/// How a failed attempt reads in its row.
fn describe(failure: &ConnectFailure) -> Failure {
    let text = match &failure.error {
        ConnectError::Dial(DialError::Dns { source, .. } | DialError::Refused { source, .. }) => {
            format!("{}: {}", failure.error, os_error(source))
        }
        error => error.to_string(),
    };
    let (code, cause) = match &failure.error {
        ConnectError::Dial(DialError::Dns { .. }) => (Code::Dns, "the name was not resolved"),
        ConnectError::Dial(DialError::Refused { source, .. }) => {
            return Failure::new(
                Code::ConnectRefused,
                text,
                format!("failed to connect: {}", os_error(source)),
            );
        }
        ConnectError::Dial(DialError::Timeout { .. }) => {
            (Code::ConnectTimeout, "no connection in time")
        }
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
    Failure::new(code, text, cause)
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

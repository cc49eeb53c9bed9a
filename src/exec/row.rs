//! From an outcome to the row that reports it.

use std::borrow::Cow;
use std::time::Duration;

use crate::exec::outcome::{Outcome, message_of};
use crate::exec::worker::Worker;
use crate::sample::Sample;

/// Who the row belongs to.
pub(crate) struct Whose<'a> {
    pub(crate) label: &'a str,
    pub(crate) thread: &'a str,
    pub(crate) group: usize,
    pub(crate) url: &'a str,
    /// The values of the plan's `sample_variables`.
    pub(crate) variables: &'a [Option<Cow<'a, str>>],
    /// Whether the sampler was opening its connection: its codes are HTTP's.
    pub(crate) opening: bool,
}

/// Hands the row to the worker's sink.
pub(crate) fn emit(worker: &Worker, whose: &Whose<'_>, outcome: &Outcome) {
    let (group_threads, all_threads) = worker.shared.active(whose.group);
    let elapsed = outcome.elapsed();
    let failure = outcome.failure.as_ref();
    let fixed = message_of(outcome.code, whose.opening);
    // An assertion that failed leaves the code, and JMeter's dashboard then shows its text only if
    // it stands in the message.
    let message = match failure {
        Some(failure)
            if outcome.failed_assertion && !outcome.code.dashboard_shows_failure_message() =>
        {
            &failure.text
        }
        _ => fixed,
    };
    let latency = outcome
        .first_byte
        .map_or(Duration::ZERO, |first| first.saturating_duration_since(outcome.start));
    worker.sample(&Sample {
        label: whose.label,
        start: outcome.start,
        elapsed,
        connect: outcome.connect,
        latency: latency.min(elapsed),
        idle: outcome.idle,
        code: outcome.code,
        message,
        failure_message: failure.map_or("", |failure| &failure.text),
        cause: failure.map_or("", |failure| &failure.cause),
        success: failure.is_none(),
        data_type: outcome.data_type,
        bytes: outcome.bytes,
        sent_bytes: outcome.sent_bytes,
        thread: whose.thread,
        group_threads,
        all_threads,
        url: whose.url,
        variables: whose.variables,
        first_exchange: outcome.first_exchange,
    });
}

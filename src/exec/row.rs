//! From an outcome to the row that reports it.

use std::borrow::Cow;
use std::time::Duration;

use crate::clock;
use crate::exec::outcome::{Outcome, message_of};
use crate::exec::transaction::{Ended, Transaction};
use crate::exec::worker::Worker;
use crate::sample::{Code, DataType, Delay, Note, Sample};

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
    /// How much later than intended it began, if a schedule says when.
    pub(crate) delay: Option<Delay>,
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
    worker.sample(&Sample {
        label: whose.label,
        start: outcome.start,
        elapsed,
        connect: outcome.connect,
        latency: outcome.latency(elapsed),
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
        delay: whose.delay,
        transaction: false,
    });
}

/// Hands the row of a transaction that ended now to the worker's sink; none if nothing ran in it.
/// `paused`: what its thread has paused in all so far.
pub(crate) fn emit_transaction(
    worker: &Worker,
    whose: &Whose<'_>,
    transaction: &Transaction,
    ended: Ended,
    paused: Duration,
) {
    if transaction.samples == 0 {
        return;
    }
    if ended == Ended::Cut {
        worker.note(&Note::CutTransaction { label: whose.label });
        return;
    }
    let (group_threads, all_threads) = worker.shared.active(whose.group);
    let wall = clock::now().saturating_duration_since(transaction.start);
    let idle = if transaction.include_pauses {
        Duration::ZERO
    } else {
        paused.saturating_sub(transaction.paused).min(wall)
    };
    let elapsed = wall.saturating_sub(idle);
    let failure = transaction.failure(ended);
    let failure = failure.as_deref().unwrap_or_default();
    worker.sample(&Sample {
        label: whose.label,
        start: transaction.start,
        elapsed,
        connect: transaction.connect.min(elapsed),
        latency: transaction.latency.min(elapsed),
        idle,
        code: transaction.code.unwrap_or(Code::OK),
        message: &transaction.message(),
        failure_message: failure,
        cause: failure,
        success: failure.is_empty(),
        data_type: DataType::None,
        bytes: transaction.bytes,
        sent_bytes: transaction.sent_bytes,
        thread: whose.thread,
        group_threads,
        all_threads,
        url: whose.url,
        variables: whose.variables,
        first_exchange: false,
        delay: None,
        transaction: true,
    });
}

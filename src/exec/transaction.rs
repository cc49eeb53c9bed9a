//! The row of a `transaction`: JMeter's, without its traps.
//!
//! It follows the rows of the samplers within it and sums them up. As in JMeter's Transaction
//! Controller (not in its "parent" mode), bytes, Latency and Connect are sums, the time of pauses is
//! idle time, the URL is unknown, and the rows of transactions within it are not counted, only their
//! samplers'. Unlike there, a skipped sampler or an early end fails it, and one that ran nothing has
//! no row.

use std::time::{Duration, Instant};

use crate::exec::outcome::Outcome;
use crate::sample::Code;

/// How a transaction came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With its last step.
    Whole,
    /// Before: the thread went on elsewhere, or the run was ended.
    Early,
    /// Before, because the time of the group or of a `run_for` was over: as a read that is cut then,
    /// this says nothing about the server.
    Cut,
}

/// A transaction under way.
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(crate) label: String,
    pub(crate) start: Instant,
    pub(crate) include_pauses: bool,
    /// What the thread had paused in all when it began.
    pub(crate) paused: Duration,
    pub(crate) samples: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
    pub(crate) bytes: u64,
    pub(crate) sent_bytes: u64,
    pub(crate) latency: Duration,
    pub(crate) connect: Duration,
    /// That of the first failure or skip.
    pub(crate) code: Option<Code>,
}

impl Transaction {
    pub(crate) fn begin(label: String, start: Instant, paused: Duration) -> Self {
        Self {
            label,
            start,
            include_pauses: false,
            paused,
            samples: 0,
            failed: 0,
            skipped: 0,
            bytes: 0,
            sent_bytes: 0,
            latency: Duration::ZERO,
            connect: Duration::ZERO,
            code: None,
        }
    }

    /// Adds a row.
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        self.samples += 1;
        self.bytes += outcome.bytes;
        self.sent_bytes += outcome.sent_bytes;
        self.latency += outcome.latency(outcome.elapsed());
        self.connect += outcome.connect;
        if outcome.failure.is_some() {
            self.failed += 1;
            self.code.get_or_insert(outcome.code);
        }
    }

    /// Adds a sampler that was skipped with this cause.
    pub(crate) fn skip(&mut self, cause: Code) {
        self.skipped += 1;
        self.code.get_or_insert(cause);
    }

    /// JMeter's text: tools tell transactions from samplers by how it begins.
    pub(crate) fn message(&self) -> String {
        format!(
            "Number of samples in transaction : {}, number of failing samples : {}",
            self.samples, self.failed
        )
    }

    /// Why it failed; `None` if it passed.
    pub(crate) fn failure(&self, ended: Ended) -> Option<String> {
        let mut reasons = Vec::new();
        if self.failed > 0 {
            reasons.push(format!("{} of {} samples failed", self.failed, self.samples));
        }
        if self.skipped > 0 {
            reasons.push(format!("{} more were skipped", self.skipped));
        }
        if ended != Ended::Whole {
            reasons.push("it ended early".to_owned());
        }
        (!reasons.is_empty()).then(|| reasons.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use crate::exec::outcome::Failure;

    fn transaction() -> Transaction {
        Transaction::begin("t".to_owned(), clock::now(), Duration::ZERO)
    }

    #[test]
    fn it_passes_only_if_all_its_samplers_ran_and_passed() {
        let passed = Outcome::begun(clock::now());
        let failed = Outcome::unstarted(Failure::plain(Code::ReadTimeout, "late"));
        let mut transaction = transaction();
        transaction.add(&passed);
        assert_eq!(transaction.failure(Ended::Whole), None);
        assert_eq!(transaction.failure(Ended::Early).as_deref(), Some("it ended early"));
        transaction.skip(Code::NoConnection);
        assert_eq!(transaction.failure(Ended::Whole).as_deref(), Some("1 more were skipped"));
        transaction.add(&failed);
        let message = "Number of samples in transaction : 2, number of failing samples : 1";
        assert_eq!(transaction.message(), message);
        let reasons = "1 of 2 samples failed, 1 more were skipped";
        assert_eq!(transaction.failure(Ended::Whole).as_deref(), Some(reasons));
        assert_eq!(transaction.code, Some(Code::NoConnection), "that of the first trouble");
    }
}

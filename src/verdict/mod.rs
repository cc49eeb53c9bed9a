//! Judges a run: what its exit code is and why.

use crate::stats::Stats;

/// The exit codes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// Exit code 0.
    Passed,
    /// Exit code 1: it ran, and the server did not do what the plan wants.
    Failed,
    /// Exit code 3: the run broke off, or results could not be written.
    BrokeOff,
    /// Exit code 130: a signal ended it.
    Interrupted,
}

impl Conclusion {
    /// The process's exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::BrokeOff => 3,
            Self::Interrupted => 130,
        }
    }

    /// The word for it in the summary.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::BrokeOff => "broke off",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A conclusion and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What it is.
    pub conclusion: Conclusion,
    /// Why, in one line.
    pub reason: String,
}

impl Verdict {
    /// A verdict with its reason.
    pub fn new(conclusion: Conclusion, reason: impl Into<String>) -> Self {
        Self { conclusion, reason: reason.into() }
    }
}

/// Judges a run that went to its end: it passes if at least one sample was taken and none failed.
pub fn judge(stats: &Stats) -> Verdict {
    let all = stats.all();
    match (all.count, all.failed) {
        (0, _) => Verdict::new(Conclusion::Failed, "no sample was taken"),
        (_, 0) => Verdict::new(Conclusion::Passed, failures(stats)),
        _ => Verdict::new(Conclusion::Failed, failures(stats)),
    }
}

/// How many samples failed, as a reason says it.
pub fn failures(stats: &Stats) -> String {
    let all = stats.all();
    format!("{} of {} samples failed", all.failed, all.count)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock;
    use crate::sample::{Code, DataType, Sample};

    fn stats(rows: &[bool]) -> Stats {
        let mut stats = Stats::default();
        for &success in rows {
            stats.sample(&Sample {
                label: "say",
                start: clock::now(),
                elapsed: Duration::from_millis(1),
                connect: Duration::ZERO,
                latency: Duration::ZERO,
                idle: Duration::ZERO,
                code: Code::OK,
                message: "OK",
                failure_message: "",
                cause: "",
                success,
                data_type: DataType::None,
                bytes: 0,
                sent_bytes: 0,
                thread: "g 1-1",
                group_threads: 1,
                all_threads: 1,
                url: "",
                first_exchange: false,
            });
        }
        stats
    }

    #[test]
    fn only_a_run_with_samples_and_without_failures_passes() {
        let code = |rows: &[bool]| judge(&stats(rows)).conclusion.exit_code();
        assert_eq!([code(&[true]), code(&[true, false]), code(&[])], [0, 1, 1]);
    }

    #[test]
    fn the_reason_has_the_figures() {
        assert_eq!(judge(&stats(&[true, false])).reason, "1 of 2 samples failed");
    }
}

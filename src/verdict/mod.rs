//! Judges a run: what its exit code is and why.

use crate::sample::RunEnd;
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

/// Judges a run. It passes if it went to its end, at least one sample was taken and none failed.
/// `write_failure` says why results could not be written, if so: then they prove nothing.
pub fn judge(stats: &Stats, end: &RunEnd, write_failure: Option<&str>) -> Verdict {
    let all = stats.all();
    let verdict = |conclusion, reason: String| Verdict { conclusion, reason };
    if let Some(failure) = write_failure {
        return verdict(Conclusion::BrokeOff, failure.to_owned());
    }
    let failures = format!("{} of {} samples failed", all.failed, all.count);
    match end {
        RunEnd::BrokeOff(why) => verdict(Conclusion::BrokeOff, why.clone()),
        RunEnd::Interrupted => {
            verdict(Conclusion::Interrupted, format!("interrupted by a signal; {failures}"))
        }
        RunEnd::StoppedByOnError { label } => verdict(
            Conclusion::Failed,
            format!("`{label}` failed and stopped the test; {failures}"),
        ),
        RunEnd::Completed if all.count == 0 => {
            verdict(Conclusion::Failed, "no sample was taken".to_owned())
        }
        RunEnd::Completed if all.failed > 0 => verdict(Conclusion::Failed, failures),
        RunEnd::Completed => verdict(Conclusion::Passed, failures),
    }
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

    fn code(rows: &[bool], end: &RunEnd, write_failure: Option<&str>) -> u8 {
        judge(&stats(rows), end, write_failure).conclusion.exit_code()
    }

    #[test]
    fn only_a_complete_run_without_failures_passes() {
        let stopped = RunEnd::StoppedByOnError { label: "say".to_owned() };
        assert_eq!(code(&[true], &RunEnd::Completed, None), 0);
        assert_eq!(code(&[true, false], &RunEnd::Completed, None), 1);
        assert_eq!(code(&[], &RunEnd::Completed, None), 1);
        assert_eq!(code(&[true], &stopped, None), 1);
        assert_eq!(code(&[false], &RunEnd::Interrupted, None), 130);
        assert_eq!(code(&[true], &RunEnd::BrokeOff("bug".to_owned()), None), 3);
        assert_eq!(code(&[true], &RunEnd::Interrupted, Some("disk full")), 3);
    }

    #[test]
    fn the_reason_has_the_figures() {
        let verdict = judge(&stats(&[true, false]), &RunEnd::Completed, None);
        assert_eq!(verdict.reason, "1 of 2 samples failed");
    }
}

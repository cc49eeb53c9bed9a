//! The verdict of a run, however it ended.

use crate::report::{Finished, WriteError};
use crate::sample::RunEnd;
use crate::verdict::{self, Conclusion, Evidence, Judgement, Threshold, Verdict};

/// A run that went to its end is judged by its samples. One whose results could not be written
/// proves nothing, and that outranks everything else.
pub(crate) fn conclude(
    finished: &Finished,
    end: RunEnd,
    peak_connections: u64,
    thresholds: &[Threshold],
) -> Judgement {
    let evidence = Evidence { stats: &finished.stats, peak_connections };
    let mut judgement = verdict::judge(&evidence, thresholds);
    if let Some(verdict) = early(finished, end) {
        judgement.verdict = verdict;
    }
    judgement
}

/// The verdict of a run that did not go to its end, whatever its samples say.
fn early(finished: &Finished, end: RunEnd) -> Option<Verdict> {
    if let Err(error) = &finished.written {
        return Some(Verdict::new(Conclusion::BrokeOff, lost(error)));
    }
    let failures = verdict::failures(&finished.stats);
    Some(match end {
        RunEnd::Completed => return None,
        RunEnd::BrokeOff(why) => Verdict::new(Conclusion::BrokeOff, why),
        RunEnd::Interrupted => {
            let reason = format!("interrupted by a signal; {failures}");
            Verdict::new(Conclusion::Interrupted, reason)
        }
        RunEnd::StoppedByOnError { label } => {
            let reason = format!("`{label}` failed and stopped the test; {failures}");
            Verdict::new(Conclusion::Failed, reason)
        }
        RunEnd::StoppedByThreshold { what } => {
            let reason = format!("{what} and stopped the test; {failures}");
            Verdict::new(Conclusion::Failed, reason)
        }
    })
}

fn lost(error: &WriteError) -> String {
    let cause = std::error::Error::source(error).map(|source| format!(": {source}"));
    format!("{error}{}", cause.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::stats::Stats;

    fn code(end: RunEnd, written: Result<(), WriteError>) -> u8 {
        let finished = Finished { stats: Stats::default(), written };
        conclude(&finished, end, 0, &[]).verdict.conclusion.exit_code()
    }

    #[test]
    fn each_ending_has_its_exit_code() {
        let stopped = RunEnd::StoppedByOnError { label: "say".to_owned() };
        assert_eq!(code(RunEnd::Completed, Ok(())), 1, "no sample was taken");
        assert_eq!(code(stopped, Ok(())), 1);
        let what = "`say: p95 < 5ms` did not hold".to_owned();
        assert_eq!(code(RunEnd::StoppedByThreshold { what }, Ok(())), 1);
        assert_eq!(code(RunEnd::Interrupted, Ok(())), 130);
        assert_eq!(code(RunEnd::BrokeOff("bug".to_owned()), Ok(())), 3);
    }

    #[test]
    fn lost_rows_outrank_a_signal() {
        let path = "x.jtl".into();
        let source = io::ErrorKind::StorageFull.into();
        let error = WriteError { path, lost_rows: 3, source };
        assert_eq!(code(RunEnd::Interrupted, Err(error)), 3);
    }
}

//! What a run looks like while it goes on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::report::Snapshots;
use crate::report::units::printable;
use crate::sample::{Code, Sample, one_line};
use crate::stats::{Gauge, Times, thousands};

/// Rows of all labels within some time.
#[derive(Debug, Clone, Default)]
pub struct Interval {
    /// Rows.
    pub count: u64,
    /// Rows that failed.
    pub failed: u64,
    /// Elapsed times of all rows but those with code `NO_MESSAGE`, as in the summary.
    pub times: Times,
}

impl Interval {
    /// Adds a row; for percentiles only if they are wanted.
    pub fn record(&mut self, sample: &Sample<'_>, percentiles: bool) {
        self.count += 1;
        self.failed += u64::from(!sample.success);
        match (sample.code, percentiles) {
            (Code::NoMessage, _) => {}
            (_, true) => self.times.record(sample.elapsed),
            (_, false) => self.times.add_up(sample.elapsed),
        }
    }

    /// Adds another.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.failed += other.failed;
        self.times.merge(&other.times);
    }
}

/// Lines of `log` steps that are kept between two looks.
const MAX_LINES: usize = 1_000;

/// Lines of `log` steps that nobody has looked at.
#[derive(Debug, Default)]
struct Log {
    lines: Vec<String>,
    /// How many more there were.
    dropped: u64,
}

/// A view of a run under way, about half a second old; cheap to look at.
#[derive(Debug, Default)]
pub struct Live {
    recent: Mutex<Interval>,
    log: Mutex<Log>,
    /// Virtual threads.
    pub threads: Gauge,
    /// Threads that were ever started.
    pub started: Gauge,
    /// Open connections.
    pub connections: Gauge,
    /// Figures of all kinds, for those who must act on them.
    pub snapshots: Snapshots,
    write_failed: Arc<AtomicBool>,
    shows_percentiles: AtomicBool,
}

impl Live {
    /// `write_failed` becomes true when rows can no longer be written.
    pub(crate) fn new(write_failed: Arc<AtomicBool>) -> Self {
        Self { write_failed, ..Self::default() }
    }

    /// From now on intervals have percentiles: a second histogram would cost each sample for nothing
    /// where nobody looks.
    pub fn show_percentiles(&self) {
        self.shows_percentiles.store(true, Ordering::Relaxed);
    }

    pub(crate) fn shows_percentiles(&self) -> bool {
        self.shows_percentiles.load(Ordering::Relaxed)
    }

    /// Adds rows; called by workers now and then.
    pub(crate) fn add(&self, interval: &Interval) {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).merge(interval);
    }

    /// Takes what has been added since the last time.
    pub fn take(&self) -> Interval {
        std::mem::take(&mut self.recent.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds what a thread logs.
    pub(crate) fn log(&self, thread: &str, text: &str) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.lines.len() < MAX_LINES {
            log.lines.push(format!("{}: {}", printable(thread), printable(&one_line(text))));
        } else {
            log.dropped += 1;
        }
    }

    /// Takes the lines that threads have logged since the last time; of very many the first, and a
    /// line that says so.
    pub fn take_log(&self) -> Vec<String> {
        let log = std::mem::take(&mut *self.log.lock().unwrap_or_else(PoisonError::into_inner));
        let Log { mut lines, dropped } = log;
        if dropped > 0 {
            lines.push(format!("… and {} more lines of `log`", thousands(dropped)));
        }
        lines
    }

    /// Whether rows can no longer be written, so that the run should stop.
    pub fn has_write_failed(&self) -> bool {
        self.write_failed.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_log_lines_is_cut_and_counted() {
        let live = Live::default();
        for number in 0..MAX_LINES + 2 {
            live.log("g 1-1", &format!("line\n{number}"));
        }
        let lines = live.take_log();
        assert_eq!(lines.len(), MAX_LINES + 1);
        assert_eq!(lines[0], r"g 1-1: line\n0");
        assert_eq!(lines[MAX_LINES], "… and 2 more lines of `log`");
        assert!(live.take_log().is_empty());
    }
}

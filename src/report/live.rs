//! What a run looks like while it goes on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::sample::{Code, Sample};
use crate::stats::{Gauge, Times};

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
    /// Adds a row.
    pub fn record(&mut self, sample: &Sample<'_>) {
        self.count += 1;
        self.failed += u64::from(!sample.success);
        if sample.code != Code::NoMessage {
            self.times.record(sample.elapsed);
        }
    }

    /// Adds another.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.failed += other.failed;
        self.times.merge(&other.times);
    }
}

/// A view of a run under way, about half a second old; cheap to look at.
#[derive(Debug, Default)]
pub struct Live {
    recent: Mutex<Interval>,
    /// Virtual threads.
    pub threads: Gauge,
    /// Threads that were ever started.
    pub started: Gauge,
    /// Open connections.
    pub connections: Gauge,
    write_failed: Arc<AtomicBool>,
}

impl Live {
    /// `write_failed` becomes true when rows can no longer be written.
    pub(crate) fn new(write_failed: Arc<AtomicBool>) -> Self {
        Self { write_failed, ..Self::default() }
    }

    /// Adds rows; called by workers now and then.
    pub(crate) fn add(&self, interval: &Interval) {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).merge(interval);
    }

    /// Takes what has been added since the last time.
    pub fn take(&self) -> Interval {
        std::mem::take(&mut self.recent.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether rows can no longer be written, so that the run should stop.
    pub fn has_write_failed(&self) -> bool {
        self.write_failed.load(Ordering::Relaxed)
    }
}

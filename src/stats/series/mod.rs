//! How a run went on: figures of intervals of equal length, of a second as long as there are not too
//! many.
//!
//! A worker has one live histogram, that of the interval under way; what is over is kept in a few
//! hundred bytes each. When there are [`MOST`] intervals they become twice as long, pair by pair: one
//! pair for each interval that is added, so that no sample waits for all of them.

mod course;
mod packed;
mod past;

use std::time::{Duration, Instant};

use crate::sample::{Code, Sample};
use crate::stats::series::packed::Times;
use crate::stats::series::past::{Counts, Part, Past, floor};
use crate::stats::times::microseconds;

pub use course::{Course, Distribution, Interval};

/// Intervals at most.
pub(super) const MOST: usize = 1_200;

/// Events of intervals that are over, which wait to be entered together.
const MOST_LATE: usize = 4_096;

/// What happened in the intervals of a run: of one worker or of all, of one label or of several.
#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    /// Where the first second begins.
    origin: Option<Instant>,
    past: Past,
    live: Option<Box<Live>>,
    late: Vec<(i64, Event)>,
    /// When the last sample ended.
    end: Option<Instant>,
}

/// The interval under way.
#[derive(Debug, Clone)]
struct Live {
    from: i64,
    begin: Instant,
    end: Instant,
    counts: Counts,
    times: Times,
}

/// One thing that an interval counts.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// A row. `us` is its time, unless that counts nowhere.
    Row {
        us: Option<u64>,
        success: bool,
        threads: u32,
    },
    Opened,
    Refused,
    Ended,
}

impl Live {
    fn add(&mut self, event: Event) {
        self.counts.add(event);
        if let Event::Row { us: Some(us), .. } = event {
            self.times.record(us);
        }
    }
}

impl Series {
    /// Says where the first second begins; else it begins with the first event.
    pub(super) fn begin(&mut self, origin: Instant) {
        self.origin = Some(origin);
    }

    /// Where the first second begins; `None` before anything happened.
    pub(super) fn origin(&self) -> Option<Instant> {
        self.origin
    }

    /// Adds a row, at its end.
    pub(super) fn sample(&mut self, sample: &Sample<'_>) {
        let end = sample.start + sample.elapsed + sample.idle;
        if self.end.is_none_or(|last| end > last) {
            self.end = Some(end);
        }
        let us = (sample.code != Code::NoMessage).then(|| microseconds(sample.elapsed));
        let (success, threads) = (sample.success, sample.all_threads);
        self.add(end, Event::Row { us, success, threads });
    }

    /// A connection was opened.
    pub(super) fn opened(&mut self, at: Instant) {
        self.add(at, Event::Opened);
    }

    /// An attempt to open one has failed.
    pub(super) fn refused(&mut self, at: Instant) {
        self.add(at, Event::Refused);
    }

    /// A connection is gone.
    pub(super) fn ended(&mut self, at: Instant) {
        self.add(at, Event::Ended);
    }

    fn add(&mut self, at: Instant, event: Event) {
        match &mut self.live {
            Some(live) if at >= live.begin && at < live.end => live.add(event),
            _ => self.add_elsewhere(at, event),
        }
    }

    /// Adds what is not in the interval under way.
    #[cold]
    fn add_elsewhere(&mut self, at: Instant, event: Event) {
        let second = seconds_between(*self.origin.get_or_insert(at), at);
        if self.live.as_ref().is_some_and(|live| second < live.from) {
            self.late.push((second, event));
            if self.late.len() >= MOST_LATE {
                self.past.enter(std::mem::take(&mut self.late));
            }
            return;
        }
        let mut times = self.close().unwrap_or_default();
        times.clear();
        let origin = self.origin.unwrap_or(at);
        let (width, from) = (self.past.width(), floor(second, self.past.width()));
        let [begin, end] = [from, from.saturating_add(width)].map(|second| moment(origin, second));
        let mut live = Live { from, begin, end, counts: Counts::default(), times };
        live.add(event);
        self.live = Some(Box::new(live));
    }

    /// Ends the interval under way; gives its histogram, whose memory serves the next one.
    fn close(&mut self) -> Option<Times> {
        let live = self.live.take()?;
        let Live { from, counts, times, .. } = *live;
        self.past.push(Part { from, counts, times: times.pack() });
        Some(times)
    }

    /// Adds all that others have seen.
    pub(super) fn merge(&mut self, others: impl IntoIterator<Item = Self>) {
        self.settle();
        let (origin, end) = (&mut self.origin, &mut self.end);
        let others = others.into_iter().filter_map(|mut other| {
            other.settle();
            let theirs = other.origin?;
            *end = (*end).max(other.end);
            Some((other.past, seconds_between(*origin.get_or_insert(theirs), theirs)))
        });
        self.past.merge(others);
    }

    /// Enters all that waits.
    fn settle(&mut self) {
        self.close();
        if !self.late.is_empty() {
            self.past.enter(std::mem::take(&mut self.late));
        }
    }
}

/// Whole seconds, rounded down; negative if `to` is earlier.
fn seconds_between(from: Instant, to: Instant) -> i64 {
    let whole = |duration: Duration| i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    if let Some(after) = to.checked_duration_since(from) {
        return whole(after);
    }
    let before = from.duration_since(to);
    -whole(before) - i64::from(before.subsec_nanos() > 0)
}

/// So many seconds after `origin`, as far as clocks go.
fn moment(origin: Instant, second: i64) -> Instant {
    let distance = Duration::from_secs(second.unsigned_abs());
    let moved =
        if second < 0 { origin.checked_sub(distance) } else { origin.checked_add(distance) };
    moved.unwrap_or(origin)
}

#[cfg(test)]
mod tests;

//! The part of a course that charts draw.
//!
//! A run ends somewhere in an interval. Of what little is left there rate and percentiles would jump, as
//! if the server had: so such an interval is left out, and the page says what was in it.

use std::time::Duration;

use crate::stats::{Course, Interval};

/// Intervals below which all are drawn: a run of less than a second has no other.
const FEWEST: usize = 2;

/// The intervals that are drawn.
#[derive(Debug)]
pub(super) struct Stretch<'a> {
    pub(super) intervals: &'a [Interval],
    /// The last one, if it is left out.
    pub(super) left_out: Option<&'a Interval>,
    width: Duration,
    /// When the run ended, from the origin; negative before it.
    end: f64,
}

impl<'a> Stretch<'a> {
    /// Of all samplers together.
    pub(super) fn of_run(course: &'a Course) -> Self {
        // After the last sample connections may still end.
        let intervals = match course.intervals.split_last() {
            Some((last, others)) if !others.is_empty() && is_empty(last) => others,
            _ => &course.intervals[..],
        };
        let end =
            intervals.last().map_or(0.0, |last| seconds(last.from) + last.covered.as_secs_f64());
        Self::until(intervals, course.width, end)
    }

    /// Of one label: its last interval is short only where the run's end is, not where its last sample
    /// happened to end.
    pub(super) fn of_label(course: &'a Course, run: &Stretch<'_>) -> Self {
        Self::until(&course.intervals, course.width, run.end)
    }

    fn until(intervals: &'a [Interval], width: Duration, end: f64) -> Self {
        let whole = Self { intervals, left_out: None, width, end };
        match intervals.split_last() {
            Some((last, others))
                if others.len() + 1 >= FEWEST && whole.covered(last) < width / 2 =>
            {
                Self { intervals: others, left_out: Some(last), ..whole }
            }
            _ => whole,
        }
    }

    /// Seconds of an interval.
    pub(super) fn width(&self) -> u64 {
        self.width.as_secs().max(1)
    }

    /// How much of an interval belongs to the run.
    pub(super) fn covered(&self, interval: &Interval) -> Duration {
        let left = (self.end - seconds(interval.from)).max(1e-3);
        self.width.min(Duration::try_from_secs_f64(left).unwrap_or(self.width))
    }
}

fn is_empty(interval: &Interval) -> bool {
    interval.count + interval.opened + interval.refused == 0
}

#[expect(clippy::cast_precision_loss, reason = "a chart needs no 53 bits")]
fn seconds(second: i64) -> f64 {
    second as f64
}

//! A series as it is read: every interval of the run, also those in which nothing happened.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::stats::series::Series;
use crate::stats::series::packed::{Packed, Times};
use crate::stats::series::past::Part;
use crate::stats::series::{moment, seconds_between};

/// How a run went on, interval by interval.
#[derive(Debug, Default)]
pub struct Course {
    /// Where the first second begins; `None` if nothing happened.
    pub origin: Option<Instant>,
    /// How long an interval is.
    pub width: Duration,
    /// From the first one in which anything happened to the last.
    pub intervals: Vec<Interval>,
}

/// What happened in one interval.
#[derive(Debug)]
pub struct Interval {
    /// Its first second, from the origin; negative before it.
    pub from: i64,
    /// How much of it belongs to the run: less than all of the one in which the last sample ended.
    pub covered: Duration,
    /// Rows.
    pub count: u64,
    /// Rows that failed.
    pub failed: u64,
    /// Upgrades that were accepted.
    pub opened: u64,
    /// Attempts to open a connection that failed.
    pub refused: u64,
    /// Connections that were open at its end.
    pub connections: u64,
    /// Virtual threads that were active, at most, when a sample ended.
    pub threads: u32,
    times: Packed,
}

impl Interval {
    /// The elapsed times of its rows but those with code `NO_MESSAGE`.
    pub fn times(&self) -> Distribution {
        let mut times = Times::default();
        times.add(&self.times);
        Distribution(times)
    }
}

/// Times within 1 %.
#[derive(Debug)]
pub struct Distribution(Times);

impl Distribution {
    /// The time that `percent` of all do not exceed; `None` if there is none.
    pub fn percentile(&self, percent: f64) -> Option<Duration> {
        self.0.at(percent / 100.0).map(Duration::from_micros)
    }

    /// All of them, in microseconds.
    pub fn histogram(&self) -> &Histogram<u32> {
        self.0.histogram()
    }

    /// The times and how often each came, in ascending order.
    pub fn values(&self) -> impl Iterator<Item = (Duration, u64)> {
        self.0.values().map(|(us, count)| (Duration::from_micros(us), count))
    }
}

impl Series {
    /// The whole course, in so many intervals at most.
    pub(in crate::stats) fn course(mut self, most: usize) -> Course {
        self.settle();
        let all = &mut self;
        let Some(origin) = all.origin else { return Course::default() };
        all.past.settle(most);
        let width = all.past.width();
        let last = all.end.map(|end| seconds_between(origin, end));
        let mut intervals: Vec<Interval> = Vec::new();
        let mut connections = 0_u64;
        for part in &all.past.parts {
            while let Some(before) = intervals.last().map(|last| last.from + width)
                && before < part.from
            {
                intervals.push(empty(before, width, connections));
            }
            connections = (connections + part.counts.opened).saturating_sub(part.counts.ended);
            intervals.push(interval(part, width, connections));
        }
        // Connections may end after the last sample did.
        let is_last = |interval: &&mut Interval| {
            last.is_some_and(|last| (interval.from..interval.from + width).contains(&last))
        };
        if let (Some(interval), Some(end)) = (intervals.iter_mut().rev().find(is_last), all.end) {
            let begin = moment(origin, interval.from);
            interval.covered = end.saturating_duration_since(begin).max(whole(width) / 4);
        }
        Course { origin: Some(origin), width: whole(width), intervals }
    }
}

fn whole(seconds: i64) -> Duration {
    Duration::from_secs(seconds.unsigned_abs())
}

fn empty(from: i64, width: i64, connections: u64) -> Interval {
    Interval {
        from,
        covered: whole(width),
        count: 0,
        failed: 0,
        opened: 0,
        refused: 0,
        connections,
        threads: 0,
        times: Packed::default(),
    }
}

fn interval(part: &Part, width: i64, connections: u64) -> Interval {
    Interval {
        count: part.counts.rows,
        failed: part.counts.failed,
        opened: part.counts.opened,
        refused: part.counts.refused,
        threads: part.counts.threads,
        times: part.times.clone(),
        ..empty(part.from, width, connections)
    }
}

//! The numbers of the charts, as the page's script reads them.

use std::time::Duration;

use serde::Serialize;

use crate::report::html::Page;
use crate::report::html::text::shown;
use crate::stats::{Course, Interval, LabelStats, Stats, Times};

/// Intervals of a label's course; that of all has as many as there are.
const MOST_INTERVALS: usize = 300;
/// Columns of the heat map: about as many as a screen has room for.
const MOST_COLUMNS: usize = 240;
/// Rows of the heat map for each tenfold of time.
const ROWS_A_DECADE: i32 = 10;
/// Labels with a percentile curve of their own: more cannot be told apart.
const MOST_CURVES: usize = 10;
/// Points of a curve from one nine to the next.
const POINTS_A_NINE: u32 = 20;

/// What the script gets. Times are in milliseconds, moments in seconds from the start.
#[derive(Debug, Serialize)]
pub(super) struct Data {
    /// The start, in milliseconds since 1970.
    start: Option<i64>,
    /// All samplers together.
    all: Lane,
    /// Labels that have a course of their own; none if there is but one.
    labels: Vec<Lane>,
    connections: Option<Vec<u64>>,
    threads: Vec<u32>,
    opened: Option<Vec<f64>>,
    refused: Option<Vec<f64>>,
    /// When the generator did not keep up: from and to.
    saturated: Vec<[u64; 2]>,
    heat: Heat,
    curves: Curves,
}

/// How some samplers went on.
#[derive(Debug, Serialize)]
struct Lane {
    name: String,
    /// Seconds of an interval.
    width: u64,
    /// Where the intervals begin.
    t: Vec<i64>,
    rate: Vec<f64>,
    failed: Vec<f64>,
    p50: Vec<Option<f64>>,
    p95: Vec<Option<f64>>,
    p99: Vec<Option<f64>>,
}

impl Lane {
    fn of(name: &str, course: &Course) -> Self {
        let times: Vec<[Option<f64>; 3]> = course
            .intervals
            .iter()
            .map(|interval| {
                let times = interval.times();
                [50.0, 95.0, 99.0].map(|percent| times.percentile(percent).map(milliseconds))
            })
            .collect();
        let percentile = |index: usize| times.iter().map(|times| times[index]).collect();
        Self {
            name: shown(name),
            width: course.width.as_secs().max(1),
            t: course.intervals.iter().map(|interval| interval.from).collect(),
            rate: per_second(course, |interval| interval.count),
            failed: per_second(course, |interval| interval.failed),
            p50: percentile(0),
            p95: percentile(1),
            p99: percentile(2),
        }
    }
}

/// How often each time came in each column.
#[derive(Debug, Serialize)]
struct Heat {
    /// Seconds of a column.
    width: u64,
    /// The rows' limits, ascending; one more than there are rows.
    edges: Vec<f64>,
    /// Where it begins, and rows with how often.
    columns: Vec<(i64, Vec<(usize, u64)>)>,
}

/// Times by how many nines of all do not exceed them.
#[derive(Debug, Serialize)]
struct Curves {
    /// 1 is 90 %, 2 is 99 %.
    nines: Vec<f64>,
    lines: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    name: String,
    times: Vec<f64>,
}

pub(super) fn data(page: &Page<'_>) -> Data {
    let (stats, course) = (page.stats, page.stats.course());
    let has_connections = stats.connections.opened + stats.connections.refused > 0;
    let labels = stats.courses(MOST_INTERVALS);
    let labels = if stats.labels().count() > 1 { &labels[..] } else { &[] };
    let intervals = &course.intervals;
    Data {
        start: page.started.map(|started| started.timestamp_millis()),
        all: Lane::of("all", &course),
        labels: labels.iter().map(|(name, course)| Lane::of(name, course)).collect(),
        connections: has_connections
            .then(|| intervals.iter().map(|interval| interval.connections).collect()),
        threads: intervals.iter().map(|interval| interval.threads).collect(),
        opened: has_connections.then(|| per_second(&course, |interval| interval.opened)),
        refused: (stats.connections.refused > 0)
            .then(|| per_second(&course, |interval| interval.refused)),
        saturated: page.generator.map(|one| one.saturated.clone()).unwrap_or_default(),
        heat: heat(&course),
        curves: curves(stats),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a chart needs no 53 bits")]
fn per_second(course: &Course, count: fn(&Interval) -> u64) -> Vec<f64> {
    let intervals = course.intervals.iter();
    let rate = |interval: &Interval| {
        four_digits(count(interval) as f64 / interval.covered.as_secs_f64().max(1e-3))
    };
    intervals.map(rate).collect()
}

fn milliseconds(time: Duration) -> f64 {
    four_digits(time.as_secs_f64() * 1e3)
}

/// Rounded to four significant digits, which keeps the page small.
fn four_digits(number: f64) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return 0.0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the logarithm of a number is small")]
    let places = 3 - number.abs().log10().floor() as i32;
    let scale = 10_f64.powi(places);
    (number * scale).round() / scale
}

/// The heat map: neighbouring intervals in one column where there are many.
fn heat(course: &Course) -> Heat {
    let each = course.intervals.len().div_ceil(MOST_COLUMNS).max(1);
    let mut columns: Vec<(i64, Vec<(i32, u64)>)> = Vec::new();
    for intervals in course.intervals.chunks(each) {
        let mut rows: Vec<(i32, u64)> = Vec::new();
        for (time, count) in intervals.iter().flat_map(pairs) {
            let row = row_of(time);
            match rows.binary_search_by_key(&row, |(known, _)| *known) {
                Ok(at) => rows[at].1 += count,
                Err(at) => rows.insert(at, (row, count)),
            }
        }
        columns.push((intervals[0].from, rows));
    }
    let used = || columns.iter().flat_map(|(_, rows)| rows).map(|(row, _)| *row);
    let (least, most) = (used().min().unwrap_or(0), used().max().unwrap_or(-1));
    let edges = (least..=most + 1)
        .map(|row| four_digits(10_f64.powf(f64::from(row) / f64::from(ROWS_A_DECADE)) / 1e3));
    let place = |row: i32| usize::try_from(row - least).unwrap_or(0);
    Heat {
        width: course.width.as_secs().max(1) * each as u64,
        edges: if most < least { Vec::new() } else { edges.collect() },
        columns: columns
            .into_iter()
            .map(|(from, rows)| {
                (from, rows.into_iter().map(|(row, count)| (place(row), count)).collect())
            })
            .collect(),
    }
}

fn pairs(interval: &Interval) -> Vec<(Duration, u64)> {
    interval.times().values().collect()
}

/// The row of a time: tenths of its decimal logarithm in microseconds.
#[expect(clippy::cast_possible_truncation, reason = "the logarithm of a number is small")]
fn row_of(time: Duration) -> i32 {
    let us = (time.as_secs_f64() * 1e6).max(1.0);
    // A time on the limit belongs to the row above, whatever the logarithm's last bit says.
    (us.log10() * f64::from(ROWS_A_DECADE) + 1e-9).floor() as i32
}

/// Curves of all samplers together and of the labels with most samples.
fn curves(stats: &Stats) -> Curves {
    let all = stats.all();
    let mut labels: Vec<(&str, &LabelStats)> =
        stats.labels().filter(|(_, label)| label.all.count() > 0).collect();
    // In the order of the table; but if there are too many, those with most samples.
    if labels.len() > MOST_CURVES {
        labels.sort_by_key(|(_, label)| std::cmp::Reverse(label.all.count()));
        labels.truncate(MOST_CURVES);
    }
    let all = ("all", &all);
    let lines: Vec<(&str, &Times)> = match &labels[..] {
        [] => Vec::new(),
        [only] => vec![(only.0, &only.1.all)],
        more => [all].iter().chain(more).map(|(name, label)| (*name, &label.all)).collect(),
    };
    let steps = lines.iter().map(|(_, times)| steps(times)).max().unwrap_or(0);
    let nines = |step: u32| f64::from(step) / f64::from(POINTS_A_NINE);
    Curves {
        nines: (0..steps).map(|step| four_digits(nines(step))).collect(),
        lines: lines
            .into_iter()
            .map(|(name, times)| Line { name: shown(name), times: curve(times) })
            .collect(),
    }
}

/// How many points a curve has: to where one sample of all is left.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "the logarithm of a count is small"
)]
fn steps(times: &Times) -> u32 {
    let nines = (times.count().max(1) as f64).log10();
    (nines * f64::from(POINTS_A_NINE)).ceil() as u32 + 1
}

fn curve(times: &Times) -> Vec<f64> {
    let at = |step: u32| {
        let nines = f64::from(step) / f64::from(POINTS_A_NINE);
        let percent = 100.0 * (1.0 - 10_f64.powf(-nines));
        times.percentile(percent).map_or(0.0, milliseconds)
    };
    (0..steps(times)).map(at).collect()
}

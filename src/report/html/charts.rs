//! The numbers of the charts, as the page's script reads them.

use std::cmp::Reverse;
use std::time::Duration;

use serde::Serialize;

use crate::report::html::Page;
use crate::report::html::name::Name;
use crate::report::html::stretch::Stretch;
use crate::stats::{Course, Interval, LabelStats, Stats, Times};
use crate::verdict::ALL;

/// Intervals of a label's course; that of all has as many as there are.
const MOST_INTERVALS: usize = 300;
/// Columns of the heat map: about as many as a screen has room for.
const MOST_COLUMNS: usize = 240;
/// Rows of the heat map for each tenfold of time.
const ROWS_A_DECADE: i32 = 10;
/// Percentile curves that are shown at first: more cannot be told apart.
const FIRST_CURVES: usize = 10;
/// Labels with a percentile curve that one can choose.
const MOST_CURVES: usize = 300;
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
    /// What ended in the last interval, if so little of it belongs to the run that it is not drawn:
    /// samples, and failed ones.
    left_out: Option<[u64; 2]>,
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
    fn of(name: String, stretch: &Stretch<'_>) -> Self {
        let mut lane = Self {
            name,
            width: stretch.width(),
            t: stretch.intervals.iter().map(|interval| interval.from).collect(),
            rate: per_second(stretch, |interval| interval.count),
            failed: per_second(stretch, |interval| interval.failed),
            p50: Vec::new(),
            p95: Vec::new(),
            p99: Vec::new(),
        };
        for interval in stretch.intervals {
            let times = interval.times();
            let at = |percent| times.percentile(percent).map(milliseconds);
            lane.p50.push(at(50.0));
            lane.p95.push(at(95.0));
            lane.p99.push(at(99.0));
        }
        lane
    }

    /// That of a label: nothing came of it before its first interval and after its last one.
    fn of_label(label: &str, stretch: &Stretch<'_>, run: &Stretch<'_>) -> Self {
        let mut lane = Self::of(Name::of(label).into_text(), stretch);
        let width = i64::try_from(lane.width).unwrap_or(i64::MAX);
        let ends = |stretch: &Stretch<'_>| {
            let intervals = stretch.intervals;
            Some((intervals.first()?.from, intervals.last()?.from))
        };
        let (Some((first, last)), Some((begin, end))) = (ends(stretch), ends(run)) else {
            return lane;
        };
        let mut before = vec![begin, first - width];
        before.retain(|second| (begin..first).contains(second));
        before.dedup();
        let mut after = vec![last.saturating_add(width), end];
        after.retain(|second| (last + 1..=end).contains(second));
        after.dedup();
        lane.pad(&before, &after);
        lane
    }

    /// Adds intervals in which nothing happened.
    fn pad(&mut self, before: &[i64], after: &[i64]) {
        fn padded<T: Clone>(values: &mut Vec<T>, nothing: &T, before: usize, after: usize) {
            values.splice(0..0, vec![nothing.clone(); before]);
            values.extend(vec![nothing.clone(); after]);
        }
        self.t.splice(0..0, before.iter().copied());
        self.t.extend(after);
        let (before, after) = (before.len(), after.len());
        for rates in [&mut self.rate, &mut self.failed] {
            padded(rates, &0.0, before, after);
        }
        for times in [&mut self.p50, &mut self.p95, &mut self.p99] {
            padded(times, &None, before, after);
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
    /// The first one is of all samplers together, unless there is but one label.
    lines: Vec<Line>,
    /// Which of them are shown before anyone has chosen.
    first: Vec<usize>,
    /// Labels that there are.
    labels: usize,
}

#[derive(Debug, Clone, Serialize)]
struct Line {
    name: String,
    times: Vec<f64>,
}

pub(super) fn data(page: &Page<'_>) -> Data {
    let (stats, course) = (page.stats, page.stats.course());
    let run = Stretch::of_run(&course);
    // Results that were read back know how many there were, but not when.
    let has_connections = run.intervals.iter().any(|one| one.opened + one.refused > 0);
    let labels = stats.courses(MOST_INTERVALS);
    let labels = if stats.labels().count() > 1 { &labels[..] } else { &[] };
    let label = |(name, course): &(&str, Course)| {
        Lane::of_label(name, &Stretch::of_label(course, &run), &run)
    };
    Data {
        start: page.started.map(|started| started.timestamp_millis()),
        all: Lane::of(ALL.to_owned(), &run),
        labels: labels.iter().map(label).collect(),
        left_out: run.left_out.map(|last| [last.count, last.failed]),
        connections: has_connections
            .then(|| run.intervals.iter().map(|interval| interval.connections).collect()),
        threads: run.intervals.iter().map(|interval| interval.threads).collect(),
        opened: has_connections.then(|| per_second(&run, |interval| interval.opened)),
        refused: (has_connections && stats.connections.refused > 0)
            .then(|| per_second(&run, |interval| interval.refused)),
        saturated: page.generator.map(|one| one.saturated.clone()).unwrap_or_default(),
        heat: heat(&run),
        curves: curves(stats),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a chart needs no 53 bits")]
fn per_second(stretch: &Stretch<'_>, count: fn(&Interval) -> u64) -> Vec<f64> {
    let intervals = stretch.intervals.iter();
    let rate = |interval: &Interval| {
        four_digits(count(interval) as f64 / stretch.covered(interval).as_secs_f64())
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
fn heat(run: &Stretch<'_>) -> Heat {
    let each = run.intervals.len().div_ceil(MOST_COLUMNS).max(1);
    let mut columns: Vec<(i64, Vec<(i32, u64)>)> = Vec::new();
    for intervals in run.intervals.chunks(each) {
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
        width: run.width() * each as u64,
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

/// Curves of all samplers together and of labels, in the order of the table. Where there are many,
/// those with most samples are shown first, and of very many only they can be.
fn curves(stats: &Stats) -> Curves {
    let all = stats.all();
    let mut labels: Vec<(usize, &str, &LabelStats)> = stats
        .labels()
        .filter(|(_, label)| label.all.count() > 0)
        .enumerate()
        .map(|(index, (name, label))| (index, name, label))
        .collect();
    let there = labels.len();
    labels.sort_by_key(|(_, _, label)| Reverse(label.all.count()));
    labels.truncate(MOST_CURVES);
    let mut first: Vec<usize> =
        labels.iter().take(FIRST_CURVES).map(|(index, _, _)| *index).collect();
    first.sort_unstable();
    labels.sort_by_key(|(index, _, _)| *index);
    let place = |wanted: &usize| labels.iter().position(|(index, _, _)| index == wanted);
    let label = |(_, name, label): &(usize, &str, &LabelStats)| Line {
        name: Name::of(name).into_text(),
        times: curve(&label.all),
    };
    let own: Vec<Line> = labels.iter().map(label).collect();
    let (lines, first) = match labels.len() {
        0 | 1 => (own, (0..labels.len()).collect()),
        _ => {
            let sum = Line { name: ALL.to_owned(), times: curve(&all.all) };
            let first = first.iter().filter_map(place).map(|at| at + 1);
            ([vec![sum], own].concat(), [0].into_iter().chain(first).collect())
        }
    };
    let points = lines.iter().map(|line| line.times.len()).max().unwrap_or(0);
    let nines = |step: u32| four_digits(f64::from(step) / f64::from(POINTS_A_NINE));
    Curves { nines: (0..).take(points).map(nines).collect(), lines, first, labels: there }
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

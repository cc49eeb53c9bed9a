use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::clock;
use crate::sample::Code;
use crate::stats::OTHER_LABELS;

/// A sample that began `start_ms` after `base`.
fn sample(base: Instant, label: &str, start_ms: u64, elapsed_us: u64) -> Sample<'_> {
    Sample {
        label,
        start: base + Duration::from_millis(start_ms),
        elapsed: Duration::from_micros(elapsed_us),
        ..Sample::plain()
    }
}

fn failure<'a>(sample: &Sample<'a>, cause: &'a str, message: &'a str) -> Sample<'a> {
    let failed = sample.clone();
    Sample { success: false, code: Code::ReadTimeout, cause, failure_message: message, ..failed }
}

fn label<'a>(stats: &'a Stats, name: &str) -> &'a LabelStats {
    stats.labels().find(|(label, _)| *label == name).expect("the label was recorded").1
}

/// As many as there are workers.
fn sharing<const N: usize>() -> [Stats; N] {
    let names: Arc<LabelNames> = Arc::default();
    [(); N].map(|()| Stats::sharing(Arc::clone(&names)))
}

#[test]
fn labels_come_in_order_of_first_appearance_over_all_workers() {
    let base = clock::now();
    let [mut first, mut second, mut merged] = sharing();
    second.sample(&sample(base, "open", 0, 5));
    first.sample(&sample(base, "say", 1, 5));
    first.sample(&sample(base, "open", 2, 5));
    second.sample(&sample(base, "close", 3, 5));
    merged.merge(first);
    merged.merge(second);
    let counts: Vec<_> = merged.labels().map(|(name, label)| (name, label.count)).collect();
    assert_eq!(counts, [("open", 2), ("say", 1), ("close", 1)]);
    assert_eq!(merged.all().count, 4);
}

#[test]
fn a_label_that_always_changes_shares_figures_beyond_the_thousandth() {
    let base = clock::now();
    let [mut first, mut second, mut merged] = sharing();
    for n in 0..3_000 {
        let name = format!("request {n}");
        let stats = if n % 2 == 0 { &mut first } else { &mut second };
        stats.sample(&sample(base, &name, n, 10));
    }
    // Known before the list was full, but only to the other worker.
    first.sample(&sample(base, "request 999", 3_000, 10));
    merged.merge(first);
    merged.merge(second);
    assert_eq!(merged.labels().count(), 1_001);
    assert_eq!(label(&merged, "request 999").count, 2);
    let last = merged.labels().last().map(|(name, label)| (name, label.count));
    assert_eq!(last, Some((OTHER_LABELS, 2_000)));
    assert_eq!(merged.all().count, 3_001);
}

#[test]
fn a_label_is_counted_under_the_name_that_its_rows_have() {
    let mut stats = Stats::default();
    let long = "x".repeat(10_000);
    for name in ["two\nlines", &long] {
        stats.sample(&sample(clock::now(), name, 0, 5));
    }
    let names: Vec<_> = stats.labels().map(|(name, _)| name.chars().count()).collect();
    assert_eq!(names, ["two\\nlines".len(), 500]);
}

#[test]
fn optional_reads_that_found_nothing_count_as_rows_and_not_in_times() {
    let base = clock::now();
    let mut stats = Stats::default();
    stats.sample(&sample(base, "tick", 0, 1_000));
    let waited = sample(base, "tick", 1, 6_000_000);
    stats.sample(&Sample { code: Code::NoMessage, first_exchange: true, ..waited });
    let tick = label(&stats, "tick");
    assert_eq!(tick.count, 2);
    assert_eq!(tick.all.max(), Some(Duration::from_millis(1)));
    assert_eq!(tick.first(), None);
}

#[test]
fn failures_are_grouped_by_unexpanded_text_with_the_first_as_example() {
    let mut stats = Stats::default();
    for message in ["no `id-1`", "no `id-2`"] {
        let row = sample(clock::now(), "say", 0, 10);
        stats.sample(&failure(&row, "no `${id}`", message));
    }
    let [(key, cause)] = &*label(&stats, "say").causes else { unreachable!("there is one cause") };
    assert_eq!((&*key.text, cause.count, &*cause.example), ("no `${id}`", 2, "no `id-1`"));
}

#[test]
fn a_failure_without_a_text_is_told_by_its_response_message() {
    let mut stats = Stats::default();
    let row = Sample { message: "Service Unavailable", ..sample(clock::now(), "open", 0, 10) };
    stats.sample(&failure(&row, "", ""));
    let (key, cause) = &label(&stats, "open").causes[0];
    assert_eq!((&*key.text, &*cause.example), ("Service Unavailable", "Service Unavailable"));
}

#[test]
fn a_label_keeps_a_hundred_causes_and_counts_the_others_together() {
    let [mut first, mut second, mut merged] = sharing();
    for (stats, worker) in [(&mut first, 1), (&mut second, 2)] {
        for n in 0..80 {
            let text = format!("cause {worker}.{n}");
            stats.sample(&failure(&sample(clock::now(), "say", 0, 10), &text, &text));
        }
    }
    merged.merge(first);
    merged.merge(second);
    let causes = &label(&merged, "say").causes;
    let counts: Vec<u64> = causes.iter().map(|(_, cause)| cause.count).collect();
    assert_eq!((counts.len(), counts.iter().sum::<u64>(), counts[100]), (101, 160, 60));
}

#[test]
fn skips_are_counted_by_label_and_cause() {
    let mut stats = Stats::default();
    for cause in [Code::Number(503), Code::Number(503), Code::OutOfSync] {
        stats.note(&Note::Skipped { label: "say", cause });
    }
    let say = label(&stats, "say");
    assert_eq!((say.count, say.skips()), (0, 3));
    assert_eq!(say.skipped[&Code::Number(503)], 2);
}

#[test]
fn the_first_labels_have_a_course_and_that_of_all_has_every_row_once() {
    let base = clock::now();
    let [mut first, mut second, mut merged] = sharing();
    first.begin(base);
    second.begin(base);
    for n in 0..90 {
        let name = format!("request {}", n % 30);
        let stats = if n % 2 == 0 { &mut first } else { &mut second };
        stats.sample(&sample(base, &name, n * 100, 10));
        let journey = Sample { transaction: true, ..sample(base, "journey", n * 100, 10) };
        stats.sample(&journey);
    }
    merged.merge(first);
    merged.merge(second);
    let rows = |course: &Course| -> Vec<u64> {
        course.intervals.iter().map(|interval| interval.count).collect()
    };
    assert_eq!(rows(&merged.course()), [10; 9]);
    let courses = merged.courses(300);
    let names: Vec<String> = courses.iter().map(|(name, _)| (*name).to_owned()).collect();
    // The transaction is the second of the first twenty, and has none.
    assert_eq!(names, (0..19).map(|n| format!("request {n}")).collect::<Vec<_>>());
    assert_eq!(rows(&courses[3].1), [1, 0, 0, 1, 0, 0, 1]);
    assert_eq!(courses[3].1.origin, merged.course().origin);
    assert_eq!(rows(&merged.courses(2)[3].1), [2, 1]);
}

/// What is compared of a label.
#[derive(Debug, PartialEq)]
struct Seen {
    name: String,
    rows: (u64, u64),
    rate: Option<f64>,
    first: Option<Duration>,
    times: Vec<Option<Duration>>,
}

fn seen(stats: &Stats) -> Vec<Seen> {
    let all = stats.all();
    let labels = stats.labels().chain([("all", &all)]);
    let figures = |label: &LabelStats| {
        let of = [&label.all, label.ok()];
        let percentiles = [50.0, 90.0, 95.0, 99.0];
        let percentiles = of.iter().flat_map(|times| percentiles.map(|p| times.percentile(p)));
        let exact = of.iter().flat_map(|times| [times.min(), times.mean(), times.max()]);
        percentiles.chain(exact).collect()
    };
    let mut seen: Vec<_> = labels
        .map(|(name, label)| Seen {
            name: name.to_owned(),
            rows: (label.count, label.failed),
            rate: label.rate(),
            first: label.first(),
            times: figures(label),
        })
        .collect();
    seen.sort_by(|one, other| one.name.cmp(&other.name));
    seen
}

proptest! {
    #[test]
    fn merged_statistics_equal_one(
        rows in prop::collection::vec(
            (0_usize..3, 0_usize..3, 0_u64..60_000_000, any::<bool>(), any::<bool>()),
            0..300,
        ),
    ) {
        let base = clock::now();
        let [first, second, third, mut merged] = sharing();
        let mut parts = [first, second, third];
        let mut whole = Stats::default();
        for (start_ms, (label, worker, elapsed_us, success, first_exchange)) in (0..).zip(rows) {
            let row = sample(base, ["open", "say", "close"][label], start_ms, elapsed_us);
            let row = if success { row } else { failure(&row, "late", "late") };
            let row = Sample { first_exchange, ..row };
            parts[worker].sample(&row);
            whole.sample(&row);
        }
        for part in parts {
            merged.merge(part);
        }
        prop_assert_eq!(seen(&merged), seen(&whole));
    }
}

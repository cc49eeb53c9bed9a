use proptest::prelude::*;

use super::*;
use crate::clock;

fn row(origin: Instant, end_ms: i64, elapsed_us: u64) -> Sample<'static> {
    let elapsed = Duration::from_micros(elapsed_us);
    let distance = Duration::from_millis(end_ms.unsigned_abs());
    let end = if end_ms < 0 { origin.checked_sub(distance) } else { origin.checked_add(distance) };
    let start = end.and_then(|end| end.checked_sub(elapsed)).unwrap();
    Sample { start, elapsed, ..Sample::plain() }
}

/// A moment from which one can go back.
fn origin() -> Instant {
    clock::now() + Duration::from_hours(30_000)
}

fn starting(origin: Instant) -> Series {
    let mut series = Series::default();
    series.begin(origin);
    series
}

/// Of each interval its first second and how many rows ended in it.
fn rows(series: &Series) -> Vec<(i64, u64)> {
    let course = series.clone().course(MOST);
    course.intervals.iter().map(|interval| (interval.from, interval.count)).collect()
}

#[test]
fn a_row_counts_where_it_ended_and_quiet_seconds_are_there_too() {
    let origin = origin();
    let mut series = starting(origin);
    for (end_ms, elapsed_us) in [(900, 10_000), (1_100, 600_000), (4_000, 20_000)] {
        series.sample(&row(origin, end_ms, elapsed_us));
    }
    assert_eq!(rows(&series), [(0, 1), (1, 1), (2, 0), (3, 0), (4, 1)]);
    let course = series.clone().course(MOST);
    let p50 = course.intervals[1].times().percentile(50.0).unwrap().as_secs_f64();
    assert!((p50 - 0.6).abs() < 0.006, "{p50}");
    assert_eq!(course.intervals[2].times().percentile(50.0), None);
    assert_eq!(course.width, Duration::from_secs(1));
}

#[test]
fn the_last_interval_is_as_long_as_the_run_goes() {
    let origin = origin();
    let mut series = starting(origin);
    series.sample(&row(origin, 500, 1));
    series.sample(&row(origin, 1_600, 1));
    let covered: Vec<u128> = series
        .clone()
        .course(MOST)
        .intervals
        .iter()
        .map(|interval| interval.covered.as_millis())
        .collect();
    assert_eq!(covered, [1_000, 600]);
}

#[test]
fn failures_threads_and_rows_without_a_time_are_counted() {
    let origin = origin();
    let mut series = starting(origin);
    series.sample(&Sample { success: false, all_threads: 7, ..row(origin, 10, 5) });
    series.sample(&Sample { code: Code::NoMessage, all_threads: 3, ..row(origin, 20, 5_000) });
    let interval = &series.clone().course(MOST).intervals[0];
    assert_eq!((interval.count, interval.failed, interval.threads), (2, 1, 7));
    assert_eq!(interval.times().values().map(|(_, count)| count).sum::<u64>(), 1);
}

#[test]
fn connections_are_those_opened_and_not_ended() {
    let (mut one, mut other) = (Series::default(), Series::default());
    let origin = clock::now();
    one.begin(origin);
    other.begin(origin);
    for _ in 0..3 {
        one.opened(origin);
        other.opened(origin);
    }
    one.ended(origin);
    other.refused(origin);
    one.merge([other]);
    let interval = &one.clone().course(MOST).intervals[0];
    assert_eq!((interval.opened, interval.refused, interval.connections), (6, 1, 5));
}

#[test]
fn there_are_never_more_than_so_many_and_all_are_equally_long() {
    let origin = origin();
    let mut series = starting(origin);
    for seconds in [1_200, 1_201, 1_800, 2_400, 2_401, 10_000] {
        let from = series
            .clone()
            .course(MOST)
            .intervals
            .iter()
            .map(|interval| interval.count)
            .sum::<u64>();
        for second in i64::try_from(from).unwrap()..seconds {
            series.sample(&row(origin, second * 1_000 + 500, 1_000));
            assert!(series.past.parts.len() <= MOST);
        }
        let course = series.clone().course(MOST);
        let width = i64::try_from(course.width.as_secs()).unwrap();
        let most = usize::try_from(seconds / width + 1).unwrap();
        assert!(course.intervals.len() <= MOST.min(most), "{seconds}: {width}");
        assert!(course.intervals.len() >= MOST / 2, "{seconds}: {width}");
        let whole = course.intervals.iter().rev().skip(1).all(|interval| {
            interval.count == course.width.as_secs()
                && interval.times().values().map(|(_, count)| count).sum::<u64>() == interval.count
        });
        assert!(whole, "{seconds}: {width}");
    }
}

#[test]
fn a_clock_that_jumps_takes_no_memory() {
    let origin = origin();
    let mut series = starting(origin);
    for end_ms in [1_000, -80_000_000_000, 90_000_000_000, 2_000, -1] {
        series.sample(&row(origin, end_ms, 1));
    }
    let course = series.clone().course(MOST);
    assert!(course.intervals.len() <= MOST);
    assert_eq!(course.intervals.iter().map(|interval| interval.count).sum::<u64>(), 5);
}

#[test]
fn parts_with_different_beginnings_are_laid_over_each_other() {
    let base = origin();
    let (mut one, mut other) = (starting(base), starting(base + Duration::from_secs(10)));
    one.sample(&row(base, 10_500, 1));
    other.sample(&row(base, 10_600, 1));
    other.sample(&row(base, 9_900, 1));
    one.merge([other]);
    assert_eq!(rows(&one), [(9, 1), (10, 2)]);
    let mut empty = Series::default();
    empty.merge([one]);
    assert_eq!(rows(&empty), [(9, 1), (10, 2)]);
}

proptest! {
    #[test]
    fn in_whatever_order_rows_come_each_counts_once_in_its_place(
        ends in prop::collection::vec((-3_000_i64..3_000, 0_usize..3), 1..400),
    ) {
        let origin = origin();
        let mut parts = [(); 3].map(|()| starting(origin));
        for (second, part) in &ends {
            parts[*part].sample(&row(origin, second * 1_000 + 1, 100));
        }
        let mut merged = Series::default();
        merged.merge(parts);
        let course = merged.course(MOST);
        let width = i64::try_from(course.width.as_secs()).unwrap();
        prop_assert!(course.intervals.len() <= MOST);
        for interval in &course.intervals {
            let within = interval.from..interval.from + width;
            let expected = ends.iter().filter(|(second, _)| within.contains(second)).count();
            prop_assert_eq!(interval.count, expected as u64);
            let times: u64 = interval.times().values().map(|(_, count)| count).sum();
            prop_assert_eq!(times, interval.count);
        }
        let counted: u64 = course.intervals.iter().map(|interval| interval.count).sum();
        prop_assert_eq!(counted, ends.len() as u64);
    }
}

//! Columns of numbers that stand under each other.

use std::time::Duration;

use crate::stats::{Times, thousands};

/// What stands where nothing was measured.
const NONE: &str = "–";

/// Times in milliseconds with as many decimals as the shortest of the column needs, and no more than
/// microseconds.
pub(super) fn milliseconds(column: &[Option<Duration>]) -> Vec<String> {
    let shortest = column.iter().flatten().filter(|time| !time.is_zero()).min();
    let decimals = match shortest.map(|time| time.as_secs_f64() * 1e3) {
        Some(ms) if ms < 1.0 => 3,
        Some(ms) if ms < 10.0 => 2,
        Some(ms) if ms < 1_000.0 => 1,
        _ => 0,
    };
    let text = |time: &Option<Duration>| {
        time.map_or_else(|| NONE.to_owned(), |time| fixed(time.as_secs_f64() * 1e3, decimals))
    };
    column.iter().map(text).collect()
}

/// Rates a second, all with the same decimals.
pub(super) fn rates(column: &[Option<f64>]) -> Vec<String> {
    let least =
        column.iter().flatten().copied().filter(|rate| *rate > 0.0).fold(f64::MAX, f64::min);
    let decimals = if least < 1.0 { 2 } else { usize::from(least < 100.0) };
    let text =
        |rate: &Option<f64>| rate.map_or_else(|| NONE.to_owned(), |rate| fixed(rate, decimals));
    column.iter().map(text).collect()
}

/// A share as a percentage; one that is not 0 never looks like it.
pub(super) fn percent(share: Option<f64>) -> String {
    match share.map(|share| share * 100.0) {
        None => NONE.to_owned(),
        Some(percent) if percent > 0.0 && percent < 0.01 => "<0.01 %".to_owned(),
        Some(percent) if percent < 100.0 && percent > 99.99 => ">99.99 %".to_owned(),
        Some(percent) => format!("{percent:.2} %"),
    }
}

/// A number with thousands separators.
pub(super) fn fixed(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let grouped = whole.parse().map_or_else(|_| whole.to_owned(), thousands);
    format!("{grouped}{rest}")
}

/// Percentiles and extremes of some distributions, one a row: `count`, then in milliseconds those that
/// [`HEADS`] names.
pub(super) fn distributions(rows: &[&Times]) -> Vec<Vec<String>> {
    let figures: [fn(&Times) -> Option<Duration>; 7] = [
        Times::min,
        Times::mean,
        |times| times.percentile(50.0),
        |times| times.percentile(90.0),
        |times| times.percentile(95.0),
        |times| times.percentile(99.0),
        Times::max,
    ];
    let columns =
        figures.map(|of| milliseconds(&rows.iter().map(|times| of(times)).collect::<Vec<_>>()));
    let row = |index: usize| {
        let count = thousands(rows[index].count());
        [count].into_iter().chain(columns.iter().map(|column| column[index].clone())).collect()
    };
    (0..rows.len()).map(row).collect()
}

/// The heads of [`distributions`].
pub(super) const HEADS: [&str; 8] = ["count", "min", "mean", "p50", "p90", "p95", "p99", "max"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_the_decimals_of_its_shortest_time() {
        let column = |us: &[u64]| {
            milliseconds(&us.iter().map(|us| Some(Duration::from_micros(*us))).collect::<Vec<_>>())
        };
        assert_eq!(column(&[12, 1_234_567]), ["0.012", "1,234.567"]);
        assert_eq!(column(&[2_500, 1_234_567]), ["2.50", "1,234.57"]);
        assert_eq!(column(&[0, 25_000]), ["0.0", "25.0"]);
        assert_eq!(milliseconds(&[None]), ["–"]);
    }

    #[test]
    fn one_failure_among_a_million_is_not_none() {
        assert_eq!(percent(Some(1e-6)), "<0.01 %");
        assert_eq!(percent(Some(0.999_999)), ">99.99 %");
        assert_eq!([percent(Some(0.0)), percent(Some(1.0))], ["0.00 %", "100.00 %"]);
    }
}

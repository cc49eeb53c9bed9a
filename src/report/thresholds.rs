//! Thresholds and what came of them: for people, and for `summary.json`.

use std::fmt::Write as _;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use crate::report::units::{printable, rate, time};
use crate::stats::thousands;
use crate::verdict::{Judged, Unit};

/// A threshold and what came of it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Threshold")]
pub(crate) struct Entry<'a> {
    /// The label, or `all`.
    label: &'a str,
    /// As in the plan.
    condition: &'a str,
    /// Whether the condition holds.
    passed: bool,
    /// Times in milliseconds, shares from 0 to 1; null where there was nothing to measure.
    measured: Option<f64>,
}

/// The thresholds as `summary.json` has them.
pub(crate) fn entries(judged: &[Judged]) -> Vec<Entry<'_>> {
    judged
        .iter()
        .map(|one| Entry {
            label: &one.threshold.label,
            condition: &one.threshold.condition.text,
            passed: one.holds,
            measured: one.measured.map(|value| match one.threshold.condition.statistic.unit() {
                Unit::Time => (value * 1e6).round() / 1e3,
                Unit::Count | Unit::Share | Unit::PerSecond => value,
            }),
        })
        .collect()
}

/// A table of the thresholds; nothing if there are none.
pub fn render(judged: &[Judged]) -> String {
    if judged.is_empty() {
        return String::new();
    }
    let width = |cell: fn(&Judged) -> &str| {
        judged.iter().map(|one| printable(cell(one)).chars().count()).max().unwrap_or(0)
    };
    let labels = width(|one| &one.threshold.label);
    let conditions = width(|one| &one.threshold.condition.text);
    let mut out = String::from("thresholds\n");
    for one in judged {
        let label = printable(&one.threshold.label);
        let condition = printable(&one.threshold.condition.text);
        let sign = if one.holds { "passed" } else { "FAILED" };
        let measured = measured(one);
        writeln!(out, "  {sign}  {label:<labels$}  {condition:<conditions$}  {measured}").ok();
    }
    out
}

/// What was measured, in the unit of its condition.
pub fn measured(judged: &Judged) -> String {
    let Some(value) = judged.measured else { return "no samples".to_owned() };
    match judged.threshold.condition.statistic.unit() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counts are whole, positive and far below 2^53"
        )]
        Unit::Count => thousands(value as u64),
        Unit::Share => format!("{:.2}%", value * 100.0),
        Unit::PerSecond => rate(Some(value)),
        Unit::Time => time(Duration::try_from_secs_f64(value).ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{Condition, Figure, Operator, Statistic, Threshold};

    fn judged(label: &str, text: &str, statistic: Statistic, measured: Option<f64>) -> Judged {
        let operator = Operator::Below;
        let condition = Condition { statistic, operator, bound: 1.0, text: text.to_owned() };
        let threshold = Threshold { label: label.to_owned(), condition, abort: None };
        Judged { threshold, measured, holds: measured.is_some_and(|value| value < 1.0) }
    }

    #[test]
    fn the_table_shows_what_was_measured() {
        let time = Statistic::Time(Figure::Percentile(95.0));
        let rows = [
            judged("say", "p95 < 1s", time, Some(0.0123)),
            judged("all", "count < 1", Statistic::Count, Some(1_100.0)),
            judged("gone", "error_rate < 100%", Statistic::ErrorRate, None),
        ];
        let expected = "thresholds\n\
            \u{20} passed  say   p95 < 1s           12.3ms\n\
            \u{20} FAILED  all   count < 1          1,100\n\
            \u{20} FAILED  gone  error_rate < 100%  no samples\n";
        assert_eq!(render(&rows), expected);
        assert_eq!(render(&[]), "");
    }
}

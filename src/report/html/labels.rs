//! The table of labels.

use serde::Serialize;

use crate::report::html::figures::{self, milliseconds, percent, rates};
use crate::report::html::name::Name;
use crate::stats::{LabelStats, Stats, Times, thousands};

/// A table of labels, so wide that it is told by rows.
#[derive(Debug, Serialize)]
pub(super) struct Labels {
    rows: Vec<Row>,
    /// All samplers together; none if there is but one.
    all: Option<Row>,
    transactions: Vec<Row>,
    /// Times from the intended start.
    intended: Vec<Intended>,
    /// Whether some label has skipped samplers.
    has_skipped: bool,
    /// Whether some label has a time of first exchanges.
    has_first: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    name: Name,
    count: String,
    failed: String,
    has_failed: bool,
    error_rate: String,
    skipped: String,
    rate: String,
    /// `min` to `max`, then `first`.
    times: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Intended {
    name: Name,
    cells: Vec<String>,
}

impl Labels {
    pub(super) fn of(stats: &Stats) -> Self {
        let all = stats.all();
        let labels: Vec<Named<'_>> = stats.labels().map(named).collect();
        let transactions: Vec<Named<'_>> = stats.transactions().map(named).collect();
        let every: Vec<Named<'_>> = [&labels[..], &[(None, &all)], &transactions[..]].concat();
        let mut rows = rows(&every);
        let transactions = rows.split_off(labels.len() + 1);
        let all_row = rows.pop().filter(|_| labels.len() > 1);
        Self {
            rows,
            all: all_row,
            transactions,
            intended: intended(&every[..=labels.len()]),
            has_skipped: all.skips() > 0,
            has_first: every.iter().any(|(_, label)| label.first().is_some()),
        }
    }
}

/// A label, or `None` of all together, and its figures.
type Named<'a> = (Option<&'a str>, &'a LabelStats);

fn named<'a>((label, stats): (&'a str, &'a LabelStats)) -> Named<'a> {
    (Some(label), stats)
}

fn name(label: Option<&str>) -> Name {
    label.map_or_else(Name::of_all, Name::of)
}

fn rows(labels: &[Named<'_>]) -> Vec<Row> {
    let rates = rates(&labels.iter().map(|(_, label)| label.rate()).collect::<Vec<_>>());
    let times: Vec<&Times> = labels.iter().map(|(_, label)| &label.all).collect();
    let distributions = figures::distributions(&times);
    let first = milliseconds(&labels.iter().map(|(_, label)| label.first()).collect::<Vec<_>>());
    let row = |(index, (label_name, label)): (usize, &Named<'_>)| Row {
        name: name(*label_name),
        count: thousands(label.count),
        failed: thousands(label.failed),
        has_failed: label.failed > 0,
        error_rate: percent(label.error_rate()),
        skipped: thousands(label.skips()),
        rate: rates[index].clone(),
        // The count of times is not that of rows: `NO_MESSAGE` has none.
        times: [&distributions[index][1..], &[first[index].clone()]].concat(),
    };
    labels.iter().enumerate().map(row).collect()
}

fn intended(labels: &[Named<'_>]) -> Vec<Intended> {
    let with: Vec<(Option<&str>, &Times)> = labels
        .iter()
        .filter_map(|(name, label)| Some((*name, label.intended.as_deref()?)))
        .collect();
    let times: Vec<&Times> = with.iter().map(|(_, times)| *times).collect();
    let cells = figures::distributions(&times);
    let rows = with.iter().zip(cells);
    rows.map(|((label, _), cells)| Intended { name: name(*label), cells }).collect()
}

//! What a page says of failures, of what was skipped because of them, and of discarded messages.

use std::cmp::Reverse;

use serde::Serialize;

use crate::report::html::name::Name;
use crate::report::html::text::{cut, shown, shown_lines};
use crate::stats::{self, CauseKey, Stats, thousands};

/// Causes that a page shows; the others are in `summary.json`.
const MOST_CAUSES: usize = 200;
/// Rows of the other tables.
const MOST_ROWS: usize = 200;
/// Characters of what a server answered.
const MOST_ANSWER: usize = 2_000;

#[derive(Debug, Serialize)]
pub(super) struct Cause {
    count: String,
    label: Name,
    code: String,
    /// The failure message of one of them.
    example: String,
    /// What rows are grouped by, where it is another text.
    text: Option<String>,
    /// What a server answered by HTTP.
    answer: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Skip {
    label: Name,
    cause: String,
    count: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Filter {
    label: Name,
    pattern: String,
    count: String,
}

/// The causes of failures, most frequent first, and how many more there are.
pub(super) fn causes(stats: &Stats) -> (Vec<Cause>, u64) {
    let mut causes: Vec<(&str, &CauseKey, &stats::Cause, Option<&str>)> = stats
        .labels()
        .flat_map(|(label, figures)| {
            let causes = figures.causes.iter();
            causes.map(move |(key, cause)| (label, key, cause, figures.answer(key)))
        })
        .collect();
    causes.sort_by_key(|(label, key, cause, _)| (Reverse(cause.count), *label, *key));
    let more = causes.len().saturating_sub(MOST_CAUSES);
    let shown = causes.into_iter().take(MOST_CAUSES);
    (shown.map(|(label, key, cause, answer)| row(label, key, cause, answer)).collect(), more as u64)
}

fn row(label: &str, key: &CauseKey, cause: &stats::Cause, answer: Option<&str>) -> Cause {
    Cause {
        count: thousands(cause.count),
        label: Name::of(label),
        code: shown(&key.shown_code()),
        example: shown(&cause.example),
        text: (key.text != cause.example).then(|| shown(&key.text)),
        answer: answer.map(|answer| shown_lines(&cut(answer, MOST_ANSWER))),
    }
}

/// What could not run, most first.
pub(super) fn skips(stats: &Stats) -> Vec<Skip> {
    let mut skips: Vec<(u64, &str, String)> = stats
        .labels()
        .flat_map(|(label, figures)| {
            let skipped = figures.skipped.iter();
            skipped.map(move |(code, count)| (*count, label, code.to_string()))
        })
        .collect();
    skips.sort_by(|one, other| (other.0, one.1, &one.2).cmp(&(one.0, other.1, &other.2)));
    let skips = skips.into_iter().take(MOST_ROWS);
    let row =
        |(count, label, cause)| Skip { label: Name::of(label), cause, count: thousands(count) };
    skips.map(row).collect()
}

/// What filters discarded, most first.
pub(super) fn filters(stats: &Stats) -> Vec<Filter> {
    let mut filters: Vec<(u64, &str, &str)> = stats
        .labels()
        .flat_map(|(label, figures)| {
            let filtered = figures.filtered.iter();
            filtered.map(move |(filter, count)| (*count, label, filter.as_str()))
        })
        .collect();
    filters.sort_by_key(|(count, label, filter)| (Reverse(*count), *label, *filter));
    let filters = filters.into_iter().take(MOST_ROWS);
    let row = |(count, label, filter): (u64, &str, &str)| Filter {
        label: Name::of(label),
        pattern: shown(&cut(filter, 500)),
        count: thousands(count),
    };
    filters.map(row).collect()
}

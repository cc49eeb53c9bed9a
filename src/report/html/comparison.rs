//! The table of what changed since an earlier run.

use serde::Serialize;

use crate::report::compare::{self, Compared, Shown};
use crate::report::html::name::Name;
use crate::report::html::text::shown;
use crate::stats::thousands;
use crate::verdict::compare::Finding;

/// Figures shown, the gravest first.
const MOST_CHANGES: usize = 600;

#[derive(Debug, Serialize)]
pub(super) struct Comparison {
    base: String,
    conclusion: String,
    is_worse: bool,
    caveats: Vec<String>,
    changes: Vec<Row>,
    more_changes: Option<String>,
    confidence: String,
    /// Labels of one run only, each with the name of that run.
    only: Vec<Only>,
}

#[derive(Debug, Serialize)]
struct Row {
    label: Name,
    figure: String,
    base: String,
    new: String,
    change: String,
    interval: String,
    tolerance: String,
    /// For the style; empty for what is neither good nor bad.
    class: &'static str,
    finding: String,
}

#[derive(Debug, Serialize)]
struct Only {
    run: &'static str,
    labels: String,
}

impl Comparison {
    pub(super) fn of(compared: &Compared) -> Self {
        let Compared { base, caveats, found, .. } = compared;
        let changes = compare::gravest_first(found);
        let more = changes.len().saturating_sub(MOST_CHANGES);
        Self {
            base: shown(base),
            conclusion: compare::conclusion(found),
            is_worse: found.is_worse(),
            caveats: caveats.iter().map(|caveat| shown(caveat)).collect(),
            changes: changes.iter().take(MOST_CHANGES).map(row).collect(),
            more_changes: (more > 0).then(|| thousands(more as u64)),
            confidence: compare::confidence(found),
            only: [("the base", &found.only_in_base), ("this run", &found.only_in_new)]
                .into_iter()
                .filter(|(_, labels)| !labels.is_empty())
                .map(|(run, labels)| Only { run, labels: shown(&labels.join(", ")) })
                .collect(),
        }
    }
}

fn row(change: &Shown<'_>) -> Row {
    let (class, finding) = match change.finding {
        Finding::Worse => ("wrong", "✗ worse".to_owned()),
        Finding::MaybeWorse => ("doubtful", "? perhaps worse".to_owned()),
        Finding::Better => ("good", "✓ better".to_owned()),
        Finding::Same => ("", "same".to_owned()),
        Finding::Unknown(_) => ("", change.sentence.clone()),
    };
    Row {
        label: Name::of_label_or_all(change.label),
        figure: change.figure.clone(),
        base: change.base.clone(),
        new: change.new.clone(),
        change: change.change.clone(),
        interval: change.interval.clone(),
        tolerance: change.tolerance.clone(),
        class,
        finding,
    }
}

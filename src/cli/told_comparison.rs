//! A comparison that a summary tells, as reports want it.

use crate::compile::set_tolerance;
use crate::report::compare::Compared;
use crate::results::{ChangeInfo, ComparedLabelInfo, ComparisonInfo};
use crate::verdict::compare::{Change, Comparison, Finding, LabelComparison, Metric, Tolerances};

/// The comparison; what another version knows and this one does not is left out.
pub(crate) fn compared(info: &ComparisonInfo) -> Compared {
    let mut tolerances = Tolerances::default();
    for (key, value) in &info.tolerances {
        if let Some(text) = value.as_str() {
            set_tolerance(&mut tolerances, key, text).ok();
        }
    }
    Compared {
        base: info.base.clone(),
        new: None,
        caveats: info.caveats.clone(),
        found: Comparison {
            tolerances,
            labels: info.labels.iter().map(label).collect(),
            only_in_base: info.only_in_base.clone(),
            only_in_new: info.only_in_new.clone(),
        },
    }
}

fn label(info: &ComparedLabelInfo) -> LabelComparison {
    let ComparedLabelInfo { label, transaction, changes } = info;
    let changes = changes.iter().filter_map(change).collect();
    LabelComparison { label: label.clone(), transaction: *transaction, changes }
}

fn change(info: &ChangeInfo) -> Option<Change> {
    let metric = Metric::ALL.into_iter().find(|metric| metric.name() == info.metric)?;
    let unit = if metric.quantile().is_some() { 1e-3 } else { 1.0 };
    let value = |value: Option<f64>| value.map(|value| value * unit);
    Some(Change {
        metric,
        base: value(info.base),
        new: value(info.new),
        interval: value(info.change_at_least).zip(value(info.change_at_most)),
        finding: Finding::from_word(&info.finding, info.samples, info.samples_needed)?,
    })
}

//! A comparison for machines: a file of its own, and a part of `summary.json`.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::report::compare::{Compared, conclusion};
use crate::report::whole_file;
use crate::verdict::compare::{Change, Finding, LabelComparison, Tolerances, Unknown};

/// A run compared with an earlier one.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Comparison")]
pub(crate) struct Document<'a> {
    /// The results that were compared with: a path.
    base: &'a str,
    /// The results that may be worse, as given; absent where they are those of this summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<&'a str>,
    /// Whether some figure is worse.
    regression: bool,
    /// What it comes to, in one line.
    conclusion: String,
    /// What makes the runs hard to compare.
    caveats: &'a [String],
    /// What was tolerated, as a plan's `compare` says it.
    #[schemars(with = "BTreeMap<String, String>")]
    tolerances: Map<String, Value>,
    /// What both runs have, in the order of the base; `all`, all samplers together, is last.
    labels: Vec<Label<'a>>,
    /// Labels that only the base has.
    only_in_base: &'a [String],
    /// Labels that only the new run has.
    only_in_new: &'a [String],
}

/// The changes of a label.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ComparedLabel")]
#[expect(clippy::struct_field_names, reason = "the names are those in the file")]
struct Label<'a> {
    /// The label.
    label: &'a str,
    /// Whether it sums up other labels' samples.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    transaction: bool,
    /// Its figures.
    changes: Vec<Entry>,
}

/// A figure in both runs: times in milliseconds, shares from 0 to 1, rates a second.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Change")]
struct Entry {
    /// Which.
    #[schemars(extend("enum" = ["rate", "error_rate", "p50", "p90", "p95", "p99"]))]
    metric: &'static str,
    /// In the base; null where it is not known.
    base: Option<f64>,
    /// In the new run; null where it is not known.
    new: Option<f64>,
    /// New less base.
    change: Option<f64>,
    /// The lower end of its confidence interval.
    change_at_least: Option<f64>,
    /// The upper end of its confidence interval.
    change_at_most: Option<f64>,
    /// By how much it may be worse: a share of the base, but of the error rate what it may grow by.
    tolerance: f64,
    /// What is to be thought of it; `perhaps worse` is beyond the tolerance and may be chance, and what is
    /// not known has its reason here.
    #[schemars(extend("enum" = [
        "same", "better", "worse", "perhaps worse", "too few samples", "too short a time"
    ]))]
    finding: &'static str,
    /// Samples that the run with fewer of them has, where these are too few.
    #[serde(skip_serializing_if = "Option::is_none")]
    samples: Option<u64>,
    /// Samples that the figure takes, where there are fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    samples_needed: Option<u64>,
}

/// Writes the comparison as JSON. The error names the path.
pub fn write(path: &Path, compared: &Compared) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(&document(compared))?;
    text.push(b'\n');
    whole_file::write(path, &text)
}

/// The comparison as files have it.
pub(crate) fn document(compared: &Compared) -> Document<'_> {
    let found = &compared.found;
    Document {
        base: &compared.base,
        new: compared.new.as_deref(),
        regression: found.is_worse(),
        conclusion: conclusion(found),
        caveats: &compared.caveats,
        tolerances: tolerances(&found.tolerances),
        labels: found.labels.iter().map(|one| label(one, &found.tolerances)).collect(),
        only_in_base: &found.only_in_base,
        only_in_new: &found.only_in_new,
    }
}

/// As a plan has them.
pub fn tolerances(tolerances: &Tolerances) -> Map<String, Value> {
    let entries = tolerances.entries().into_iter();
    entries.map(|(key, text)| (key.to_owned(), text.into())).collect()
}

fn label<'a>(label: &'a LabelComparison, tolerances: &Tolerances) -> Label<'a> {
    Label {
        label: &label.label,
        transaction: label.transaction,
        changes: label.changes.iter().map(|change| entry(change, tolerances)).collect(),
    }
}

fn entry(change: &Change, tolerances: &Tolerances) -> Entry {
    let is_time = change.metric.quantile().is_some();
    // Times to the microsecond.
    let value = |value: f64| if is_time { (value * 1e6).round() / 1e3 } else { value };
    let few = match change.finding {
        Finding::Unknown(Unknown::Samples { there, needed }) => Some((there, needed)),
        _ => None,
    };
    Entry {
        metric: change.metric.name(),
        base: change.base.map(value),
        new: change.new.map(value),
        change: change.difference().map(value),
        change_at_least: change.interval.map(|(low, _)| value(low)),
        change_at_most: change.interval.map(|(_, high)| value(high)),
        tolerance: tolerances.of(change.metric),
        finding: change.finding.word(),
        samples: few.map(|(there, _)| there),
        samples_needed: few.map(|(_, needed)| needed),
    }
}

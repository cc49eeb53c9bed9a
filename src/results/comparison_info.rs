//! What a `summary.json` tells of a comparison with an earlier run.

use serde::Deserialize;
use serde_json::{Map, Value};

/// A comparison, in the units of the file: times in milliseconds.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ComparisonInfo {
    /// The results that the run was compared with.
    pub base: String,
    /// What made the runs hard to compare.
    pub caveats: Vec<String>,
    /// What was tolerated, as a plan says it.
    pub tolerances: Map<String, Value>,
    /// What both runs have.
    pub labels: Vec<ComparedLabelInfo>,
    /// Labels that only the base has.
    pub only_in_base: Vec<String>,
    /// Labels that only the run has.
    pub only_in_new: Vec<String>,
}

/// The changes of a label.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ComparedLabelInfo {
    /// The label.
    pub label: String,
    /// Whether it sums up other labels' samples.
    pub transaction: bool,
    /// Its figures.
    pub changes: Vec<ChangeInfo>,
}

/// A figure in both runs.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ChangeInfo {
    /// Its name.
    pub metric: String,
    /// In the base.
    pub base: Option<f64>,
    /// In the new run.
    pub new: Option<f64>,
    /// The lower end of the change's confidence interval.
    pub change_at_least: Option<f64>,
    /// The upper end.
    pub change_at_most: Option<f64>,
    /// The finding's word.
    pub finding: String,
    /// Samples that there are, where these are too few.
    pub samples: u64,
    /// Samples that it takes.
    pub samples_needed: u64,
}

//! What a run must meet, and what it may differ by from another, as written.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::setting::{Flag, Setting, Text, Time, given};

/// A threshold with settings of its own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// What must hold: a statistic, an operator and a value, such as `p95 < 50ms`.
    #[serde(default, deserialize_with = "given")]
    pub condition: Option<Setting<Text>>,
    /// Whether the run ends, and fails, as soon as the condition does not hold. It is looked at once a
    /// second, and of one on a label without samples nothing is known yet.
    #[serde(default, deserialize_with = "given")]
    pub abort: Option<Setting<Flag>>,
    /// The time from the start of the run before which the condition cannot end it.
    #[serde(default, deserialize_with = "given")]
    pub after: Option<Setting<Time>>,
}

/// `compare`: what may change from one run to another without being a regression. A share is one of the
/// other run's figure.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compare {
    /// What the rate may fall by.
    #[serde(default, deserialize_with = "given")]
    pub rate: Option<Setting<Text>>,
    /// What the error rate may grow by, in percentage points.
    #[serde(default, deserialize_with = "given")]
    pub error_rate: Option<Setting<Text>>,
    /// What the median may grow by.
    #[serde(default, deserialize_with = "given")]
    pub p50: Option<Setting<Text>>,
    /// What the 90th percentile may grow by.
    #[serde(default, deserialize_with = "given")]
    pub p90: Option<Setting<Text>>,
    /// What the 95th percentile may grow by.
    #[serde(default, deserialize_with = "given")]
    pub p95: Option<Setting<Text>>,
    /// What the 99th percentile may grow by.
    #[serde(default, deserialize_with = "given")]
    pub p99: Option<Setting<Text>>,
    /// What every percentile may grow by, whatever share that is.
    #[serde(default, deserialize_with = "given")]
    pub at_least: Option<Setting<Time>>,
    /// How sure a change must be to count.
    #[serde(default, deserialize_with = "given")]
    pub confidence: Option<Setting<Text>>,
}

impl Compare {
    /// The shares with what is written for them.
    pub fn shares(&self) -> [(&'static str, Option<&Setting<Text>>); 7] {
        [
            ("rate", self.rate.as_ref()),
            ("error_rate", self.error_rate.as_ref()),
            ("p50", self.p50.as_ref()),
            ("p90", self.p90.as_ref()),
            ("p95", self.p95.as_ref()),
            ("p99", self.p99.as_ref()),
            ("confidence", self.confidence.as_ref()),
        ]
    }
}

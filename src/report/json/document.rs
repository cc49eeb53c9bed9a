//! What `summary.json` consists of, and its schema.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::report::compare;
use crate::report::json::connections::Connections;
use crate::report::json::{About, Generator, Group};
use crate::report::thresholds::Entry;

/// The schema of `summary.json` as pretty JSON with a final newline; the same for the same types.
pub fn schema() -> String {
    let settings = SchemaSettings::draft07().for_serialize();
    let mut root = settings.into_generator().into_root_schema_for::<Document<'_>>().to_value();
    root["title"] = json!("wsmeter summary");
    let mut text = format!("{root:#}");
    text.push('\n');
    text
}

/// What a run came to, for machines.
#[derive(Serialize, JsonSchema)]
pub(super) struct Document<'a> {
    #[serde(flatten)]
    pub(super) about: &'a About,
    /// What the run came to.
    #[schemars(extend("enum" = ["passed", "failed", "broke off", "interrupted"]))]
    pub(super) verdict: &'static str,
    /// The exit code of the run: 0 passed, 1 failed, 3 broke off, 130 interrupted.
    #[schemars(extend("enum" = [0, 1, 3, 130]))]
    pub(super) exit_code: u8,
    /// Why, in one line.
    pub(super) reason: &'a str,
    /// Present, and true, where times are in whole milliseconds, as rows have them: the shortest are 0 then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) times_in_whole_ms: bool,
    /// The plan's thresholds and what came of them, in its order.
    pub(super) thresholds: Vec<Entry<'a>>,
    /// What `run --baseline` found; absent where the run was compared with no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) comparison: Option<compare::Document<'a>>,
    /// The plan's thread groups.
    pub(super) groups: &'a [Group],
    /// Figures by label, in order of first appearance; `all` is all samplers together, without transactions.
    #[schemars(with = "BTreeMap<String, Label>")]
    pub(super) labels: Map<String, Value>,
    /// Of connections.
    pub(super) connections: Connections,
    /// Arrivals that found as many threads as there may be.
    pub(super) missed: u64,
    /// How long after they were due threads started.
    pub(super) lag: Figures,
    /// Times that a thread went on from a `rendezvous` because of its `timeout`.
    pub(super) rendezvous_missed: u64,
    /// Why samples failed, the most frequent first.
    pub(super) causes: Vec<Cause<'a>>,
    /// Why samplers did not run.
    pub(super) skipped: Vec<Skipped<'a>>,
    /// What filters discarded.
    pub(super) filters: Vec<Filtered<'a>>,
    /// What the load generator itself used.
    pub(super) generator: &'a Generator,
}

/// The figures of one label.
#[derive(Serialize, JsonSchema)]
pub(super) struct Label {
    /// Whether it sums up other labels' samples, and is not part of `all`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) transaction: bool,
    /// Rows.
    pub(super) count: u64,
    /// Rows that failed.
    pub(super) failed: u64,
    /// Failed rows among all, from 0 to 1; null without rows.
    pub(super) error_rate: Option<f64>,
    /// Executions without a row because an earlier sampler failed.
    pub(super) skipped: u64,
    /// Replies that came after their request had failed, and were told apart.
    pub(super) late: u64,
    /// Their round trips; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) late_times: Option<Figures>,
    /// Messages that fitted no matcher and that no step could read.
    pub(super) unmatched: u64,
    /// Messages whose server claims to have sent them after they arrived.
    pub(super) clock_skew: u64,
    /// Messages that `read` steps took; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) messages: Option<u64>,
    /// Times between them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gaps: Option<Figures>,
    /// Messages that arrived before their request was written, and were not taken for replies.
    pub(super) early: u64,
    /// Requests whose reply did not come.
    pub(super) unanswered: u64,
    /// Messages that filters discarded.
    pub(super) filtered: u64,
    /// Reads that the end of the run cut off.
    pub(super) cut: u64,
    /// Rows a second, from the first start to the last end; null where no time passed.
    pub(super) rate_per_s: Option<f64>,
    #[serde(flatten)]
    pub(super) times: Figures,
    /// The median of the first exchange on each connection.
    pub(super) first_ms: Option<f64>,
    /// Elapsed times of the rows that passed.
    pub(super) ok: Figures,
    /// Times from the intended start, where a schedule says when; absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) intended: Option<Figures>,
    /// How many times those are: also of samples that a delay left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) intended_count: Option<u64>,
}

/// Times in milliseconds; null where there is none.
#[derive(Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names are those in the file")]
pub(super) struct Figures {
    /// The shortest.
    pub(super) min_ms: Option<f64>,
    /// The mean.
    pub(super) mean_ms: Option<f64>,
    /// The time that half of all do not exceed.
    pub(super) p50_ms: Option<f64>,
    /// The time that 90 % do not exceed.
    pub(super) p90_ms: Option<f64>,
    /// The time that 95 % do not exceed.
    pub(super) p95_ms: Option<f64>,
    /// The time that 99 % do not exceed.
    pub(super) p99_ms: Option<f64>,
    /// The longest.
    pub(super) max_ms: Option<f64>,
}

/// Why samples of a label failed.
#[derive(Serialize, JsonSchema)]
pub(super) struct Cause<'a> {
    /// Their label.
    pub(super) label: &'a str,
    /// The rows' response code.
    pub(super) code: String,
    /// Before variables were expanded.
    pub(super) text: &'a str,
    /// Rows.
    pub(super) count: u64,
    /// The first row's failure message.
    pub(super) example: &'a str,
    /// What a server answered by HTTP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<&'a str>,
}

/// Executions of samplers of a label that have no row.
#[derive(Serialize, JsonSchema)]
pub(super) struct Skipped<'a> {
    /// Their label.
    pub(super) label: &'a str,
    /// The code of the failure that they were skipped because of.
    pub(super) cause: String,
    /// How many.
    pub(super) count: u64,
}

/// What a filter discarded before samplers of a label.
#[derive(Serialize, JsonSchema)]
pub(super) struct Filtered<'a> {
    /// Their label.
    pub(super) label: &'a str,
    /// The filter, as written.
    pub(super) filter: &'a str,
    /// Messages.
    pub(super) count: u64,
}

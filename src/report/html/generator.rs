//! What a page says of the load generator itself.

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use crate::report::html::figures::{fixed, percent};
use crate::report::html::view::Fact;
use crate::report::json::Generator;
use crate::report::units::size;
use crate::stats::Stats;

/// Spans of saturation that are told; all are shaded in the charts.
const MOST_SPANS: usize = 10;

#[derive(Debug, Serialize)]
pub(super) struct Health {
    facts: Vec<Fact>,
    workers: Vec<Worker>,
    /// When it did not keep up.
    saturated: Vec<String>,
    more_saturated: Option<usize>,
    /// It had nothing to spare, though it kept up.
    is_busy: bool,
}

#[derive(Debug, Serialize)]
struct Worker {
    cpu: String,
    waited: String,
}

impl Health {
    pub(super) fn of(generator: &Generator, stats: &Stats, started: Option<DateTime<Utc>>) -> Self {
        let ms = |ms: f64| format!("{} ms", fixed(ms, 2));
        let facts = [
            ("CPU, in cores", generator.cpu.map(|cpu| fixed(cpu, 2))),
            ("peak memory", generator.peak_memory_bytes.map(size)),
            ("threads started late by, p99", generator.lag_p99_ms.map(ms)),
            ("timers late by, p99", generator.timers_p99_ms.map(ms)),
        ];
        let spans = generator
            .saturated
            .iter()
            .map(|[from, to]| format!("{} to {}", moment(started, *from), moment(started, *to)));
        let more = generator.saturated.len().saturating_sub(MOST_SPANS);
        Self {
            facts: facts
                .into_iter()
                .filter_map(|(name, value)| Some(Fact::new(name, value?)))
                .collect(),
            workers: generator
                .workers
                .iter()
                .map(|worker| Worker {
                    cpu: percent(Some(worker.cpu)),
                    waited: percent(Some(worker.waited)),
                })
                .collect(),
            saturated: spans.take(MOST_SPANS).collect(),
            more_saturated: (more > 0).then_some(more),
            is_busy: stats.health.is_busy() && generator.saturated.is_empty(),
        }
    }
}

/// A second of the run as a time of day, or from its start.
fn moment(started: Option<DateTime<Utc>>, second: u64) -> String {
    let after = TimeDelta::try_seconds(i64::try_from(second).unwrap_or(i64::MAX));
    match started.zip(after).and_then(|(started, after)| started.checked_add_signed(after)) {
        Some(time) => time.format("%H:%M:%S UTC").to_string(),
        None => format!("second {second}"),
    }
}

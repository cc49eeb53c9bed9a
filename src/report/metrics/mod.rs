//! The figures of a run as `OpenMetrics` text, which Prometheus and its kin read: at the end in
//! `metrics.txt`, and while it goes on for those who fetch them.

mod exposition;
mod server;

use std::io;
use std::path::Path;

use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;

use crate::report::json::Contents;
use crate::report::metrics::exposition::Exposition;
use crate::report::whole_file;
use crate::stats::Stats;

pub use server::{Listening, Serving};

/// Labels that have metrics of their own; of more, the rest is together, while a run goes on without buckets.
pub(crate) const MOST_LABELS: u32 = 100;

/// What is known of a run beside its recorded figures.
#[derive(Debug, Clone)]
pub struct About {
    /// The plan's file, as given.
    pub plan: String,
    /// When the run started, in seconds since 1970; `None` where that is not known.
    pub started: Option<f64>,
}

/// How many there are at this moment.
#[derive(Debug, Clone, Copy, Default)]
struct Now {
    connections: u64,
    peak_connections: u64,
    threads: u64,
}

/// Writes the file under a temporary name and renames it. The error names the path.
pub(crate) fn write(path: &Path, contents: &Contents<'_>) -> io::Result<()> {
    let started = chrono::DateTime::parse_from_rfc3339(&contents.about.started).ok();
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 are far below 2^53")]
    let started = started.map(|started| started.timestamp_millis() as f64 / 1e3);
    let about = About { plan: contents.about.plan.path.clone(), started };
    // At its end nothing is open and nobody at work.
    let now = Now { peak_connections: contents.peak_connections, ..Now::default() };
    let text = render(contents.stats.without_course(), about, now).map_err(io::Error::other)?;
    whole_file::write(path, text.as_bytes())
}

fn render(stats: Stats, about: About, now: Now) -> Result<String, std::fmt::Error> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Exposition { stats, about, now }));
    let mut out = String::new();
    text::encode(&mut out, &registry)?;
    Ok(out)
}

#[cfg(test)]
mod tests;

//! `summary.json`: the summary for machines.

mod connections;
mod document;

use std::io;
use std::path::Path;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::report::compare::{self, Compared};
use crate::report::html::Page;
use crate::report::json::connections::Connections;
use crate::report::json::document::{Cause, Document, Figures, Filtered, Label, Skipped};
use crate::report::thresholds;
use crate::report::whole_file;
use crate::stats::{LabelStats, Named, Stats, Times};
use crate::verdict::Judgement;

pub use document::schema;

/// The name of the figures of all samplers together.
const ALL: &str = "all";

/// What the command knows of a run beside its figures.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct About {
    /// The version of wsmeter.
    pub wsmeter: &'static str,
    /// The plan.
    pub plan: Plan,
    /// This machine's name.
    pub host: String,
    /// Workers, one for each core.
    pub cores: usize,
    /// ISO 8601, UTC.
    pub started: String,
    /// ISO 8601, UTC.
    pub ended: String,
    /// The results that were read, where this is not written by the run itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
}

/// The plan that was run.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Plan {
    /// Its file, as given.
    pub path: String,
    /// Of the file, hexadecimal.
    pub sha256: String,
    /// Properties that were set.
    pub properties: Map<String, Value>,
    /// What a comparison with another run tolerates, if the plan says so.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub compare: Map<String, Value>,
}

/// A thread group and its load model.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// `setup`, `main` or `teardown`.
    #[schemars(extend("enum" = ["setup", "main", "teardown"]))]
    pub phase: &'static str,
    /// `closed`: a fixed number of threads, each waiting for its own replies; `open`: arrivals by the clock.
    #[schemars(extend("enum" = ["closed", "open"]))]
    pub model: &'static str,
    /// Virtual threads.
    pub threads: u32,
    /// Present, and true, where it was to take samples and has taken none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_sample: bool,
}

/// What the load generator itself used.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Generator {
    /// Largest resident size, where the system tells it.
    pub peak_memory_bytes: Option<u64>,
    /// How long after they were due threads started, at p99.
    pub lag_p99_ms: Option<f64>,
    /// How late timers were, by the p99 of each second of each worker, at p99; `None` for a run of less
    /// than a second.
    pub timers_p99_ms: Option<f64>,
    /// When it did not keep up for three seconds or more or stood still for half a one, in seconds from the start of the run.
    pub saturated: Vec<[u64; 2]>,
    /// What each worker had of the cores, the one that waited longest for them first.
    pub workers: Vec<WorkerCpu>,
    /// CPU time of all threads over wall time; 1 is one core. `None` where the system does not tell.
    pub cpu: Option<f64>,
}

/// What a worker had of the cores, in shares of its time; 1 is one core.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct WorkerCpu {
    /// It ran.
    pub cpu: f64,
    /// It could have run, and waited for a core.
    pub waited: f64,
}

/// Everything that goes into the file.
#[derive(Debug, Clone)]
pub struct Contents<'a> {
    /// What the command knows.
    pub about: About,
    /// The plan's groups.
    pub groups: Vec<Group>,
    /// All figures.
    pub stats: &'a Stats,
    /// Connections that were open at once, at most.
    pub peak_connections: u64,
    /// The judgement.
    pub judgement: &'a Judgement,
    /// The comparison with an earlier run, if there was one.
    pub comparison: Option<&'a Compared>,
    /// The generator's own consumption.
    pub generator: Generator,
}

impl Contents<'_> {
    /// The page of the same run, with all that is known here.
    pub fn page<'p>(&'p self, title: &'p str) -> Page<'p> {
        Page {
            judgement: Some(self.judgement),
            comparison: self.comparison,
            peak_connections: Some(self.peak_connections),
            generator: Some(&self.generator),
            plan: Some(&self.about.plan),
            groups: &self.groups,
            host: Some(&self.about.host),
            cores: Some(self.about.cores),
            wsmeter: Some(self.about.wsmeter),
            ..Page::of(title, self.stats)
        }
    }
}

/// Writes the file under a temporary name and renames it, so that it is never half there. The error
/// names the path.
pub fn write(path: &Path, contents: &Contents<'_>) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(&document(contents))?;
    text.push(b'\n');
    whole_file::write(path, &text)
}

fn document<'a>(contents: &'a Contents<'_>) -> Document<'a> {
    let Contents { about, groups, stats, peak_connections, judgement, comparison, generator } =
        contents;
    let verdict = &judgement.verdict;
    let mut labels: Map<String, Value> = Map::new();
    for Named { name, transaction, figures, .. } in stats.named() {
        labels.insert(name.into_owned(), value(&Label { transaction, ..label(figures) }));
    }
    labels.insert(ALL.to_owned(), value(&label(&stats.all())));
    let connections = &stats.connections;
    Document {
        about,
        verdict: verdict.conclusion.word(),
        exit_code: verdict.conclusion.exit_code(),
        reason: &verdict.reason,
        times_in_whole_ms: stats.are_in_whole_ms(),
        thresholds: thresholds::entries(&judgement.thresholds),
        comparison: comparison.map(compare::document),
        groups,
        labels,
        connections: Connections::of(connections, *peak_connections),
        causes: causes(stats),
        skipped: skipped(stats),
        rendezvous_missed: stats.rendezvous_missed,
        missed: stats.missed,
        lag: figures(&stats.lag),
        filters: filters(stats),
        generator,
    }
}

fn label(label: &LabelStats) -> Label {
    Label {
        transaction: false,
        count: label.count,
        failed: label.failed,
        error_rate: label.error_rate(),
        skipped: label.skips(),
        late: label.late(),
        late_times: label.late.as_deref().map(figures),
        unmatched: label.unmatched,
        clock_skew: label.clock_skew,
        messages: (label.messages > 0).then_some(label.messages),
        gaps: label.gaps.as_deref().map(figures),
        early: label.early,
        unanswered: label.unanswered,
        filtered: label.filtered.iter().map(|(_, count)| count).sum(),
        cut: label.cut,
        rate_per_s: label.rate(),
        times: figures(&label.all),
        first_ms: milliseconds(label.first()),
        ok: figures(label.ok()),
        intended: label.intended.as_deref().map(figures),
        intended_count: label.intended.as_deref().map(Times::count),
    }
}

fn figures(times: &Times) -> Figures {
    let percentile = |percent| milliseconds(times.percentile(percent));
    Figures {
        min_ms: milliseconds(times.min()),
        mean_ms: milliseconds(times.mean()),
        p50_ms: percentile(50.0),
        p90_ms: percentile(90.0),
        p95_ms: percentile(95.0),
        p99_ms: percentile(99.0),
        max_ms: milliseconds(times.max()),
    }
}

/// To the nanosecond: what reads the file back shows the digits that the run itself showed.
fn milliseconds(time: Option<Duration>) -> Option<f64> {
    time.map(|time| (time.as_secs_f64() * 1e9).round() / 1e6)
}

fn counts<'a, K: ToString + 'a>(
    counts: impl IntoIterator<Item = (K, &'a u64)>,
) -> Map<String, Value> {
    counts.into_iter().map(|(key, count)| (key.to_string(), Value::from(*count))).collect()
}

fn causes(stats: &Stats) -> Vec<Cause<'_>> {
    let mut causes: Vec<Cause<'_>> = stats
        .labels()
        .flat_map(|(label, figures)| {
            figures.causes.iter().map(move |(key, cause)| Cause {
                label,
                code: key.shown_code().into_owned(),
                text: &key.text,
                count: cause.count,
                example: &cause.example,
                answer: figures.answer(key),
            })
        })
        .collect();
    causes.sort_by(|one, other| {
        (other.count, one.label, &one.code, one.text).cmp(&(
            one.count,
            other.label,
            &other.code,
            other.text,
        ))
    });
    causes
}

fn skipped(stats: &Stats) -> Vec<Skipped<'_>> {
    let mut skipped: Vec<Skipped<'_>> = stats
        .labels()
        .flat_map(|(label, figures)| {
            figures.skipped.iter().map(move |(code, count)| Skipped {
                label,
                cause: code.to_string(),
                count: *count,
            })
        })
        .collect();
    skipped.sort_by(|one, other| (one.label, &one.cause).cmp(&(other.label, &other.cause)));
    skipped
}

fn filters(stats: &Stats) -> Vec<Filtered<'_>> {
    let of = |(label, figures)| {
        let figures: &LabelStats = figures;
        let each = figures.filtered.iter();
        each.map(move |(filter, count)| Filtered { label, filter, count: *count })
    };
    stats.labels().flat_map(of).collect()
}

/// Plain structs of numbers and texts always serialize.
fn value(what: &impl Serialize) -> Value {
    serde_json::to_value(what).unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Code, Note, Sample};
    use crate::verdict::{Conclusion, Verdict};

    /// The file of a run with these figures, read back.
    fn written(stats: &Stats) -> Value {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("summary.json");
        let verdict = Verdict::new(Conclusion::Failed, "1 of 2 samples failed");
        let judgement = Judgement { verdict, thresholds: Vec::new() };
        let contents = Contents {
            about: About {
                wsmeter: "1.2.3",
                plan: Plan {
                    path: "p.yaml".to_owned(),
                    sha256: "00".to_owned(),
                    properties: Map::new(),
                    compare: Map::new(),
                },
                host: "here".to_owned(),
                cores: 2,
                started: "2026-12-01T09:30:00.000Z".to_owned(),
                ended: "2026-12-01T09:31:00.000Z".to_owned(),
                sources: Vec::new(),
            },
            groups: vec![Group {
                name: "G".to_owned(),
                phase: "main",
                model: "closed",
                threads: 3,
                no_sample: false,
            }],
            stats,
            peak_connections: 7,
            judgement: &judgement,
            comparison: None,
            generator: Generator::default(),
        };
        write(&path, &contents).unwrap();
        let names: Vec<_> = fs_err::read_dir(folder.path()).unwrap().collect();
        assert_eq!(names.len(), 1, "the temporary file is gone: {names:?}");
        serde_json::from_slice(&fs_err::read(&path).unwrap()).unwrap()
    }

    #[test]
    fn figures_have_the_names_that_the_documentation_gives() {
        let mut stats = Stats::default();
        stats.sample(&Sample::plain());
        stats.sample(&Sample { success: false, code: Code::ReadTimeout, ..Sample::plain() });
        stats.note(&Note::Skipped { label: "say", cause: Code::ReadTimeout });
        let json = written(&stats);
        let say = &json["labels"]["say"];
        assert_eq!(
            (&say["count"], &say["failed"], &say["error_rate"]),
            (&2.into(), &1.into(), &0.5.into())
        );
        assert_eq!((&say["max_ms"], &say["ok"]["p95_ms"]), (&2.5.into(), &2.5.into()));
        assert_eq!((&say["skipped"], &say["first_ms"]), (&1.into(), &Value::Null));
        assert_eq!(json["exit_code"], 1);
        assert_eq!(json["connections"]["peak"], 7);
        assert_eq!(json["causes"][0]["code"], "READ_TIMEOUT");
        assert_eq!(json["skipped"][0]["cause"], "READ_TIMEOUT");
        for name in ["wsmeter", "plan", "host", "cores", "started", "ended", "verdict", "reason"]
            .into_iter()
            .chain(["thresholds", "groups", "labels", "generator"])
        {
            assert!(!json[name].is_null(), "{name}");
        }
    }

    #[test]
    fn where_nothing_was_measured_there_is_null() {
        let mut stats = Stats::default();
        stats.note(&Note::Skipped { label: "say", cause: Code::NoConnection });
        let json = written(&stats);
        for label in ["say", "all"] {
            for figure in ["error_rate", "rate_per_s", "min_ms", "mean_ms", "p99_ms"] {
                assert_eq!(json["labels"][label].get(figure), Some(&Value::Null), "{figure}");
            }
        }
    }

    #[test]
    fn labels_come_in_order_and_none_takes_the_place_of_all() {
        let mut stats = Stats::default();
        for label in ["say", "all", "ask"] {
            stats.sample(&Sample { label, ..Sample::plain() });
        }
        let json = written(&stats);
        let labels = json["labels"].as_object().unwrap();
        let names: Vec<_> = labels.keys().map(String::as_str).collect();
        assert_eq!(names, ["say", "all (a label)", "ask", "all"]);
        assert_eq!(labels["all"]["count"], 3);
    }
}

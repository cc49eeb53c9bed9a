//! What a `summary.json` tells that no row does.

mod belonging;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::results::time_stamp::time_stamp;
use crate::results::{ComparisonInfo, ReadError};
use crate::sample::Code;
use crate::stats::{Blocks, Named, Stats, Times, ToldLabel, ToldTimes};

/// What is known of a run beside its rows. Every part may be missing: other versions write other files.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct RunInfo {
    /// The version of wsmeter.
    pub wsmeter: String,
    /// The plan.
    pub plan: PlanInfo,
    /// The machine's name.
    pub host: String,
    /// Workers.
    pub cores: u64,
    /// ISO 8601, UTC.
    pub started: String,
    /// ISO 8601, UTC.
    pub ended: String,
    /// The verdict's word.
    pub verdict: String,
    /// The run's exit code.
    pub exit_code: u8,
    /// The verdict's reason.
    pub reason: String,
    /// The plan's groups.
    pub groups: Vec<GroupInfo>,
    /// What came of the plan's thresholds.
    pub thresholds: Vec<ThresholdInfo>,
    /// What a comparison with an earlier run found, if there was one.
    pub comparison: Option<ComparisonInfo>,
    /// How the generator got on.
    pub generator: GeneratorInfo,
    /// Whether its times are in whole milliseconds, as rows have them.
    pub times_in_whole_ms: bool,
    labels: Map<String, Value>,
    lag: TimesInfo,
    connections: ConnectionsInfo,
    skipped: Vec<SkippedInfo>,
    filters: Vec<FilteredInfo>,
    missed: u64,
    rendezvous_missed: u64,
}

/// The plan of a run.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct PlanInfo {
    /// Its file, as given.
    pub path: String,
    /// Of its text, hexadecimal.
    pub sha256: String,
    /// Properties that were set.
    pub properties: Map<String, Value>,
    /// What a comparison with another run tolerates, as the plan says it.
    pub compare: Map<String, Value>,
}

/// A threshold and what came of it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct ThresholdInfo {
    /// Its label, or `all`.
    pub label: String,
    /// As in the plan.
    pub condition: String,
    /// Whether it held.
    pub passed: bool,
    /// Times in milliseconds, shares from 0 to 1.
    pub measured: Option<f64>,
}

/// A thread group.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct GroupInfo {
    /// Its name.
    pub name: String,
    /// `setup`, `main` or `teardown`.
    pub phase: String,
    /// `closed` or `open`.
    pub model: String,
    /// Virtual threads.
    pub threads: u32,
    /// Whether it was to take samples and has taken none.
    pub no_sample: bool,
}

/// What the generator says of itself.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct GeneratorInfo {
    /// When it did not keep up, in seconds from the start of the run.
    pub saturated: Vec<[u64; 2]>,
    /// How long after they were due threads started, at p99.
    pub lag_p99_ms: Option<f64>,
    /// How late timers were, at p99.
    pub timers_p99_ms: Option<f64>,
    /// What each worker had of the cores.
    pub workers: Vec<WorkerInfo>,
    /// CPU time over wall time.
    pub cpu: Option<f64>,
    /// Largest resident size.
    pub peak_memory_bytes: Option<u64>,
}

/// What a worker had of the cores, in shares of its time.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct WorkerInfo {
    /// It ran.
    pub cpu: f64,
    /// It could have run, and waited for a core.
    pub waited: f64,
}

impl GeneratorInfo {
    /// Seconds in which it did not keep up.
    pub fn saturated_seconds(&self) -> u64 {
        self.saturated.iter().map(|[from, to]| to.saturating_sub(*from)).sum()
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ConnectionsInfo {
    opened: u64,
    refused: u64,
    peak: u64,
    close_codes: Map<String, Value>,
    lost_while_idle: Map<String, Value>,
    inbox_dropped: u64,
    inbox_peak: u64,
    write_stalls: u64,
    received_bytes: u64,
    sent_bytes: u64,
    heartbeat: BeatsInfo,
    handshake: HandshakeInfo,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct BeatsInfo {
    pings: u64,
    sent: u64,
    answered: u64,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct HandshakeInfo {
    dns: TimesInfo,
    tcp: TimesInfo,
    tls: TimesInfo,
    tls_count: u64,
    tls_resumed: u64,
    upgrade: TimesInfo,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct LabelInfo {
    transaction: bool,
    count: u64,
    failed: u64,
    rate_per_s: Option<f64>,
    #[serde(flatten)]
    times: TimesInfo,
    ok: TimesInfo,
    first_ms: Option<f64>,
    gaps: Option<TimesInfo>,
    intended: Option<TimesInfo>,
    intended_count: Option<u64>,
    late: u64,
    late_times: TimesInfo,
    unmatched: u64,
    clock_skew: u64,
    messages: u64,
    early: u64,
    unanswered: u64,
    cut: u64,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct SkippedInfo {
    label: String,
    cause: String,
    count: u64,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct FilteredInfo {
    label: String,
    filter: String,
    count: u64,
}

/// Figures of times whose distribution is not known any more.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "the names are those in the file")]
struct TimesInfo {
    min_ms: Option<f64>,
    mean_ms: Option<f64>,
    p50_ms: Option<f64>,
    p90_ms: Option<f64>,
    p95_ms: Option<f64>,
    p99_ms: Option<f64>,
    max_ms: Option<f64>,
}

impl RunInfo {
    /// Reads a summary.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let text = fs_err::read_to_string(path)?;
        let read = || {
            let mut value: Value = serde_json::from_str(&text)?;
            bound(&mut value);
            Self::deserialize(value)
        };
        read().map_err(|error: serde_json::Error| {
            let line = u64::try_from(error.line()).ok().filter(|line| *line > 0);
            ReadError::wrong(path, line, format!("this is no summary of a run: {error}"))
        })
    }

    /// When it began, in milliseconds since 1970, if that can be read.
    pub fn started_ms(&self) -> Option<u64> {
        time_stamp(self.started.as_bytes())
    }

    /// Connections that were open at once, at most.
    pub fn peak_connections(&self) -> u64 {
        self.connections.peak
    }

    /// By name, without `all`, which sums up the others.
    fn figures(&self) -> BTreeMap<String, LabelInfo> {
        let labels = self.labels.iter().filter(|(name, _)| *name != "all");
        let read = |(name, value): (&String, &Value)| {
            Some((name.clone(), LabelInfo::deserialize(value).ok()?))
        };
        labels.filter_map(read).collect()
    }

    /// What it has percentiles of that rows have not: with those of other runs they cannot be joined.
    pub fn unjoinable(&self) -> BTreeSet<&'static str> {
        let figures = self.figures();
        let has = |what, is: fn(&LabelInfo) -> bool| figures.values().any(is).then_some(what);
        let parts = [
            has("first exchanges", |info| info.first_ms.is_some()),
            has("times from the intended start", |info| info.intended.is_some()),
            has("times between messages", |info| info.gaps.is_some()),
            has("late replies", |info| info.late > 0),
            has("handshakes", |_| true).filter(|_| self.connections.opened > 0),
        ];
        parts.into_iter().flatten().collect()
    }

    /// Whether a sampler has this label.
    pub(super) fn has_sampler(&self, label: &str) -> bool {
        self.labels.get(label).is_some_and(|info| info.get("transaction") != Some(&true.into()))
    }

    /// Gives the figures of its rows the precision that the run itself had.
    pub(super) fn refine(&self, stats: &mut Stats, blocks: &mut Blocks) {
        if self.times_in_whole_ms {
            return;
        }
        let figures = self.figures();
        let mut told: HashMap<(Option<String>, bool), ToldLabel> = HashMap::new();
        for Named { name, transaction, label, .. } in stats.named() {
            if let Some(info) = figures.get(&*name) {
                told.insert((Some(label.to_owned()), transaction), info.told());
            }
        }
        if let Some(Ok(all)) = self.labels.get("all").map(LabelInfo::deserialize) {
            told.insert((None, false), all.told());
        }
        let of = |label: Option<&str>, transaction| {
            told.get(&(label.map(str::to_owned), transaction)).cloned()
        };
        stats.refine(of);
        blocks.refine(|label, transaction| Some(of(Some(label), transaction)?.all.percentiles));
    }

    /// Adds to the figures of its rows what only the summary counts. Of times it knows how many there
    /// were, their minimum, mean and maximum, and some percentiles.
    pub(super) fn add_to(&self, stats: &mut Stats) {
        for (name, value) in &self.labels {
            // `all` sums up the others.
            if name != "all"
                && let Ok(info) = LabelInfo::deserialize(value)
            {
                info.add_to(name, stats);
            }
        }
        for SkippedInfo { label, cause, count } in &self.skipped {
            *stats.label_mut(label).skipped.entry(Code::from_text(cause)).or_default() += count;
        }
        for FilteredInfo { label, filter, count } in &self.filters {
            stats.label_mut(label).add_filtered(filter, *count);
        }
        for group in self.groups.iter().filter(|group| group.phase == "main") {
            if group.no_sample {
                stats.idle_groups.push(group.name.clone());
            } else {
                stats.groups_begun.insert(group.name.clone());
            }
        }
        // How many there were it does not say.
        stats.lag.merge(&self.lag.times(0));
        stats.missed += self.missed;
        stats.rendezvous_missed += self.rendezvous_missed;
        self.connections.add_to(stats);
    }
}

/// Counts that no run can have become the largest that any can, so that sums do not overflow.
fn bound(value: &mut Value) {
    const MOST: u64 = 1 << 53;
    match value {
        Value::Number(number) if number.as_u64().is_some_and(|count| count > MOST) => {
            *value = MOST.into();
        }
        Value::Array(values) => values.iter_mut().for_each(bound),
        Value::Object(values) => values.values_mut().for_each(bound),
        _ => {}
    }
}

impl LabelInfo {
    fn rows(&self) -> (u64, u64) {
        (self.count, self.failed)
    }

    fn told(&self) -> ToldLabel {
        ToldLabel {
            rate: self.rate_per_s,
            all: self.times.told(),
            ok: self.ok.told(),
            first: duration(self.first_ms),
            gaps: self.gaps.as_ref().map(TimesInfo::told),
            intended: self.intended.as_ref().map(TimesInfo::told),
        }
    }

    fn add_to(&self, name: &str, stats: &mut Stats) {
        let counted = self.late + self.unmatched + self.clock_skew + self.messages;
        let others = self.early + self.unanswered + self.cut;
        if self.transaction || counted + others == 0 && self.intended.is_none() {
            return;
        }
        let label = stats.label_mut(name);
        if let Some(gaps) = &self.gaps {
            label.gaps.get_or_insert_default().merge(&gaps.times(self.messages));
        }
        if let Some(intended) = &self.intended {
            label
                .intended
                .get_or_insert_default()
                .merge(&intended.times(self.intended_count.unwrap_or(self.count)));
        }
        label.unmatched += self.unmatched;
        label.clock_skew += self.clock_skew;
        label.messages += self.messages;
        label.early += self.early;
        label.unanswered += self.unanswered;
        label.cut += self.cut;
        if self.late > 0 {
            label.late.get_or_insert_default().merge(&self.late_times.times(self.late));
        }
    }
}

impl ConnectionsInfo {
    fn add_to(&self, stats: &mut Stats) {
        let connections = &mut stats.connections;
        connections.opened += self.opened;
        connections.refused += self.refused;
        connections.inbox_dropped += self.inbox_dropped;
        connections.inbox_peak = connections.inbox_peak.max(self.inbox_peak);
        connections.write_stalls += self.write_stalls;
        connections.add_traffic(self.received_bytes, self.sent_bytes);
        connections.beats.pings += self.heartbeat.pings;
        connections.beats.sent += self.heartbeat.sent;
        connections.beats.answered += self.heartbeat.answered;
        for (code, count) in &self.close_codes {
            if let (Ok(code), Some(count)) = (code.parse(), count.as_u64()) {
                *connections.close_codes.entry(code).or_default() += count;
            }
        }
        for (cause, count) in &self.lost_while_idle {
            let cause = Code::from_text(cause);
            *connections.lost_while_idle.entry(cause).or_default() += count.as_u64().unwrap_or(0);
        }
        let handshake = &self.handshake;
        connections.dns.merge(&handshake.dns.times(self.opened));
        connections.tcp.merge(&handshake.tcp.times(self.opened));
        connections.tls.merge(&handshake.tls.times(handshake.tls_count));
        connections.tls_resumed += handshake.tls_resumed;
        connections.upgrade.merge(&handshake.upgrade.times(self.opened));
    }
}

impl TimesInfo {
    fn told(&self) -> ToldTimes {
        let percentiles =
            [(0.5, self.p50_ms), (0.9, self.p90_ms), (0.95, self.p95_ms), (0.99, self.p99_ms)];
        let known = percentiles.into_iter().filter_map(|(share, ms)| Some((share, duration(ms)?)));
        ToldTimes {
            min: duration(self.min_ms),
            mean: duration(self.mean_ms),
            max: duration(self.max_ms),
            percentiles: known.collect(),
        }
    }

    fn times(&self, count: u64) -> Times {
        Times::told(count, &self.told())
    }
}

/// Of milliseconds, if that is what they are.
fn duration(ms: Option<f64>) -> Option<Duration> {
    // No sample takes longer than the 31 years that rows may tell of.
    let ms = ms.filter(|ms| *ms < 1e12)?;
    Duration::try_from_secs_f64(ms / 1e3).ok()
}

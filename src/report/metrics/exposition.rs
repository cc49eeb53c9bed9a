//! Which metrics there are, with their names and helps.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{Error, Write as _};
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeGaugeValue, EncodeLabelSet, EncodeLabelValue as _, LabelSetEncoder,
    MetricEncoder, NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Unit;

use crate::report::metrics::{About, MOST_LABELS, Now};
use crate::sample::Code;
use crate::stats::{LabelStats, OTHER_LABELS, Stats, Times};

/// Upper bounds of the buckets of all histograms.
const BUCKETS_US: [u64; 19] = [
    100,
    250,
    500,
    1_000,
    2_500,
    5_000,
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    30_000_000,
    60_000_000,
    300_000_000,
];

/// All metrics of a run at one moment.
#[derive(Debug)]
pub(super) struct Exposition {
    pub(super) stats: Stats,
    pub(super) about: About,
    pub(super) now: Now,
}

/// Names and values of a metric's labels.
struct Labels<'a>(&'a [(&'static str, &'a str)]);

impl EncodeLabelSet for Labels<'_> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), Error> {
        for (name, value) in self.0 {
            let mut label = encoder.encode_label();
            let mut key = label.encode_label_key()?;
            key.write_str(name)?;
            let mut written = key.encode_label_value()?;
            value.encode(&mut written)?;
            written.finish()?;
        }
        Ok(())
    }
}

impl Collector for Exposition {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let mut out = Out(&mut encoder);
        self.run(&mut out)?;
        samplers(&mut out, &bounded(self.stats.labels()))?;
        transactions(&mut out, &bounded(self.stats.transactions()))?;
        self.connections(&mut out)?;
        self.generator(&mut out)
    }
}

impl Exposition {
    fn run(&self, out: &mut Out<'_, '_>) -> Result<(), Error> {
        let mut info = out.0.encode_descriptor(
            "wsmeter",
            "The program and the plan that it runs",
            None,
            MetricType::Info,
        )?;
        let labels = [("version", env!("CARGO_PKG_VERSION")), ("plan", &self.about.plan)];
        info.encode_info(&Labels(&labels))?;
        if let Some(started) = self.about.started {
            out.gauge("wsmeter_start_time", "When the run started", Some(&Unit::Seconds), started)?;
        }
        Ok(())
    }

    fn connections(&self, out: &mut Out<'_, '_>) -> Result<(), Error> {
        let connections = &self.stats.connections;
        let Now { connections: open, peak_connections: peak, .. } = self.now;
        out.gauge("wsmeter_connections_open", "Connections that are open", None, open)?;
        out.gauge("wsmeter_connections_peak", "Connections open at once, at most", None, peak)?;
        out.counter("wsmeter_connections_opened", "Upgrades accepted", None, connections.opened)?;
        out.counter(
            "wsmeter_connections_refused",
            "Attempts to open a connection that failed",
            None,
            connections.refused,
        )?;
        let codes = connections.close_codes.iter();
        let codes: Vec<_> = codes.map(|(code, count)| (code.to_string(), *count)).collect();
        out.counters(
            "wsmeter_closes_received",
            "Close frames received, by code; 1005 for none",
            None,
            codes.iter().map(|(code, count)| ([("code", code.as_str())], *count)),
        )?;
        let lost = connections.lost_while_idle.iter();
        let lost: Vec<_> = lost.map(|(cause, count)| (cause.to_string(), *count)).collect();
        out.counters(
            "wsmeter_lost_while_idle",
            "Connections that were lost while no sampler used them, by cause",
            None,
            lost.iter().map(|(cause, count)| ([("cause", cause.as_str())], *count)),
        )?;
        let bytes = Some(&Unit::Bytes);
        let (received, sent) = (connections.received_bytes, connections.sent_bytes);
        out.counter(
            "wsmeter_received",
            "Received over connections that have ended",
            bytes,
            received,
        )?;
        out.counter("wsmeter_sent", "Sent over connections that have ended", bytes, sent)?;
        let phases = [
            ("dns", &connections.dns),
            ("tcp", &connections.tcp),
            ("tls", &connections.tls),
            ("upgrade", &connections.upgrade),
        ];
        out.histograms(
            "wsmeter_handshake",
            "Phases of opening connections",
            phases.into_iter().map(|(phase, times)| ([("phase", phase)], times)),
        )
    }

    fn generator(&self, out: &mut Out<'_, '_>) -> Result<(), Error> {
        let stats = &self.stats;
        out.gauge("wsmeter_threads", "Virtual threads at work", None, self.now.threads)?;
        out.counter("wsmeter_threads_started", "Threads started", None, stats.threads_started)?;
        out.counter(
            "wsmeter_missed_arrivals",
            "Arrivals that found as many threads as there may be",
            None,
            stats.missed,
        )?;
        out.histograms(
            "wsmeter_thread_lag",
            "How long after they were due threads started",
            [([], &stats.lag)],
        )?;
        out.histograms(
            "wsmeter_timer_lag",
            "How late timers of the generator were, by the p99 of each second of each worker",
            [([], &stats.health.timers)],
        )?;
        out.gauge(
            "wsmeter_saturated",
            "Time in which the generator did not keep up: latencies in it are its own",
            Some(&Unit::Seconds),
            stats.health.saturated_seconds(),
        )
    }
}

fn samplers(out: &mut Out<'_, '_>, labels: &Bounded<'_>) -> Result<(), Error> {
    let each = |figure: fn(&LabelStats) -> u64| {
        labels.iter().map(move |(name, label)| ([("label", *name)], figure(label)))
    };
    out.counters("wsmeter_samples", "Rows of samplers", None, each(|label| label.count))?;
    let failures = labels.iter().flat_map(|(name, label)| by_code(name, label));
    let failures: Vec<_> = failures.collect();
    out.counters(
        "wsmeter_failures",
        "Rows that failed, by response code",
        None,
        failures.iter().map(|(name, code, count)| ([("label", *name), ("code", code)], *count)),
    )?;
    let skips = labels.iter().flat_map(|(name, label)| {
        let sorted: BTreeMap<Code, u64> =
            label.skipped.iter().map(|(code, count)| (*code, *count)).collect();
        sorted.into_iter().map(move |(code, count)| (*name, code.to_string(), count))
    });
    let skips: Vec<_> = skips.collect();
    out.counters(
        "wsmeter_skipped",
        "Samplers that did not run because of an earlier failure, by its code",
        None,
        skips.iter().map(|(name, code, count)| ([("label", *name), ("cause", code)], *count)),
    )?;
    out.counters(
        "wsmeter_late_replies",
        "Replies that came after their request had failed",
        None,
        each(LabelStats::late),
    )?;
    out.histograms(
        "wsmeter_elapsed",
        "Elapsed times of rows, failed ones too",
        labels.iter().map(|(name, label)| ([("label", *name)], &label.all)),
    )
}

fn transactions(out: &mut Out<'_, '_>, labels: &Bounded<'_>) -> Result<(), Error> {
    let each = |figure: fn(&LabelStats) -> u64| {
        labels.iter().map(move |(name, label)| ([("label", *name)], figure(label)))
    };
    out.counters("wsmeter_transactions", "Transactions", None, each(|label| label.count))?;
    out.counters(
        "wsmeter_transaction_failures",
        "Transactions that failed",
        None,
        each(|label| label.failed),
    )?;
    out.histograms(
        "wsmeter_transaction_elapsed",
        "Elapsed times of transactions",
        labels.iter().map(|(name, label)| ([("label", *name)], &label.all)),
    )
}

/// Figures by label, of so many labels at most.
type Bounded<'a> = Vec<(&'a str, Cow<'a, LabelStats>)>;

fn bounded<'a>(labels: impl Iterator<Item = (&'a str, &'a LabelStats)>) -> Bounded<'a> {
    let mut shown: Bounded<'a> = Vec::new();
    let mut others: Option<LabelStats> = None;
    for (name, label) in labels {
        if shown.len() < MOST_LABELS as usize && name != OTHER_LABELS {
            shown.push((name, Cow::Borrowed(label)));
        } else {
            others.get_or_insert_default().merge(label);
        }
    }
    shown.extend(others.map(|others| (OTHER_LABELS, Cow::Owned(others))));
    shown
}

/// Failed rows by code, in its order.
fn by_code<'a>(name: &'a str, label: &LabelStats) -> Vec<(&'a str, String, u64)> {
    let mut codes: BTreeMap<String, u64> = BTreeMap::new();
    for (key, cause) in &label.causes {
        *codes.entry(key.shown_code().into_owned()).or_default() += cause.count;
    }
    codes.into_iter().map(|(code, count)| (name, code, count)).collect()
}

/// Where metrics are written to.
struct Out<'a, 'b>(&'a mut DescriptorEncoder<'b>);

type Names<'a, const N: usize> = [(&'static str, &'a str); N];

impl Out<'_, '_> {
    fn gauge(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        value: impl EncodeGaugeValue + Copy,
    ) -> Result<(), Error> {
        self.0.encode_descriptor(name, help, unit, MetricType::Gauge)?.encode_gauge(&value)
    }

    fn counter(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        value: u64,
    ) -> Result<(), Error> {
        self.counters(name, help, unit, [([], value)])
    }

    fn counters<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        unit: Option<&Unit>,
        values: impl IntoIterator<Item = (Names<'l, N>, u64)>,
    ) -> Result<(), Error> {
        let mut metric = self.0.encode_descriptor(name, help, unit, MetricType::Counter)?;
        for (names, value) in values {
            with_labels(&mut metric, &names, |mut metric| {
                metric.encode_counter::<NoLabelSet, _, u64>(&value, None)
            })?;
        }
        Ok(())
    }

    /// In seconds.
    fn histograms<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        values: impl IntoIterator<Item = (Names<'l, N>, &'l Times)>,
    ) -> Result<(), Error> {
        let unit = Some(&Unit::Seconds);
        let mut metric = self.0.encode_descriptor(name, help, unit, MetricType::Histogram)?;
        for (names, times) in values {
            let (sum, buckets) = (times.sum().as_secs_f64(), buckets(times));
            with_labels(&mut metric, &names, |mut metric| {
                metric.encode_histogram::<NoLabelSet>(sum, times.count(), &buckets, None)
            })?;
        }
        Ok(())
    }
}

/// Writes a metric with these labels; none are no braces.
fn with_labels(
    metric: &mut MetricEncoder<'_>,
    names: &[(&'static str, &str)],
    write: impl FnOnce(MetricEncoder<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    write(metric.encode_family(&Labels(names))?)
}

/// Upper bounds in seconds, and how many times are in each bucket alone; the last has no bound.
fn buckets(times: &Times) -> Vec<(f64, u64)> {
    let mut below = 0;
    let mut buckets: Vec<(f64, u64)> = BUCKETS_US
        .iter()
        .map(|us| {
            let bound = Duration::from_micros(*us);
            let up_to = times.count_up_to(bound).max(below);
            (bound.as_secs_f64(), up_to - std::mem::replace(&mut below, up_to))
        })
        .collect();
    buckets.push((f64::INFINITY, times.count() - below));
    buckets
}

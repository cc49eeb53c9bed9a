//! What a threshold can bound.

use std::time::Duration;

use crate::stats::{LabelStats, Times};
use crate::verdict::Evidence;

/// A figure of a label, or of the whole run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Statistic {
    /// `count`: rows.
    Count,
    /// `failures`: rows that failed.
    Failures,
    /// `error_rate`: failed rows among all.
    ErrorRate,
    /// `rate`: rows a second, from the first start to the last end.
    Rate,
    /// `late`: replies that came after their request had failed, and were told apart.
    Late,
    /// `unmatched`: messages that fitted no matcher and that no step could read.
    Unmatched,
    /// `early`: messages that came before their request was sent.
    Early,
    /// `unanswered`: requests whose reply did not come.
    Unanswered,
    /// `skipped`: samplers that could not run because an earlier one had failed.
    Skipped,
    /// `skip_rate`: skipped ones among rows and skipped ones.
    SkipRate,
    /// `first`: the median of the first exchange on each connection.
    First,
    /// `min`, `mean`, `max`, `p95`, `p99.9` …: elapsed times of all rows.
    Time(Figure),
    /// `ok.p95` and the like: elapsed times of the rows that passed.
    OkTime(Figure),
    /// `intended.p99` and the like: times from the intended start, where a schedule says when.
    IntendedTime(Figure),
    /// `missed`: arrivals that found as many threads as there may be. Of the whole run.
    Missed,
    /// `saturated`: seconds in which the generator did not keep up, in spans of three or more, or stood
    /// still for half a one. Of the whole run.
    Saturated,
    /// `lag.p99` and the like: how long after they were due threads started. Of the whole run.
    Lag(Figure),
    /// `handshake.upgrade.p95` and the like; without a figure, the median. Of the whole run.
    Handshake(Phase, Figure),
    /// `connections.peak`: connections open at once. Of the whole run.
    PeakConnections,
}

/// A figure of a distribution of times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Figure {
    /// The shortest.
    Min,
    /// The mean.
    Mean,
    /// The time that so many percent do not exceed; above 0 and below 100.
    Percentile(f64),
    /// The longest.
    Max,
}

/// A phase of the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Name lookup.
    Dns,
    /// TCP connect.
    Tcp,
    /// The TLS handshake.
    Tls,
    /// The upgrade.
    Upgrade,
}

/// How a statistic's values are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A number, `3`.
    Count,
    /// From 0 to 1, or in percent: `1%`.
    Share,
    /// `50/s`.
    PerSecond,
    /// `250ms`; measured in seconds.
    Time,
}

impl Statistic {
    /// All names but those of percentiles, for advice.
    pub const NAMES: [&'static str; 29] = [
        "count",
        "failures",
        "error_rate",
        "rate",
        "min",
        "mean",
        "p50",
        "p90",
        "p95",
        "p99",
        "max",
        "first",
        "ok.mean",
        "ok.p95",
        "ok.max",
        "intended.p99",
        "lag.p99",
        "missed",
        "saturated",
        "late",
        "early",
        "unanswered",
        "unmatched",
        "skipped",
        "skip_rate",
        "handshake.tcp",
        "handshake.tls",
        "handshake.upgrade",
        "connections.peak",
    ];

    /// The statistic of this name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(figure) = Figure::from_name(name) {
            return Some(Self::Time(figure));
        }
        if let Some(figure) = name.strip_prefix("ok.") {
            return Figure::from_name(figure).map(Self::OkTime);
        }
        if let Some(figure) = name.strip_prefix("intended.") {
            return Figure::from_name(figure).map(Self::IntendedTime);
        }
        if let Some(figure) = name.strip_prefix("lag.") {
            return Figure::from_name(figure).map(Self::Lag);
        }
        if let Some(rest) = name.strip_prefix("handshake.") {
            let (phase, figure) = rest.split_once('.').unwrap_or((rest, "p50"));
            let phase = match phase {
                "dns" => Phase::Dns,
                "tcp" => Phase::Tcp,
                "tls" => Phase::Tls,
                "upgrade" => Phase::Upgrade,
                _ => return None,
            };
            return Figure::from_name(figure).map(|figure| Self::Handshake(phase, figure));
        }
        Some(match name {
            "count" => Self::Count,
            "failures" => Self::Failures,
            "error_rate" => Self::ErrorRate,
            "rate" => Self::Rate,
            "missed" => Self::Missed,
            "saturated" => Self::Saturated,
            "late" => Self::Late,
            "unmatched" => Self::Unmatched,
            "early" => Self::Early,
            "unanswered" => Self::Unanswered,
            "skipped" => Self::Skipped,
            "skip_rate" => Self::SkipRate,
            "first" => Self::First,
            "connections.peak" => Self::PeakConnections,
            _ => return None,
        })
    }

    /// How its values are written.
    pub fn unit(self) -> Unit {
        match self {
            Self::Count
            | Self::Failures
            | Self::Missed
            | Self::Saturated
            | Self::Late
            | Self::Unmatched
            | Self::Early
            | Self::Unanswered
            | Self::Skipped
            | Self::PeakConnections => Unit::Count,
            Self::ErrorRate | Self::SkipRate => Unit::Share,
            Self::Rate => Unit::PerSecond,
            Self::First
            | Self::Time(_)
            | Self::OkTime(_)
            | Self::IntendedTime(_)
            | Self::Lag(_)
            | Self::Handshake(..) => Unit::Time,
        }
    }

    /// Whether it belongs to the whole run and to no label.
    pub fn is_of_the_run(self) -> bool {
        matches!(
            self,
            Self::Handshake(..)
                | Self::PeakConnections
                | Self::Missed
                | Self::Saturated
                | Self::Lag(_)
        )
    }

    /// Whether it says how many failures are acceptable.
    pub fn bounds_failures(self) -> bool {
        matches!(self, Self::Failures | Self::ErrorRate)
    }

    /// Whether it says how many skips are acceptable.
    pub fn bounds_skips(self) -> bool {
        matches!(self, Self::Skipped | Self::SkipRate)
    }

    /// Its value, in its unit; `None` where there is nothing to measure.
    #[expect(clippy::cast_precision_loss, reason = "no count comes near 2^53")]
    pub fn measure(self, label: &LabelStats, evidence: &Evidence<'_>) -> Option<f64> {
        let seconds = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        let connections = &evidence.stats.connections;
        match self {
            Self::Count => Some(label.count as f64),
            Self::Failures => Some(label.failed as f64),
            Self::ErrorRate => label.error_rate(),
            Self::Rate => label.rate(),
            Self::Late => Some(label.late() as f64),
            Self::Unmatched => Some(label.unmatched as f64),
            Self::Early => Some(label.early as f64),
            Self::Unanswered => Some(label.unanswered as f64),
            Self::Skipped => Some(label.skips() as f64),
            Self::SkipRate => label.skip_rate(),
            Self::First => seconds(label.first()),
            Self::Time(figure) => seconds(figure.of(&label.all)),
            Self::OkTime(figure) => seconds(figure.of(label.ok())),
            Self::IntendedTime(figure) => {
                seconds(label.intended.as_deref().and_then(|times| figure.of(times)))
            }
            Self::Missed => Some(evidence.stats.missed as f64),
            Self::Saturated => Some(evidence.stats.health.saturated_seconds() as f64),
            Self::Lag(figure) => seconds(figure.of(&evidence.stats.lag)),
            Self::Handshake(Phase::Dns, figure) => seconds(figure.of(&connections.dns)),
            Self::Handshake(Phase::Tcp, figure) => seconds(figure.of(&connections.tcp)),
            Self::Handshake(Phase::Tls, figure) => seconds(figure.of(&connections.tls)),
            Self::Handshake(Phase::Upgrade, figure) => seconds(figure.of(&connections.upgrade)),
            Self::PeakConnections => Some(evidence.peak_connections as f64),
        }
    }
}

impl Figure {
    /// `min`, `mean`, `max`, or `p` and a percentage with at most two decimals.
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "min" => return Some(Self::Min),
            "mean" => return Some(Self::Mean),
            "max" => return Some(Self::Max),
            _ => {}
        }
        let digits = name.strip_prefix('p')?;
        let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let percent: f64 = digits.parse().ok()?;
        let valid = plain && decimals <= 2 && percent > 0.0 && percent < 100.0;
        valid.then_some(Self::Percentile(percent))
    }

    fn of(self, times: &Times) -> Option<Duration> {
        match self {
            Self::Min => times.min(),
            Self::Mean => times.mean(),
            Self::Percentile(percent) => times.percentile(percent),
            Self::Max => times.max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_for_advice_is_a_statistic() {
        for name in Statistic::NAMES {
            assert!(Statistic::from_name(name).is_some(), "{name}");
        }
    }

    #[test]
    fn percentiles_take_up_to_two_decimals() {
        let percentile = |percent| Some(Statistic::Time(Figure::Percentile(percent)));
        assert_eq!(Statistic::from_name("p99.99"), percentile(99.99));
        assert_eq!(Statistic::from_name("p5"), percentile(5.0));
        for name in ["p", "p0", "p100", "p99.999", "p-1", "p1e1", "pinf", "q95", "ok.", "ok.count"]
        {
            assert_eq!(Statistic::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn a_phase_without_a_figure_means_its_median() {
        assert_eq!(
            Statistic::from_name("handshake.upgrade"),
            Statistic::from_name("handshake.upgrade.p50")
        );
        assert_eq!(Statistic::from_name("handshake.ssl"), None);
    }
}

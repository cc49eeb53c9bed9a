//! Which changes are none.

use std::time::Duration;

use crate::verdict::compare::Metric;

/// What may change without being worse.
#[derive(Debug, Clone, PartialEq)]
pub struct Tolerances {
    /// Of [`Metric::ALL`], in its order: a share of the base; of the error rate, what it may grow by.
    shares: [f64; 6],
    /// What percentiles may grow by in any case: rows have whole milliseconds.
    pub at_least: Duration,
    /// How sure a change must be, above 0 and below 1.
    pub confidence: f64,
}

impl Default for Tolerances {
    fn default() -> Self {
        Self {
            // The further out a percentile, the more it differs between runs of one server.
            shares: [0.10, 0.01, 0.10, 0.10, 0.15, 0.25],
            at_least: Duration::from_millis(1),
            confidence: 0.95,
        }
    }
}

impl Tolerances {
    /// That of a metric.
    pub fn of(&self, metric: Metric) -> f64 {
        self.shares[metric as usize]
    }

    /// All of them as plans write them.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let percent = |share: f64| format!("{}%", (share * 1e6).round() / 1e4);
        let shares = Metric::ALL.map(|metric| (metric.name(), percent(self.of(metric))));
        let mut entries = shares.to_vec();
        let us = self.at_least.as_micros();
        let at_least =
            if us.is_multiple_of(1_000) { format!("{}ms", us / 1_000) } else { format!("{us}us") };
        entries.push(("at_least", at_least));
        entries.push(("confidence", percent(self.confidence)));
        entries
    }

    /// Sets that of a metric.
    pub fn set(&mut self, metric: Metric, share: f64) {
        self.shares[metric as usize] = share;
    }
}

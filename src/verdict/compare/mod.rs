//! Compares two runs, label by label: is the new one worse, and is that sure?
//!
//! Two runs of the same server never have the same figures. A change counts only if it is beyond a
//! tolerance, and if its whole confidence interval is: what the interval has in common with the tolerated
//! range may be chance. How sure a figure is follows from how much it differs from one span of the run to the
//! next ([`estimate`]), not from the number of samples, which depend on each other.

mod estimate;
mod tolerances;

use statrs::distribution::{ContinuousCDF, StudentsT};

pub use tolerances::Tolerances;

use crate::stats::{Blocks, LabelBlocks};
use crate::verdict::ALL;
pub use estimate::Unknown;
use estimate::{Estimate, Spans};

/// What is compared of a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Rows a second, of the whole run.
    Rate,
    /// Failed rows among all, from 0 to 1.
    ErrorRate,
    /// The median of elapsed times, in seconds; as the other percentiles.
    P50,
    /// The 90th percentile.
    P90,
    /// The 95th percentile.
    P95,
    /// The 99th percentile.
    P99,
}

impl Metric {
    /// All of them, as tables show them.
    pub const ALL: [Self; 6] =
        [Self::Rate, Self::ErrorRate, Self::P50, Self::P90, Self::P95, Self::P99];

    /// As in plans.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::ErrorRate => "error_rate",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
        }
    }

    /// The share of all times that a percentile is not below; `None` for what is no percentile.
    pub fn quantile(self) -> Option<f64> {
        match self {
            Self::Rate | Self::ErrorRate => None,
            Self::P50 => Some(0.5),
            Self::P90 => Some(0.9),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
        }
    }
}

/// What is to be thought of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Within the tolerance.
    Same,
    /// Better, beyond the tolerance and surely.
    Better,
    /// Worse, beyond the tolerance and surely: a regression.
    Worse,
    /// Worse beyond the tolerance, but that may be chance.
    MaybeWorse,
    /// Not known.
    Unknown(Unknown),
}

/// A figure in both runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// Which.
    pub metric: Metric,
    /// In the base; `None` if it is not known there.
    pub base: Option<f64>,
    /// In the new run.
    pub new: Option<f64>,
    /// By how much it changed, at least and at most; `None` where that is not known.
    pub interval: Option<(f64, f64)>,
    /// What is to be thought of it.
    pub finding: Finding,
}

impl Change {
    /// By how much it changed, in its unit.
    pub fn difference(&self) -> Option<f64> {
        Some(self.new? - self.base?)
    }

    /// The same as a share of the base; `None` where that is zero.
    pub fn relative(&self) -> Option<f64> {
        let base = self.base.filter(|base| *base > 0.0)?;
        Some(self.difference()? / base)
    }
}

/// The changes of a label.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelComparison {
    /// The label, or [`ALL`] for all samplers together.
    pub label: String,
    /// Whether it is a transaction's.
    pub transaction: bool,
    /// What changed.
    pub changes: Vec<Change>,
}

/// What comparing two runs came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What was tolerated.
    pub tolerances: Tolerances,
    /// The labels of both runs, in the order of the base; all samplers together last.
    pub labels: Vec<LabelComparison>,
    /// Labels that only the base has.
    pub only_in_base: Vec<String>,
    /// Labels that only the new run has.
    pub only_in_new: Vec<String>,
}

impl Comparison {
    /// How many changes there are of which something holds.
    pub fn count(&self, holds: impl Fn(&Finding) -> bool) -> usize {
        let changes = self.labels.iter().flat_map(|label| &label.changes);
        changes.filter(|change| holds(&change.finding)).count()
    }

    /// Whether the new run is worse.
    pub fn is_worse(&self) -> bool {
        self.count(|finding| *finding == Finding::Worse) > 0
    }
}

/// Compares two runs.
pub fn compare(base: &Blocks, new: &Blocks, tolerances: &Tolerances) -> Comparison {
    let in_other = |blocks: &Blocks, label: &LabelBlocks| find(blocks, label).is_some();
    let missing = |here: &Blocks, there: &Blocks| -> Vec<String> {
        let labels = here.labels().iter().filter(|label| !in_other(there, label));
        labels.map(|label| label.label.to_string()).collect()
    };
    let both = base.labels().iter().filter_map(|old| Some((old, find(new, old)?)));
    let mut labels: Vec<LabelComparison> = both
        .map(|(old, young)| LabelComparison {
            label: old.label.to_string(),
            transaction: old.transaction,
            changes: changes(
                &Spans::of(base, &[old]),
                &Spans::of(new, &[young]),
                tolerances,
                &Metric::ALL,
            ),
        })
        .collect();
    let samplers = |blocks| -> Vec<&LabelBlocks> {
        let labels = Blocks::labels(blocks).iter();
        labels.filter(|label| !label.transaction).collect()
    };
    let (old, young) = (samplers(base), samplers(new));
    if old.len() > 1 || young.len() > 1 {
        // Percentiles of a mixture jump from one of its parts to another.
        let metrics = [Metric::Rate, Metric::ErrorRate];
        let (old, young) = (Spans::of(base, &old), Spans::of(new, &young));
        let changes = changes(&old, &young, tolerances, &metrics);
        labels.push(LabelComparison { label: ALL.to_owned(), transaction: false, changes });
    }
    Comparison {
        tolerances: tolerances.clone(),
        labels,
        only_in_base: missing(base, new),
        only_in_new: missing(new, base),
    }
}

fn find<'a>(blocks: &'a Blocks, label: &LabelBlocks) -> Option<&'a LabelBlocks> {
    let same =
        |other: &&LabelBlocks| other.label == label.label && other.transaction == label.transaction;
    blocks.labels().iter().find(same)
}

fn changes(base: &Spans, new: &Spans, tolerances: &Tolerances, metrics: &[Metric]) -> Vec<Change> {
    let (base, new) = (base.estimates(metrics), new.estimates(metrics));
    metrics
        .iter()
        .zip(base.into_iter().zip(new))
        .map(|(metric, (base, new))| change(*metric, base, new, tolerances))
        .collect()
}

fn change(
    metric: Metric,
    base: Result<Estimate, Unknown>,
    new: Result<Estimate, Unknown>,
    tolerances: &Tolerances,
) -> Change {
    let value = |estimate: &Result<Estimate, Unknown>| Some(estimate.as_ref().ok()?.value);
    let (old, young) = (value(&base), value(&new));
    match (base, new) {
        (Ok(base), Ok(new)) => {
            let (interval, finding) = weigh(metric, &base, &new, tolerances);
            Change { metric, base: old, new: young, interval: Some(interval), finding }
        }
        (Err(unknown), _) | (_, Err(unknown)) => {
            let finding = Finding::Unknown(unknown);
            Change { metric, base: old, new: young, interval: None, finding }
        }
    }
}

/// The confidence interval of a change, and what is to be thought of it.
fn weigh(
    metric: Metric,
    base: &Estimate,
    new: &Estimate,
    tolerances: &Tolerances,
) -> ((f64, f64), Finding) {
    let interval = interval_of(new, base, 1.0, tolerances.confidence);
    let share = tolerances.of(metric);
    // How much worse `worse` surely and apparently is than what is tolerated of `better`.
    let beyond = |worse: &Estimate, better: &Estimate| match metric {
        Metric::ErrorRate => {
            let (low, _) = interval_of(worse, better, 1.0, tolerances.confidence);
            (low - share, worse.value - better.value - share)
        }
        Metric::Rate => {
            // A rate is worse if it is lower.
            let (_, high) = interval_of(worse, better, 1.0 - share, tolerances.confidence);
            (-high, better.value * (1.0 - share) - worse.value)
        }
        _ => {
            let least = tolerances.at_least.as_secs_f64();
            let (relative, _) = interval_of(worse, better, 1.0 + share, tolerances.confidence);
            let (absolute, _) = interval_of(worse, better, 1.0, tolerances.confidence);
            let apparent = worse.value - better.value - (better.value * share).max(least);
            (relative.min(absolute - least), apparent)
        }
    };
    let (surely, apparently) = beyond(new, base);
    let (surely_better, _) = beyond(base, new);
    let finding = if surely > 0.0 {
        Finding::Worse
    } else if apparently > 0.0 {
        Finding::MaybeWorse
    } else if surely_better > 0.0 {
        Finding::Better
    } else {
        Finding::Same
    };
    (interval, finding)
}

/// The confidence interval of `one` less `factor` times `other`: Welch's, for two estimates that are not
/// equally sure.
fn interval_of(one: &Estimate, other: &Estimate, factor: f64, confidence: f64) -> (f64, f64) {
    let difference = one.value - factor * other.value;
    let (first, second) = (one.error.powi(2), (factor * other.error).powi(2));
    let variance = first + second;
    if variance == 0.0 {
        return (difference, difference);
    }
    let freedom = variance.powi(2)
        / (first.powi(2) / one.freedom + second.powi(2) / other.freedom).max(f64::MIN_POSITIVE);
    let quantile = StudentsT::new(0.0, 1.0, freedom.max(1.0))
        .map_or(f64::INFINITY, |students| students.inverse_cdf(0.5 + confidence / 2.0));
    let margin = quantile * variance.sqrt();
    (difference - margin, difference + margin)
}

#[cfg(test)]
mod tests;

//! Compares two runs, label by label: is the new one worse, and is that sure?
//!
//! Two runs of the same server never have the same figures. A change counts only if it is beyond a
//! tolerance, and if its confidence interval leaves no doubt that there is one. How sure a figure is follows
//! from how much it differs from one span of the run to the next, not from the number of
//! samples, which depend on each other. The confidence is that of all intervals together (Bonferroni): among
//! hundreds of figures some are always far off by chance.

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

impl Finding {
    /// The word for it in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::MaybeWorse => "perhaps worse",
            Self::Unknown(Unknown::Samples { .. }) => "too few samples",
            Self::Unknown(Unknown::Spans) => "too short a time",
        }
    }

    /// The finding of this word, where `there` of `needed` samples may be too few; `None` for any other.
    pub fn from_word(word: &str, there: u64, needed: u64) -> Option<Self> {
        let samples = Self::Unknown(Unknown::Samples { there, needed });
        let spans = Self::Unknown(Unknown::Spans);
        let all = [Self::Same, Self::Better, Self::Worse, Self::MaybeWorse, samples, spans];
        all.into_iter().find(|finding| finding.word() == word)
    }
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
    /// By how much it changed, at least and at most, with the confidence of all changes together; `None`
    /// where that is not known.
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
    let missing = |here: &Blocks, there: &Blocks| -> Vec<String> {
        let labels = here.labels().iter().filter(|label| find(there, label).is_none());
        labels.map(|label| label.label.to_string()).collect()
    };
    let pairs = pairs(base, new);
    let known = pairs.iter().flat_map(|pair| &pair.figures).filter(|figure| figure.is_known());
    #[expect(clippy::cast_precision_loss, reason = "at most some thousand")]
    let doubt = (1.0 - tolerances.confidence) / known.count().max(1) as f64;
    let labels = pairs.iter().map(|pair| LabelComparison {
        label: pair.label.clone(),
        transaction: pair.transaction,
        changes: pair.figures.iter().map(|figure| figure.change(tolerances, doubt)).collect(),
    });
    Comparison {
        tolerances: tolerances.clone(),
        labels: labels.collect(),
        only_in_base: missing(base, new),
        only_in_new: missing(new, base),
    }
}

/// A label of both runs.
struct Pair {
    label: String,
    transaction: bool,
    figures: Vec<Figure>,
}

/// A figure of both runs.
struct Figure {
    metric: Metric,
    base: Result<Estimate, Unknown>,
    new: Result<Estimate, Unknown>,
}

/// All labels that both runs have; all samplers together last.
fn pairs(base: &Blocks, new: &Blocks) -> Vec<Pair> {
    let both = base.labels().iter().filter_map(|old| Some((old, find(new, old)?)));
    let mut pairs: Vec<Pair> = both
        .map(|(old, young)| Pair {
            label: old.label.to_string(),
            transaction: old.transaction,
            figures: figures(&Spans::of(base, &[old]), &Spans::of(new, &[young]), &Metric::ALL),
        })
        .collect();
    let samplers = |blocks| -> Vec<&LabelBlocks> {
        let labels = Blocks::labels(blocks).iter();
        labels.filter(|label| !label.transaction).collect()
    };
    let (old, young) = (samplers(base), samplers(new));
    if !pairs.is_empty() && (old.len() > 1 || young.len() > 1) {
        // Percentiles of a mixture jump from one of its parts to another.
        let metrics = [Metric::Rate, Metric::ErrorRate];
        let figures = figures(&Spans::of(base, &old), &Spans::of(new, &young), &metrics);
        pairs.push(Pair { label: ALL.to_owned(), transaction: false, figures });
    }
    pairs
}

fn find<'a>(blocks: &'a Blocks, label: &LabelBlocks) -> Option<&'a LabelBlocks> {
    let same =
        |other: &&LabelBlocks| other.label == label.label && other.transaction == label.transaction;
    blocks.labels().iter().find(same)
}

fn figures(base: &Spans, new: &Spans, metrics: &[Metric]) -> Vec<Figure> {
    let (base, new) = (base.estimates(metrics), new.estimates(metrics));
    let metrics = metrics.iter().zip(base.into_iter().zip(new));
    metrics.map(|(metric, (base, new))| Figure { metric: *metric, base, new }).collect()
}

impl Figure {
    fn is_known(&self) -> bool {
        self.base.is_ok() && self.new.is_ok()
    }

    /// What became of it; `doubt` is how often its interval may miss the truth.
    fn change(&self, tolerances: &Tolerances, doubt: f64) -> Change {
        let value = |estimate: &Result<Estimate, Unknown>| Some(estimate.as_ref().ok()?.value);
        let (interval, finding) = match (&self.base, &self.new) {
            (Ok(base), Ok(new)) => {
                let interval = interval(base, new, doubt);
                let finding = weigh(self.metric, base.value, new.value, interval, tolerances);
                (Some(possible(self.metric, base.value, interval)), finding)
            }
            (Err(unknown), _) | (_, Err(unknown)) => (None, Finding::Unknown(*unknown)),
        };
        let (metric, base, new) = (self.metric, value(&self.base), value(&self.new));
        Change { metric, base, new, interval, finding }
    }
}

/// What is to be thought of a change, whose interval is `low` to `high`.
fn weigh(
    metric: Metric,
    base: f64,
    new: f64,
    (low, high): (f64, f64),
    tolerances: &Tolerances,
) -> Finding {
    let share = tolerances.of(metric);
    let least = tolerances.at_least.as_secs_f64();
    // By how much `worse` is worse than what is tolerated of `better`.
    let is_beyond = |worse: f64, better: f64| match metric {
        Metric::Rate => worse < better * (1.0 - share),
        Metric::ErrorRate => worse - better > share,
        _ => worse - better > (better * share).max(least),
    };
    let (surely_grown, surely_fallen) = (low > 0.0, high < 0.0);
    let (surely_worse, surely_better) = match metric {
        Metric::Rate => (surely_fallen, surely_grown),
        _ => (surely_grown, surely_fallen),
    };
    match (is_beyond(new, base), is_beyond(base, new)) {
        (true, _) if surely_worse => Finding::Worse,
        (true, _) => Finding::MaybeWorse,
        (_, true) if surely_better => Finding::Better,
        _ => Finding::Same,
    }
}

/// An interval without what cannot be: nothing is below zero, and no more fails than all.
fn possible(metric: Metric, base: f64, (low, high): (f64, f64)) -> (f64, f64) {
    let most = if metric == Metric::ErrorRate { 1.0 - base } else { f64::INFINITY };
    (low.clamp(-base, most), high.clamp(-base, most))
}

/// The confidence interval of what `new` has more than `base`: Welch's, for two estimates that are not
/// equally sure.
fn interval(base: &Estimate, new: &Estimate, doubt: f64) -> (f64, f64) {
    let difference = new.value - base.value;
    let (first, second) = (new.error.powi(2), base.error.powi(2));
    let variance = first + second;
    if variance == 0.0 {
        return (difference, difference);
    }
    let freedom = variance.powi(2)
        / (first.powi(2) / new.freedom + second.powi(2) / base.freedom).max(f64::MIN_POSITIVE);
    let quantile = StudentsT::new(0.0, 1.0, freedom.max(1.0))
        .map_or(f64::INFINITY, |students| students.inverse_cdf(1.0 - doubt / 2.0));
    let margin = quantile * variance.sqrt();
    (difference - margin, difference + margin)
}

#[cfg(test)]
mod tests;

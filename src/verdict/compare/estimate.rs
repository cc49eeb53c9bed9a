//! Figures of a run and how sure they are.
//!
//! Samples within a second or so depend on each other, and so, less, do seconds: a circular block bootstrap
//! draws runs of neighbouring spans, as many as the run has, again and again (Politis and Romano 1992). How
//! much the figure differs among those is its standard error. It has no more degrees of freedom than the run
//! has such blocks, which is what Student's t is for.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::stats::{Block, Blocks, LabelBlocks};
use crate::verdict::compare::Metric;

/// Runs drawn for each figure. Their standard deviation is within 4 % of what any number would give.
const DRAWS: usize = 400;

/// The seed: the same results give the same findings.
const SEED: u64 = 0x0077_736d_6574_6572;

/// Spans that there must be to tell how much they differ.
const FEWEST_SPANS: usize = 4;

/// Samples that must lie beyond a percentile for it to be known.
const BEYOND: f64 = 10.0;

/// Why a figure is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// There are so few samples; so many are needed.
    Samples {
        /// How many there are.
        there: u64,
        /// How many it takes.
        needed: u64,
    },
    /// They fell into so few spans that nobody can tell how much these differ.
    Spans,
}

/// A figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Estimate {
    pub(super) value: f64,
    /// Its standard error.
    pub(super) error: f64,
    /// Degrees of freedom of the error.
    pub(super) freedom: f64,
}

/// Labels' spans as figures need them.
pub(super) struct Spans {
    seconds: Vec<f64>,
    count: Vec<f64>,
    failed: Vec<f64>,
    /// For each span how many times fell into each of `bins`.
    times: Vec<Vec<u32>>,
    /// From which time, and how wide, in seconds.
    bins: Vec<(f64, f64)>,
    /// For each percentile what it is, where that is better known, in seconds.
    told: Vec<(Metric, f64)>,
}

/// What some spans add up to.
#[derive(Debug, Clone, Default)]
struct Sum {
    seconds: f64,
    count: f64,
    failed: f64,
    times: Vec<u64>,
}

impl Spans {
    /// The spans of some labels of a run, taken together.
    pub(super) fn of(blocks: &Blocks, labels: &[&LabelBlocks]) -> Self {
        let seconds = blocks.seconds();
        let at = |place: usize| labels.iter().filter_map(move |label| label.blocks().get(place));
        let sum = |place: usize, part: fn(&Block) -> u64| at(place).map(part).sum::<u64>();
        let spans = || 0..seconds.len();
        let mut bins: Vec<(u64, u64)> = spans()
            .flat_map(at)
            .flat_map(|block| block.times().map(|(lowest, highest, _)| (lowest, highest)))
            .collect();
        bins.sort_unstable();
        bins.dedup();
        let times = spans()
            .map(|place| {
                let mut counts = vec![0; bins.len()];
                for (lowest, highest, count) in at(place).flat_map(Block::times) {
                    if let Ok(bin) = bins.binary_search(&(lowest, highest)) {
                        counts[bin] += u32::try_from(count).unwrap_or(u32::MAX);
                    }
                }
                counts
            })
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "no count comes near 2^53")]
        let float = |value: u64| value as f64;
        Self {
            count: spans().map(|place| float(sum(place, |block| block.count))).collect(),
            failed: spans().map(|place| float(sum(place, |block| block.failed))).collect(),
            times,
            bins: bins
                .into_iter()
                .map(|(lowest, highest)| {
                    // What is written as 20 ms took between 19.5 and 20.5.
                    let from = (float(lowest) - 0.5).max(0.0);
                    (from / 1e3, (float(highest) + 0.5 - from) / 1e3)
                })
                .collect(),
            seconds,
            told: match labels {
                [label] => told(label),
                _ => Vec::new(),
            },
        }
    }

    /// The figures, in the order of `metrics`.
    pub(super) fn estimates(&self, metrics: &[Metric]) -> Vec<Result<Estimate, Unknown>> {
        let spans = self.seconds.len();
        let whole = self.sum(0..spans);
        // Neighbours within a block: the cube root of all is the rate at which the error of the error
        // shrinks fastest.
        let length = (1..spans).find(|length| length.pow(3) >= spans).unwrap_or(1);
        let draws = if spans < FEWEST_SPANS { Vec::new() } else { self.draws(length) };
        #[expect(clippy::cast_precision_loss, reason = "there are few spans")]
        let (drawn, freedom) = (
            (spans.div_ceil(length) * length) as f64 / spans as f64,
            (spans as f64 / length as f64 - 1.0).max(1.0),
        );
        metrics
            .iter()
            .map(|metric| {
                self.is_known(*metric, &whole)?;
                let value = self.value(*metric, &whole).ok_or(Unknown::Spans)?;
                let told = self.told.iter().find(|(told, _)| told == metric);
                let value = told.map_or(value, |(_, value)| *value);
                let values: Vec<f64> =
                    draws.iter().filter_map(|draw| self.value(*metric, draw)).collect();
                // Each draw has a little more than the run.
                let spread = deviation(&values) * drawn.sqrt();
                let error = match metric {
                    Metric::ErrorRate => spread.max(binomial(&whole)),
                    _ => spread,
                };
                Ok(Estimate { value, error, freedom })
            })
            .collect()
    }

    fn is_known(&self, metric: Metric, whole: &Sum) -> Result<(), Unknown> {
        // Rates are of the whole run, and a span without a row tells of them too.
        let told = match metric {
            Metric::Rate => self.seconds.len(),
            _ => self.count.iter().filter(|count| **count > 0.0).count(),
        };
        if let Some(quantile) = metric.quantile() {
            let there: u64 = whole.times.iter().sum();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "at most a few thousand"
            )]
            let needed = (BEYOND / (1.0 - quantile)).round() as u64;
            if there < needed {
                return Err(Unknown::Samples { there, needed });
            }
        }
        if told < FEWEST_SPANS { Err(Unknown::Spans) } else { Ok(()) }
    }

    /// Draws runs of blocks of so many neighbouring spans; the last span's neighbour is the first.
    fn draws(&self, length: usize) -> Vec<Sum> {
        let spans = self.seconds.len();
        let blocks: Vec<Sum> = (0..spans)
            .map(|first| self.sum((first..first + length).map(|place| place % spans)))
            .collect();
        let mut random = StdRng::seed_from_u64(SEED);
        (0..DRAWS)
            .map(|_| {
                let mut drawn = Sum::default();
                for _ in 0..spans.div_ceil(length) {
                    drawn.add(&blocks[random.random_range(0..spans)]);
                }
                drawn
            })
            .collect()
    }

    fn sum(&self, places: impl Iterator<Item = usize>) -> Sum {
        let mut sum = Sum { times: vec![0; self.bins.len()], ..Sum::default() };
        for place in places {
            sum.seconds += self.seconds[place];
            sum.count += self.count[place];
            sum.failed += self.failed[place];
            for (all, own) in sum.times.iter_mut().zip(&self.times[place]) {
                *all += u64::from(*own);
            }
        }
        sum
    }

    fn value(&self, metric: Metric, sum: &Sum) -> Option<f64> {
        match metric.quantile() {
            None if metric == Metric::Rate => Some(sum.count / sum.seconds),
            None => (sum.count > 0.0).then(|| sum.failed / sum.count),
            Some(quantile) => self.percentile(quantile, sum),
        }
    }

    /// Within a bin, times are taken to be spread evenly.
    #[expect(clippy::cast_precision_loss, reason = "no count comes near 2^53")]
    fn percentile(&self, quantile: f64, sum: &Sum) -> Option<f64> {
        let all: u64 = sum.times.iter().sum();
        let (rank, mut before) = (all as f64 * quantile, 0.0);
        for (count, (from, width)) in sum.times.iter().zip(&self.bins) {
            let count = *count as f64;
            if count > 0.0 && before + count >= rank {
                return Some(from + width * (rank - before) / count);
            }
            before += count;
        }
        None
    }
}

/// Percentiles of a label that are better known than from its spans.
fn told(label: &LabelBlocks) -> Vec<(Metric, f64)> {
    let of = |metric: Metric| Some((metric, label.told(metric.quantile()?)?.as_secs_f64()));
    Metric::ALL.into_iter().filter_map(of).collect()
}

impl Sum {
    fn add(&mut self, other: &Self) {
        self.seconds += other.seconds;
        self.count += other.count;
        self.failed += other.failed;
        if self.times.is_empty() {
            self.times.clone_from(&other.times);
        } else {
            for (own, theirs) in self.times.iter_mut().zip(&other.times) {
                *own += theirs;
            }
        }
    }
}

/// The standard deviation; 0 of fewer than two values.
#[expect(clippy::cast_precision_loss, reason = "there are a few hundred values")]
fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    if count < 2.0 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0)).sqrt()
}

/// The standard error of a share of independent samples, with one more of each kind: a run without failures
/// does not prove that there never are any.
fn binomial(sum: &Sum) -> f64 {
    let count = sum.count + 2.0;
    let share = (sum.failed + 1.0) / count;
    (share * (1.0 - share) / count).sqrt()
}

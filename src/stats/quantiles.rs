//! Quantiles of durations in little memory: a few values as they are, many in a histogram.
//!
//! A histogram takes 8 KiB before its first value and 70 KiB for values up to a minute. A label that
//! occurs a handful of times must not cost that, so the first [`FEW`] values are kept in a list.

use hdrhistogram::Histogram;

/// How many values are kept as they are.
const FEW: usize = 32;
/// Larger values count as this: 1,000 hours. It bounds a histogram at 140 KiB.
const LARGEST_US: u64 = 3_600_000_000_000;
/// Three significant digits: a percentile is within 0.1 % of the truth.
const DIGITS: u8 = 3;

/// Which values there were, to three digits.
#[derive(Debug, Clone)]
pub(crate) enum Quantiles {
    /// At most [`FEW`] values in microseconds, in the order in which they came.
    Few(Vec<u64>),
    /// More of them.
    Many(Box<Histogram<u32>>),
    /// Some percentiles as somebody told them, who knew the values better than they are known here.
    Told(Box<Told>),
}

/// Percentiles that were told, and values as far as they are known.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    /// Shares, from 0 to 1 and ascending, and the value in microseconds that each does not exceed.
    points: Vec<(f64, u64)>,
    /// The values, to less precision; perhaps none. Never told itself.
    values: Quantiles,
}

impl Told {
    /// The value that a share does not exceed: what was told, or else what the values say, within what was.
    fn at(&self, quantile: f64) -> Option<u64> {
        let is_it = |(share, _): &&(f64, u64)| (share - quantile).abs() < 1e-9;
        if let Some((_, us)) = self.points.iter().find(is_it) {
            return Some(*us);
        }
        let at_least = self.points.iter().rfind(|(share, _)| *share < quantile);
        let at_most = self.points.iter().find(|(share, _)| *share > quantile);
        let us = self.values.at(quantile)?;
        let us = at_least.map_or(us, |(_, least)| us.max(*least));
        Some(at_most.map_or(us, |(_, most)| us.min(*most)))
    }

    /// How many of `count` values are at most `us`, in the same way.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a share of a count"
    )]
    fn count_up_to(&self, us: u64, count: u64) -> u64 {
        let rank = |share: f64| (share * count as f64).ceil() as u64;
        let at_least = self.points.iter().rfind(|(_, value)| *value <= us);
        let fewer_than = self.points.iter().find(|(_, value)| *value > us);
        let found = self.values.count_up_to(us, count);
        let found = at_least.map_or(found, |(share, _)| found.max(rank(*share)));
        fewer_than.map_or(found, |(share, _)| found.min(rank(*share).saturating_sub(1)))
    }
}

impl Default for Quantiles {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Quantiles {
    /// The same values, of which these percentiles are better known: shares, ascending, and microseconds.
    pub(crate) fn told(self, points: Vec<(f64, u64)>) -> Self {
        Self::Told(Box::new(Told { points, values: self.untold() }))
    }

    /// Only the values: what was told of them does not hold for more of them.
    fn untold(self) -> Self {
        match self {
            Self::Told(told) => told.values,
            values => values,
        }
    }

    /// Adds a value in microseconds.
    pub(crate) fn record(&mut self, us: u64) {
        let us = us.min(LARGEST_US);
        match self {
            Self::Few(values) if values.len() < FEW => values.push(us),
            Self::Few(_) | Self::Told(_) => record_in(self.grown(), us),
            Self::Many(histogram) => record_in(histogram, us),
        }
    }

    /// Adds as many equal ones.
    pub(crate) fn record_many(&mut self, us: u64, count: u32) {
        let us = us.min(LARGEST_US);
        match self {
            Self::Few(values) if values.len() + count as usize <= FEW => {
                values.extend(std::iter::repeat_n(us, count as usize));
            }
            _ => {
                let recorded = self.grown().record_n(us, count);
                debug_assert!(recorded.is_ok(), "as in `record_in`");
            }
        }
    }

    /// The histogram, made now if there was none.
    fn grown(&mut self) -> &mut Histogram<u32> {
        if let Self::Told(_) = self {
            *self = std::mem::take(self).untold();
        }
        if let Self::Few(values) = self {
            let mut grown = Box::new(Histogram::new(DIGITS).expect("1 to 5 digits are valid"));
            for us in values {
                record_in(&mut grown, *us);
            }
            *self = Self::Many(grown);
        }
        match self {
            Self::Many(histogram) => histogram,
            Self::Few(_) | Self::Told(_) => unreachable!("replaced above"),
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if let Self::Told(_) = self {
            *self = std::mem::take(self).untold();
        }
        match other {
            Self::Told(told) => self.merge(&told.values),
            Self::Few(values) => values.iter().for_each(|us| self.record(*us)),
            Self::Many(theirs) => {
                let added = self.grown().add(&**theirs);
                debug_assert!(added.is_ok(), "a histogram that grows takes any other");
            }
        }
    }

    /// The value in microseconds that the share `quantile` (0 to 1) of all values does not exceed,
    /// by the nearest rank; `None` without values.
    pub(crate) fn at(&self, quantile: f64) -> Option<u64> {
        // 0.07 of 100 values is 7.000000000000001 in binary, and would be the eighth.
        let quantile = quantile * (1.0 - 1e-12);
        match self {
            Self::Few(values) => nearest_rank(values, quantile),
            Self::Many(histogram) if histogram.is_empty() => None,
            Self::Many(histogram) => Some(histogram.value_at_quantile(quantile)),
            Self::Told(told) => told.at(quantile),
        }
    }

    /// How many of `count` values are at most `us` microseconds, within the histogram's error.
    pub(crate) fn count_up_to(&self, us: u64, count: u64) -> u64 {
        match self {
            Self::Told(told) => told.count_up_to(us, count),
            Self::Few(values) => values.iter().filter(|value| **value <= us).count() as u64,
            Self::Many(histogram) => histogram.count_between(0, us),
        }
    }
}

fn record_in(histogram: &mut Histogram<u32>, us: u64) {
    let recorded = histogram.record(us);
    debug_assert!(recorded.is_ok(), "a histogram that grows takes every value up to the largest");
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a rank among at most a few values"
)]
fn nearest_rank(values: &[u64], quantile: f64) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let rank = (quantile.clamp(0.0, 1.0) * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> Quantiles {
        let mut quantiles = Quantiles::default();
        for us in values {
            quantiles.record(*us);
        }
        quantiles
    }

    #[test]
    fn a_few_values_take_no_histogram_and_are_exact() {
        let quantiles = of(&[30_001, 10_007, 20_003]);
        assert!(matches!(quantiles, Quantiles::Few(_)));
        assert_eq!(quantiles.at(0.5), Some(20_003));
        assert_eq!(quantiles.at(0.99), Some(30_001));
        assert_eq!(Quantiles::default().at(0.5), None);
    }

    #[test]
    fn a_rank_that_is_whole_is_not_rounded_up() {
        let values: Vec<u64> = (1..=100).collect();
        let found = (1..=100_u32).map(|percent| of(&values).at(f64::from(percent) / 100.0));
        assert!(found.eq(values.iter().map(|value| Some(*value))));
        assert_eq!(of(&values[..25]).at(0.28), Some(7));
    }

    #[test]
    fn the_largest_value_can_be_recorded_in_a_histogram() {
        let mut quantiles = of(&[1; FEW]);
        quantiles.record(u64::MAX);
        let largest = quantiles.at(1.0).unwrap();
        assert!(largest.abs_diff(LARGEST_US) < LARGEST_US / 1_000);
    }

    proptest! {
        #[test]
        fn merged_parts_equal_the_whole(
            first in prop::collection::vec(0_u64..10_000_000, 0..80),
            second in prop::collection::vec(0_u64..10_000_000, 0..80),
        ) {
            let mut merged = of(&first);
            merged.merge(&of(&second));
            let whole = of(&[first, second].concat());
            for asked in [0.0, 0.5, 0.9, 0.95, 0.99, 1.0] {
                prop_assert_eq!(merged.at(asked), whole.at(asked));
            }
        }
    }
}

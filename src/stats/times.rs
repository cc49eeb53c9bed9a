//! Durations, exactly added up and as a histogram.

use std::time::Duration;

use crate::stats::quantiles::Quantiles;

/// Elapsed times of many samples. Percentiles come from microseconds; minimum, maximum and mean are
/// exact.
#[derive(Debug, Clone, Default)]
pub struct Times {
    count: u64,
    sum: Duration,
    min: Option<Duration>,
    max: Duration,
    quantiles: Quantiles,
}

impl Times {
    /// So many times of which only this is known: their percentiles are not.
    pub fn summed_up(count: u64, min: Duration, mean: Duration, max: Duration) -> Self {
        let sum = mean.as_nanos().saturating_mul(u128::from(count));
        let seconds = u64::try_from(sum / 1_000_000_000).unwrap_or(u64::MAX);
        let sum = Duration::new(seconds, u32::try_from(sum % 1_000_000_000).unwrap_or(0));
        let min = (count > 0).then_some(min);
        Self { count, sum, min, max, quantiles: Quantiles::default() }
    }

    /// Adds one time.
    pub fn record(&mut self, time: Duration) {
        self.add_up(time);
        self.quantiles.record(microseconds(time));
    }

    /// Adds as many equal times.
    pub fn record_many(&mut self, time: Duration, count: u32) {
        if count == 0 {
            return;
        }
        self.add_up(time);
        self.count += u64::from(count - 1);
        self.sum = self.sum.saturating_add(time.saturating_mul(count - 1));
        self.quantiles.record_many(microseconds(time), count);
    }

    /// Adds one time for all figures but the percentiles.
    pub fn add_up(&mut self, time: Duration) {
        self.count += 1;
        self.sum = self.sum.saturating_add(time);
        self.min = Some(self.min.map_or(time, |min| min.min(time)));
        self.max = self.max.max(time);
    }

    /// Adds all times of another.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
        self.min = [self.min, other.min].into_iter().flatten().min();
        self.max = self.max.max(other.max);
        self.quantiles.merge(&other.quantiles);
    }

    /// How many times were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The same times, of which no percentiles are known any more.
    pub(super) fn without_quantiles(&self) -> Self {
        let Self { count, sum, min, max, .. } = *self;
        Self { count, sum, min, max, quantiles: Quantiles::default() }
    }

    /// All of them together.
    pub fn sum(&self) -> Duration {
        self.sum
    }

    /// How many are at most `bound` long, within the histogram's error; none of those that were summed up.
    pub fn count_up_to(&self, bound: Duration) -> u64 {
        self.quantiles.count_up_to(microseconds(bound)).min(self.count)
    }

    /// The shortest; `None` if there is none.
    pub fn min(&self) -> Option<Duration> {
        self.min
    }

    /// The longest; `None` if there is none.
    pub fn max(&self) -> Option<Duration> {
        self.min.map(|_| self.max)
    }

    /// The mean; `None` if there is none.
    pub fn mean(&self) -> Option<Duration> {
        let nanoseconds = self.sum.as_nanos().checked_div(u128::from(self.count))?;
        Some(Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX)))
    }

    /// The time that `percent` of all do not exceed, within the histogram's error and never above
    /// the maximum; `None` if there is none.
    pub fn percentile(&self, percent: f64) -> Option<Duration> {
        let (min, max) = (self.min?, self.max);
        let value = Duration::from_micros(self.quantiles.at(percent / 100.0)?);
        Some(value.clamp(min, max))
    }
}

/// As histograms have it: rounded up, and at least one.
pub(super) fn microseconds(time: Duration) -> u64 {
    let part = u64::from(time.subsec_nanos().div_ceil(1_000));
    time.as_secs().saturating_mul(1_000_000).saturating_add(part).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn times(microseconds: &[u64]) -> Times {
        let mut times = Times::default();
        for one in microseconds {
            times.record(Duration::from_micros(*one));
        }
        times
    }

    #[test]
    fn without_samples_there_are_no_figures() {
        let none = Times::default();
        assert_eq!((none.min(), none.mean(), none.percentile(50.0)), (None, None, None));
    }

    #[test]
    fn minimum_maximum_and_mean_are_exact() {
        let times = times(&[1_234_567, 3, 1_000]);
        assert_eq!(times.min(), Some(Duration::from_micros(3)));
        assert_eq!(times.max(), Some(Duration::from_micros(1_234_567)));
        assert_eq!(times.mean(), Some(Duration::from_nanos(411_856_666)));
        assert_eq!(times.percentile(100.0), times.max());
    }

    #[test]
    fn times_up_to_a_bound_are_counted_few_or_many() {
        for count in [4_u64, 1_000] {
            let times = times(&(1..=count).map(|number| number * 1_000).collect::<Vec<_>>());
            let up_to = |ms| times.count_up_to(Duration::from_millis(ms));
            assert_eq!([0, 1, 3, 5_000].map(up_to), [0, 1, 3, count], "{count}");
            assert_eq!(times.sum(), Duration::from_millis(count * (count + 1) / 2));
        }
        let [ms_1, ms_2] = [1, 2].map(Duration::from_millis);
        assert_eq!(Times::summed_up(3, ms_1, ms_1, ms_2).count_up_to(ms_2), 0);
    }

    #[test]
    fn many_equal_times_are_as_many_times_one() {
        for count in [1, 3, 40, 1_000] {
            let mut many = times(&[5, 70]);
            many.record_many(Duration::from_micros(20), count);
            let one_by_one = times(&[&[5, 70][..], &vec![20; count as usize]].concat());
            assert_eq!((many.count(), many.mean()), (one_by_one.count(), one_by_one.mean()));
            for percent in [1.0, 50.0, 99.0] {
                assert_eq!(many.percentile(percent), one_by_one.percentile(percent), "{count}");
            }
        }
    }

    #[test]
    fn times_that_were_summed_up_keep_what_is_known_of_them() {
        let [ms_1, ms_2, ms_4] = [1, 2, 4].map(Duration::from_millis);
        let mut all = Times::summed_up(3, ms_1, ms_2, ms_4);
        assert_eq!((all.count(), all.min(), all.mean()), (3, Some(ms_1), Some(ms_2)));
        assert_eq!((all.max(), all.percentile(50.0)), (Some(ms_4), None));
        all.merge(&Times::summed_up(0, ms_1, ms_1, ms_1));
        assert_eq!((all.count(), all.mean()), (3, Some(ms_2)));
    }

    proptest! {
        #[test]
        fn percentiles_are_within_the_histograms_error(
            mut values in prop::collection::vec(1u64..100_000_000, 1..200), percent in 1u32..100,
        ) {
            let found = times(&values).percentile(f64::from(percent)).unwrap().as_secs_f64();
            values.sort_unstable();
            let rank = (values.len() * percent as usize).div_ceil(100).max(1);
            let exact = Duration::from_micros(values[rank - 1]).as_secs_f64();
            prop_assert!((found - exact).abs() <= exact * 0.0011, "{found} {exact}");
        }

        #[test]
        fn merged_times_equal_one(
            left in prop::collection::vec(1u64..10_000_000, 0..50),
            right in prop::collection::vec(1u64..10_000_000, 0..50),
        ) {
            let mut merged = times(&left);
            merged.merge(&times(&right));
            let whole = times(&[left, right].concat());
            prop_assert_eq!(merged.mean(), whole.mean());
            prop_assert_eq!(merged.min(), whole.min());
            for percent in [50.0, 90.0, 99.0] {
                prop_assert_eq!(merged.percentile(percent), whole.percentile(percent));
            }
        }
    }
}

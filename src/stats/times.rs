//! Durations, exactly added up and as a histogram.

use std::time::Duration;

use crate::clock::round_ms;
use crate::stats::quantiles::Quantiles;

/// Elapsed times of many samples. Percentiles come from microseconds; minimum, maximum and mean are
/// exact.
#[derive(Debug, Clone, Default)]
pub struct Times {
    count: u64,
    sum: Duration,
    min: Option<Duration>,
    max: Duration,
    /// Whether they were rounded to whole milliseconds before they were added.
    whole_ms: bool,
    quantiles: Quantiles,
}

/// Figures of times as a summary tells them.
#[derive(Debug, Clone, Default)]
pub struct ToldTimes {
    /// The shortest.
    pub min: Option<Duration>,
    /// The mean.
    pub mean: Option<Duration>,
    /// The longest.
    pub max: Option<Duration>,
    /// Shares, from 0 to 1 and ascending, and the time that each does not exceed.
    pub percentiles: Vec<(f64, Duration)>,
}

impl Times {
    /// So many times of which only this is known; of their percentiles those that were told.
    pub fn told(count: u64, told: &ToldTimes) -> Self {
        let mut times = Self { count, ..Self::default() };
        times.refine(told);
        times
    }

    /// Takes figures of the same times from one who knew them better.
    pub fn refine(&mut self, told: &ToldTimes) {
        let (Some(min), Some(mean), Some(max)) = (told.min, told.mean, told.max) else { return };
        let sum = mean.as_nanos().saturating_mul(u128::from(self.count));
        let seconds = u64::try_from(sum / 1_000_000_000).unwrap_or(u64::MAX);
        self.sum = Duration::new(seconds, u32::try_from(sum % 1_000_000_000).unwrap_or(0));
        (self.min, self.max, self.whole_ms) = (Some(min), max.max(min), false);
        let points = told.percentiles.iter().map(|(share, time)| (*share, microseconds(*time)));
        let mut points: Vec<_> = points.collect();
        if !points.is_empty() {
            points.push((1.0, microseconds(self.max)));
        }
        self.quantiles = std::mem::take(&mut self.quantiles).told(points);
    }

    /// Says that these times were rounded to whole milliseconds: their percentiles are such too.
    pub fn in_whole_ms(&mut self) {
        self.whole_ms = true;
    }

    /// Whether they are in whole milliseconds, the shortest ones 0.
    pub fn are_in_whole_ms(&self) -> bool {
        self.whole_ms && self.count > 0
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
        if self.count == 0 {
            // What was told of the other holds for both.
            self.quantiles = other.quantiles.clone();
        } else {
            self.quantiles.merge(&other.quantiles);
        }
        self.count += other.count;
        self.whole_ms |= other.whole_ms;
        self.sum = self.sum.saturating_add(other.sum);
        self.min = [self.min, other.min].into_iter().flatten().min();
        self.max = self.max.max(other.max);
    }

    /// How many times were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The same times, of which no percentiles are known any more.
    pub(super) fn without_quantiles(&self) -> Self {
        let Self { count, sum, min, max, whole_ms, .. } = *self;
        Self { count, sum, min, max, whole_ms, quantiles: Quantiles::default() }
    }

    /// All of them together.
    pub fn sum(&self) -> Duration {
        self.sum
    }

    /// How many are at most `bound` long, within the histogram's error; none of those that were summed up.
    pub fn count_up_to(&self, bound: Duration) -> u64 {
        match (self.min, self.max()) {
            (Some(min), _) if bound < min => 0,
            // Nothing is beyond the longest, whatever a histogram makes of it.
            (_, Some(max)) if max <= bound && self.percentile(50.0).is_some() => self.count,
            _ => self.quantiles.count_up_to(microseconds(bound), self.count).min(self.count),
        }
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
        let value = if self.whole_ms { Duration::from_millis(round_ms(value)) } else { value };
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
        assert_eq!(Times::told(3, &told([ms_1, ms_1, ms_2], &[])).count_up_to(ms_2), 0);
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

    fn told([min, mean, max]: [Duration; 3], percentiles: &[(f64, Duration)]) -> ToldTimes {
        let percentiles = percentiles.to_vec();
        ToldTimes { min: Some(min), mean: Some(mean), max: Some(max), percentiles }
    }

    #[test]
    fn times_that_were_summed_up_keep_what_is_known_of_them() {
        let [ms_1, ms_2, ms_4] = [1, 2, 4].map(Duration::from_millis);
        let mut all = Times::told(3, &told([ms_1, ms_2, ms_4], &[]));
        assert_eq!((all.count(), all.min(), all.mean()), (3, Some(ms_1), Some(ms_2)));
        assert_eq!((all.max(), all.percentile(50.0)), (Some(ms_4), None));
        all.merge(&Times::told(0, &told([ms_1; 3], &[])));
        assert_eq!((all.count(), all.mean()), (3, Some(ms_2)));
    }

    #[test]
    fn what_was_told_of_times_goes_before_what_their_rounded_values_say() {
        let mut rounded = Times::default();
        for ms in [0, 0, 0, 1, 7] {
            rounded.record(Duration::from_millis(ms));
        }
        rounded.in_whole_ms();
        assert_eq!(rounded.percentile(50.0), Some(Duration::ZERO));
        let [us_120, us_180, us_900] = [120, 180, 900].map(Duration::from_micros);
        let max = Duration::from_micros(7_100);
        let percentiles = [(0.5, us_180), (0.9, us_900)];
        rounded.refine(&told([us_120, us_900, max], &percentiles));
        assert!(!rounded.are_in_whole_ms());
        let at = |percent| rounded.percentile(percent).unwrap();
        assert_eq!([10.0, 50.0, 70.0, 90.0].map(at), [us_120, us_180, us_900, us_900]);
        assert_eq!((at(100.0), rounded.mean()), (max, Some(us_900)));
        let up_to = |us| rounded.count_up_to(Duration::from_micros(us));
        assert_eq!([100, 180, 500, 8_000].map(up_to), [0, 3, 3, 5]);
        // Told again of the same, and of more than it holds for.
        let mut more = Times::default();
        more.merge(&rounded);
        assert_eq!(more.percentile(50.0), Some(us_180));
        more.merge(&rounded);
        assert_eq!((more.count(), more.mean()), (10, Some(us_900)));
        assert_ne!(more.percentile(50.0), Some(us_180));
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

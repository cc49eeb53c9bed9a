//! Durations, exactly added up and as a histogram.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Three significant digits: a percentile is within 0.1 % of the truth.
const DIGITS: u8 = 3;

/// Elapsed times of many samples. The histogram counts microseconds from 1 up and is made with the
/// first value; minimum, maximum and mean are exact.
#[derive(Debug, Clone, Default)]
pub struct Times {
    count: u64,
    sum: Duration,
    min: Option<Duration>,
    max: Duration,
    histogram: Option<Box<Histogram<u32>>>,
}

impl Times {
    /// Adds one time.
    pub fn record(&mut self, time: Duration) {
        self.count += 1;
        self.sum += time;
        self.min = Some(self.min.map_or(time, |min| min.min(time)));
        self.max = self.max.max(time);
        let microseconds = u64::try_from(time.as_nanos().div_ceil(1_000)).unwrap_or(u64::MAX);
        // An auto-resizing histogram takes every value; were memory short, the exact figures stand.
        self.histogram_mut().record(microseconds.max(1)).ok();
    }

    /// Adds all times of another.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.min = [self.min, other.min].into_iter().flatten().min();
        self.max = self.max.max(other.max);
        if let Some(histogram) = &other.histogram {
            self.histogram_mut().add(histogram.as_ref()).ok();
        }
    }

    /// How many times were added.
    pub fn count(&self) -> u64 {
        self.count
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
        let histogram = self.histogram.as_ref()?;
        let (min, max) = (self.min?, self.max);
        let value = Duration::from_micros(histogram.value_at_quantile(percent / 100.0));
        Some(value.clamp(min, max))
    }

    fn histogram_mut(&mut self) -> &mut Histogram<u32> {
        self.histogram.get_or_insert_with(|| {
            let mut histogram = Histogram::new_with_bounds(1, 2, DIGITS)
                .expect("1 to 2 with 3 digits are valid bounds");
            histogram.auto(true);
            Box::new(histogram)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn times(microseconds: &[u64]) -> Times {
        let mut times = Times::default();
        microseconds.iter().for_each(|&one| times.record(Duration::from_micros(one)));
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

//! Histograms that are live, and what is left of them when their interval is over.

use std::fmt;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

/// Two significant digits: a percentile is within 1 % of the truth, more than a curve shows, and a live
/// histogram of times up to a minute takes 10 KiB.
const DIGITS: u8 = 2;
/// Larger values count as this: 1,000 hours, as in the histograms of labels.
const LARGEST_US: u64 = 3_600_000_000_000;

/// Times in microseconds, to two digits.
#[derive(Clone)]
pub(super) struct Times(Histogram<u32>);

impl Default for Times {
    fn default() -> Self {
        Self(Histogram::new(DIGITS).expect("1 to 5 digits are valid"))
    }
}

impl fmt::Debug for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Times").field(&self.0.len()).finish()
    }
}

impl Times {
    pub(super) fn record(&mut self, us: u64) {
        let recorded = self.0.record(us.min(LARGEST_US));
        debug_assert!(
            recorded.is_ok(),
            "a histogram that grows takes every value up to the largest"
        );
    }

    pub(super) fn histogram(&self) -> &Histogram<u32> {
        &self.0
    }

    /// Makes it empty; its memory stays.
    pub(super) fn clear(&mut self) {
        self.0.reset();
    }

    pub(super) fn add(&mut self, packed: &Packed) {
        if packed.0.is_empty() {
            return;
        }
        let Ok(other) = Deserializer::new().deserialize::<u32, _>(&mut &*packed.0) else {
            debug_assert!(false, "it was packed here");
            return;
        };
        let added = self.0.add(other);
        debug_assert!(added.is_ok(), "a histogram that grows takes any other");
    }

    pub(super) fn pack(&self) -> Packed {
        if self.0.is_empty() {
            return Packed::default();
        }
        let mut bytes = Vec::new();
        let written = V2Serializer::new().serialize(&self.0, &mut bytes);
        debug_assert!(written.is_ok(), "memory takes all bytes");
        Packed(bytes.into_boxed_slice())
    }

    /// As [`crate::stats::Times::percentile`], in microseconds.
    pub(super) fn at(&self, quantile: f64) -> Option<u64> {
        let quantile = quantile * (1.0 - 1e-12);
        (!self.0.is_empty()).then(|| self.0.value_at_quantile(quantile))
    }

    /// Each value that there is, and how often, in ascending order.
    pub(super) fn values(&self) -> impl Iterator<Item = (u64, u64)> {
        let recorded = self.0.iter_recorded();
        recorded.map(|value| {
            (
                self.0.median_equivalent(value.value_iterated_to()),
                value.count_since_last_iteration(),
            )
        })
    }
}

/// The same in some hundred bytes: HdrHistogram's V2 form.
#[derive(Debug, Clone, Default)]
pub(super) struct Packed(Box<[u8]>);

impl Packed {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All in one; none of the others is empty.
    pub(super) fn with<'a>(&'a self, mut others: impl Iterator<Item = &'a Self>) -> Self {
        let Some(first) = others.next() else { return self.clone() };
        let second = if self.is_empty() { others.next() } else { Some(self) };
        let Some(second) = second else { return first.clone() };
        let mut times = Times::default();
        [first, second].into_iter().chain(others).for_each(|part| times.add(part));
        times.pack()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_what_was_recorded() {
        let mut times = Times::default();
        let mut packed = Packed::default();
        for half in [0..500_u64, 500..1_000] {
            let mut part = Times::default();
            for number in half {
                part.record(number * number);
                times.record(number * number);
            }
            packed = packed.with([&part.pack()].into_iter());
        }
        times.record(u64::MAX);
        let mut last = Times::default();
        last.record(u64::MAX);
        packed = last.pack().with([&packed].into_iter());
        let mut read = Times::default();
        read.add(&packed);
        assert!(read.values().eq(times.values()));
        assert_eq!(read.values().map(|(_, count)| count).sum::<u64>(), 1_001);
        assert_eq!(read.at(0.5), times.at(0.5));
        assert!(packed.0.len() < 2_500, "{} bytes", packed.0.len());
    }

    #[test]
    fn an_interval_without_times_takes_no_bytes() {
        assert!(Times::default().pack().0.is_empty());
        assert_eq!(Times::default().at(0.5), None);
    }
}

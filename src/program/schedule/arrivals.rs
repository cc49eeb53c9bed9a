//! Arrivals: when, at rates that change over time.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::program::pause::per_second;
use crate::program::{BadValue, FromText};

/// A number of events in a second; may be zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerSecond(pub f64);

/// `50/s`, `600/m`, `0/s`.
impl FromText for PerSecond {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        match per_second(text)? {
            rate if rate < 0.0 => Err(BadValue::new(format!("`{text}` is below zero"))),
            rate if rate > MOST => Err(BadValue::new(format!("`{text}` is more than 1,000,000/s"))),
            rate => Ok(Self(rate)),
        }
    }
}

/// More in a second than any generator of this kind starts.
const MOST: f64 = 1_000_000.0;

/// How arrivals are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spacing {
    /// Evenly.
    #[default]
    Even,
    /// As independent events are, and just as many: a Poisson process of which the count is known.
    Poisson,
}

impl FromText for Spacing {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        match text {
            "even" => Ok(Self::Even),
            "poisson" => Ok(Self::Poisson),
            _ => Err(BadValue::new(format!("`{text}` is none of `even`, `poisson`"))),
        }
    }
}

/// A rate that stays or changes evenly for some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// At its beginning.
    pub from: f64,
    /// At its end.
    pub to: f64,
    /// How long it is; never zero.
    pub over: Duration,
}

impl Stretch {
    /// How many arrive in it.
    fn area(&self) -> f64 {
        f64::midpoint(self.from, self.to) * self.over.as_secs_f64()
    }

    /// The time after its beginning by which `count` have come, which is at most its area.
    fn time_of(&self, count: f64) -> Duration {
        // Of a t² / 2 + from t = count the root that loses no digits where a is small.
        let a = (self.to - self.from) / self.over.as_secs_f64();
        let root = (2.0 * a).mul_add(count, self.from * self.from).max(0.0).sqrt();
        let divisor = self.from + root;
        let seconds = if divisor > 0.0 { 2.0 * count / divisor } else { 0.0 };
        Duration::try_from_secs_f64(seconds).unwrap_or(self.over).min(self.over)
    }
}

/// When threads arrive.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrivals {
    /// One after the other.
    pub stretches: Vec<Stretch>,
    /// How they are spaced.
    pub spacing: Spacing,
}

impl Arrivals {
    /// How many arrive in all: those whose place on the line comes before its end.
    pub fn count(&self) -> u64 {
        // Sums of rates such as 0.1/s are not exact, and must not make one more.
        let area: f64 = self.stretches.iter().map(Stretch::area).sum();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive, and far below 2^63"
        )]
        let count = (area - 1e-6).ceil().max(0.0) as u64;
        count
    }

    /// How long they go on.
    pub fn duration(&self) -> Duration {
        self.stretches.iter().fold(Duration::ZERO, |sum, one| sum.saturating_add(one.over))
    }

    /// When each arrives, in order, counted from the beginning; `seed` decides what is random, and is
    /// the same for all who need the same times.
    pub fn times(&self, seed: u64) -> ArrivalTimes<'_> {
        let random = (self.spacing == Spacing::Poisson).then(|| StdRng::seed_from_u64(seed));
        let count = self.count();
        let area = self.stretches.iter().map(Stretch::area).sum();
        ArrivalTimes {
            left: &self.stretches,
            began: Duration::ZERO,
            passed: 0.0,
            given: 0,
            count,
            area,
            random,
            place: 0.0,
        }
    }
}

/// The times of arrivals; see [`Arrivals::times`].
#[derive(Debug)]
pub struct ArrivalTimes<'a> {
    left: &'a [Stretch],
    /// When the first of those left began, and how many had come until then.
    began: Duration,
    passed: f64,
    given: u64,
    count: u64,
    area: f64,
    random: Option<StdRng>,
    /// Where on the line the last arrival was.
    place: f64,
}

impl ArrivalTimes<'_> {
    /// Where on the line of counts the next arrival is.
    #[expect(clippy::cast_precision_loss, reason = "no count of arrivals comes near 2^53")]
    fn next_place(&mut self) -> f64 {
        let Some(random) = &mut self.random else { return self.given as f64 };
        // The least of n numbers that are evenly distributed over what is left: so all of them come out
        // in order, without a list of them.
        let left = (self.count - self.given) as f64;
        let rest: f64 = random.random::<f64>().powf(1.0 / left);
        self.place = self.area - (self.area - self.place) * rest;
        self.place
    }
}

impl Iterator for ArrivalTimes<'_> {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        if self.given == self.count {
            return None;
        }
        let place = self.next_place();
        self.given += 1;
        while let [first, rest @ ..] = self.left
            && !rest.is_empty()
            && place >= self.passed + first.area()
        {
            self.passed += first.area();
            self.began += first.over;
            self.left = rest;
        }
        let time = self.left.first()?.time_of((place - self.passed).max(0.0));
        Some(self.began + time)
    }
}

#[cfg(test)]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small numbers"
)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn arrivals(stretches: &[(f64, f64, u64)], spacing: Spacing) -> Arrivals {
        let stretch = |(from, to, over): &(f64, f64, u64)| Stretch {
            from: *from,
            to: *to,
            over: Duration::from_secs(*over),
        };
        Arrivals { stretches: stretches.iter().map(stretch).collect(), spacing }
    }

    fn times(stretches: &[(f64, f64, u64)]) -> Vec<f64> {
        arrivals(stretches, Spacing::Even).times(0).map(|time| time.as_secs_f64()).collect()
    }

    #[test]
    fn a_constant_rate_is_evenly_spread() {
        let times = times(&[(100.0, 100.0, 5)]);
        assert_eq!(times.len(), 500);
        for (index, time) in times.iter().enumerate() {
            assert!((time - index as f64 / 100.0).abs() < 1e-6, "{index}: {time}");
        }
    }

    #[test]
    fn a_rising_rate_has_as_many_as_lie_under_its_line() {
        // 0/s to 4/s over 4 s: t² / 2 of them have come by t.
        let found = times(&[(0.0, 4.0, 4)]);
        let wanted: Vec<f64> = (0..8).map(|n| (2.0 * f64::from(n)).sqrt()).collect();
        assert_eq!(found.len(), 8);
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-6, "{found} {wanted}");
        }
    }

    #[test]
    fn nothing_arrives_while_the_rate_is_zero_and_fractions_go_on() {
        assert_eq!(times(&[(1.0, 1.0, 2), (0.0, 0.0, 10), (1.0, 1.0, 1)]), [0.0, 1.0, 12.0]);
        // Half an arrival of each stretch makes one; 0.1/s for 10 s is one and not two.
        assert_eq!(times(&[(0.5, 0.5, 1), (0.5, 0.5, 3)]), [0.0, 2.0]);
        assert_eq!(times(&[(0.1, 0.1, 10)]).len(), 1);
    }

    #[test]
    fn words_are_rates_and_spacings() {
        assert_eq!(PerSecond::from_text("600/m").unwrap(), PerSecond(10.0));
        assert_eq!(PerSecond::from_text("0/s").unwrap(), PerSecond(0.0));
        assert!(PerSecond::from_text("50").is_err() && PerSecond::from_text("-1/s").is_err());
        assert!(Spacing::from_text("uneven").is_err());
    }

    proptest! {
        /// None is lost or doubled over ten minutes of changing rates, whatever the spacing.
        #[test]
        fn by_any_moment_as_many_have_come_as_the_line_says(
            rates in prop::collection::vec((0.0f64..200.0, 0.0f64..200.0), 10), moment in 0.0f64..600.0,
        ) {
            let stretches: Vec<(f64, f64, u64)> = rates.iter().map(|(a, b)| (*a, *b, 60)).collect();
            let times = times(&stretches);
            let area: f64 = rates.iter().map(|(a, b)| (a + b) / 2.0 * 60.0).sum();
            prop_assert_eq!(times.len(), (area - 1e-6).ceil() as usize);
            prop_assert!(times.is_sorted());
            let mut due = 0.0;
            for (index, (a, b)) in rates.iter().enumerate() {
                let inside = (moment - index as f64 * 60.0).clamp(0.0, 60.0);
                due += a * inside + (b - a) / 60.0 * inside * inside / 2.0;
            }
            let come = times.iter().filter(|time| **time <= moment).count() as f64;
            prop_assert!((come - due).abs() <= 1.001, "{come} of {due} by {moment}");
        }

        #[test]
        fn random_arrivals_are_as_many_in_order_and_the_same_for_all(
            seed in any::<u64>(), rate in 1.0f64..100.0,
        ) {
            let own = arrivals(&[(rate, rate, 10), (rate, 0.0, 10)], Spacing::Poisson);
            let times: Vec<Duration> = own.times(seed).collect();
            prop_assert_eq!(times.len() as u64, own.count());
            prop_assert!(times.is_sorted() && times.last().is_none_or(|last| *last <= own.duration()));
            prop_assert!(own.times(seed).eq(times));
        }
    }

    /// The gaps of a Poisson process are exponential: their mean and standard deviation are the same.
    #[test]
    fn random_gaps_are_exponential() {
        let own = arrivals(&[(100.0, 100.0, 600)], Spacing::Poisson);
        let times: Vec<f64> = own.times(7).map(|time| time.as_secs_f64()).collect();
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean * 100.0 - 1.0).abs() < 0.01, "{mean}");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "{}", variance.sqrt());
    }
}

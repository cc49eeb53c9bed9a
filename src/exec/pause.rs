//! `pause` and `timers`: how long each takes, and waiting so long.

use std::time::Duration;

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1, Poisson, StandardNormal};

use crate::clock;
use crate::exec::evaluate::Scope;
use crate::exec::outcome::Failure;
use crate::exec::thread::Thread;
use crate::program::Pause;
use crate::sample::Trace;

/// Longer than any run; what is drawn beyond it is cut.
const LONGEST: Duration = Duration::from_hours(100 * 8_766);

impl Thread<'_> {
    /// The step.
    pub(crate) async fn pause(&mut self, pause: &Pause) {
        match length(&mut self.scope, pause) {
            Ok(time) => self.pause_for(time, "").await,
            Err(failure) => self.not_done("pause", failure),
        }
    }

    /// The timers before a sampler: the sum of all. Fails where one cannot be evaluated; then none
    /// is waited for.
    pub(crate) async fn wait_for_timers(&mut self, timers: &[Pause]) -> Result<(), Failure> {
        let mut sum = Duration::ZERO;
        for timer in timers {
            sum = sum.saturating_add(length(&mut self.scope, timer)?).min(LONGEST);
        }
        self.pause_for(sum, ", by `timers`").await;
        Ok(())
    }

    /// `why`: what a trace says beside the time.
    async fn pause_for(&mut self, time: Duration, why: &str) {
        if !time.is_zero() {
            self.tally.waited += 1;
            self.trace(|_| Trace::Pause { text: format!("{time:?}{why}") });
            self.show_traces();
            self.connections.pause_until(clock::now() + time).await;
            self.show_traces();
        }
    }
}

/// How long the pause takes this time.
fn length(scope: &mut Scope, pause: &Pause) -> Result<Duration, Failure> {
    let mut random = rand::rng();
    Ok(match pause {
        Pause::Constant(time) => scope.value(time)?,
        Pause::Uniform(low, high) => {
            let (low, high) = (scope.value(low)?, scope.value(high)?);
            random.random_range(low.min(high)..=low.max(high))
        }
        Pause::Gaussian { mean, deviation } => {
            let (mean, deviation) = (scope.value(mean)?, scope.value(deviation)?);
            gaussian(&mut random, mean, deviation)
        }
        Pause::Exponential(mean) => exponential(&mut random, scope.value(mean)?),
        Pause::Poisson(mean) => poisson(&mut random, scope.value(mean)?),
    })
}

/// Below zero it is zero. (JMeter's timer takes the value without its sign, which makes short pauses
/// of what would be none.)
fn gaussian(random: &mut impl Rng, mean: Duration, deviation: Duration) -> Duration {
    let from_mean: f64 = StandardNormal.sample(random);
    seconds(mean.as_secs_f64() + from_mean * deviation.as_secs_f64())
}

fn exponential(random: &mut impl Rng, mean: Duration) -> Duration {
    let of_mean: f64 = Exp1.sample(random);
    seconds(of_mean * mean.as_secs_f64())
}

/// Whole milliseconds, as JMeter's Poisson Random Timer.
fn poisson(random: &mut impl Rng, mean: Duration) -> Duration {
    // It fails for a mean of zero alone: durations are bounded.
    let milliseconds = Poisson::new(mean.as_secs_f64() * 1e3).map_or(0.0, |it| it.sample(random));
    seconds(milliseconds / 1e3)
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.max(0.0)).map_or(LONGEST, |time| time.min(LONGEST))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::*;

    const DRAWS: u32 = 20_000;

    /// Mean and standard deviation in ms, and the share of draws below the mean.
    fn measure(mut draw: impl FnMut(&mut StdRng) -> Duration) -> (f64, f64, f64) {
        let mut random = StdRng::seed_from_u64(7);
        let draws: Vec<f64> = (0..DRAWS).map(|_| draw(&mut random).as_secs_f64() * 1e3).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(DRAWS);
        let variance = draws.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / f64::from(DRAWS);
        let below = draws.iter().map(|one| f64::from(u8::from(*one < mean))).sum::<f64>();
        (mean, variance.sqrt(), below / f64::from(DRAWS))
    }

    fn is_near(found: f64, wanted: f64) {
        assert!((found / wanted - 1.0).abs() < 0.03, "{found} is not near {wanted}");
    }

    #[test]
    fn gaussian_pauses_lie_evenly_around_their_mean() {
        let ms = Duration::from_millis;
        let (mean, deviation, below) = measure(|random| gaussian(random, ms(1_000), ms(200)));
        is_near(mean, 1_000.0);
        is_near(deviation, 200.0);
        is_near(below, 0.5);
    }

    #[test]
    fn exponential_pauses_are_mostly_short() {
        let (mean, deviation, below) =
            measure(|random| exponential(random, Duration::from_millis(300)));
        is_near(mean, 300.0);
        is_near(deviation, 300.0);
        is_near(below, 1.0 - (-1.0_f64).exp());
    }

    #[test]
    fn poisson_pauses_are_whole_milliseconds_whose_variance_is_their_mean() {
        let mean_of = Duration::from_millis(400);
        let (mean, deviation, _) = measure(|random| poisson(random, mean_of));
        is_near(mean, 400.0);
        is_near(deviation, 20.0);
        let mut random = StdRng::seed_from_u64(1);
        assert!((0..100).all(|_| {
            let micros = poisson(&mut random, mean_of).as_nanos() % 1_000_000;
            // A number of seconds as a double is not exact.
            !(1_000..=999_000).contains(&micros)
        }));
    }

    #[test]
    fn what_cannot_be_is_no_pause_and_what_is_too_long_is_cut() {
        let mut random = StdRng::seed_from_u64(3);
        let zero = Duration::ZERO;
        assert_eq!(poisson(&mut random, zero), zero);
        assert_eq!(exponential(&mut random, zero), zero);
        assert_eq!(gaussian(&mut random, zero, zero), zero);
        let draws = (0..100).map(|_| gaussian(&mut random, zero, Duration::from_secs(1)));
        let none = draws.filter(Duration::is_zero).count();
        assert!((20..80).contains(&none), "{none} of 100 would be negative");
        assert_eq!(seconds(1e300), LONGEST);
        assert_eq!(seconds(f64::NAN), zero);
    }
}

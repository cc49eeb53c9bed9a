//! What makes a thread wait: `pause` and `timers`, `pace`, `rendezvous`.

use std::time::Duration;

use crate::program::{BadValue, CounterId, FromText, Setting};

/// A wait outside any row, during which the thread's connections stay alive.
#[derive(Debug, Clone, PartialEq)]
pub enum Pause {
    /// Always as long.
    Constant(Setting<Duration>),
    /// Evenly distributed between both ends.
    Uniform(Setting<Duration>, Setting<Duration>),
    /// Normally distributed; what would be negative is zero.
    Gaussian {
        /// The middle.
        mean: Setting<Duration>,
        /// The standard deviation.
        deviation: Setting<Duration>,
    },
    /// Exponentially distributed with this mean.
    Exponential(Setting<Duration>),
    /// A Poisson-distributed number of milliseconds with this mean.
    Poisson(Setting<Duration>),
}

/// `pace`: how often threads pass it at most.
#[derive(Debug, Clone, PartialEq)]
pub struct Pace {
    /// How often.
    pub rate: Setting<Rate>,
    /// Whose rate it is.
    pub share: PaceShare,
    /// Where the next time is kept, in nanoseconds since the run began: among the thread's own counts
    /// or those that all threads share.
    pub next: CounterId,
}

/// Whose rate a `pace` keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaceShare {
    /// Each thread's own.
    Thread,
    /// That of all threads of the group together.
    Group,
}

/// `10/m`, as the time from one to the next; never zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate(pub Duration);

/// `rendezvous`: threads that wait for each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendezvous {
    /// How many go on together, from 1 to the threads of the group.
    pub threads: u32,
    /// How long one waits for the others; never zero.
    pub timeout: Setting<Duration>,
    /// Which of the run's rendezvous it is, from 0.
    pub index: usize,
}

/// What a rate should look like.
const ADVICE: &str = "write a number and a unit: `50/s`, `600/m`, `100/h`";

/// The number of events in a second of `50/s`, `600/m`, `0.5/h`.
pub(super) fn per_second(text: &str) -> Result<f64, BadValue> {
    let (number, seconds) = parts(text)?;
    Ok(number / seconds)
}

/// The number, and the seconds of the unit.
fn parts(text: &str) -> Result<(f64, f64), BadValue> {
    let advice = ADVICE;
    let bad = || BadValue::new(format!("`{text}` is not a rate")).with_help(advice);
    let Some((number, unit)) = text.split_once('/') else {
        let is_number = text.parse::<f64>().is_ok();
        let help = format!("write `{text}/s` or `{text}/m`");
        return Err(if is_number {
            BadValue::new(format!("`{text}` has no unit")).with_help(help)
        } else {
            bad()
        });
    };
    let seconds = match unit.trim() {
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        _ => return Err(bad()),
    };
    let number = f64::from_text(number.trim()).map_err(|_| bad())?;
    Ok((number, seconds))
}

/// `50/s`, `600/m`, `0.5/h`.
impl FromText for Rate {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        let (number, seconds) = parts(text)?;
        if number <= 0.0 {
            return Err(BadValue::new(format!("`{text}` is not above zero")).with_help(ADVICE));
        }
        match Duration::try_from_secs_f64(seconds / number) {
            Ok(interval) if interval.is_zero() => {
                Err(BadValue::new(format!("`{text}` is more than one in a nanosecond")))
            }
            Ok(interval) if interval <= LONGEST => Ok(Self(interval)),
            _ => Err(BadValue::new(format!("`{text}` is less than one in 100 years"))),
        }
    }
}

/// Far beyond any run.
const LONGEST: Duration = Duration::from_hours(100 * 8_766);

impl FromText for PaceShare {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        match text {
            "thread" => Ok(Self::Thread),
            "group" => Ok(Self::Group),
            _ => Err(BadValue::new(format!("`{text}` is none of `thread`, `group`"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_the_time_from_one_to_the_next() {
        for (text, milliseconds) in
            [("50/s", 20), ("600/m", 100), ("10 / m", 6_000), ("0.5/s", 2_000), ("7200/h", 500)]
        {
            let interval = Duration::from_millis(milliseconds);
            assert_eq!(Rate::from_text(text), Ok(Rate(interval)), "{text}");
        }
    }

    #[test]
    fn what_is_no_rate_is_refused_with_advice_that_fits() {
        for (text, what) in [
            ("10", "`10` has no unit"),
            ("10/d", "`10/d` is not a rate"),
            ("", "`` is not a rate"),
            ("/s", "`/s` is not a rate"),
            ("0/s", "`0/s` is not above zero"),
            ("-1/m", "`-1/m` is not above zero"),
            ("NaN/s", "`NaN/s` is not a rate"),
            ("1e12/s", "`1e12/s` is more than one in a nanosecond"),
            ("1e-300/h", "`1e-300/h` is less than one in 100 years"),
        ] {
            assert_eq!(Rate::from_text(text).unwrap_err().what, what);
        }
    }
}

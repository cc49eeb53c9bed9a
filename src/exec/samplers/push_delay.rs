//! How old a message was when it arrived: the row's time is the server's and the network's, not that
//! of waiting for it.

use std::borrow::Cow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::DateTime;
use serde_json::Value;

use crate::clock::{round_ms, wall_of};
use crate::exec::judge::captured;
use crate::exec::outcome::{Failure, Outcome};
use crate::exec::samplers::job::Job;
use crate::program::{PushDelay, SentAt, TimeUnit};
use crate::sample::{Code, Note};
use crate::ws::Message;

/// So many characters of what should be a time are shown.
const SHOWN: usize = 40;

/// A time further away is read in the wrong unit, or the clock that it comes from is not set.
const MAX_AGE: Duration = Duration::from_hours(24);

/// What is needed to judge a message, evaluated.
#[derive(Debug)]
pub(crate) struct Age<'p> {
    sent_at: &'p SentAt,
    unit: TimeUnit,
    at_most: Option<Duration>,
}

impl<'p> Age<'p> {
    pub(crate) fn evaluate(job: &mut Job<'_, '_>, spec: &'p PushDelay) -> Result<Self, Failure> {
        let unit = job.scope.value(&spec.unit)?;
        let at_most = spec.at_most.as_ref().map(|limit| job.scope.value(limit)).transpose()?;
        Ok(Self { sent_at: &spec.sent_at, unit, at_most })
    }

    /// Turns the time of waiting into the age of the message that came. `elapsed` is arrival minus
    /// the moment it was sent; what the sampler waited beyond that is idle time.
    pub(crate) fn judge(&self, job: &Job<'_, '_>, outcome: &mut Outcome) {
        let Some(message) = &outcome.message else { return };
        let arrived = message.arrived;
        let age = match self.age(message, wall_of(arrived)) {
            Ok(Ok(age)) => age,
            Ok(Err(_)) => {
                job.note(&Note::ClockSkew { label: job.label });
                Duration::ZERO
            }
            Err(failure) => return outcome.fail(failure),
        };
        let waited = arrived.saturating_duration_since(outcome.start);
        outcome.idle = waited.saturating_sub(age);
        let span = age.saturating_add(outcome.idle);
        // There may be no such moment where the machine has not been up for so long.
        outcome.start = arrived.checked_sub(span).unwrap_or(outcome.start);
        outcome.end = arrived;
        outcome.first_byte = Some(arrived);
        if let Some(limit) = self.at_most.filter(|limit| age > *limit) {
            let text = format!(
                "the message was {} ms old, and `at_most` allows {} ms",
                round_ms(age),
                round_ms(limit)
            );
            let failure = Failure::new(outcome.code, text, "a message was older than `at_most`");
            outcome.fail_assertion(Some(failure));
        }
    }

    /// How old the message is, or by how much it comes from the future.
    fn age(
        &self,
        message: &Message,
        arrived: SystemTime,
    ) -> Result<Result<Duration, Duration>, Failure> {
        let bad = |what: String| {
            let cause = "the message does not tell when it was sent";
            Failure::new(Code::BadMessage, format!("{cause}: {what}"), cause)
        };
        let text = self.find(message).map_err(bad)?;
        let shown: String = text.chars().take(SHOWN).collect();
        let sent = read(&text, self.unit)
            .ok_or_else(|| bad(format!("/{shown}/ is no time in `{}`", self.unit.name())))?;
        let age = arrived.duration_since(sent).map_err(|future| future.duration());
        let (Ok(far) | Err(far)) = age;
        if far > MAX_AGE {
            let unit = self.unit.name();
            return Err(bad(format!(
                "/{shown}/ in `{unit}` is more than a day away; is `unit` right?"
            )));
        }
        Ok(age)
    }

    fn find<'m>(&self, message: &'m Message) -> Result<Cow<'m, str>, String> {
        match self.sent_at {
            SentAt::Json(path) => {
                let json = message.json().map_err(|error| format!("it is not JSON: {error}"))?;
                match path.first(json) {
                    Some(Value::String(text)) => Ok(Cow::Borrowed(text)),
                    Some(value) => Ok(Cow::Owned(value.to_string())),
                    None => Err(format!("`{}` finds nothing", path.text)),
                }
            }
            SentAt::Regex(regex) => {
                let text = String::from_utf8_lossy(&message.payload);
                let found = regex.captures(&text).map(|found| captured(&found).to_owned());
                found.map(Cow::Owned).ok_or_else(|| format!("/{regex}/ finds nothing"))
            }
        }
    }
}

/// A moment after 1970, whole numbers exactly.
fn read(text: &str, unit: TimeUnit) -> Option<SystemTime> {
    let text = text.trim();
    let factor = match unit {
        TimeUnit::Rfc3339 => {
            return DateTime::parse_from_rfc3339(text).ok().map(SystemTime::from);
        }
        TimeUnit::Seconds => 1_000_000_000,
        TimeUnit::Milliseconds => 1_000_000,
        TimeUnit::Microseconds => 1_000,
        TimeUnit::Nanoseconds => 1,
    };
    let since = if let Ok(whole) = text.parse::<u64>() {
        Duration::from_nanos(whole.checked_mul(factor)?)
    } else {
        #[expect(clippy::cast_precision_loss, reason = "a unit is exact as f64")]
        let seconds = text.parse::<f64>().ok()? * (factor as f64 / 1e9);
        Duration::try_from_secs_f64(seconds).ok()?
    };
    UNIX_EPOCH.checked_add(since)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanoseconds(text: &str, unit: TimeUnit) -> Option<u128> {
        read(text, unit).map(|time| time.duration_since(UNIX_EPOCH).unwrap().as_nanos())
    }

    #[test]
    fn moments_are_read_in_every_unit() {
        for (text, unit) in [
            ("1700000000", TimeUnit::Seconds),
            ("1.7e9", TimeUnit::Seconds),
            ("1700000000000", TimeUnit::Milliseconds),
            ("1700000000000000", TimeUnit::Microseconds),
            ("1700000000000000000", TimeUnit::Nanoseconds),
            (" 2023-11-14T23:13:20+01:00 ", TimeUnit::Rfc3339),
        ] {
            assert_eq!(nanoseconds(text, unit), Some(1_700_000_000_000_000_000), "{text}");
        }
        let exact = nanoseconds("1700000000123456789", TimeUnit::Nanoseconds);
        assert_eq!(exact, Some(1_700_000_000_123_456_789));
        assert_eq!(nanoseconds("1.5", TimeUnit::Milliseconds), Some(1_500_000));
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in ["", "soon", "-1", "NaN", "inf", "1e300", "99999999999999999999999999"] {
            assert_eq!(nanoseconds(text, TimeUnit::Seconds), None, "{text}");
        }
        assert_eq!(nanoseconds("2023-11-14", TimeUnit::Rfc3339), None);
    }
}

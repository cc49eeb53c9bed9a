//! Time, taken once: a wall-clock reading and a monotonic one made together, so that durations come
//! only from the monotonic clock and time stamps never jump within a run.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The monotonic time now. The only place that reads it.
pub fn now() -> Instant {
    // The runtime's: the same clock, but tests can simulate hours of it.
    tokio::time::Instant::now().into_std()
}

/// Nanoseconds in a millisecond.
const NS_IN_MS: u64 = 1_000_000;

/// Ties the monotonic clock to the wall clock at one moment.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    started: Instant,
    started_wall: SystemTime,
    /// The same in nanoseconds since 1970.
    started_ns: u64,
}

impl Clock {
    /// Reads both clocks.
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    pub fn start() -> Self {
        let (started, started_wall) = (Instant::now(), SystemTime::now());
        let since_1970 = started_wall.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { started, started_wall, started_ns: nanoseconds(since_1970) }
    }

    /// The moment at which both clocks were read.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Wall-clock time of a monotonic moment, before or after the start.
    pub fn wall(&self, moment: Instant) -> SystemTime {
        match moment.checked_duration_since(self.started) {
            Some(after) => self.started_wall + after,
            None => self.started_wall - self.started.duration_since(moment),
        }
    }

    /// Wall-clock time of a monotonic moment in milliseconds since 1970, rounded down.
    pub fn epoch_ms(&self, moment: Instant) -> u64 {
        let since_1970 = match moment.checked_duration_since(self.started) {
            Some(after) => self.started_ns.saturating_add(nanoseconds(after)),
            None => {
                self.started_ns.saturating_sub(nanoseconds(self.started.duration_since(moment)))
            }
        };
        since_1970 / NS_IN_MS
    }
}

/// Wall-clock time of a moment not long ago, by the wall clock as it goes now: for comparing with
/// what another clock said, after this one may have been set.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn wall_of(moment: Instant) -> SystemTime {
    SystemTime::now() - now().saturating_duration_since(moment)
}

/// A duration in whole nanoseconds, of 584 years at most.
pub fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// A duration in whole milliseconds, rounded half up as the rows of a JTL are.
pub fn round_ms(duration: Duration) -> u64 {
    let half = Duration::from_micros(500);
    u64::try_from(duration.saturating_add(half).as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_round_half_up() {
        assert_eq!(round_ms(Duration::from_micros(1_499)), 1);
        assert_eq!(round_ms(Duration::from_micros(1_500)), 2);
        assert_eq!(round_ms(Duration::ZERO), 0);
    }

    #[test]
    fn wall_time_advances_with_the_monotonic_clock() {
        let clock = Clock::start();
        let later = clock.started() + Duration::from_millis(1_500);
        assert_eq!(clock.epoch_ms(later) - clock.epoch_ms(clock.started()), 1_500);
    }
}

//! `pace`: passes at regular times, whatever the steps between them take.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock;
use crate::exec::intended::Intended;
use crate::exec::thread::Thread;
use crate::program::{Pace, PaceShare, Rate};
use crate::sample::Trace;

impl Thread<'_> {
    /// Waits for the next time at which the step may be passed.
    pub(crate) async fn pace(&mut self, pace: &Pace) {
        let Rate(interval) = match self.scope.value(&pace.rate) {
            Ok(rate) => rate,
            Err(failure) => return self.not_done("pace", failure),
        };
        let started = self.scope.shared.started;
        let now = clock::now() - started;
        let Turn { due, intended } = match pace.share {
            PaceShare::Group => take_shared(self.scope.shared.counter(pace.next), now, interval),
            PaceShare::Thread => {
                take(&mut self.scope.counters[pace.next.0 as usize], now, interval)
            }
        };
        self.intended = Intended::paced(started + intended, interval);
        if due > now {
            self.tally.waited += 1;
            self.trace(|_| Trace::Pause {
                text: format!("{:?}, by `pace`", due.saturating_sub(now)),
            });
            self.show_traces();
            self.connections.pause_until(started + due).await;
            self.show_traces();
        }
    }
}

/// When the step may be passed, and when it was to be: earlier for who is late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Turn {
    due: Duration,
    intended: Duration,
}

/// Takes the next time, which is `now` at the earliest, and puts the one after it in its place. Who is
/// late does not make up for it: as with JMeter's timers a slow server is not hit the harder for it.
fn take(next: &mut u64, now: Duration, interval: Duration) -> Turn {
    let planned = Duration::from_nanos(*next);
    let due = now.max(planned);
    // The first has no plan: it begins one.
    let intended = if *next == 0 { due } else { planned };
    *next = clock::nanoseconds(due + interval);
    Turn { due, intended }
}

/// The same for a time that several threads share; each gets one of its own.
fn take_shared(next: &AtomicU64, now: Duration, interval: Duration) -> Turn {
    let after = |mut next| {
        take(&mut next, now, interval);
        Some(next)
    };
    // It never fails: there always is a next time.
    let (Ok(mut taken) | Err(mut taken)) =
        next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, after);
    take(&mut taken, now, interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times taken at these times, in ms, with 100 ms from one to the next.
    fn taken(at: &[u64]) -> Vec<u128> {
        let ms = Duration::from_millis;
        let (mut next, shared) = (0, AtomicU64::new(0));
        at.iter()
            .map(|now| {
                let turn = take(&mut next, ms(*now), ms(100));
                assert_eq!(take_shared(&shared, ms(*now), ms(100)), turn);
                turn.due.as_millis()
            })
            .collect()
    }

    #[test]
    fn what_an_iteration_took_is_part_of_the_interval() {
        assert_eq!(taken(&[5, 35, 110, 299]), [5, 105, 205, 305]);
    }

    #[test]
    fn threads_that_come_at_once_get_one_time_after_the_other() {
        assert_eq!(taken(&[7, 7, 7]), [7, 107, 207]);
    }

    #[test]
    fn who_is_late_goes_on_at_once_and_makes_up_for_nothing() {
        assert_eq!(taken(&[0, 450, 460, 560]), [0, 450, 550, 650]);
    }

    #[test]
    fn who_is_late_was_to_begin_earlier() {
        let (mut next, ms) = (0, Duration::from_millis);
        for (now, due, intended) in [(5, 5, 5), (35, 105, 105), (700, 700, 205)] {
            let turn = Turn { due: ms(due), intended: ms(intended) };
            assert_eq!(take(&mut next, ms(now), ms(100)), turn);
        }
    }

    #[test]
    fn the_longest_interval_is_no_overflow() {
        let longest = Duration::from_hours(100 * 8_766);
        let mut next = 0;
        for _ in 0..10 {
            take(&mut next, Duration::ZERO, longest);
        }
        assert_eq!(next, u64::MAX);
    }
}

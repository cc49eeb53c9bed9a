//! The number of threads as a line over time.

use std::time::Duration;

/// What the number of threads does for some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It changes evenly.
    RampTo {
        /// To this number.
        threads: u32,
        /// In this time.
        over: Duration,
    },
    /// It stays.
    Hold(Duration),
}

/// Stages, one after the other; before the first there are no threads. Thread i, from 0, runs while
/// the line is above i.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stages(pub Vec<Stage>);

/// From when to when a thread runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stay {
    /// Its start.
    pub from: Duration,
    /// When it is asked to leave; `None` for at the end of all stages.
    pub to: Option<Duration>,
}

impl Stages {
    /// How many threads there are at most.
    pub fn most(&self) -> u32 {
        let threads = self.0.iter().map(|stage| match stage {
            Stage::RampTo { threads, .. } => *threads,
            Stage::Hold(_) => 0,
        });
        threads.max().unwrap_or(0)
    }

    /// How long they take together.
    pub fn duration(&self) -> Duration {
        let times = self.0.iter().map(|stage| match stage {
            Stage::RampTo { over, .. } => *over,
            Stage::Hold(time) => *time,
        });
        times.fold(Duration::ZERO, Duration::saturating_add)
    }

    /// When thread `index` runs, in order.
    pub fn stays(&self, index: u32) -> Vec<Stay> {
        let (mut stays, mut at, mut before) = (Vec::new(), Duration::ZERO, 0);
        for stage in &self.0 {
            match *stage {
                Stage::Hold(time) => at = at.saturating_add(time),
                Stage::RampTo { threads, over } => {
                    let part = |done: u32, all: u32| over.mul_f64(f64::from(done) / f64::from(all));
                    if before <= index && index < threads {
                        let from = at + part(index - before, threads - before);
                        stays.push(Stay { from, to: None });
                    } else if threads <= index && index < before {
                        let to = at + part(before - index, before - threads);
                        if let Some(last) = stays.last_mut() {
                            last.to = Some(to);
                        }
                    }
                    (at, before) = (at.saturating_add(over), threads);
                }
            }
        }
        stays
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn ramp(threads: u32, over: u64) -> Stage {
        Stage::RampTo { threads, over: seconds(over) }
    }

    #[test]
    fn threads_start_and_leave_on_the_line() {
        let stages = Stages(vec![ramp(4, 8), Stage::Hold(seconds(10)), ramp(2, 4), ramp(0, 2)]);
        assert_eq!((stages.most(), stages.duration()), (4, seconds(24)));
        let stay = |from, to| Stay { from: seconds(from), to: Some(seconds(to)) };
        assert_eq!(stages.stays(0), [stay(0, 24)]);
        assert_eq!(stages.stays(1), [stay(2, 23)]);
        assert_eq!(stages.stays(2), [stay(4, 22)]);
        assert_eq!(stages.stays(3), [stay(6, 20)]);
        assert_eq!(stages.stays(4), []);
    }

    #[test]
    fn a_thread_that_has_left_comes_again_and_the_last_stays_to_the_end() {
        let stages = Stages(vec![ramp(2, 0), ramp(0, 2), ramp(2, 2), Stage::Hold(seconds(1))]);
        let first = Stay { from: seconds(0), to: Some(seconds(1)) };
        assert_eq!(stages.stays(1), [first, Stay { from: seconds(3), to: None }]);
    }

    proptest! {
        /// At any moment as many threads run as the line says, rounded up.
        #[test]
        fn the_line_is_followed_exactly(
            targets in prop::collection::vec((0u32..50, 1u64..100), 1..6), share in 0.0f64..1.0,
        ) {
            let all = targets.iter().map(|(threads, over)| ramp(*threads, *over)).collect();
            let stages = Stages(all);
            let moment = stages.duration().mul_f64(share);
            let mut at = Duration::ZERO;
            let mut before = 0.0;
            let mut line = 0.0;
            for (threads, over) in &targets {
                let end = at + seconds(*over);
                if (at..end).contains(&moment) {
                    let done = moment.saturating_sub(at).as_secs_f64() / seconds(*over).as_secs_f64();
                    line = before + (f64::from(*threads) - before) * done;
                }
                (at, before) = (end, f64::from(*threads));
            }
            // On the line itself the last nanosecond decides.
            prop_assume!((line - line.round()).abs() > 1e-6);
            let runs = |index: &u32| {
                let stays = stages.stays(*index);
                stays.iter().any(|stay| stay.from <= moment && stay.to.is_none_or(|to| moment < to))
            };
            prop_assert_eq!((0..stages.most()).filter(runs).count(), line.ceil() as usize);
        }
    }
}

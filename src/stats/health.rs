//! How well the generator itself kept up, second by second.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::sample::Second;
use crate::stats::Times;

/// Timers that are later than this make a second saturated.
const TOO_LATE: Duration = Duration::from_millis(10);

/// A worker that wants more of a core than this, and waits for it more than [`WAITS`], is starved: both in
/// thousandths of the time.
const WANTS: u32 = 950;
const WAITS: u32 = 50;

/// One that waits so much is starved whatever else it wants: each thing it does is late by a good part of
/// what it takes.
const WAITS_MUCH: u32 = 250;

/// So many saturated seconds in a row are worth a warning: one is a hiccup, unless nothing was done in
/// half of it.
const IN_A_ROW: u64 = 3;

/// How well the generator kept up.
#[derive(Debug, Clone, Default)]
pub struct Health {
    /// Seconds of all workers.
    pub seconds: u64,
    /// Those in which a worker had hardly a moment to spare.
    pub busy: u64,
    /// How late timers were, by the p99 of each second of each worker.
    pub timers: Times,
    /// Seconds of the run in which some worker did not keep up.
    saturated: BTreeSet<u64>,
    /// Those of them in which some worker did nothing for long.
    stalled: BTreeSet<u64>,
    /// What each worker had of the cores.
    workers: Vec<Cores>,
}

/// What a worker had of the cores in its seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Cores {
    seconds: u64,
    /// In thousandths of a second, as `waited`.
    cpu: u64,
    waited: u64,
}

/// Seconds of the run, from the first to before the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// From this second after its start.
    pub from: u64,
    /// To this one.
    pub to: u64,
}

impl Health {
    pub(super) fn record(&mut self, second: &Second) {
        self.seconds += 1;
        self.timers.record(second.late);
        let (cpu, waited) =
            (second.cpu_permille.unwrap_or_default(), second.waited_permille.unwrap_or_default());
        if self.workers.is_empty() {
            self.workers.push(Cores::default());
        }
        if let Some(own) = self.workers.last_mut() {
            own.seconds += 1;
            own.cpu += u64::from(cpu);
            own.waited += u64::from(waited);
        }
        self.busy += u64::from(cpu + waited > WANTS);
        let is_starved = waited > if cpu + waited > WANTS { WAITS } else { WAITS_MUCH };
        if second.late > TOO_LATE || is_starved {
            self.saturated.insert(second.number);
        }
        if let Some((from, to)) = second.stalled {
            self.saturated.extend(from..=to);
            self.stalled.extend(from..=to);
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.seconds += other.seconds;
        self.busy += other.busy;
        self.timers.merge(&other.timers);
        self.saturated.extend(other.saturated);
        self.stalled.extend(other.stalled);
        self.workers.extend(other.workers);
    }

    /// Of each worker the shares of its time in which it ran, and in which it could have run and waited
    /// for a core; the one that waited longest first. None of a run of less than a second.
    #[expect(clippy::cast_precision_loss, reason = "a share needs no 53 bits")]
    pub fn workers(&self) -> Vec<(f64, f64)> {
        let mut workers = self.workers.clone();
        workers.sort_by_key(|own| std::cmp::Reverse(own.waited));
        let share = |part: u64, own: &Cores| part as f64 / (own.seconds.max(1) * 1_000) as f64;
        workers.iter().map(|own| (share(own.cpu, own), share(own.waited, own))).collect()
    }

    /// When the generator did not keep up for three seconds or more, or some worker did nothing at all for
    /// half a second, in order.
    pub fn saturated(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for second in &self.saturated {
            match spans.last_mut() {
                Some(last) if last.to == *second => last.to += 1,
                _ => spans.push(Span { from: *second, to: second + 1 }),
            }
        }
        let is_stalled = |span: &Span| self.stalled.range(span.from..span.to).next().is_some();
        spans.retain(|span| span.to - span.from >= IN_A_ROW || is_stalled(span));
        spans
    }

    /// How many seconds those are.
    pub fn saturated_seconds(&self) -> u64 {
        self.saturated().iter().map(|span| span.to - span.from).sum()
    }

    /// Whether most of the time a core had nothing to spare, though none had to wait for it: how a
    /// closed loop without pauses is.
    pub fn is_busy(&self) -> bool {
        self.seconds >= IN_A_ROW && self.busy * 2 > self.seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(number: u64, late_ms: u64, cpu_permille: u32, waited_permille: u32) -> Second {
        Second {
            number,
            late: Duration::from_millis(late_ms),
            stalled: None,
            cpu_permille: Some(cpu_permille),
            waited_permille: Some(waited_permille),
        }
    }

    fn spans(seconds: &[Second]) -> Vec<(u64, u64)> {
        let mut health = Health::default();
        for second in seconds {
            health.record(second);
        }
        health.saturated().iter().map(|span| (span.from, span.to)).collect()
    }

    #[test]
    fn three_late_seconds_in_a_row_are_a_span_and_two_are_not() {
        assert_eq!(spans(&[second(4, 11, 0, 0), second(5, 12, 0, 0)]), []);
        let late = [2, 3, 4, 7, 8, 9, 10].map(|number| second(number, 11, 100, 0));
        assert_eq!(spans(&late), [(2, 5), (7, 11)]);
        assert_eq!(spans(&[0, 1, 2].map(|number| second(number, 9, 100, 0))), []);
    }

    #[test]
    fn a_worker_that_waits_for_the_core_it_wants_is_starved_and_a_busy_one_is_not() {
        assert_eq!(spans(&[0, 1, 2].map(|number| second(number, 3, 500, 490))), [(0, 3)]);
        assert_eq!(spans(&[0, 1, 2].map(|number| second(number, 3, 980, 10))), []);
        assert_eq!(spans(&[0, 1, 2].map(|number| second(number, 3, 450, 440))), [(0, 3)]);
        // It shares its core, but gets what it wants of it.
        assert_eq!(spans(&[0, 1, 2].map(|number| second(number, 3, 300, 200))), []);
        let mut health = Health::default();
        health.record(&second(0, 1, 900, 50));
        health.record(&second(1, 1, 500, 30));
        assert_eq!(health.workers(), [(0.7, 0.04)]);
        let mut health = Health::default();
        (0..4).for_each(|number| health.record(&second(number, 1, 980, 10)));
        assert!(health.is_busy() && health.saturated_seconds() == 0);
    }

    #[test]
    fn one_long_stall_is_a_span_of_its_own() {
        let stalled = |number, span| Second { stalled: Some(span), ..second(number, 0, 100, 0) };
        assert_eq!(spans(&[second(0, 0, 0, 0), stalled(1, (1, 1)), second(2, 0, 0, 0)]), [(1, 2)]);
        assert_eq!(spans(&[stalled(3, (3, 12)), second(13, 11, 0, 0)]), [(3, 14)]);
    }

    #[test]
    fn a_second_is_saturated_if_one_worker_is() {
        let mut all = Health::default();
        for (number, late) in [(0, 50), (1, 0), (2, 50)] {
            let mut one = Health::default();
            one.record(&second(number, late, 0, 0));
            let mut other = Health::default();
            other.record(&second(number, 50 - late, 0, 0));
            all.merge(one);
            all.merge(other);
        }
        assert_eq!(all.saturated(), [Span { from: 0, to: 3 }]);
        assert_eq!(all.workers().len(), 6, "none of them is another's");
        assert_eq!(all.seconds, 6);
    }
}

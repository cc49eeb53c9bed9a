//! Watches the thresholds that end a run as soon as they do not hold.

use std::time::{Duration, Instant};

use crate::clock;
use crate::exec::Stop;
use crate::report::{Live, thresholds};
use crate::sample::RunEnd;
use crate::verdict::{self, Evidence, Threshold};

/// How often figures are looked at: a copy of all of them is made each time.
const EVERY: Duration = Duration::from_secs(1);

/// Looks at a run under way.
pub(crate) struct Watch<'a> {
    thresholds: &'a [Threshold],
    live: &'a Live,
    started: Instant,
    /// When figures were asked for last.
    looked: Instant,
    /// The question that was not yet answered.
    asked: Option<u64>,
    done: bool,
}

impl<'a> Watch<'a> {
    /// Asks for figures only if some threshold can end the run.
    pub(crate) fn new(thresholds: &'a [Threshold], live: &'a Live) -> Self {
        let now = clock::now();
        let done = thresholds.iter().all(|threshold| threshold.abort.is_none());
        if !done {
            live.snapshots.need_everything();
        }
        Self { thresholds, live, started: now, looked: now, asked: None, done }
    }

    /// Ends the run if one of them does not hold; called now and then. Says which.
    pub(crate) fn tick(&mut self, stop: &Stop) -> Option<String> {
        let now = clock::now();
        if self.done {
            return None;
        }
        let Some(question) = self.asked else {
            if now.duration_since(self.looked) >= EVERY {
                (self.looked, self.asked) = (now, Some(self.live.snapshots.ask()));
            }
            return None;
        };
        // A worker that has nothing to hand on has nothing new to tell either.
        let waited = now.duration_since(self.looked);
        if !self.live.snapshots.is_answered(question) && waited < EVERY {
            return None;
        }
        self.asked = None;
        let elapsed = self.looked.duration_since(self.started);
        let stats = self.live.snapshots.together();
        let peak_connections = self.live.connections.peak();
        let evidence = Evidence { stats: &stats?, peak_connections };
        let broken = verdict::first_broken(&evidence, self.thresholds, elapsed)?;
        self.done = true;
        let Threshold { label, condition, .. } = &broken.threshold;
        let what = format!(
            "`{label}: {}` did not hold after {} s (it was {})",
            condition.text,
            elapsed.as_secs(),
            thresholds::measured(&broken)
        );
        stop.graceful(RunEnd::StoppedByThreshold { what: what.clone() });
        Some(format!("ending: {what}"))
    }
}

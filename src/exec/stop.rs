//! Ending a run early: first gracefully, then at once.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::watch;

use crate::clock;
use crate::program::Phase;
use crate::sample::RunEnd;

/// How far a run has been told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// Not at all.
    Run,
    /// No new step starts, pauses and pure waits end; samplers at work may go on for the plan's
    /// `graceful_stop` from this moment.
    Graceful(Instant),
    /// Samplers at work are interrupted.
    Now,
}

impl Level {
    /// What it means for the groups of a phase: a graceful stop is when the teardown is due.
    pub(crate) fn in_phase(self, phase: Phase) -> Self {
        match (self, phase) {
            (Self::Graceful(_), Phase::Teardown) => Self::Run,
            (level, _) => level,
        }
    }
}

/// Tells all workers to end the run, from any thread.
#[derive(Debug, Clone)]
pub struct Stop {
    level: watch::Sender<Level>,
    end: Arc<Mutex<RunEnd>>,
}

impl Stop {
    pub(crate) fn new() -> Self {
        Self { level: watch::Sender::new(Level::Run), end: Arc::default() }
    }

    /// Lets samplers that have sent something run to their own deadline.
    pub fn graceful(&self, why: RunEnd) {
        self.note(why);
        self.level.send_if_modified(|level| {
            let first = *level == Level::Run;
            if first {
                *level = Level::Graceful(clock::now());
            }
            first
        });
    }

    /// Interrupts samplers at work.
    pub fn now(&self, why: RunEnd) {
        self.note(why);
        self.level.send_replace(Level::Now);
    }

    /// Why the run ended: the first reason that was given.
    pub(crate) fn end(&self) -> RunEnd {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Level> {
        self.level.subscribe()
    }

    fn note(&self, why: RunEnd) {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        if *end == RunEnd::Completed {
            *end = why;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_stands_and_now_outranks_graceful() {
        let stop = Stop::new();
        stop.graceful(RunEnd::Interrupted);
        assert!(matches!(*stop.subscribe().borrow(), Level::Graceful(_)));
        stop.now(RunEnd::BrokeOff("later".to_owned()));
        stop.graceful(RunEnd::Interrupted);
        assert_eq!(*stop.subscribe().borrow(), Level::Now);
        assert_eq!(stop.end(), RunEnd::Interrupted);
    }
}

//! `rendezvous`: threads of all workers that wait for each other.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::clock;
use crate::exec::samplers::nonzero;
use crate::exec::thread::Thread;
use crate::exec::wait::Ended;
use crate::program::Rendezvous;
use crate::sample::{Note, Trace};

/// Where the threads of one `rendezvous` meet.
#[derive(Debug)]
pub(crate) struct Meeting {
    /// Those that wait for the next release.
    waiting: Mutex<u32>,
    /// How many releases there have been.
    releases: watch::Sender<u64>,
}

impl Default for Meeting {
    fn default() -> Self {
        Self { waiting: Mutex::new(0), releases: watch::Sender::new(0) }
    }
}

impl Meeting {
    /// A thread arrives; gives what tells of its release, or `None` if it is the last and has released
    /// the others.
    fn arrive(&self, threads: u32) -> Option<Arrival<'_>> {
        let mut waiting = self.lock();
        if *waiting + 1 >= threads {
            *waiting = 0;
            self.releases.send_modify(|releases| *releases += 1);
            return None;
        }
        *waiting += 1;
        let releases = self.releases.subscribe();
        let before = *releases.borrow();
        Some(Arrival { meeting: self, releases, before })
    }

    // The number is right whatever became of a thread that held the lock.
    fn lock(&self) -> MutexGuard<'_, u32> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that waits.
struct Arrival<'m> {
    meeting: &'m Meeting,
    releases: watch::Receiver<u64>,
    /// The releases before its own.
    before: u64,
}

impl Arrival<'_> {
    async fn released(&mut self) {
        let before = self.before;
        // It fails only if the sender is gone, which the meeting has.
        self.releases.wait_for(|releases| *releases > before).await.ok();
    }
}

/// Who leaves without a release is not waited with any longer, also if its task is dropped.
impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        let mut waiting = self.meeting.lock();
        if *self.releases.borrow() == self.before {
            *waiting = waiting.saturating_sub(1);
        }
    }
}

impl Thread<'_> {
    /// Waits until enough threads are here, or `timeout` has passed.
    pub(crate) async fn rendezvous(&mut self, own: &Rendezvous) {
        let timeout = self.scope.value(&own.timeout).and_then(|time| nonzero(time, "timeout"));
        let timeout = match timeout {
            Ok(timeout) => timeout,
            Err(failure) => return self.not_done("rendezvous", failure),
        };
        let shared = std::sync::Arc::clone(&self.scope.shared);
        // A trial has fewer threads than the plan, and they need not wait for the others.
        let threads = own.threads.min(self.threads_of_group());
        let Some(mut arrival) = shared.meetings[own.index].arrive(threads) else { return };
        self.tally.waited += 1;
        let until = clock::now() + timeout;
        self.trace(|_| Trace::Pause { text: format!("{timeout:?} at most, by `rendezvous`") });
        self.show_traces();
        let ended = self.connections.pause_for(arrival.released(), until).await;
        self.show_traces();
        if ended == Ended::TimedOut && clock::now() >= until {
            self.worker.note(&Note::RendezvousMissed);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{Duration, timeout};

    use super::*;

    #[tokio::test]
    async fn the_last_thread_releases_all_and_the_next_ones_meet_anew() {
        let meeting = Meeting::default();
        for _ in 0..3 {
            let mut first = meeting.arrive(3).expect("two are missing");
            let mut second = meeting.arrive(3).expect("one is missing");
            assert!(meeting.arrive(3).is_none(), "all are here");
            first.released().await;
            second.released().await;
        }
        assert_eq!(*meeting.lock(), 0);
    }

    #[tokio::test]
    async fn who_has_left_does_not_count() {
        let meeting = Meeting::default();
        drop(meeting.arrive(2));
        let mut waits = meeting.arrive(2).expect("the first has left");
        assert!(timeout(Duration::from_millis(1), waits.released()).await.is_err());
        assert!(meeting.arrive(2).is_none(), "both are here");
        waits.released().await;
    }

    #[test]
    fn one_thread_alone_waits_for_none() {
        assert!(Meeting::default().arrive(1).is_none());
    }
}

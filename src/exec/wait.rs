//! Waiting: always with a deadline, always pumping.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::clock;
use crate::exec::connections::{Connections, Slot, SlotId};
use crate::exec::stop::Level;
use crate::ws::Observer;

/// Beyond what any sampler waits for.
const A_LONG_TIME: Duration = Duration::from_hours(24);

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// What was waited for is there.
    Done,
    /// The deadline passed.
    TimedOut,
    /// The run or its duration ended, and only waiting was lost.
    Cut,
    /// The run ended, and the time for finishing too.
    Interrupted,
}

/// Whether the end of the run or its duration ends a wait at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtEnd {
    /// Nothing was sent that an answer is due for.
    Cut,
    /// The wait goes on to its own deadline, or until the run is interrupted.
    Finish,
}

impl<'p> Connections<'p> {
    /// Whether no new step may start.
    pub(crate) fn is_over(&self) -> bool {
        self.worker.level() != Level::Run || self.end.is_some_and(|end| self.recent() >= end)
    }

    /// Waits until `done` finds what it looks for, or `deadline`.
    // Not `async`, which would hold every argument twice: all threads that wait hold this.
    pub(crate) fn wait<'w, O: Observer>(
        &'w mut self,
        id: SlotId,
        observer: &'w mut O,
        deadline: Instant,
        at_end: AtEnd,
        mut done: impl FnMut(&mut Slot<'p>, &mut O) -> bool + 'w,
    ) -> impl Future<Output = Ended> + 'w {
        poll_fn(move |context| {
            self.poll_pump(context, Some((id, observer)));
            if done(self.get_mut(id), observer) {
                return Poll::Ready(Ended::Done);
            }
            self.poll_end(context, deadline, at_end)
        })
    }

    /// Waits until what was sent over the connection is with the kernel, or it is lost.
    pub(crate) async fn wait_for_flush<O: Observer>(
        &mut self,
        id: SlotId,
        observer: &mut O,
        deadline: Instant,
    ) -> Ended {
        let is_flushed = |slot: &mut Slot<'p>, _: &mut O| {
            !slot.is_open() || slot.connection.as_ref().is_some_and(|one| one.is_flushed())
        };
        if is_flushed(self.get_mut(id), observer) {
            return Ended::Done;
        }
        self.wait(id, observer, deadline, AtEnd::Finish, is_flushed).await
    }

    /// Does nothing until `moment`, or until no pause may go on, except to keep the connections alive.
    pub(crate) async fn pause_until(&mut self, moment: Instant) -> Ended {
        match self.pause_for(std::future::pending(), moment).await {
            Ended::TimedOut => Ended::Done,
            other => other,
        }
    }

    /// Does nothing until `signal`, or until `moment`, or until no pause may go on, except to keep the
    /// connections alive.
    pub(crate) async fn pause_for(
        &mut self,
        signal: impl Future<Output = ()>,
        moment: Instant,
    ) -> Ended {
        let began = clock::now();
        let moment = self.pause_end.map_or(moment, |end| end.min(moment));
        let mut signal = std::pin::pin!(signal);
        let ended = poll_fn(|context| {
            self.poll_pump(context, None);
            if signal.as_mut().poll(context).is_ready() {
                return Poll::Ready(Ended::Done);
            }
            self.poll_end(context, moment, AtEnd::Cut)
        })
        .await;
        self.paused += clock::now() - began;
        ended
    }

    /// Runs a future that has a deadline of its own, keeping the connections alive; `None` if it
    /// was interrupted.
    pub(crate) async fn drive<T>(
        &mut self,
        mut future: Pin<Box<dyn Future<Output = T>>>,
    ) -> Option<T> {
        poll_fn(|context| {
            self.poll_pump(context, None);
            if let Poll::Ready(value) = future.as_mut().poll(context) {
                return Poll::Ready(Some(value));
            }
            // The future has a deadline of its own.
            let far = self.recent() + A_LONG_TIME;
            self.poll_end(context, far, AtEnd::Finish).map(|_| None)
        })
        .await
    }

    /// Pumps once without waiting, so that a sampler meets what has happened meanwhile.
    pub(crate) async fn pump_once(&mut self) {
        if self.is_pumped() {
            return;
        }
        poll_fn(|context| {
            self.poll_pump(context, None);
            Poll::Ready(())
        })
        .await;
    }

    /// Closes all open connections properly, giving the peers until `deadline` to answer.
    pub(crate) async fn wait_for_closes(&mut self, closing: &[SlotId], deadline: Instant) {
        poll_fn(|context| {
            self.poll_pump(context, None);
            if !closing.iter().any(|&id| self.get(id).is_open()) {
                return Poll::Ready(Ended::Done);
            }
            self.poll_end(context, deadline, AtEnd::Finish)
        })
        .await;
    }

    /// Whether it is time to stop waiting; if not, arranges to be woken when it may be.
    fn poll_end(
        &mut self,
        context: &mut Context<'_>,
        deadline: Instant,
        at_end: AtEnd,
    ) -> Poll<Ended> {
        self.remember(context.waker());
        let now = self.recent();
        let graceful_stop = self.worker.shared.program.graceful_stop;
        let interrupt = match (self.worker.interrupt_at(), self.end) {
            (Some(moment), Some(end)) => Some(moment.min(end + graceful_stop)),
            (Some(moment), None) => Some(moment),
            (None, end) => end.map(|end| end + graceful_stop),
        };
        if at_end == AtEnd::Cut
            && (self.worker.level() != Level::Run || self.end.is_some_and(|end| now >= end))
        {
            return Poll::Ready(Ended::Cut);
        }
        if interrupt.is_some_and(|moment| now >= moment) {
            return Poll::Ready(Ended::Interrupted);
        }
        if now >= deadline {
            return Poll::Ready(Ended::TimedOut);
        }
        let mut wake = interrupt.map_or(deadline, |moment| moment.min(deadline));
        if let (AtEnd::Cut, Some(end)) = (at_end, self.end) {
            wake = wake.min(end);
        }
        if let Some(beat) = self.next_beat {
            wake = wake.min(beat);
        }
        self.timer.arm(context, wake);
        if !self.is_armed() {
            // What was read was not what the wait is for: it goes on after another look.
            context.waker().wake_by_ref();
        }
        self.end_turn();
        Poll::Pending
    }
}

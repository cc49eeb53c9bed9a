//! The phases of a run, which all workers go through together: none begins one before all have ended
//! the one before.

use std::sync::OnceLock;
use std::time::Instant;

use tokio::sync::watch;

use crate::clock;
use crate::program::{Phase, Program};

/// How many workers are still in each phase, and when each began.
#[derive(Debug)]
pub(crate) struct Phases {
    /// Those that have groups, in order.
    all: Vec<Phase>,
    left: watch::Sender<Vec<usize>>,
    began: Vec<OnceLock<Instant>>,
}

impl Phases {
    /// Those of the program.
    pub(crate) fn of(program: &Program, workers: usize) -> Self {
        let has = |phase: &Phase| program.groups.iter().any(|group| group.phase == *phase);
        Self::new(Phase::ALL.into_iter().filter(has).collect(), workers)
    }

    fn new(all: Vec<Phase>, workers: usize) -> Self {
        let left = watch::Sender::new(vec![workers; all.len()]);
        let began = all.iter().map(|_| OnceLock::new()).collect();
        Self { all, left, began }
    }

    /// A worker's way through them.
    pub(crate) fn walk(&self) -> Walk<'_> {
        Walk { phases: self, at: 0 }
    }
}

/// One worker's way through the phases. A worker that ends by a bug of ours has ended all of them:
/// the others must not wait for it.
#[derive(Debug)]
pub(crate) struct Walk<'p> {
    phases: &'p Phases,
    at: usize,
}

impl Walk<'_> {
    /// The phase that the worker is in, and the moment from which its delays and ramps count: the
    /// same for all workers. `None` after the last.
    pub(crate) fn phase(&self) -> Option<(Phase, Instant)> {
        let phase = *self.phases.all.get(self.at)?;
        Some((phase, *self.phases.began[self.at].get_or_init(clock::now)))
    }

    /// Ends the phase for this worker, and waits for the others to end it too.
    pub(crate) async fn end(&mut self) {
        let phase = self.at;
        self.at += 1;
        self.phases.left.send_modify(|left| left[phase] -= 1);
        // It fails only if the sender is gone, which `phases` has.
        self.phases.left.subscribe().wait_for(|left| left[phase] == 0).await.ok();
    }
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        let at = self.at;
        self.phases.left.send_modify(|left| left[at..].iter_mut().for_each(|left| *left -= 1));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    #[test]
    fn a_phase_ends_when_all_workers_have_ended_it_or_are_gone() {
        let phases = Phases::new(vec![Phase::Setup, Phase::Main], 3);
        let (mut first, mut second, third) = (phases.walk(), phases.walk(), phases.walk());
        let began = first.phase();
        assert_eq!(began, second.phase(), "the same moment for all");
        let mut context = Context::from_waker(Waker::noop());
        {
            let mut waiting = pin!(first.end());
            assert_eq!(waiting.as_mut().poll(&mut context), Poll::Pending);
            assert_eq!(pin!(second.end()).poll(&mut context), Poll::Pending);
            drop(third);
            assert_eq!(waiting.poll(&mut context), Poll::Ready(()));
        }
        assert_eq!(first.phase().map(|(phase, _)| phase), Some(Phase::Main));
        drop(second);
        assert_eq!(pin!(first.end()).poll(&mut context), Poll::Ready(()));
        assert_eq!(first.phase(), None);
    }
}

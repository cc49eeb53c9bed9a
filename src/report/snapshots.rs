//! Figures of a run under way, for those who must act on them: a copy of what each worker has recorded.
//!
//! A worker that was not asked copies nothing, so that runs nobody looks at in this way pay nothing for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::stats::Stats;

/// The workers' copies.
#[derive(Debug, Default)]
pub struct Snapshots {
    /// How often someone has asked.
    asked: AtomicU64,
    /// The last copy of each worker that gave one.
    copies: Mutex<Vec<Stats>>,
}

/// A worker's place among them.
#[derive(Debug, Default)]
pub(crate) struct Place {
    /// The question that was answered last.
    answered: u64,
    at: Option<usize>,
}

impl Snapshots {
    /// Asks all workers for a copy; they give it when they next hand on what they have, within about half a
    /// second.
    pub fn ask(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// What the workers have recorded, as of their last copies; `None` if there is none.
    pub fn together(&self) -> Option<Stats> {
        let copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, rest) = copies.split_first()?;
        let mut all = first.clone();
        for copy in rest {
            all.merge(copy.clone());
        }
        Some(all)
    }

    /// Called by a worker now and then: gives a copy if one was asked for since the last.
    pub(crate) fn answer(&self, place: &mut Place, stats: &Stats) {
        let asked = self.asked.load(Ordering::Relaxed);
        if asked == place.answered {
            return;
        }
        place.answered = asked;
        let copy = stats.clone();
        let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = place.at {
            copies[at] = copy;
        } else {
            place.at = Some(copies.len());
            copies.push(copy);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn a_copy_is_made_only_when_it_was_asked_for() {
        let (snapshots, mut stats) = (Snapshots::default(), Stats::default());
        let (mut one, mut other) = (Place::default(), Place::default());
        stats.sample(&Sample::plain());
        snapshots.answer(&mut one, &stats);
        assert!(snapshots.together().is_none());
        snapshots.ask();
        snapshots.answer(&mut one, &stats);
        snapshots.answer(&mut other, &stats);
        assert_eq!(snapshots.together().unwrap().all().count, 2);
        stats.sample(&Sample::plain());
        snapshots.answer(&mut one, &stats);
        assert_eq!(snapshots.together().unwrap().all().count, 2, "nobody asked again");
        snapshots.ask();
        snapshots.answer(&mut one, &stats);
        assert_eq!(snapshots.together().unwrap().all().count, 3);
    }
}

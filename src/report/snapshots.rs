//! Figures of a run under way, for those who must act on them: a copy of what each worker has recorded.
//!
//! A worker that was not asked copies nothing, so that runs nobody looks at in this way pay nothing for it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::report::metrics::MOST_LABELS;
use crate::stats::Stats;

/// The workers' copies.
#[derive(Debug, Default)]
pub struct Snapshots {
    /// How often someone has asked.
    asked: AtomicU64,
    /// Whether someone needs all figures.
    everything: AtomicBool,
    copies: Mutex<Copies>,
}

#[derive(Debug, Default)]
struct Copies {
    /// What each worker gave last.
    given: Vec<Given>,
}

#[derive(Debug, Default)]
struct Given {
    /// The last question that was answered; a worker that has ended has answered all.
    answered: u64,
    /// Its figures, as far as they are needed; `None` if it was not asked yet.
    stats: Option<Arc<Stats>>,
}

/// A worker's place among them.
#[derive(Debug)]
pub(crate) struct Place {
    /// The question that was answered last.
    answered: u64,
    at: usize,
}

impl Snapshots {
    /// From now on copies are of all figures but the course; else they are outlines, which cost a worker
    /// less.
    pub fn need_everything(&self) {
        self.everything.store(true, Ordering::Relaxed);
    }

    /// Asks all workers for a copy; they give it when they next hand on what they have, within about half a
    /// second. Gives the number of the question.
    pub fn ask(&self) -> u64 {
        self.asked.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Whether all workers have answered this question.
    pub fn is_answered(&self, question: u64) -> bool {
        self.lock().given.iter().all(|given| given.answered >= question)
    }

    /// What the workers have recorded, as of their last copies; `None` if there is none.
    pub fn together(&self) -> Option<Stats> {
        // Workers must not wait until all is added up.
        let copies: Vec<Arc<Stats>> =
            self.lock().given.iter().filter_map(|given| given.stats.clone()).collect();
        let (first, rest) = copies.split_first()?;
        let mut all = Stats::clone(first);
        for copy in rest {
            all.merge(Stats::clone(copy));
        }
        Some(all)
    }

    /// The place of one more worker.
    pub(crate) fn enter(&self) -> Place {
        let mut copies = self.lock();
        copies.given.push(Given::default());
        Place { answered: 0, at: copies.given.len() - 1 }
    }

    /// Called by a worker now and then: gives a copy if one was asked for since the last.
    pub(crate) fn answer(&self, place: &mut Place, stats: &Stats) {
        let asked = self.asked.load(Ordering::Relaxed);
        if asked != place.answered {
            place.answered = asked;
            self.give(place, asked, stats);
        }
    }

    /// Called by a worker that ends: what it has done is known to later questions too, if there was one.
    pub(crate) fn leave(&self, place: &Place, stats: &Stats) {
        if self.asked.load(Ordering::Relaxed) > 0 {
            self.give(place, u64::MAX, stats);
        } else if let Some(given) = self.lock().given.get_mut(place.at) {
            given.answered = u64::MAX;
        }
    }

    fn give(&self, place: &Place, answered: u64, stats: &Stats) {
        let stats = if self.everything.load(Ordering::Relaxed) {
            stats.without_course()
        } else {
            stats.outline(MOST_LABELS)
        };
        let stats = Some(Arc::new(stats));
        if let Some(given) = self.lock().given.get_mut(place.at) {
            *given = Given { answered, stats };
        }
    }

    fn lock(&self) -> MutexGuard<'_, Copies> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn a_copy_is_made_only_when_it_was_asked_for() {
        let (snapshots, mut stats) = (Snapshots::default(), Stats::default());
        let (mut one, mut other) = (snapshots.enter(), snapshots.enter());
        stats.sample(&Sample::plain());
        snapshots.answer(&mut one, &stats);
        assert!(snapshots.together().is_none());
        let question = snapshots.ask();
        snapshots.answer(&mut one, &stats);
        assert!(!snapshots.is_answered(question));
        snapshots.answer(&mut other, &stats);
        assert!(snapshots.is_answered(question));
        assert_eq!(snapshots.together().unwrap().all().count, 2);
        stats.sample(&Sample::plain());
        snapshots.answer(&mut one, &stats);
        assert_eq!(snapshots.together().unwrap().all().count, 2, "nobody asked again");
        snapshots.ask();
        snapshots.answer(&mut one, &stats);
        assert_eq!(snapshots.together().unwrap().all().count, 3);
    }

    #[test]
    fn an_outline_has_no_more_than_metrics_show() {
        let mut stats = Stats::default();
        for number in 0..=MOST_LABELS {
            stats.sample(&Sample { label: &number.to_string(), ..Sample::plain() });
        }
        let copy = |everything: bool| {
            let snapshots = Snapshots::default();
            if everything {
                snapshots.need_everything();
            }
            let mut place = snapshots.enter();
            snapshots.ask();
            snapshots.answer(&mut place, &stats);
            let together = snapshots.together().unwrap();
            let labels = together.labels().map(|(_, label)| label);
            let known = labels.filter(|label| label.all.percentile(50.0).is_some()).count();
            (known, together.all().count, together.course().intervals.len())
        };
        let most = MOST_LABELS as usize;
        assert_eq!(copy(false), (most, most as u64 + 1, 0));
        assert_eq!(copy(true), (most + 1, most as u64 + 1, 0));
    }

    #[test]
    fn a_worker_that_has_ended_has_answered_all_questions() {
        let (snapshots, mut stats) = (Snapshots::default(), Stats::default());
        let (mut one, other) = (snapshots.enter(), snapshots.enter());
        snapshots.leave(&other, &stats);
        let question = snapshots.ask();
        stats.sample(&Sample::plain());
        snapshots.answer(&mut one, &stats);
        assert!(snapshots.is_answered(question));
        stats.sample(&Sample::plain());
        snapshots.leave(&one, &stats);
        assert!(snapshots.is_answered(snapshots.ask()));
        assert_eq!(snapshots.together().unwrap().all().count, 2);
    }
}

//! Data sets in a run: which line is whose.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::exec::thread::Thread;
use crate::program::{Program, Share};

/// How many lines have been taken of each data set, where threads share them. One counter without a
/// lock keeps the order of the file exactly, on however many workers the threads are.
#[derive(Debug)]
pub(crate) struct Taken(Vec<Vec<AtomicU64>>);

impl Taken {
    /// Nothing yet.
    pub(crate) fn of(program: &Program) -> Self {
        let counters = |share| match share {
            Share::All => 1,
            Share::Group => program.groups.len(),
            Share::Thread => 0,
        };
        let of_set = |share| (0..counters(share)).map(|_| AtomicU64::new(0)).collect();
        Self(program.data_sets.iter().map(|set| of_set(set.share)).collect())
    }

    /// The next line of a data set, from 0: for a thread in its `iteration`, from 1.
    fn next(&self, set: usize, share: Share, group: usize, iteration: u64) -> u64 {
        let counter = match share {
            Share::All => self.0[set].first(),
            Share::Group => self.0[set].get(group),
            Share::Thread => None,
        };
        counter.map_or(iteration - 1, |counter| counter.fetch_add(1, Ordering::Relaxed))
    }
}

impl Thread<'_> {
    /// Takes a line of each data set that the group uses; false if one has no more.
    pub(crate) fn take_data(&mut self) -> bool {
        let shared = std::sync::Arc::clone(&self.scope.shared);
        for index in &shared.program.groups[self.scope.group].data_sets {
            let set = &shared.program.data_sets[*index];
            let (group, iteration) = (self.scope.group, self.scope.iteration);
            let nth = shared.taken.next(*index, set.share, group, iteration);
            let Some(fields) = set.fields(nth) else { return false };
            for (variable, field) in set.variables.iter().zip(&fields) {
                self.scope.set(*variable, field);
                self.trace(|thread| thread.scope.trace_of(*variable));
            }
        }
        true
    }
}

//! Where a virtual thread is in its steps, and the rules that keep it from spinning.

use crate::program::{Step, Times};

/// Passes that reach no sampler and wait for nothing, after which the thread ends.
const MAX_EMPTY_PASSES: u32 = 10_000;

/// What a thread has done so far; differences tell what a pass did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    /// Samplers reached, skipped ones too.
    pub(crate) reached: u64,
    /// Samplers that ran.
    pub(crate) ran: u64,
    /// Samplers that passed.
    pub(crate) passed: u64,
    /// Waits outside samplers.
    pub(crate) waited: u64,
}

/// What one pass or iteration came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Something passed, or at least waited.
    Fruitful,
    /// Every sampler that was reached was skipped.
    AllSkipped,
    /// Every sampler that ran failed, and nothing waited.
    AllFailed,
    /// No sampler was reached and nothing waited.
    Empty,
}

impl Tally {
    /// Judges what happened since an earlier tally.
    pub(crate) fn since(self, earlier: Self) -> Pass {
        let reached = self.reached - earlier.reached;
        let ran = self.ran - earlier.ran;
        let waited = self.waited > earlier.waited;
        match (reached, ran) {
            (0, _) if waited => Pass::Fruitful,
            (0, _) => Pass::Empty,
            (_, 0) => Pass::AllSkipped,
            _ if self.passed == earlier.passed && !waited => Pass::AllFailed,
            _ => Pass::Fruitful,
        }
    }
}

/// Counts empty passes of all loops of a thread.
#[derive(Debug, Default)]
pub(crate) struct EmptyPasses(u32);

impl EmptyPasses {
    /// Takes note of a pass; true when there have been too many empty ones in a row.
    pub(crate) fn are_too_many_after(&mut self, pass: Pass) -> bool {
        self.0 = if pass == Pass::Empty { self.0 + 1 } else { 0 };
        self.0 >= MAX_EMPTY_PASSES
    }
}

/// One level of steps: the group's, or a loop's.
#[derive(Debug)]
struct Level<'p> {
    steps: &'p [Step],
    next: usize,
    /// Passes after this one.
    left: Times,
    /// The tally when this pass began.
    began: Tally,
}

/// A position in nested steps.
#[derive(Debug, Default)]
pub(crate) struct Cursor<'p> {
    levels: Vec<Level<'p>>,
}

/// What comes next.
pub(crate) enum Next<'p> {
    /// A step of the innermost level.
    Step(&'p Step),
    /// A pass of the innermost level is over; answer with `repeat` or `leave`.
    PassEnd(Tally),
    /// Nothing: all levels are done.
    Nothing,
}

impl<'p> Cursor<'p> {
    /// Enters steps that run `times`.
    pub(crate) fn enter(&mut self, steps: &'p [Step], times: Times, tally: Tally) {
        let left = match times {
            Times::Forever => Times::Forever,
            Times::Count(0) => return,
            Times::Count(count) => Times::Count(count - 1),
        };
        self.levels.push(Level { steps, next: 0, left, began: tally });
    }

    pub(crate) fn next(&mut self) -> Next<'p> {
        let Some(level) = self.levels.last_mut() else { return Next::Nothing };
        match level.steps.get(level.next) {
            Some(step) => {
                level.next += 1;
                Next::Step(step)
            }
            None => Next::PassEnd(level.began),
        }
    }

    /// Begins the innermost level's next pass, or leaves it if there is none.
    pub(crate) fn repeat(&mut self, tally: Tally) {
        let Some(level) = self.levels.last_mut() else { return };
        match &mut level.left {
            Times::Count(0) => self.leave(),
            left => {
                if let Times::Count(count) = left {
                    *count -= 1;
                }
                level.next = 0;
                level.began = tally;
            }
        }
    }

    /// How many levels are entered.
    pub(crate) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Leaves the innermost level.
    pub(crate) fn leave(&mut self) {
        self.levels.pop();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::program::{Pause, Setting};

    fn steps(count: usize) -> Vec<Step> {
        (0..count).map(|_| Step::Pause(Pause::Constant(Setting::Fixed(Duration::ZERO)))).collect()
    }

    #[test]
    fn nested_steps_are_taken_in_order_and_as_often_as_said() {
        let (outer, inner) = (steps(2), steps(3));
        let mut cursor = Cursor::default();
        cursor.enter(&outer, Times::Count(2), Tally::default());
        cursor.enter(&inner, Times::Count(0), Tally::default());
        let (mut taken, mut entered) = (0, false);
        loop {
            match cursor.next() {
                Next::Step(_) => {
                    taken += 1;
                    if !std::mem::replace(&mut entered, true) {
                        cursor.enter(&inner, Times::Count(4), Tally::default());
                    }
                }
                Next::PassEnd(_) => cursor.repeat(Tally::default()),
                Next::Nothing => break,
            }
        }
        assert_eq!(taken, 2 * 2 + 4 * 3);
    }

    #[test]
    fn a_pass_is_judged_by_what_it_did() {
        let none = Tally::default();
        let tally = |reached, ran, passed, waited| Tally { reached, ran, passed, waited };
        assert_eq!(none.since(none), Pass::Empty);
        assert_eq!(tally(0, 0, 0, 1).since(none), Pass::Fruitful);
        assert_eq!(tally(2, 0, 0, 1).since(none), Pass::AllSkipped);
        assert_eq!(tally(2, 1, 0, 0).since(none), Pass::AllFailed);
        assert_eq!(tally(2, 1, 0, 1).since(none), Pass::Fruitful);
        assert_eq!(tally(2, 1, 1, 0).since(none), Pass::Fruitful);
    }

    #[test]
    fn only_empty_passes_in_a_row_are_too_many() {
        let mut passes = EmptyPasses::default();
        for _ in 1..MAX_EMPTY_PASSES {
            assert!(!passes.are_too_many_after(Pass::Empty));
        }
        assert!(!passes.are_too_many_after(Pass::Fruitful));
        assert!(!passes.are_too_many_after(Pass::Empty));
    }
}

//! Where a virtual thread is in its steps, and the rules that keep it from spinning.

use std::time::Instant;

use crate::program::{Condition, ForEach, Step, Times};

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

/// What a level of steps is.
#[derive(Debug)]
pub(crate) enum Kind<'p> {
    /// Steps that are done once: the group's in an iteration, or a controller's.
    Once,
    /// The same, with a row at its end.
    Transaction,
    /// `loop`
    Loop {
        /// Passes that have not begun.
        left: Times,
    },
    /// `while`
    While(&'p Condition),
    /// `for_each`
    ForEach {
        own: &'p ForEach,
        /// Which value comes next, from 0.
        next: usize,
    },
    /// `for_each` with a range
    Range {
        own: &'p ForEach,
        /// What comes next, up to the last; `None` once the last one has come.
        next: Option<u64>,
        last: u64,
    },
    /// `run_for`
    RunFor {
        end: Instant,
        /// When those around it end.
        outer: Option<Instant>,
    },
}

impl Kind<'_> {
    /// Whether it has passes, of which one may follow another.
    pub(crate) fn is_loop(&self) -> bool {
        !matches!(self, Self::Once | Self::Transaction)
    }

    /// Whether each of its passes is for something else, so that samplers of the next one may run where
    /// those of this one were skipped, for a lost connection of many.
    pub(crate) fn ends_by_itself(&self) -> bool {
        matches!(self, Self::ForEach { .. } | Self::Range { .. })
    }

    /// What the plan calls it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Once => "iteration",
            Self::Transaction => "transaction",
            Self::Loop { .. } => "loop",
            Self::While(_) => "while",
            Self::ForEach { .. } | Self::Range { .. } => "for_each",
            Self::RunFor { .. } => "run_for",
        }
    }
}

/// One level of steps.
#[derive(Debug)]
struct Level<'p> {
    kind: Kind<'p>,
    steps: &'p [Step],
    next: usize,
    /// The tally when this pass began.
    began: Tally,
}

/// A position in nested steps: a list of levels and no recursion, so that a thread's future has the
/// same size however deep its plan is.
#[derive(Debug, Default)]
pub(crate) struct Cursor<'p> {
    levels: Vec<Level<'p>>,
}

/// What comes next.
pub(crate) enum Next<'p> {
    /// A step of the innermost level.
    Step(&'p Step),
    /// The innermost level's steps are done, which began at this tally.
    PassEnd(Tally),
    /// Nothing: all levels are done.
    Nothing,
}

impl<'p> Cursor<'p> {
    /// Enters steps.
    pub(crate) fn enter(&mut self, kind: Kind<'p>, steps: &'p [Step], tally: Tally) {
        // Few plans go deeper than this, and there are many threads.
        self.levels.reserve_exact(if self.levels.is_empty() { 2 } else { 1 });
        self.levels.push(Level { kind, steps, next: 0, began: tally });
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

    /// Begins the innermost level's steps again.
    pub(crate) fn repeat(&mut self, tally: Tally) {
        if let Some(level) = self.levels.last_mut() {
            level.next = 0;
            level.began = tally;
        }
    }

    /// Leaves out what is left of the innermost level's steps.
    pub(crate) fn finish_pass(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.next = level.steps.len();
        }
    }

    /// How many levels are entered.
    pub(crate) fn depth(&self) -> usize {
        self.levels.len()
    }

    /// What the innermost level is.
    pub(crate) fn innermost(&mut self) -> Option<&mut Kind<'p>> {
        self.levels.last_mut().map(|level| &mut level.kind)
    }

    /// How many levels there are up to and with the last of which `is_wanted`.
    pub(crate) fn depth_of_last(&self, is_wanted: impl Fn(&Kind<'p>) -> bool) -> Option<usize> {
        self.levels.iter().rposition(|level| is_wanted(&level.kind)).map(|index| index + 1)
    }

    /// The same with the first of which `is_wanted`.
    pub(crate) fn depth_of_first(&self, is_wanted: impl Fn(&Kind<'p>) -> bool) -> Option<usize> {
        self.levels.iter().position(|level| is_wanted(&level.kind)).map(|index| index + 1)
    }

    /// Leaves the innermost level.
    pub(crate) fn leave(&mut self) -> Option<Kind<'p>> {
        self.levels.pop().map(|level| level.kind)
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
    fn steps_are_taken_in_order_and_again_where_that_is_asked() {
        let (outer, inner) = (steps(2), steps(3));
        let mut cursor = Cursor::default();
        cursor.enter(Kind::Once, &outer, Tally::default());
        let (mut taken, mut passes) = (0, 0);
        loop {
            match cursor.next() {
                Next::Step(_) => {
                    taken += 1;
                    if taken == 1 {
                        cursor.enter(Kind::Once, &inner, Tally::default());
                    }
                }
                Next::PassEnd(_) if cursor.depth() == 2 && passes < 3 => {
                    passes += 1;
                    cursor.repeat(Tally::default());
                }
                Next::PassEnd(_) => {
                    cursor.leave();
                }
                Next::Nothing => break,
            }
        }
        assert_eq!(taken, 2 + 4 * 3);
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

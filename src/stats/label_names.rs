//! Which labels have figures of their own: the first 1,000, for all workers alike.
//!
//! If each worker chose for itself, a label could be counted on its own by one of them and among
//! `(other labels)` by another, and its figures would be wrong. So a worker asks here when it meets
//! a label for the first time, and only then; once the list is full it gets the whole list and
//! never asks again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How many labels have figures of their own.
pub(crate) const LABELS: usize = 1_000;
/// What the rest is shown as.
pub const OTHER_LABELS: &str = "(other labels)";

/// A known label's place in the order of first appearance.
pub(crate) type Names = HashMap<Arc<str>, u32>;

/// The labels known so far, to all workers of a run.
#[derive(Debug, Default)]
pub struct LabelNames {
    names: Mutex<State>,
}

#[derive(Debug)]
enum State {
    Open(Names),
    Full(Arc<Names>),
}

impl Default for State {
    fn default() -> Self {
        Self::Open(Names::new())
    }
}

/// The answer about a label.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It has figures of its own, and this place in the order of first appearance.
    Own(Arc<str>, u32),
    /// The list is full: here it is, and what is not in it has none.
    Full(Arc<Names>),
}

impl LabelNames {
    pub(crate) fn admit(&self, label: &str) -> Admission {
        let mut state = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let names = match &mut *state {
            State::Full(names) => return Admission::Full(Arc::clone(names)),
            State::Open(names) => names,
        };
        if let Some((name, order)) = names.get_key_value(label) {
            return Admission::Own(Arc::clone(name), *order);
        }
        if names.len() == LABELS {
            let full = Arc::new(std::mem::take(names));
            *state = State::Full(Arc::clone(&full));
            return Admission::Full(full);
        }
        let name: Arc<str> = label.into();
        let order = u32::try_from(names.len()).unwrap_or(u32::MAX);
        names.insert(Arc::clone(&name), order);
        Admission::Own(name, order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_label_has_the_same_place_for_every_worker() {
        let names = LabelNames::default();
        let orders = ["open", "say", "open"].map(|label| match names.admit(label) {
            Admission::Own(_, order) => order,
            Admission::Full(_) => unreachable!("two labels do not fill it"),
        });
        assert_eq!(orders, [0, 1, 0]);
    }

    #[test]
    fn the_label_after_the_last_place_is_told_the_whole_list() {
        let names = LabelNames::default();
        for number in 0..LABELS {
            assert!(matches!(names.admit(&number.to_string()), Admission::Own(..)));
        }
        let Admission::Full(all) = names.admit("one more") else { unreachable!("it is full") };
        assert_eq!(all.len(), LABELS);
        assert!(!all.contains_key("one more"));
        assert!(matches!(names.admit("17"), Admission::Full(all) if all.contains_key("17")));
    }
}

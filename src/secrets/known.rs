//! The secrets of a run: what was known before it, what all threads have come to know, and what is too short
//! to be hidden from more than one of them.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use crate::secrets::telling::telling;
use crate::secrets::{Found, Secrets, mask, places, together};

/// A value of so many bytes is a secret in what all threads show: another one's may be quoted by a broadcast.
/// A shorter one is what others may say by chance.
const SHARED: usize = 8;

/// Marks of the generation that grows. When there are so many, the one before is forgotten.
const GENERATION: usize = 1 << 18;

/// Short values of a thread that are remembered.
const OWN: usize = 64;

/// The secrets of a run that all threads know. Of those that were found in it, at least the last ones are
/// known: some ten thousands.
#[derive(Debug, Default)]
pub struct Known {
    before: Secrets,
    recent: RwLock<Generations>,
    turns: AtomicU64,
}

#[derive(Debug, Default)]
struct Generations {
    new: Secrets,
    old: Secrets,
}

/// Values of one thread that are too short to be hidden from others.
#[derive(Debug, Default)]
pub struct Own {
    values: VecDeque<Box<str>>,
    secrets: Secrets,
}

impl Known {
    /// `before`: what is known before the run, and remembered to its end.
    pub fn new(before: Secrets) -> Self {
        Self { before, ..Self::default() }
    }

    /// Adds what a thread has found: what is short to its own.
    pub fn add(&self, found: &Found, own: &mut Option<Box<Own>>) {
        let mut unknown = Vec::new();
        let recent = self.recent();
        for value in &found.0 {
            if self.before.knows(value) || recent.new.knows(value) {
                continue;
            }
            if value.len() < SHARED {
                own.get_or_insert_default().remember(value);
            } else {
                unknown.push(value);
            }
        }
        drop(recent);
        if unknown.is_empty() {
            return;
        }
        let mut recent = self.recent.write().unwrap_or_else(PoisonError::into_inner);
        for value in unknown {
            recent.new.remember(value);
        }
        if recent.new.0.len() > GENERATION {
            recent.old = std::mem::take(&mut recent.new);
            self.turns.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Changes whenever old values are about to be forgotten: who still has some should add them again.
    pub fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// The text with `***` for every secret; borrowed where there is none.
    pub fn mask<'t>(&self, own: Option<&Own>, text: &'t str) -> Cow<'t, str> {
        let recent = self.recent();
        mask(&self.all(&recent, own), text)
    }

    /// Where secrets stand in bytes, and what these tell to be some, in order and without overlaps;
    /// `goes_on`: whether they were cut off.
    pub fn places(&self, own: Option<&Own>, bytes: &[u8], goes_on: bool) -> Vec<Range<usize>> {
        let recent = self.recent();
        let mut found = places(&self.all(&recent, own), bytes, goes_on);
        found.extend(telling(bytes));
        together(found)
    }

    /// Whether a secret is in the text.
    pub fn are_in(&self, own: Option<&Own>, text: &str) -> bool {
        let recent = self.recent();
        !places(&self.all(&recent, own), text.as_bytes(), false).is_empty()
    }

    fn all<'s>(&'s self, recent: &'s Generations, own: Option<&'s Own>) -> [&'s Secrets; 4] {
        let own = own.map_or(&self.before, |own| &own.secrets);
        [&self.before, &recent.new, &recent.old, own]
    }

    fn recent(&self) -> RwLockReadGuard<'_, Generations> {
        self.recent.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Own {
    fn remember(&mut self, value: &str) {
        if self.secrets.knows(value) {
            return;
        }
        self.values.push_back(value.into());
        if self.values.len() <= OWN {
            self.secrets.remember(value);
            return;
        }
        self.values.pop_front();
        self.secrets = Secrets::default();
        self.values.iter().for_each(|value| self.secrets.remember(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(known: &Known, own: &mut Option<Box<Own>>, value: &str) {
        let mut found = Found::default();
        found.remember(value);
        known.add(&found, own);
    }

    #[test]
    fn what_one_thread_has_found_is_hidden_from_all_unless_it_is_short() {
        let mut before = Secrets::default();
        before.remember("abc");
        let known = Known::new(before);
        let (mut one, mut other) = (None, None);
        add(&known, &mut one, "hunter2-one");
        add(&known, &mut other, "hunter2-two");
        add(&known, &mut one, "1234");
        let text = "abc hunter2-one hunter2-two 1234";
        assert_eq!(known.mask(one.as_deref(), text), "*** *** *** ***");
        assert_eq!(known.mask(other.as_deref(), text), "*** *** *** 1234");
        assert!(known.are_in(None, "abc") && !known.are_in(None, "1234"));
    }

    #[test]
    fn what_is_forgotten_is_old_and_the_memory_is_bounded() {
        let known = Known::default();
        let mut own = None;
        let value = |number: usize| format!("value-{number:08}");
        let last = 120_000;
        for number in 0..last {
            add(&known, &mut own, &value(number));
        }
        assert!(known.turns() > 1);
        assert_eq!(known.mask(None, &value(0)), value(0));
        for number in last - 20_000..last {
            assert_eq!(known.mask(None, &value(number)), "***", "{number}");
        }
        let recent = known.recent();
        assert!(recent.new.0.len() + recent.old.0.len() < 3 * GENERATION);
    }

    #[test]
    fn a_thread_remembers_its_last_short_values() {
        let mut own = Own::default();
        for number in 1_000..1_000 + 2 * OWN {
            own.remember(&number.to_string());
        }
        assert_eq!(own.secrets.mask("1000 1127"), "1000 ***");
        assert_eq!(own.values.len(), OWN);
    }
}

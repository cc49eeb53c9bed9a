//! Values that no output shows.
//!
//! A value becomes a secret where it enters: a variable that the plan names, a password, a header, a cookie, a
//! field with a telling name ([`Found`]). From then on it is looked for in whatever is shown, by all threads
//! ([`Known`]), and however it was escaped on its way. What a text itself tells by a name is hidden beside that
//! ([`without_telling`]).

mod forms;
mod found;
mod known;
mod marks;
mod telling;
mod view;

use std::borrow::Cow;
use std::ops::Range;

use crate::secrets::forms::forms;
use crate::secrets::marks::Marks;
use crate::secrets::view::View;

pub use crate::net::{is_secret, user_info};
pub use found::Found;
pub use known::{Known, Own};
pub use telling::{each_value, tells, without_telling};

/// What stands in place of a secret.
pub const MASK: &str = "***";

/// What stands where a text was cut off.
const CUT: &str = "…";

/// Secrets that can be found in texts, in all their forms.
#[derive(Debug, Clone, Default)]
pub struct Secrets(Marks);

impl Secrets {
    /// Whether there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a value; an empty one hides nothing.
    pub fn remember(&mut self, value: &str) {
        if !self.knows(value) {
            for form in forms(value) {
                self.0.insert(&form);
            }
        }
    }

    /// Adds all of these.
    pub fn learn(&mut self, found: &Found) {
        for value in &found.0 {
            self.remember(value);
        }
    }

    /// Without those of up to three bytes, which stand in too many other words.
    #[must_use]
    pub fn without_short(&self) -> Self {
        Self(self.0.without_short())
    }

    fn knows(&self, value: &str) -> bool {
        self.0.contains(&forms::folded(value))
    }

    /// The text with `***` for every secret; borrowed where there is none.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        mask(&[self], text)
    }
}

impl From<Found> for Secrets {
    fn from(found: Found) -> Self {
        let mut secrets = Self::default();
        secrets.learn(&found);
        secrets
    }
}

/// The text with `***` for every secret of these; borrowed where there is none.
pub fn mask<'t>(secrets: &[&Secrets], text: &'t str) -> Cow<'t, str> {
    let found = places(secrets, text.as_bytes(), false);
    replaced(text, &found, |_, masked| masked.push_str(MASK))
}

/// Where secrets of these stand in a text, in order and without overlaps. Where it is cut off, at `…` and, if
/// `goes_on`, at its end, the beginning of a secret is enough.
pub(crate) fn places(secrets: &[&Secrets], text: &[u8], goes_on: bool) -> Vec<Range<usize>> {
    let marks: Vec<&Marks> =
        secrets.iter().map(|secrets| &secrets.0).filter(|marks| !marks.is_empty()).collect();
    if marks.is_empty() {
        return Vec::new();
    }
    let dots = text.windows(CUT.len()).enumerate().filter(|(_, bytes)| *bytes == CUT.as_bytes());
    let mut cuts: Vec<usize> = dots.map(|(at, _)| at).collect();
    cuts.extend(goes_on.then_some(text.len()));
    let mut found = Vec::new();
    for level in View::levels(text) {
        let folded = level.folded();
        let cuts: Vec<usize> = cuts.iter().map(|cut| folded.index(*cut)).collect();
        let here = marks::find(&marks, &folded.bytes, &cuts);
        found.extend(here.into_iter().map(|range| folded.place(range)));
    }
    together(found)
}

/// In order, and what overlaps as one.
fn together(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// The text with something else at these places.
pub fn replaced<'t>(
    text: &'t str,
    places: &[Range<usize>],
    write: impl Fn(&str, &mut String),
) -> Cow<'t, str> {
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut new, mut end) = (String::with_capacity(text.len()), 0);
    for place in places {
        // An escape may have held a part of a character only.
        let from = text.floor_char_boundary(place.start).max(end);
        let until = text.ceil_char_boundary(place.end).max(from);
        new.push_str(&text[end..from]);
        write(&text[from..until], &mut new);
        end = until;
    }
    new.push_str(&text[end..]);
    Cow::Owned(new)
}

#[cfg(test)]
mod tests;

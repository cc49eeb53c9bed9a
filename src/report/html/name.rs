//! Labels as a page shows them.

use serde::Serialize;

use crate::report::html::text::{cut, shown};
use crate::verdict::ALL;

/// Characters of a label that are shown at once.
const MOST: usize = 64;
/// Of a longer one its beginning and its end, where it most often differs from others.
const HEAD: usize = 40;
const TAIL: usize = 20;
/// Characters of a label that a page has at all.
const MOST_WHOLE: usize = 500;

/// A label, short enough for a table.
#[derive(Debug, Serialize)]
pub(super) struct Name {
    /// What is shown.
    text: String,
    /// All of it, where that is more.
    whole: Option<String>,
}

impl Name {
    /// The name of a row that is not a label: all samplers together.
    pub(super) fn of_all() -> Self {
        Self { text: ALL.to_owned(), whole: None }
    }

    /// A label. One that has no characters, or the name of the sum, is told apart.
    pub(super) fn of(label: &str) -> Self {
        match label {
            ALL => Self { text: format!("{ALL} (a label)"), whole: None },
            blank if blank.trim().is_empty() => {
                Self { text: "(empty label)".to_owned(), whole: None }
            }
            label => Self::shortened(label),
        }
    }

    /// What a threshold or a comparison speaks of: a label, or all samplers together.
    pub(super) fn of_label_or_all(label: &str) -> Self {
        if label == ALL { Self::of_all() } else { Self::of(label) }
    }

    fn shortened(label: &str) -> Self {
        let length = label.chars().count();
        if length <= MOST {
            return Self { text: shown(label), whole: None };
        }
        let head: String = label.chars().take(HEAD).collect();
        let tail: String = label.chars().skip(length - TAIL).collect();
        let text = format!("{}…{}", shown(&head), shown(&tail));
        Self { text, whole: Some(shown(&cut(label, MOST_WHOLE))) }
    }

    /// The text alone, for what has no room for more.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_never_looks_like_the_sum_or_like_nothing() {
        let text = |label: &str| Name::of(label).into_text();
        assert_eq!([text("all"), text("All")], ["all (a label)", "All"]);
        assert_eq!([text(""), text(" ")], ["(empty label)", "(empty label)"]);
        assert_eq!(Name::of_label_or_all("all").into_text(), "all");
        assert_eq!(Name::of_label_or_all("say").into_text(), "say");
    }

    #[test]
    fn a_long_label_shows_its_beginning_and_its_end() {
        let label = format!("{}{}/42", "GET /rooms/", "ä".repeat(1_000));
        let name = Name::of(&label);
        assert_eq!(name.text.chars().count(), HEAD + TAIL + 1);
        assert!(name.text.starts_with("GET /rooms/ä") && name.text.ends_with("ä/42"));
        assert_eq!(name.whole.unwrap().chars().count(), MOST_WHOLE + 1, "with an ellipsis");
        assert_eq!(Name::of(&"x".repeat(MOST)).whole, None);
    }
}

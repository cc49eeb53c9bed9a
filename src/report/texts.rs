//! Texts that several reports share.

use std::borrow::Cow;

use crate::report::units::printable;
use crate::stats::{Cause, CauseKey, LabelStats, thousands};

/// Characters of an example that are shown.
const MOST_EXAMPLE: usize = 500;

/// A text of so many characters at most.
pub(crate) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Why rows failed, by label: the most frequent first.
pub(crate) fn sorted_causes<'a>(
    labels: impl IntoIterator<Item = (&'a str, &'a LabelStats)>,
) -> Vec<(&'a str, &'a CauseKey, &'a Cause)> {
    let of = |(label, figures): (&'a str, &'a LabelStats)| {
        figures.causes.iter().map(move |(key, cause)| (label, key, cause))
    };
    let mut causes: Vec<_> = labels.into_iter().flat_map(of).collect();
    causes
        .sort_by(|one, other| (other.2.count, one.0, one.1).cmp(&(one.2.count, other.0, other.1)));
    causes
}

/// The same as lines, without control characters: `3 x say READ_TIMEOUT: no reply within 1s`.
pub(crate) fn causes_of<'a>(
    labels: impl IntoIterator<Item = (&'a str, &'a LabelStats)>,
    most: usize,
) -> String {
    let causes = sorted_causes(labels);
    let line = |(label, key, cause): &(&str, &CauseKey, &Cause)| {
        let failure = failure(key, cause);
        let failure = shortened(&failure, MOST_EXAMPLE);
        format!("{} x {} {}", thousands(cause.count), printable(label), printable(&failure))
    };
    let mut lines: Vec<String> = causes.iter().take(most).map(line).collect();
    if causes.len() > most {
        lines.push(format!("… and {} other causes in summary.json", causes.len() - most));
    }
    lines.join("\n")
}

/// A code, and an example of the text behind it if there is one: `READ_TIMEOUT: no reply within 1s`.
pub(crate) fn failure(key: &CauseKey, cause: &Cause) -> String {
    match (key.shown_code(), cause.example.trim()) {
        (code, "") => code.into_owned(),
        (code, example) => format!("{code}: {example}"),
    }
}

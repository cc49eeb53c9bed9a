//! From problems to diagnostics: each at its place, in the order of the files, the first 20.

use std::collections::BTreeSet;

use crate::diag::{Diagnostic, Place};
use crate::plan::error::At;
use crate::plan::problem::Problem;

/// Diagnostics that are shown.
const MAX_SHOWN: usize = 20;
/// Problems whose place is looked up.
const MAX_PLACED: usize = 40;

/// The problems as diagnostics. What is wrong in a file that is included many times is told once.
pub(super) fn placed(problems: Vec<Problem>, place: impl Fn(&Problem) -> Place) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let mut told = BTreeSet::new();
    let mut looked_up = 0;
    for problem in problems {
        if let Some(file) = problem.path.in_file() {
            let way: Vec<_> = problem.path.in_its_file().into_iter().cloned().collect();
            if !told.insert((file, way, problem.at, problem.title.clone())) {
                continue;
            }
        }
        looked_up += 1;
        let place = (looked_up <= MAX_PLACED).then(|| place(&problem));
        if problem.at == At::Block && !place.as_ref().is_some_and(is_block_text) {
            continue;
        }
        let help = match &place {
            Some(place) if problem.title.ends_with("has no value") => {
                Some(hidden_value(&place.text).to_owned())
            }
            _ => problem.help,
        };
        diagnostics.push(Diagnostic {
            severity: problem.severity,
            title: problem.title,
            place,
            label: problem.label,
            help,
        });
    }
    diagnostics
}

/// Whether the value at the place is written as a block, line by line below its key.
fn is_block_text(place: &Place) -> bool {
    place.text.chars().nth(place.column - 1).is_some_and(|c| matches!(c, '|' | '>'))
}

/// Why YAML may have seen no value on a line that has one.
fn hidden_value(line: &str) -> &'static str {
    match line.split_once(": ").map(|(_, value)| value.trim_start()) {
        Some(value) if value.starts_with('#') => {
            "`#` after a blank begins a comment; quote the text"
        }
        Some(value) if value.starts_with('&') => "`&` begins a YAML anchor; quote the text",
        _ => "give a value or remove the key; the empty text is `\"\"`",
    }
}

/// Where one gets to a place who reads each included file where it is included.
fn reading_order(place: &Place) -> Vec<(usize, usize)> {
    let from = place.included_from.iter().map(|from| (from.line, from.column));
    from.chain([(place.line, place.column)]).collect()
}

/// Sorted by place; what is not placed was found late and is only counted.
pub(super) fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(|diagnostic| {
        let place = diagnostic.place.as_ref();
        (place.is_none(), place.map(reading_order))
    });
    // A mistake behind an anchor is met at each of its aliases.
    diagnostics.dedup_by(|later, earlier| later.place.is_some() && later == earlier);
    let more = diagnostics.len().saturating_sub(MAX_SHOWN);
    if more > 0 {
        diagnostics.truncate(MAX_SHOWN);
        let severity = diagnostics[0].severity;
        let title = format!("{more} more of these are not shown");
        diagnostics.push(Diagnostic {
            severity,
            title,
            place: None,
            label: String::new(),
            help: None,
        });
    }
    diagnostics
}

//! Assertions: judging a sample that passed so far.

use crate::exec::check;
use crate::exec::evaluate::Scope;
use crate::exec::judge::Subject;
use crate::exec::outcome::{Failure, Outcome};
use crate::program::Assertion;

/// A failing text is cut to this many characters.
const MAX_TEXT: usize = 200;

/// The first assertion that does not hold, as the failure that it makes of the sample. A failed
/// assertion leaves the code; one that cannot be evaluated brings its own.
pub(crate) fn first_failure(
    scope: &mut Scope,
    assertions: &[Assertion],
    outcome: &Outcome,
) -> Option<Failure> {
    if assertions.is_empty() {
        return None;
    }
    let head = outcome.head.as_deref().unwrap_or_default();
    let message = outcome.message.as_ref();
    let subject = Subject::sample(message, outcome.elapsed(), outcome.code, head);
    assertions.iter().find_map(|assertion| match check::ready(scope, &assertion.check) {
        Err(failure) => Some(failure),
        Ok(ready) if subject.holds(&ready) => None,
        Ok(ready) => {
            let text = one_line(&subject.explain(&ready, true));
            Some(Failure::new(outcome.code, text, assertion.source.clone()))
        }
    })
}

/// On one line and not too long.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.replace('\r', "\\r").replace('\n', "\\n");
    match line.char_indices().nth(MAX_TEXT) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

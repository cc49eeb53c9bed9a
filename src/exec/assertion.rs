//! Assertions: judging a sample that passed so far.

use crate::exec::check;
use crate::exec::evaluate::Scope;
use crate::exec::judge::Subject;
use crate::exec::outcome::{Failure, Outcome};
use crate::exec::trace::Tracer;
use crate::program::Assertion;
use crate::sample::Trace;

/// A failing text is cut to this many characters.
const MAX_TEXT: usize = 200;

/// The first assertion that does not hold, as the failure that it makes of the sample. A failed
/// assertion leaves the code; one that cannot be evaluated brings its own.
pub(crate) fn first_failure(
    scope: &mut Scope,
    assertions: &[Assertion],
    outcome: &Outcome,
    tracer: Option<&Tracer>,
) -> Option<Failure> {
    if assertions.is_empty() {
        return None;
    }
    let head = outcome.head.as_deref().unwrap_or_default();
    let message = outcome.message.as_ref();
    let subject = Subject::sample(message, outcome.elapsed(), outcome.code, head);
    let judge = |assertion: &Assertion| {
        let ready = match check::ready(scope, &assertion.check) {
            Ok(ready) => ready,
            Err(failure) => return Some(failure),
        };
        let failure = (!subject.holds(&ready)).then(|| {
            let text = one_line(&subject.explain(&ready, true));
            Failure::new(outcome.code, text, assertion.source.clone())
        });
        if let Some(tracer) = tracer {
            tracer.push(Trace::Check {
                source: assertion.source.clone(),
                failure: failure.as_ref().map(|failure| failure.text.clone()),
                found: subject.found(&ready).map(|found| one_line(&found)),
            });
        }
        failure
    };
    if tracer.is_some() {
        // Whoever looks on wants to see them all.
        let failures: Vec<Failure> = assertions.iter().filter_map(judge).collect();
        return failures.into_iter().next();
    }
    assertions.iter().find_map(judge)
}

/// Whether assertions want this answer although its status is that of a failure: one of them is about
/// the status, and all such hold.
pub(crate) fn expect_status(
    scope: &mut Scope,
    assertions: &[Assertion],
    outcome: &Outcome,
) -> bool {
    let head = outcome.head.as_deref().unwrap_or_default();
    let subject = Subject::sample(outcome.message.as_ref(), outcome.elapsed(), outcome.code, head);
    let mut is_expected = false;
    for assertion in assertions.iter().filter(|assertion| assertion.check.is_about_status()) {
        match check::ready(scope, &assertion.check) {
            Ok(ready) if subject.holds(&ready) => is_expected = true,
            _ => return false,
        }
    }
    is_expected
}

/// On one line and not too long.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.replace('\r', "\\r").replace('\n', "\\n");
    match line.char_indices().nth(MAX_TEXT) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

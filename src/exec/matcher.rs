//! Matchers, evaluated: which message is a sampler's own.

use std::rc::Rc;

use crate::exec::check::{self, Ready, ReadyJson};
use crate::exec::evaluate::Scope;
use crate::exec::judge::{Subject, captured};
use crate::exec::outcome::Failure;
use crate::program::{Correlate, Reply};
use crate::sample::Code;
use crate::ws::Message;

/// What a message must be like to be the sampler's own.
#[derive(Debug)]
pub(crate) struct Matcher<'p> {
    checks: Vec<Ready<'p>>,
    /// Whether it was made from the request itself, so that no other request has the same unless
    /// the plan repeats itself.
    unique: bool,
}

impl<'p> Matcher<'p> {
    /// The matcher of one execution that sends `payload`; fails where a template cannot be
    /// evaluated, or where the request holds nothing to be matched by.
    pub(crate) fn evaluate(
        scope: &mut Scope,
        reply: &'p Reply,
        payload: &[u8],
    ) -> Result<Rc<Self>, Failure> {
        let matcher = match reply {
            Reply::Checks(checks) => {
                let ready = checks.iter().map(|one| check::ready(scope, &one.check));
                Self { checks: ready.collect::<Result<_, Failure>>()?, unique: false }
            }
            Reply::Correlate(correlate) => {
                Self { checks: vec![correlated(correlate, payload)?], unique: true }
            }
        };
        Ok(Rc::new(matcher))
    }

    /// Whether the message is the sampler's own.
    pub(crate) fn fits(&self, message: &Message) -> bool {
        let subject = Subject::message(message);
        self.checks.iter().all(|check| subject.holds(check))
    }

    pub(crate) fn is_unique(&self) -> bool {
        self.unique
    }

    /// The checks as text, the same for the same checks.
    pub(crate) fn class(&self) -> String {
        format!("{:?}", self.checks)
    }
}

/// What the reply must hold: what the request holds.
fn correlated<'p>(correlate: &'p Correlate, payload: &[u8]) -> Result<Ready<'p>, Failure> {
    let missing = |what: String| {
        let cause = format!("`correlate: {}` finds nothing in the request", correlate.source());
        Failure::new(Code::BadValue, format!("{cause}{what}"), cause)
    };
    match correlate {
        Correlate::Json { request, reply } => {
            let json = serde_json::from_slice(payload)
                .map_err(|error| missing(format!(", which is not JSON: {error}")))?;
            let value = request.first(&json).ok_or_else(|| missing(String::new()))?;
            Ok(Ready::Json(reply, ReadyJson::Equals(value.clone())))
        }
        Correlate::Regex(regex) => {
            let text = String::from_utf8_lossy(payload);
            let found = regex.captures(&text).ok_or_else(|| missing(String::new()))?;
            Ok(Ready::Captured(regex, captured(&found).to_owned()))
        }
    }
}

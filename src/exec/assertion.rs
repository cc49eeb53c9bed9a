//! Judging assertions on an outcome.

use std::borrow::Cow;
use std::time::Duration;

use jsonpath_rust::query::{QueryRef, js_path_process};
use regex::Regex;
use serde_json::Value;

use crate::clock::round_ms;
use crate::exec::evaluate::{Scope, bad_value};
use crate::exec::outcome::{Failure, Outcome};
use crate::program::{Assertion, Check, JsonPath, JsonTest, Pattern};
use crate::sample::Code;
use crate::ws::{Message, MessageKind};

/// A failing text is cut to this many characters.
const MAX_TEXT: usize = 200;

/// The first assertion that does not hold, as the failure that it makes of the sample. A failed
/// assertion leaves the code; one that cannot be judged brings its own.
pub(crate) fn first_failure(
    scope: &mut Scope,
    assertions: &[Assertion],
    outcome: &Outcome,
) -> Option<Failure> {
    let mut subject = Subject { outcome, json: None };
    assertions.iter().find_map(|assertion| match subject.judge(scope, &assertion.check) {
        Ok(Judgement { holds: true, .. }) => None,
        Ok(Judgement { text, .. }) => {
            Some(Failure::new(outcome.code, one_line(&text), assertion.source.clone()))
        }
        Err(failure) => Some(failure),
    })
}

/// Whether a check holds, and what to say if that is not what is wanted.
struct Judgement {
    holds: bool,
    text: String,
}

/// What assertions look at; a message is parsed as JSON at most once.
struct Subject<'o> {
    outcome: &'o Outcome,
    json: Option<Result<Value, String>>,
}

impl Subject<'_> {
    fn judge(&mut self, scope: &mut Scope, check: &Check) -> Result<Judgement, Failure> {
        self.judge_sense(scope, check, true)
    }

    /// Judges a check; `wanted` is false below a `not`, which turns the text around.
    fn judge_sense(
        &mut self,
        scope: &mut Scope,
        check: &Check,
        wanted: bool,
    ) -> Result<Judgement, Failure> {
        let not = if wanted { "" } else { "not " };
        let (holds, text) = match check {
            Check::Not(inner) => {
                let inner = self.judge_sense(scope, inner, !wanted)?;
                return Ok(Judgement { holds: !inner.holds, text: inner.text });
            }
            Check::Contains(part) => {
                let part = scope.text(part)?;
                (self.text().contains(&*part), expected(not, "contain", &part))
            }
            Check::Equals(whole) => {
                let whole = scope.text(whole)?;
                let text = self.text();
                let differs = format!("{}, found /{text}/", expected(not, "equal", &whole));
                (*text == *whole, differs)
            }
            Check::Regex(pattern) => {
                let regex = compiled(scope, pattern)?;
                (regex.is_match(&self.text()), expected(not, "contain", regex.as_str()))
            }
            Check::Json { path, test } => self.judge_json(scope, path, test, not)?,
            Check::Duration(limit) => {
                let limit = scope.value(limit)?;
                let took = self.outcome.end - self.outcome.start;
                (took <= limit, lasted_too_long(took, limit))
            }
            Check::Status(status) | Check::CloseStatus(status) => {
                let status = scope.value(status)?;
                let found = self.outcome.code;
                let text =
                    format!("Test failed: code expected {not}to equal /{status}/, found /{found}/");
                (found == Code::Number(status), text)
            }
        };
        Ok(Judgement { holds, text })
    }

    fn judge_json(
        &mut self,
        scope: &mut Scope,
        path: &JsonPath,
        test: &JsonTest,
        not: &str,
    ) -> Result<(bool, String), Failure> {
        let at = &path.text;
        let json = match self.json() {
            Ok(json) => json,
            Err(error) => return Ok((false, format!("the message is not JSON: {error}"))),
        };
        let found: Vec<&Value> = js_path_process(&path.query, json)
            .map(|found| found.into_iter().map(QueryRef::val).collect())
            .unwrap_or_default();
        let shown = match found.as_slice() {
            [] => "nothing".to_owned(),
            [one] => format!("'{}'", plain_text(one)),
            [first, rest @ ..] => format!("'{}' and {} more", plain_text(first), rest.len()),
        };
        let judged = match test {
            JsonTest::Exists(wanted) => {
                let wanted = scope.value(wanted)?;
                let sense = if wanted == not.is_empty() { "" } else { "not " };
                (
                    found.is_empty() != wanted,
                    format!("JSON path '{at}' expected {sense}to exist, found {shown}"),
                )
            }
            JsonTest::Equals(parts) => {
                let mut text = String::new();
                scope.json(parts, &mut text)?;
                let wanted: Value = serde_json::from_str(&text)
                    .map_err(|error| bad_value(&error.to_string(), at))?;
                let holds = found.iter().any(|value| same(value, &wanted));
                (
                    holds,
                    format!(
                        "Value in json path '{at}' expected {not}to be '{}', but found {shown}",
                        plain_text(&wanted)
                    ),
                )
            }
            JsonTest::Regex(pattern) => {
                let regex = compiled(scope, pattern)?;
                let holds = found.iter().any(|value| regex.is_match(&plain_text(value)));
                (
                    holds,
                    format!(
                        "Value in json path '{at}' expected {not}to match regexp '{}', but found {shown}",
                        regex.as_str()
                    ),
                )
            }
            JsonTest::LessThan(limit) => {
                let limit = scope.value(limit)?;
                let holds = numbers(&found).any(|number| number < limit);
                (
                    holds,
                    format!(
                        "Value in json path '{at}' expected {not}to be less than {limit}, but found {shown}"
                    ),
                )
            }
            JsonTest::GreaterThan(limit) => {
                let limit = scope.value(limit)?;
                let holds = numbers(&found).any(|number| number > limit);
                (
                    holds,
                    format!(
                        "Value in json path '{at}' expected {not}to be greater than {limit}, but found {shown}"
                    ),
                )
            }
            JsonTest::Count(count) => {
                let count = scope.value(count)?;
                (
                    found.len() as u64 == count,
                    format!(
                        "JSON path '{at}' expected {not}to find {count} values, found {}",
                        found.len()
                    ),
                )
            }
        };
        Ok(judged)
    }

    /// The message as text; bytes that are not UTF-8 are replaced.
    fn text(&self) -> Cow<'_, str> {
        self.outcome
            .message
            .as_ref()
            .map_or(Cow::Borrowed(""), |message| String::from_utf8_lossy(&message.payload))
    }

    fn json(&mut self) -> Result<&Value, &str> {
        let parse = |message: Option<&Message>| match message {
            None => Err("there is none".to_owned()),
            Some(Message { kind: MessageKind::Text | MessageKind::Binary, payload, .. }) => {
                serde_json::from_slice(payload).map_err(|error| error.to_string())
            }
        };
        let outcome = self.outcome;
        self.json
            .get_or_insert_with(|| parse(outcome.message.as_ref()))
            .as_ref()
            .map_err(String::as_str)
    }
}

/// JMeter's words for its response assertion.
fn expected(not: &str, verb: &str, pattern: &str) -> String {
    format!("Test failed: text expected {not}to {verb} /{pattern}/")
}

/// JMeter's words for its duration assertion.
fn lasted_too_long(took: Duration, limit: Duration) -> String {
    format!(
        "The operation lasted too long: It took {} milliseconds, but should not have lasted longer \
         than {} milliseconds.",
        round_ms(took),
        round_ms(limit)
    )
}

pub(crate) fn compiled<'p>(
    scope: &mut Scope,
    pattern: &'p Pattern,
) -> Result<Cow<'p, Regex>, Failure> {
    match pattern {
        Pattern::Fixed(regex) => Ok(Cow::Borrowed(regex)),
        Pattern::Template(template) => {
            let text = scope.text(template)?;
            let bad =
                |_| bad_value(&format!("`{text}` is not a regular expression"), &template.source);
            Regex::new(&text).map(Cow::Owned).map_err(bad)
        }
    }
}

/// A JSON value as text: a string without its quotes.
pub(crate) fn plain_text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Equality that does not tell `1` from `1.0`.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || (one.as_f64().is_some() && one.as_f64() == other.as_f64())
        }
        _ => left == right,
    }
}

fn numbers<'v>(found: &'v [&Value]) -> impl Iterator<Item = f64> + 'v {
    found.iter().filter_map(|value| match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
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

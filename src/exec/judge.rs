//! Whether a check holds, and what to say where it does not.

use std::borrow::Cow;
use std::time::Duration;

use jsonpath_rust::query::{QueryRef, js_path_process};
use serde_json::Value;

use crate::clock::round_ms;
use crate::exec::check::{Ready, ReadyHeader, ReadyJson, Where};
use crate::program::{JsonPath, MessageType, Pattern, SizeTest};
use crate::sample::Code;
use crate::ws::{Message, MessageKind, header_values};

/// So many bytes of a binary message are shown.
const SHOWN_BYTES: usize = 16;

/// What checks look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'o> {
    message: Option<&'o Message>,
    took: Duration,
    code: Code,
    head: &'o [u8],
}

impl<'o> Subject<'o> {
    /// A sample: its message, what it took, its code, and the head of the answer to an upgrade.
    pub(crate) fn sample(
        message: Option<&'o Message>,
        took: Duration,
        code: Code,
        head: &'o [u8],
    ) -> Self {
        Self { message, took, code, head }
    }

    /// A message that has just arrived.
    pub(crate) fn message(message: &'o Message) -> Self {
        Self::sample(Some(message), Duration::ZERO, Code::OK, &[])
    }

    /// Whether the check holds.
    pub(crate) fn holds(&self, check: &Ready<'_>) -> bool {
        match check {
            Ready::Text(place, part) => self.text().is_some_and(|text| place.holds(&text, part)),
            Ready::Pattern(regex) => self.text().is_some_and(|text| regex.is_match(&text)),
            Ready::Hex(at, place, part) => {
                self.binary().is_some_and(|bytes| hex_holds(bytes, *at, *place, part))
            }
            Ready::Json(path, test) => self.json_holds(path, test),
            Ready::Type(kind) => self.message.is_some_and(|message| match message.kind {
                MessageKind::Text => *kind == MessageType::Text,
                MessageKind::Binary => *kind == MessageType::Binary,
                MessageKind::Ping => *kind == MessageType::Ping,
                MessageKind::Pong => *kind == MessageType::Pong,
            }),
            Ready::Size(test, size) => match test {
                SizeTest::Equals => self.size() == *size,
                SizeTest::AtMost => self.size() <= *size,
                SizeTest::AtLeast => self.size() >= *size,
            },
            Ready::Duration(limit) => self.took <= *limit,
            Ready::Code(code) => self.code == Code::Number(*code),
            Ready::Header(name, test) => {
                header_values(self.head, name).iter().any(|value| match test {
                    ReadyHeader::Exists => true,
                    ReadyHeader::Text(place, text) => place.holds(value, text),
                    ReadyHeader::Regex(regex) => regex.is_match(value),
                })
            }
            Ready::Captured(regex, value) => self.text().is_some_and(|text| {
                regex.captures_iter(&text).any(|found| captured(&found) == value)
            }),
            Ready::Not(inner) => !self.holds(inner),
            Ready::AnyOf(checks) => checks.iter().any(|check| self.holds(check)),
            Ready::AllOf(checks) => checks.iter().all(|check| self.holds(check)),
        }
    }

    /// What to say of a check that does not hold; where `wanted` is false, of one that does.
    pub(crate) fn explain(&self, check: &Ready<'_>, wanted: bool) -> String {
        let not = if wanted { "" } else { "not " };
        let expected =
            |verb: &str, part: &str| format!("Test failed: text expected {not}to {verb} /{part}/");
        match check {
            Ready::Text(Where::Whole, part) => {
                format!("{}, found {}", expected("equal", part), self.shown())
            }
            Ready::Text(place, part) => expected(place.verb(), part),
            Ready::Pattern(regex) => match Pattern::written(regex.as_str()) {
                (pattern, true) => expected("match", pattern),
                (pattern, false) => expected("contain", pattern),
            },
            Ready::Hex(at, place, part) => {
                let place = place.verb();
                let at = at.map(|at| format!(" at {at}")).unwrap_or_default();
                let part = hex(part);
                format!("Response expected {not}to {place} {part}{at}, found {}", self.shown())
            }
            Ready::Json(path, test) => self.explain_json(path, test, not),
            Ready::Type(kind) => {
                format!(
                    "the message was expected {not}to be {}, found {}",
                    word(*kind),
                    self.shown()
                )
            }
            Ready::Size(test, size) => wrong_size(self.size(), *test, *size, not),
            Ready::Duration(limit) => lasted_too_long(self.took, *limit),
            Ready::Code(code) => {
                format!("Test failed: code expected {not}to equal /{code}/, found /{}/", self.code)
            }
            Ready::Header(name, test) => self.explain_header(name, test, not),
            Ready::Captured(regex, value) => {
                format!("/{}/ expected {not}to find /{value}/", regex.as_str())
            }
            Ready::Not(inner) => self.explain(inner, !wanted),
            Ready::AnyOf(checks) if wanted => {
                let all: Vec<String> =
                    checks.iter().map(|check| self.explain(check, true)).collect();
                all.join("; ")
            }
            Ready::AnyOf(checks) | Ready::AllOf(checks) => {
                let culprit = checks.iter().find(|check| self.holds(check) != wanted);
                culprit.map(|check| self.explain(check, wanted)).unwrap_or_default()
            }
        }
    }

    /// What the check looked at, as far as that is short.
    pub(crate) fn found(&self, check: &Ready<'_>) -> Option<String> {
        match check {
            Ready::Json(path, _) => {
                let found = found(path, self.json().ok()?);
                let values: Vec<_> = found.iter().map(|value| plain_text(value)).collect();
                Some(if values.is_empty() { "nothing".to_owned() } else { values.join(", ") })
            }
            Ready::Size(..) => Some(format!("{} bytes", self.size())),
            Ready::Duration(_) => Some(format!("{} ms", round_ms(self.took))),
            Ready::Code(_) => Some(self.code.to_string()),
            Ready::Header(name, _) => Some(header_values(self.head, name).join(", ")),
            // The message itself stands above.
            _ => None,
        }
    }

    fn explain_header(&self, name: &str, test: &ReadyHeader<'_>, not: &str) -> String {
        let found = match header_values(self.head, name).as_slice() {
            [] => "nothing".to_owned(),
            values => format!("/{}/", values.join(", ")),
        };
        let wanted = match test {
            ReadyHeader::Exists => {
                return format!("header `{name}` expected {not}to be there, found {found}");
            }
            ReadyHeader::Text(place, text) => format!("{} /{text}/", place.verb()),
            ReadyHeader::Regex(regex) => format!("contain /{}/", regex.as_str()),
        };
        format!("Test failed: headers `{name}` expected {not}to {wanted}, found {found}")
    }

    fn json_holds(&self, path: &JsonPath, test: &ReadyJson<'_>) -> bool {
        let Ok(json) = self.json() else { return false };
        let found = found(path, json);
        match test {
            ReadyJson::Exists(wanted) => found.is_empty() != *wanted,
            ReadyJson::Equals(wanted) => found.iter().any(|value| same(value, wanted)),
            ReadyJson::Regex(regex) => found.iter().any(|value| regex.is_match(&plain_text(value))),
            ReadyJson::LessThan(limit) => numbers(&found).any(|number| number < *limit),
            ReadyJson::GreaterThan(limit) => numbers(&found).any(|number| number > *limit),
            ReadyJson::Count(count) => found.len() as u64 == *count,
        }
    }

    fn explain_json(&self, path: &JsonPath, test: &ReadyJson<'_>, not: &str) -> String {
        let at = &path.text;
        let json = match self.json() {
            Ok(json) => json,
            Err(error) => return format!("the message is not JSON: {error}"),
        };
        let found = found(path, json);
        let shown = match found.as_slice() {
            [] => "nothing".to_owned(),
            [one] => format!("'{}'", plain_text(one)),
            [first, rest @ ..] => format!("'{}' and {} more", plain_text(first), rest.len()),
        };
        let value = |wanted: String| {
            format!("Value in json path '{at}' expected {not}to {wanted}, but found {shown}")
        };
        match test {
            ReadyJson::Exists(wanted) => {
                let sense = if *wanted == not.is_empty() { "" } else { "not " };
                format!("JSON path '{at}' expected {sense}to exist, found {shown}")
            }
            ReadyJson::Equals(wanted) => value(format!("be '{}'", plain_text(wanted))),
            ReadyJson::Regex(regex) => value(format!("match regexp '{}'", regex.as_str())),
            ReadyJson::LessThan(limit) => value(format!("be less than {limit}")),
            ReadyJson::GreaterThan(limit) => value(format!("be greater than {limit}")),
            ReadyJson::Count(count) => {
                format!(
                    "JSON path '{at}' expected {not}to find {count} values, found {}",
                    found.len()
                )
            }
        }
    }

    /// A text message's text. UTF-8 was checked when it arrived; a fragment may still begin or end
    /// within a character.
    fn text(&self) -> Option<Cow<'o, str>> {
        let message = self.message.filter(|message| message.kind == MessageKind::Text)?;
        Some(match std::str::from_utf8(&message.payload) {
            Ok(text) => Cow::Borrowed(text),
            // Only where it must be: it is slower with text that is right.
            Err(_) => String::from_utf8_lossy(&message.payload),
        })
    }

    fn binary(&self) -> Option<&'o [u8]> {
        let message = self.message.filter(|message| message.kind == MessageKind::Binary)?;
        Some(&message.payload)
    }

    fn size(&self) -> u64 {
        self.message.map_or(0, |message| message.payload.len() as u64)
    }

    fn json(&self) -> Result<&'o Value, &'o str> {
        self.message.map_or(Err("there is none"), Message::json)
    }

    /// The message for a failure's text.
    fn shown(&self) -> String {
        if let Some(text) = self.text() {
            return format!("/{text}/");
        }
        let Some(Message { kind, payload, .. }) = self.message else { return "nothing".to_owned() };
        let name = match kind {
            MessageKind::Text | MessageKind::Binary => "binary",
            MessageKind::Ping => "a ping with",
            MessageKind::Pong => "a pong with",
        };
        if payload.is_empty() && !kind.is_data() {
            return format!("{name}out payload");
        }
        format!("{name} {}", hex(payload))
    }
}

fn hex_holds(bytes: &[u8], at: Option<u64>, place: Where, part: &[u8]) -> bool {
    match (place, at.map(usize::try_from)) {
        (Where::Whole, _) => bytes == part,
        (Where::Start, _) => bytes.starts_with(part),
        (Where::End, _) => bytes.ends_with(part),
        (Where::Anywhere, Some(at)) => {
            at.ok().and_then(|at| bytes.get(at..)).is_some_and(|rest| rest.starts_with(part))
        }
        (Where::Anywhere, None) => {
            part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
        }
    }
}

/// A message as a failure shows it, cut after so many characters.
pub(crate) fn shown(message: &Message, most: usize, out: &mut String) {
    let text = Subject::message(message).shown();
    out.extend(text.chars().take(most));
    if text.chars().nth(most).is_some() {
        out.push('…');
    }
}

/// `ca fe`, cut after some bytes.
fn hex(bytes: &[u8]) -> String {
    let mut text: Vec<String> =
        bytes.iter().take(SHOWN_BYTES).map(|byte| format!("{byte:02x}")).collect();
    if bytes.len() > SHOWN_BYTES {
        text.push("…".to_owned());
    }
    text.join(" ")
}

fn word(kind: MessageType) -> &'static str {
    match kind {
        MessageType::Text => "text",
        MessageType::Binary => "binary",
        MessageType::Ping => "a ping",
        MessageType::Pong => "a pong",
        MessageType::Close => "a close frame",
    }
}

/// JMeter's words for its size assertion.
fn wrong_size(found: u64, test: SizeTest, size: u64, not: &str) -> String {
    let relation = match test {
        SizeTest::Equals => "been equal to",
        SizeTest::AtMost => "been less than or equal to",
        SizeTest::AtLeast => "been greater or equal to",
    };
    format!(
        "The result was the wrong size: It was {found} bytes, but should {not}have {relation} {size} \
         bytes."
    )
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

fn found<'v>(path: &JsonPath, json: &'v Value) -> Vec<&'v Value> {
    js_path_process(&path.query, json)
        .map(|found| found.into_iter().map(QueryRef::val).collect())
        .unwrap_or_default()
}

/// The first value that the path finds.
pub(crate) fn first_value<'v>(path: &JsonPath, json: &'v Value) -> Option<&'v Value> {
    found(path, json).first().copied()
}

/// What the pattern's first group matched, or all of it if it has none.
pub(crate) fn captured<'t>(found: &regex::Captures<'t>) -> &'t str {
    found.get(1).or_else(|| found.get(0)).map_or("", |group| group.as_str())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    fn message(kind: MessageKind, payload: &[u8]) -> Message {
        let now = clock::now();
        Message::new(kind, payload.to_vec(), 9, now, now)
    }

    fn text(place: Where, part: &str) -> Ready<'_> {
        Ready::Text(place, part.into())
    }

    #[test]
    fn checks_of_text_hold_for_text_messages_only() {
        let (hello, binary) =
            (message(MessageKind::Text, b"hello"), message(MessageKind::Binary, b"hello"));
        for (place, part) in [
            (Where::Anywhere, "ell"),
            (Where::Start, "he"),
            (Where::End, "lo"),
            (Where::Whole, "hello"),
        ] {
            assert!(Subject::message(&hello).holds(&text(place, part)), "{part}");
            assert!(!Subject::message(&binary).holds(&text(place, part)), "{part}");
        }
        assert!(!Subject::message(&hello).holds(&text(Where::Whole, "ell")));
    }

    #[test]
    fn bytes_can_be_wanted_at_an_offset() {
        let bytes = [0xca, 0xfe, 0xba, 0xbe];
        let holds = |at, place, part: &[u8]| hex_holds(&bytes, at, place, part);
        assert!(holds(None, Where::Anywhere, &[0xfe, 0xba]));
        assert!(holds(Some(1), Where::Anywhere, &[0xfe, 0xba]));
        assert!(!holds(Some(2), Where::Anywhere, &[0xfe, 0xba]));
        assert!(!holds(Some(u64::MAX), Where::Anywhere, &[0xfe]));
        assert!(holds(None, Where::Start, &[0xca]) && !holds(None, Where::Whole, &[0xca]));
    }

    #[test]
    fn a_group_of_checks_says_which_one_is_to_blame() {
        let hello = message(MessageKind::Text, b"hello");
        let subject = Subject::message(&hello);
        let all = Ready::AllOf(vec![text(Where::Start, "h"), text(Where::End, "x")]);
        assert_eq!(subject.explain(&all, true), "Test failed: text expected to end with /x/");
        let any = Ready::AnyOf(vec![text(Where::Start, "a"), text(Where::End, "o")]);
        assert!(subject.holds(&any));
        let not = Ready::Not(Box::new(any));
        assert_eq!(subject.explain(&not, true), "Test failed: text expected not to end with /o/");
    }
}

//! Checks with everything evaluated: what assertions and filters have in common.
//!
//! Evaluating comes first and once, so that a filter can judge messages as they arrive, when nobody
//! may touch the thread's variables.

use std::borrow::Cow;
use std::time::Duration;

use regex::Regex;
use serde_json::Value;

use crate::exec::evaluate::{Scope, bad_value};
use crate::exec::outcome::Failure;
use crate::program::{
    Bytes, Check, HeaderTest, HexTest, JsonPath, JsonTest, MessageType, Pattern, SizeTest,
    Template, hex_bytes,
};

/// Where in a text another one must stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    Anywhere,
    Start,
    End,
    Whole,
}

/// A check, evaluated.
#[derive(Debug)]
pub(crate) enum Ready<'p> {
    Text(Where, Cow<'p, str>),
    /// Found anywhere; or, anchored when it was compiled, matching the whole message.
    Pattern(Cow<'p, Regex>),
    Hex(Option<u64>, Where, Cow<'p, [u8]>),
    Json(&'p JsonPath, ReadyJson<'p>),
    Type(MessageType),
    Size(SizeTest, u64),
    Duration(Duration),
    Code(u16),
    Header(&'p str, ReadyHeader<'p>),
    /// The first group of the pattern, or all of it, is the text somewhere in the message.
    Captured(&'p Regex, String),
    Not(Box<Self>),
    AnyOf(Vec<Self>),
    AllOf(Vec<Self>),
}

/// A test of JSON values, evaluated.
#[derive(Debug)]
pub(crate) enum ReadyJson<'p> {
    Exists(bool),
    Equals(Value),
    Regex(Cow<'p, Regex>),
    LessThan(f64),
    GreaterThan(f64),
    Count(u64),
}

/// A test of a header's values, evaluated.
#[derive(Debug)]
pub(crate) enum ReadyHeader<'p> {
    Exists,
    Text(Where, Cow<'p, str>),
    Regex(Cow<'p, Regex>),
}

/// Evaluates a check; fails where a template cannot be evaluated.
pub(crate) fn ready<'p>(scope: &mut Scope, check: &'p Check) -> Result<Ready<'p>, Failure> {
    let text = |scope: &mut Scope, place, text: &'p Template| {
        scope.text(text).map(|text| Ready::Text(place, text))
    };
    Ok(match check {
        Check::Contains(part) => text(scope, Where::Anywhere, part)?,
        Check::Equals(whole) => text(scope, Where::Whole, whole)?,
        Check::StartsWith(start) => text(scope, Where::Start, start)?,
        Check::EndsWith(end) => text(scope, Where::End, end)?,
        Check::Regex(pattern) | Check::FullMatch(pattern) => {
            Ready::Pattern(compiled(scope, pattern, matches!(check, Check::FullMatch(_)))?)
        }
        Check::Hex(test, bytes) => {
            let (at, place) = match test {
                HexTest::Equals => (None, Where::Whole),
                HexTest::StartsWith => (None, Where::Start),
                HexTest::Contains(None) => (None, Where::Anywhere),
                HexTest::Contains(Some(at)) => (Some(scope.value(at)?), Where::Anywhere),
            };
            Ready::Hex(at, place, bytes_of(scope, bytes)?)
        }
        Check::Json { path, test } => Ready::Json(path, ready_json(scope, path, test)?),
        Check::Type(kind) => Ready::Type(scope.value(kind)?),
        Check::Size(test, size) => Ready::Size(*test, scope.value(size)?.0),
        Check::Duration(limit) => Ready::Duration(scope.value(limit)?),
        Check::Status(status) | Check::CloseStatus(status) => Ready::Code(scope.value(status)?),
        Check::Header(name, test) => Ready::Header(name, ready_header(scope, test)?),
        Check::Not(inner) => Ready::Not(Box::new(ready(scope, inner)?)),
        Check::AnyOf(checks) => Ready::AnyOf(all_ready(scope, checks)?),
        Check::AllOf(checks) => Ready::AllOf(all_ready(scope, checks)?),
    })
}

fn all_ready<'p>(scope: &mut Scope, checks: &'p [Check]) -> Result<Vec<Ready<'p>>, Failure> {
    checks.iter().map(|check| ready(scope, check)).collect()
}

fn ready_json<'p>(
    scope: &mut Scope,
    path: &'p JsonPath,
    test: &'p JsonTest,
) -> Result<ReadyJson<'p>, Failure> {
    Ok(match test {
        JsonTest::Exists(wanted) => ReadyJson::Exists(scope.value(wanted)?),
        JsonTest::Equals(parts) => {
            let mut text = String::new();
            scope.json(parts, &mut text)?;
            let value = serde_json::from_str(&text);
            ReadyJson::Equals(value.map_err(|error| bad_value(&error.to_string(), &path.text))?)
        }
        JsonTest::Regex(pattern) => ReadyJson::Regex(compiled(scope, pattern, false)?),
        JsonTest::LessThan(limit) => ReadyJson::LessThan(scope.value(limit)?),
        JsonTest::GreaterThan(limit) => ReadyJson::GreaterThan(scope.value(limit)?),
        JsonTest::Count(count) => ReadyJson::Count(scope.value(count)?),
    })
}

fn ready_header<'p>(scope: &mut Scope, test: &'p HeaderTest) -> Result<ReadyHeader<'p>, Failure> {
    Ok(match test {
        HeaderTest::Exists => ReadyHeader::Exists,
        HeaderTest::Equals(text) => ReadyHeader::Text(Where::Whole, scope.text(text)?),
        HeaderTest::Contains(text) => ReadyHeader::Text(Where::Anywhere, scope.text(text)?),
        HeaderTest::Regex(pattern) => ReadyHeader::Regex(compiled(scope, pattern, false)?),
    })
}

fn bytes_of<'p>(scope: &mut Scope, bytes: &'p Bytes) -> Result<Cow<'p, [u8]>, Failure> {
    match bytes {
        Bytes::Fixed(bytes) => Ok(Cow::Borrowed(bytes)),
        Bytes::Template(template) => {
            let text = scope.text(template)?;
            let bytes = hex_bytes(&text).map_err(|bad| bad_value(&bad.what, &template.source))?;
            Ok(Cow::Owned(bytes))
        }
    }
}

/// The regular expression; with `whole`, one that matches only whole texts.
pub(crate) fn compiled<'p>(
    scope: &mut Scope,
    pattern: &'p Pattern,
    whole: bool,
) -> Result<Cow<'p, Regex>, Failure> {
    match pattern {
        Pattern::Fixed(regex) => Ok(Cow::Borrowed(regex)),
        Pattern::Template(template) => {
            let text = scope.text(template)?;
            let text = if whole { Pattern::anchored(&text) } else { text.into_owned() };
            let bad =
                |_| bad_value(&format!("`{text}` is not a regular expression"), &template.source);
            Regex::new(&text).map(Cow::Owned).map_err(bad)
        }
    }
}

impl Where {
    /// Whether `part` stands so in `text`.
    pub(crate) fn holds(self, text: &str, part: &str) -> bool {
        match self {
            Self::Anywhere => text.contains(part),
            Self::Start => text.starts_with(part),
            Self::End => text.ends_with(part),
            Self::Whole => text == part,
        }
    }

    /// The words of a failure: JMeter's where it has some.
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Anywhere => "contain",
            Self::Start => "start with",
            Self::End => "end with",
            Self::Whole => "equal",
        }
    }
}

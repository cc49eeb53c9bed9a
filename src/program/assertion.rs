//! Assertions and filters, compiled: one grammar for both.

use std::time::Duration;

use regex::Regex;

use crate::program::{ByteSize, JsonPart, JsonPath, Setting, Template};

/// One entry of `assert`.
#[derive(Debug, Clone)]
pub struct Assertion {
    /// What must hold.
    pub check: Check,
    /// The assertion as written, on one line: what groups equal causes.
    pub source: String,
}

/// One entry of `filters`: a message for which it holds is discarded before any sampler sees it.
#[derive(Debug, Clone)]
pub struct Filter {
    /// What is discarded.
    pub check: Check,
    /// The filter as written, on one line: its name in the summary.
    pub source: String,
    /// Whether pings that it discards are answered, if the connection does not do so by itself.
    pub reply: Setting<bool>,
}

/// What an assertion checks or a filter looks for. Checks of text hold for text messages only.
#[derive(Debug, Clone)]
pub enum Check {
    /// The message contains the text.
    Contains(Template),
    /// The message is the text.
    Equals(Template),
    /// The message starts with the text.
    StartsWith(Template),
    /// The message ends with the text.
    EndsWith(Template),
    /// The pattern is found in the message.
    Regex(Pattern),
    /// The pattern matches the whole message.
    FullMatch(Pattern),
    /// Something about the bytes of a binary message.
    Hex(HexTest, Bytes),
    /// Something about a JSON message.
    Json {
        /// Where to look.
        path: JsonPath,
        /// What must hold there.
        test: JsonTest,
    },
    /// What kind of message it is.
    Type(Setting<MessageType>),
    /// The size of the payload.
    Size(SizeTest, Setting<ByteSize>),
    /// The sample took at most this long.
    Duration(Setting<Duration>),
    /// The HTTP status of an `open`.
    Status(Setting<u16>),
    /// The status of the peer's close frame.
    CloseStatus(Setting<u16>),
    /// A header of the answer to the upgrade request, by its name.
    Header(String, HeaderTest),
    /// The check does not hold.
    Not(Box<Self>),
    /// One of the checks holds.
    AnyOf(Vec<Self>),
    /// All of the checks hold.
    AllOf(Vec<Self>),
}

impl Check {
    /// Whether an HTTP status is part of it.
    pub fn is_about_status(&self) -> bool {
        match self {
            Self::Status(_) => true,
            Self::Not(inner) => inner.is_about_status(),
            Self::AnyOf(checks) | Self::AllOf(checks) => checks.iter().any(Self::is_about_status),
            _ => false,
        }
    }
}

/// What kind of message. Pings and pongs reach samplers only where the connection delivers them, and
/// a close frame is never a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageType {
    /// A text message.
    Text,
    /// A binary message.
    Binary,
    /// A ping.
    Ping,
    /// A pong.
    Pong,
    /// A close frame.
    Close,
}

/// What must hold for one of the values of a header.
#[derive(Debug, Clone)]
pub enum HeaderTest {
    /// It is there.
    Exists,
    /// It is the text.
    Equals(Template),
    /// It contains the text.
    Contains(Template),
    /// The pattern is found in it.
    Regex(Pattern),
}

/// How bytes are compared.
#[derive(Debug, Clone, PartialEq)]
pub enum HexTest {
    /// They are these.
    Equals,
    /// They hold these, at the offset if there is one.
    Contains(Option<Setting<u64>>),
    /// They start with these.
    StartsWith,
}

/// How a size is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeTest {
    /// Exactly.
    Equals,
    /// At most.
    AtMost,
    /// At least.
    AtLeast,
}

/// Bytes: known before the run, or hexadecimal text with `${…}`.
#[derive(Debug, Clone, PartialEq)]
pub enum Bytes {
    /// Known.
    Fixed(Vec<u8>),
    /// Read at each execution.
    Template(Template),
}

/// A regular expression: compiled, or with `${…}`.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// Compiled before the run.
    Fixed(Regex),
    /// Compiled at each execution.
    Template(Template),
}

impl Pattern {
    const START: &'static str = r"\A(?:";
    const END: &'static str = r")\z";

    /// The text of a pattern that matches only whole texts.
    pub fn anchored(pattern: &str) -> String {
        format!("{}{pattern}{}", Self::START, Self::END)
    }

    /// The text of a pattern as the plan has it, and whether it was anchored.
    pub fn written(pattern: &str) -> (&str, bool) {
        let inner = pattern.strip_prefix(Self::START).and_then(|rest| rest.strip_suffix(Self::END));
        (inner.unwrap_or(pattern), inner.is_some())
    }
}

/// What must hold for what a JSONPath finds.
#[derive(Debug, Clone)]
pub enum JsonTest {
    /// Whether it finds anything.
    Exists(Setting<bool>),
    /// One of the values found is this JSON value.
    Equals(Vec<JsonPart>),
    /// The pattern is found in the text of one of the values (JSON text for what is not a string).
    Regex(Pattern),
    /// One of the values is a number below this.
    LessThan(Setting<f64>),
    /// One of the values is a number above this.
    GreaterThan(Setting<f64>),
    /// So many values are found.
    Count(Setting<u64>),
}

//! Assertions, compiled.

use std::time::Duration;

use jsonpath_rust::parser::model::JpQuery;
use regex::Regex;

use crate::program::{JsonPart, Setting, Template};

/// One entry of `assert`.
#[derive(Debug)]
pub struct Assertion {
    /// What must hold.
    pub check: Check,
    /// The assertion as written, on one line: what groups equal causes.
    pub source: String,
}

/// What an assertion checks.
#[derive(Debug)]
pub enum Check {
    /// The message contains the text.
    Contains(Template),
    /// The message is the text.
    Equals(Template),
    /// The pattern is found in the message.
    Regex(Pattern),
    /// Something about a JSON message.
    Json {
        /// Where to look.
        path: JsonPath,
        /// What must hold there.
        test: JsonTest,
    },
    /// The sample took at most this long.
    Duration(Setting<Duration>),
    /// The HTTP status of an `open`.
    Status(Setting<u16>),
    /// The status of the peer's close frame.
    CloseStatus(Setting<u16>),
    /// The check does not hold.
    Not(Box<Self>),
}

/// A regular expression: compiled, or with `${…}`.
#[derive(Debug)]
pub enum Pattern {
    /// Compiled before the run.
    Fixed(Regex),
    /// Compiled at each execution.
    Template(Template),
}

/// A JSONPath with its text.
#[derive(Debug, Clone)]
pub struct JsonPath {
    /// As written.
    pub text: String,
    /// Parsed.
    pub query: JpQuery,
}

/// What must hold for what a JSONPath finds.
#[derive(Debug)]
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

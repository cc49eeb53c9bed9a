//! Which message is whose: matchers of requests and readers, and what happens to the rest.

use regex::Regex;

use crate::program::{Assertion, JsonPath, Setting};

/// `reply` or `correlate`: which message is a sampler's own.
#[derive(Debug, Clone)]
pub enum Reply {
    /// `reply`: one for which all of these hold.
    Checks(Vec<Assertion>),
    /// `correlate`: one that holds the same value as the request.
    Correlate(Correlate),
}

/// How a sampler that waits for a message knows it.
#[derive(Debug)]
pub struct Matching {
    /// `None` for the next message.
    pub reply: Option<Reply>,
    /// What happens where a late reply could pass for the message.
    pub late_replies: Setting<LateReplies>,
    /// What becomes of messages that are passed over; `None` lets `others_read` decide.
    pub unmatched: Option<Setting<Unmatched>>,
    /// Whether what `reply` looks for can differ from execution to execution.
    pub varies: bool,
    /// Whether another step of the group could read from the same connection.
    pub others_read: bool,
}

/// `correlate`: where the value stands that a request and its reply have in common.
#[derive(Debug, Clone)]
pub enum Correlate {
    /// In JSON, compared as JSON.
    Json {
        /// In the request; the first value found counts.
        request: JsonPath,
        /// In the reply; any value found may be the one.
        reply: JsonPath,
    },
    /// In text: the first group of the pattern, or all that it matches.
    Regex(Regex),
}

impl Correlate {
    /// As the plan has it, shortened to what is sought in the request.
    pub fn source(&self) -> &str {
        match self {
            Self::Json { request, .. } => &request.text,
            Self::Regex(regex) => regex.as_str(),
        }
    }
}

/// `late_replies`: what happens after a request went unanswered, where nothing tells its late reply
/// from the one that is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LateReplies {
    /// Samplers that could take it for theirs are skipped until the connection is opened anew.
    Skip,
    /// As many messages are dropped as requests are unanswered: right for servers that answer
    /// everything, in order.
    Discard,
    /// It counts as the awaited one, as in JMeter.
    Accept,
}

/// `unmatched`: what becomes of a message that a matcher passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmatched {
    /// It stays for later readers.
    Keep,
    /// It is dropped and counted.
    Drop,
}

//! Settings of samplers that are settings themselves, as written.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::setting::{Count, Flag, Removable, Setting, Size, Text, Time, Word, given};

/// `basic_auth`: who asks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BasicAuth {
    /// The name, without a colon.
    #[serde(default, deserialize_with = "given")]
    pub user: Option<Setting<Text>>,
    /// The password, which no output shows.
    #[serde(default, deserialize_with = "given")]
    pub password: Option<Setting<Text>>,
}

/// `backoff`: the first wait, and the longest; each is twice the one before, and an attempt that
/// succeeds ends them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Backoff {
    /// The wait after the first attempt that failed.
    #[serde(default, deserialize_with = "given")]
    pub first: Option<Setting<Time>>,
    /// The longest wait.
    #[serde(default, deserialize_with = "given")]
    pub max: Option<Setting<Time>>,
}

/// `send_file`: the file and what it holds.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendFile {
    /// The file, relative to the file in which this stands.
    #[serde(default, deserialize_with = "given")]
    pub path: Option<Setting<Text>>,
    /// The type of the message: `text` or `binary`.
    #[serde(default, rename = "type", deserialize_with = "given")]
    pub kind: Option<Setting<Word>>,
    /// Whether `${…}` in the file is evaluated at each execution.
    #[serde(default, deserialize_with = "given")]
    pub template: Option<Setting<Flag>>,
}

/// `push_delay`: where the message tells when it was sent, by a path or a pattern.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PushDelay {
    /// A JSONPath (RFC 9535) to the time in the message.
    #[serde(default, deserialize_with = "given")]
    pub sent_at: Option<Setting<Text>>,
    /// A regular expression, instead of `sent_at`: its first group is the time, or all of it.
    #[serde(default, deserialize_with = "given")]
    pub regex: Option<Setting<Text>>,
    /// How the time is written: `s`, `ms`, `us` or `ns` since 1970, or `rfc3339`.
    #[serde(default, deserialize_with = "given")]
    pub unit: Option<Setting<Word>>,
    /// An older message fails the sample.
    #[serde(default, deserialize_with = "given")]
    pub at_most: Option<Setting<Time>>,
}

/// `correlate`: where the value stands that a request and its reply have in common; in JSON, or by a
/// regular expression.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Correlate {
    /// A JSONPath (RFC 9535) into the request.
    #[serde(default, deserialize_with = "given")]
    pub request: Option<Setting<Text>>,
    /// A JSONPath into the reply, where it is another than that of the request.
    #[serde(default, deserialize_with = "given")]
    pub reply: Option<Setting<Text>>,
    /// A regular expression for both: what its first group matches, or all of it.
    #[serde(default, deserialize_with = "given")]
    pub regex: Option<Setting<Text>>,
}

/// `inbox`: bounds of what a connection keeps for later readers.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Inbox {
    /// How many messages are kept.
    #[serde(default, deserialize_with = "given")]
    pub messages: Option<Removable<Setting<Count>>>,
    /// How many bytes all messages kept may have together.
    #[serde(default, deserialize_with = "given")]
    pub bytes: Option<Removable<Setting<Size>>>,
    /// What a full inbox does: it drops the oldest message, no longer reads, or fails the connection.
    #[serde(default, deserialize_with = "given")]
    pub when_full: Option<Removable<Setting<Word>>>,
}

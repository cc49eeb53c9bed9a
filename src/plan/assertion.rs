//! `assert`, as written.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::json::Json;
use crate::plan::setting::{Count, Flag, Number, Setting, Text, Time, given};

/// One entry of `assert`: a map with one key, the kind of check.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// The message contains the text.
    Contains(Setting<Text>),
    /// The message is the text.
    Equals(Setting<Text>),
    /// The regular expression is found in the message.
    Regex(Setting<Text>),
    /// Something about a JSON message.
    Json(JsonCheck),
    /// The sample takes at most this long, such as `200ms`.
    Duration(Setting<Time>),
    /// The HTTP status of an `open`, such as `101`.
    Status(Setting<Count>),
    /// The status of the peer's close frame, such as `1000`.
    CloseStatus(Setting<Count>),
    /// The check does not hold.
    Not(Box<Self>),
}

/// `json`: where to look, and exactly one thing that must hold there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JsonCheck {
    /// A JSONPath (RFC 9535), such as `$.user.name`.
    #[serde(default, deserialize_with = "given")]
    pub path: Option<Setting<Text>>,
    /// Whether the path finds anything.
    #[serde(default, deserialize_with = "given")]
    pub exists: Option<Setting<Flag>>,
    /// One of the values found is this JSON value.
    #[serde(default, deserialize_with = "given")]
    pub equals: Option<Json>,
    /// The regular expression is found in one of the values.
    #[serde(default, deserialize_with = "given")]
    pub regex: Option<Setting<Text>>,
    /// One of the values is a number below this.
    #[serde(default, deserialize_with = "given")]
    pub less_than: Option<Setting<Number>>,
    /// One of the values is a number above this.
    #[serde(default, deserialize_with = "given")]
    pub greater_than: Option<Setting<Number>>,
    /// So many values are found.
    #[serde(default, deserialize_with = "given")]
    pub count: Option<Setting<Count>>,
}

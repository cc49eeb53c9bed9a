//! Checks of `assert` and matchers of `filters`, as written: one grammar.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::json::Json;
use crate::plan::setting::{Count, Flag, List, Number, Setting, Size, Text, Time, Word, given};

/// One entry of `assert` or `filters`: a map with one key, the kind of check.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// The message contains the text.
    Contains(Setting<Text>),
    /// The message is the text.
    Equals(Setting<Text>),
    /// The message starts with the text.
    StartsWith(Setting<Text>),
    /// The message ends with the text.
    EndsWith(Setting<Text>),
    /// The regular expression is found in the message.
    Regex(Setting<Text>),
    /// The regular expression matches the whole message.
    FullMatch(Setting<Text>),
    /// Something about the bytes of a binary message.
    Hex(HexCheck),
    /// Something about a JSON message.
    Json(JsonCheck),
    /// The kind of the message: `text`, `binary`, `ping`, `pong` or `close`.
    Type(Setting<Word>),
    /// The size of the message's payload.
    Size(SizeCheck),
    /// The sample takes at most this long, such as `200ms`.
    Duration(Setting<Time>),
    /// The HTTP status of an `open`, such as `101`.
    Status(Setting<Count>),
    /// The status of the peer's close frame, such as `1000`.
    CloseStatus(Setting<Count>),
    /// A header of the answer to the upgrade request.
    Header(HeaderCheck),
    /// The subprotocol that the server chose.
    Subprotocol(Setting<Text>),
    /// The check does not hold.
    Not(Box<Self>),
    /// One of the checks holds.
    AnyOf(List<Self>),
    /// All of the checks hold.
    AllOf(List<Self>),
    /// Only in `filters`: a text message, of which the matcher holds if there is one.
    Text(Option<Box<Self>>),
    /// Only in `filters`: a binary message, of which the matcher holds if there is one.
    Binary(Option<Box<Self>>),
    /// Only in `filters`: pings and pongs, which samplers see with `pings: deliver`.
    PingPong(PingPongFilter),
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

/// `hex`: exactly one thing that must hold for the bytes, written `ca fe`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HexCheck {
    /// They are these.
    #[serde(default, deserialize_with = "given")]
    pub equals: Option<Setting<Text>>,
    /// These are among them, anywhere or at the offset `at`.
    #[serde(default, deserialize_with = "given")]
    pub contains: Option<Setting<Text>>,
    /// They start with these.
    #[serde(default, deserialize_with = "given")]
    pub starts_with: Option<Setting<Text>>,
    /// With `contains`: the offset at which the bytes must stand, from 0.
    #[serde(default, deserialize_with = "given")]
    pub at: Option<Setting<Count>>,
}

/// `size`: exactly one bound of the payload's size.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeCheck {
    /// Exactly so large, such as `512B`.
    #[serde(default, deserialize_with = "given")]
    pub equals: Option<Setting<Size>>,
    /// At most so large, such as `4KiB`.
    #[serde(default, deserialize_with = "given")]
    pub at_most: Option<Setting<Size>>,
    /// At least so large, such as `1B`.
    #[serde(default, deserialize_with = "given")]
    pub at_least: Option<Setting<Size>>,
}

/// `ping_pong` in `filters`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PingPongFilter {
    /// `ping`, `pong`, or `all` (the default).
    #[serde(default, deserialize_with = "given")]
    pub which: Option<Setting<Word>>,
    /// Whether a ping that is discarded is answered, where `answer_pings: false` leaves that to
    /// filters.
    #[serde(default, deserialize_with = "given")]
    pub reply: Option<Setting<Flag>>,
}

/// `header`: its name, and at most one thing that must hold for one of its values; without, that it
/// is there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeaderCheck {
    /// Its name, in any case.
    #[serde(default, deserialize_with = "given")]
    pub name: Option<Setting<Text>>,
    /// It is the text.
    #[serde(default, deserialize_with = "given")]
    pub equals: Option<Setting<Text>>,
    /// It contains the text.
    #[serde(default, deserialize_with = "given")]
    pub contains: Option<Setting<Text>>,
    /// The regular expression is found in it.
    #[serde(default, deserialize_with = "given")]
    pub regex: Option<Setting<Text>>,
}

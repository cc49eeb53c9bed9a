//! `heartbeat`, as written: what a connection does by itself to stay alive.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::Deserializer;

use crate::plan::assertion::Check;
use crate::plan::setting::{List, Removable, Setting, Text, Time, given, removable};

/// `heartbeat`: what the connection does by itself while its thread waits, without rows. Texts are
/// evaluated once, when it is opened.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Heartbeat {
    /// Pings that the server must answer, or the connection is lost with `PING_TIMEOUT`.
    #[serde(default, deserialize_with = "given")]
    pub ping: Option<Removable<HeartbeatPing>>,
    /// Text messages at regular times, the first one so long after the open.
    #[serde(default, deserialize_with = "given")]
    pub send: Option<Removable<List<HeartbeatSend>>>,
    /// Messages that are answered unasked; no sampler sees them.
    #[serde(default, deserialize_with = "given")]
    pub answer: Option<Removable<List<HeartbeatAnswer>>>,
}

/// `ping` of `heartbeat`: one ping at a time.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatPing {
    /// The time from one ping to the next.
    #[serde(default, deserialize_with = "given")]
    pub every: Option<Setting<Time>>,
    /// How long the pong may take.
    #[serde(default, deserialize_with = "given")]
    pub fail_after: Option<Setting<Time>>,
}

/// One entry of `send` of `heartbeat`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatSend {
    /// The time from the open to the first message, and from one to the next.
    #[serde(default, deserialize_with = "given")]
    pub every: Option<Setting<Time>>,
    /// The text message.
    #[serde(default, deserialize_with = "given")]
    pub text: Option<Setting<Text>>,
}

/// One entry of `answer` of `heartbeat`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatAnswer {
    /// Which messages are answered.
    #[serde(default, deserialize_with = "given")]
    pub when: Option<Check>,
    /// The text message that is the answer.
    #[serde(default, deserialize_with = "given")]
    pub send: Option<Setting<Text>>,
}

impl<'de> Deserialize<'de> for Removable<HeartbeatPing> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        removable(deserializer)
    }
}

//! Steps, as written: samplers, controllers, pauses.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::sampler::{Close, Open, PingPong, Read, RequestResponse, SingleRead, SingleWrite};
use crate::plan::scoped::scopes;
use crate::plan::setting::{List, Passes, Setting, Time, given};

/// One step: a map with one key, its kind.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Connects and upgrades.
    Open(Box<Open>),
    /// Sends a message and waits for its reply.
    RequestResponse(Box<RequestResponse>),
    /// Sends a message.
    SingleWrite(Box<SingleWrite>),
    /// Waits for a message.
    SingleRead(Box<SingleRead>),
    /// Reads many messages into one row.
    Read(Box<Read>),
    /// Sends a ping and waits for its pong.
    PingPong(Box<PingPong>),
    /// Closes the connection.
    Close(Box<Close>),
    /// Runs its steps again and again.
    Loop(Box<Loop>),
    /// Runs its steps; gives them settings in common.
    Block(Box<Block>),
    /// Waits.
    Pause(Pause),
}

scopes! {
    /// `loop`
    Loop {
        /// The number of passes, or `forever`.
        times: Setting<Passes>,
    }
    steps: #[doc = "What each pass does."];

    /// `block`
    Block {}
    steps: #[doc = "What it does."];
}

/// `pause`: exactly one of its settings.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// The pause always takes this long.
    #[serde(default, deserialize_with = "given")]
    pub constant: Option<Setting<Time>>,
    /// The pause takes a time evenly distributed between two durations.
    #[serde(default, deserialize_with = "given")]
    pub uniform: Option<List<Setting<Time>>>,
}

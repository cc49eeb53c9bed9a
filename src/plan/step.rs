//! Steps, as written: samplers, controllers, pauses.

use serde::Deserialize;

use crate::plan::assertion::Check;
use crate::plan::extractor::Extractor;
use crate::plan::sampler::{
    Close, Defaults, Open, PingPong, RequestResponse, SingleRead, SingleWrite,
};
use crate::plan::scoped::scopes;
use crate::plan::setting::{Flag, List, Passes, Setting, Time, Word, given};

/// One step: a map with one key, its kind.
#[derive(Debug, Deserialize)]
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

/// `loop`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// Number of passes, or `forever`.
    #[serde(default, deserialize_with = "given")]
    pub times: Option<Setting<Passes>>,
    /// Settings of the samplers below.
    #[serde(default, deserialize_with = "given")]
    pub defaults: Option<Defaults>,
    /// What a failure of a sampler below does.
    #[serde(default, deserialize_with = "given")]
    pub on_error: Option<Setting<Word>>,
    /// Checks that must hold for the samplers below that they can look at, before their own.
    #[serde(default)]
    pub assert: List<Check>,
    /// What passed samplers below give to variables.
    #[serde(default)]
    pub extract: List<Extractor>,
    /// Messages that the reading samplers below discard, before their own filters.
    #[serde(default)]
    pub filters: List<Check>,
    /// `false` leaves it out, with everything below.
    #[serde(default, deserialize_with = "given")]
    pub enabled: Option<Setting<Flag>>,
    /// What each pass does.
    #[serde(default)]
    pub steps: List<Step>,
}

/// `block`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Settings of the samplers below.
    #[serde(default, deserialize_with = "given")]
    pub defaults: Option<Defaults>,
    /// What a failure of a sampler below does.
    #[serde(default, deserialize_with = "given")]
    pub on_error: Option<Setting<Word>>,
    /// Checks that must hold for the samplers below that they can look at, before their own.
    #[serde(default)]
    pub assert: List<Check>,
    /// What passed samplers below give to variables.
    #[serde(default)]
    pub extract: List<Extractor>,
    /// Messages that the reading samplers below discard, before their own filters.
    #[serde(default)]
    pub filters: List<Check>,
    /// `false` leaves it out, with everything below.
    #[serde(default, deserialize_with = "given")]
    pub enabled: Option<Setting<Flag>>,
    /// What it does.
    #[serde(default)]
    pub steps: List<Step>,
}

/// `pause`: exactly one of its settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// Always as long.
    #[serde(default, deserialize_with = "given")]
    pub constant: Option<Setting<Time>>,
    /// Evenly distributed between two durations.
    #[serde(default, deserialize_with = "given")]
    pub uniform: Option<List<Setting<Time>>>,
}

scopes!(Loop, Block);

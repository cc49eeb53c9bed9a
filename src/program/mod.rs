//! The plan resolved: every default filled in, every scope applied, every pattern compiled.
//!
//! Immutable and shared by all workers; the engine can run it without looking anything up by name.
//! What is known before the run is [`Setting::Fixed`]; the rest is a [`Template`], evaluated once
//! for each field at each execution.

mod assertion;
mod extractor;
mod heartbeat;
mod hex;
mod json_template;
mod pause;
mod push_delay;
mod reply;
mod sampler;
mod secrets;
mod setting;
mod template;

use std::time::Duration;

use crate::verdict::Threshold;

pub use assertion::{
    Assertion, Bytes, Check, Filter, HeaderTest, HexTest, JsonPath, JsonTest, MessageType, Pattern,
    SizeTest,
};
pub use extractor::{Extractor, ExtractorKind, Families, Member, Piece, Which};
pub use heartbeat::{Heartbeat, HeartbeatAnswer, HeartbeatPing, HeartbeatSend};
pub use hex::hex_bytes;
pub use json_template::JsonPart;
pub use pause::Pause;
pub use push_delay::{PushDelay, SentAt, TimeUnit};
pub use reply::{Correlate, LateReplies, Matching, Reply, Unmatched};
pub use sampler::{
    Close, Expect, Fragments, Header, InboxLimits, OnError, Open, Payload, PingKind, PingPong,
    Pings, Read, RequestResponse, Sampler, SamplerKind, SingleRead, SingleWrite, WhenFull,
};
pub use secrets::{Secrets, is_secret_header};
pub use setting::{BadValue, ByteSize, FromText, Setting};
pub use template::{
    CounterId, CounterScope, Function, Part, Template, TimeFormat, VariableId, json_escape,
};

/// The variable that tells after each reading sampler whether what it read ended its message: the
/// name is that of the plugin for JMeter.
pub const LAST_FRAME_FINAL: &str = "websocket.last_frame_final";

/// A whole run.
#[derive(Debug)]
pub struct Program {
    /// The plan's `name`, or its file's stem.
    pub name: String,
    /// The names of all variables; a [`VariableId`] is an index into it.
    pub variable_names: Vec<String>,
    /// Evaluated for each thread when it starts, in order.
    pub variables: Vec<(VariableId, Template)>,
    /// What extractors can set beside their own variable.
    pub families: Families,
    /// Variables whose values no output shows.
    pub secret_variables: Vec<VariableId>,
    /// Secrets that are known before the run.
    pub secrets: Secrets,
    /// Whether secrets are shown after all, also those of URLs.
    pub show_secrets: bool,
    /// Variables that are further columns of the rows.
    pub sample_variables: Vec<VariableId>,
    /// The variable [`LAST_FRAME_FINAL`], if something reads it.
    pub last_frame_final: Option<VariableId>,
    /// How many `__counter` calls there are; a [`CounterId`] is below it.
    pub counters: usize,
    /// The thread groups, in the order of the plan.
    pub groups: Vec<Group>,
    /// What the verdict depends on, in the order of the plan.
    pub thresholds: Vec<Threshold>,
}

/// A thread group: how many threads run which steps for how long.
#[derive(Debug)]
pub struct Group {
    /// Its name, as in `threadName`.
    pub name: String,
    /// Number of virtual threads, at least 1.
    pub threads: u32,
    /// Thread i of n starts at `delay + i * ramp_up / n`.
    pub ramp_up: Duration,
    /// Wait before the first thread starts.
    pub delay: Duration,
    /// Iterations of each thread.
    pub loops: Times,
    /// Time from the end of `delay` after which no new step starts.
    pub duration: Option<Duration>,
    /// What each iteration does.
    pub steps: Vec<Step>,
}

/// How often a loop runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// Until something else ends it.
    Forever,
    /// This many passes; zero runs nothing.
    Count(u64),
}

/// One step of a thread group or controller. A `block` leaves no step: its settings have been
/// applied to the samplers below it.
#[derive(Debug)]
pub enum Step {
    /// One row.
    Sampler(Box<Sampler>),
    /// Waits, outside any row.
    Pause(Pause),
    /// Runs its steps again and again.
    Loop(Loop),
}

/// `loop: {times, steps}`.
#[derive(Debug)]
pub struct Loop {
    /// Evaluated when the loop is entered.
    pub times: Setting<Times>,
    /// What each pass does.
    pub steps: Vec<Step>,
}

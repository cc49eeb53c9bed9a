//! The plan resolved: every default filled in, every scope applied, every pattern compiled.
//!
//! Immutable and shared by all workers; the engine can run it without looking anything up by name.
//! What is known before the run is [`Setting::Fixed`]; the rest is a [`Template`], evaluated once
//! for each field at each execution.

mod assertion;
mod base64;
mod condition;
mod connection_count;
mod controller;
mod data_set;
mod extractor;
mod heartbeat;
mod hex;
mod http;
mod json_path;
mod json_template;
mod pause;
mod push_delay;
mod reply;
mod request_head;
mod sampler;
mod schedule;
mod setting;
mod template;
mod text_function;
mod time_shift;
mod tls;

use std::collections::HashMap;
use std::time::Duration;

use crate::secrets::Secrets;
use crate::verdict::Threshold;
use crate::verdict::compare::Tolerances;

pub use assertion::{
    Assertion, Bytes, Check, Filter, HeaderTest, HexTest, JsonTest, MessageType, Pattern, SizeTest,
};
pub use base64::base64_bytes;
pub use condition::{Comparison, Condition, Operand, Test, compare};
pub use connection_count::ConnectionCount;
pub use controller::{
    Chance, Controller, ForEach, If, Interleave, Loop, Once, RunFor, Transaction, Values, While,
};
pub use data_set::{DataSet, Row, Share};
pub use extractor::{Extractor, ExtractorKind, Families, Member, Piece, Which};
pub use heartbeat::{Heartbeat, HeartbeatAnswer, HeartbeatPing, HeartbeatSend};
pub use hex::hex_bytes;
pub use http::{Body, Http, Method};
pub use json_path::JsonPath;
pub use json_template::{JsonPart, constant_json};
pub use pause::{Pace, PaceShare, Pause, Rate, Rendezvous};
pub use push_delay::{PushDelay, SentAt, TimeUnit};
pub use reply::{Correlate, LateReplies, Matching, Reply, Unmatched};
pub use request_head::{
    BasicAuth, Header, MAX_REDIRECTS, RequestHead, cookie_name, cookie_value, header_value,
    redirects, user_name,
};
pub use sampler::{
    Backoff, Close, Expect, Fragments, IfOpen, InboxLimits, MAX_RANDOM, OnError, Open, Payload,
    PingKind, PingPong, Pings, Read, RequestResponse, Sampler, SamplerKind, SingleRead,
    SingleWrite, WhenFull, subprotocol,
};
pub use schedule::{
    ArrivalTimes, Arrivals, PerSecond, Schedule, Spacing, Stage, Stages, Stay, Stretch,
};
pub use setting::{BadValue, ByteSize, FromText, Setting};
pub use template::{
    CounterId, CounterScope, Function, Part, Template, TimeFormat, VariableId, json_escape,
};
pub use text_function::{Algorithm, TextFunction};
pub use time_shift::Shift;
pub use tls::Tls;

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
    /// What each iteration takes a line of, in the order of the plan.
    pub data_sets: Vec<DataSet>,
    /// What extractors can set beside their own variable.
    pub families: Families,
    /// Of the names that `for_each` reads with numbers, the variables that the plan has, `x_1` first.
    pub numbered: HashMap<VariableId, Vec<VariableId>>,
    /// Variables whose values no output shows.
    pub secret_variables: Vec<VariableId>,
    /// Variables whose names tell that they hold secrets; short values are not hidden everywhere.
    pub telling_variables: Vec<VariableId>,
    /// Variables that secrets are made from: those with other names that stand in a header or a cookie.
    pub parts_of_secrets: Vec<VariableId>,
    /// Secrets that are known before the run.
    pub secrets: Secrets,
    /// Whether secrets are shown after all, also those of URLs.
    pub show_secrets: bool,
    /// Variables that are further columns of the rows.
    pub sample_variables: Vec<VariableId>,
    /// The variable [`LAST_FRAME_FINAL`], if something reads it.
    pub last_frame_final: Option<VariableId>,
    /// How many counts the run keeps; a [`CounterId`] is below it.
    pub counters: usize,
    /// How many `rendezvous` there are.
    pub rendezvous: usize,
    /// How long samplers at work may go on after the end of their group's time or a graceful stop.
    pub graceful_stop: Duration,
    /// When the run is ended as unfinished.
    pub time_limit: Option<Duration>,
    /// Whether the groups of a phase run one after another instead of together.
    pub in_turn: bool,
    /// The thread groups, in the order of their phases and of the plan.
    pub groups: Vec<Group>,
    /// What the verdict depends on, in the order of the plan.
    pub thresholds: Vec<Threshold>,
    /// What may differ from another run; `None` if the plan does not say.
    pub compare: Option<Tolerances>,
}

impl Program {
    /// Whether the plan says, or the variable's name, that what it holds is a secret.
    pub fn is_called_secret(&self, variable: VariableId) -> bool {
        [&self.secret_variables, &self.telling_variables].iter().any(|all| all.contains(&variable))
    }

    /// As [`Self::is_called_secret`]; or whether a secret is made from it.
    pub fn is_secret(&self, variable: VariableId) -> bool {
        self.is_called_secret(variable) || self.parts_of_secrets.contains(&variable)
    }
}

/// When a thread group runs: a phase begins when all threads of the one before are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// `setup`
    Setup,
    /// `thread_groups`
    Main,
    /// `teardown`, also after a run that was stopped gracefully.
    Teardown,
}

impl Phase {
    /// All, in order.
    pub const ALL: [Self; 3] = [Self::Setup, Self::Main, Self::Teardown];
}

/// A thread group: how many threads run which steps for how long.
#[derive(Debug)]
pub struct Group {
    /// Its name, as in `threadName`.
    pub name: String,
    /// When it runs.
    pub phase: Phase,
    /// Which of its phase it is, from 1, as in `threadName`.
    pub number: usize,
    /// Number of virtual threads, or how many there are at most; at least 1.
    pub threads: u32,
    /// When they start, counted from the end of `delay`.
    pub schedule: Schedule,
    /// Wait before the first thread starts.
    pub delay: Duration,
    /// Iterations of each thread.
    pub loops: Times,
    /// Time from the end of `delay` after which no new step starts; that of all stages.
    pub duration: Option<Duration>,
    /// How many connections each thread may have at once, as far as the plan tells.
    pub connections: ConnectionCount,
    /// The data sets of which each iteration takes a line: those whose variables it reads, by their
    /// place in the program.
    pub data_sets: Vec<usize>,
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

/// One step of a thread group or controller.
#[derive(Debug)]
pub enum Step {
    /// One row.
    Sampler(Box<Sampler>),
    /// Waits, outside any row.
    Pause(Pause),
    /// Waits until it is time for the next pass.
    Pace(Pace),
    /// Waits for other threads.
    Rendezvous(Rendezvous),
    /// Decides about other steps.
    Controller(Box<Controller>),
    /// Gives values to variables, in order.
    Set(Vec<(VariableId, Template)>),
    /// Shows a text beside the progress of the run.
    Log(Template),
    /// Goes on elsewhere.
    Jump(Jump),
}

impl Step {
    /// Whether it is a sampler, or has one in it.
    pub fn has_sampler(&self) -> bool {
        match self {
            Self::Sampler(_) => true,
            Self::Controller(controller) => {
                controller.parts().iter().any(|part| part.iter().any(Self::has_sampler))
            }
            _ => false,
        }
    }
}

/// Where a thread goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jump {
    /// At the end of this pass of the innermost loop.
    NextPass,
    /// Behind the innermost loop.
    Break,
    /// At the start of the next iteration.
    NextIteration,
    /// Nowhere: the thread ends.
    StopThread,
    /// Nowhere: all threads end after their current sampler.
    StopTest,
    /// Nowhere: all threads end at once.
    StopTestNow,
}

//! What a connection does by itself to stay alive, without rows.

use std::time::Duration;

use crate::program::{Check, Setting, Template};

/// `heartbeat`. Everything in it is evaluated once, when the connection is opened.
#[derive(Debug, Clone, Default)]
pub struct Heartbeat {
    /// Pings that the peer must answer.
    pub ping: Option<HeartbeatPing>,
    /// Text messages at regular times.
    pub send: Vec<HeartbeatSend>,
    /// What is answered unasked.
    pub answer: Vec<HeartbeatAnswer>,
}

/// `ping`: one ping after another.
#[derive(Debug, Clone, PartialEq)]
pub struct HeartbeatPing {
    /// From one to the next, never zero. While one is unanswered there is no other.
    pub every: Setting<Duration>,
    /// A pong that does not come in this time loses the connection; never zero.
    pub fail_after: Setting<Duration>,
}

/// One entry of `send`.
#[derive(Debug, Clone, PartialEq)]
pub struct HeartbeatSend {
    /// From the open to the first message, and from one to the next; never zero.
    pub every: Setting<Duration>,
    /// What is sent.
    pub text: Template,
}

/// One entry of `answer`.
#[derive(Debug, Clone)]
pub struct HeartbeatAnswer {
    /// A message for which this holds is taken out: no sampler sees it.
    pub when: Check,
    /// The matcher as written, on one line.
    pub source: String,
    /// What is sent back.
    pub send: Template,
}

impl Heartbeat {
    /// Whether it does nothing at all.
    pub fn is_empty(&self) -> bool {
        self.ping.is_none() && self.send.is_empty() && self.answer.is_empty()
    }
}

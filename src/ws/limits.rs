//! What a connection accepts, as the plan has it.

use crate::ws::InboxBounds;

/// What a connection accepts, and what it does with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Payload bytes of one message.
    pub max_message_size: u64,
    /// Of what waits unread.
    pub inbox: InboxBounds,
    /// What becomes of single frames.
    pub frames: FrameRules,
}

/// What a connection does with frames that usually nobody sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameRules {
    /// Whether pings are answered.
    pub answer_pings: bool,
    /// Whether pings, and pongs that nobody awaits, are messages for observers and inbox too.
    pub deliver_pings: bool,
    /// Whether each data frame is a message of its own.
    pub deliver_fragments: bool,
}

impl Default for FrameRules {
    fn default() -> Self {
        Self { answer_pings: true, deliver_pings: false, deliver_fragments: false }
    }
}

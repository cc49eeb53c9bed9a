//! The ways in which a connection ends.

use crate::ws::{CloseFrame, Violation};

/// Why a connection is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// The peer sent a close frame.
    Closed(CloseFrame),
    /// TCP ended without a close frame; says how.
    Disconnected(String),
    /// The peer broke RFC 6455 or a limit.
    Violation(Violation),
    /// The inbox was full and must not overflow.
    InboxFull,
    /// A ping got no pong in time, and whoever sent it gave up.
    PingTimeout,
}

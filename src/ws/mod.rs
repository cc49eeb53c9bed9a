//! One WebSocket connection (RFC 6455), frame by frame: handshake, frames, messages, inbox.
//!
//! The protocol itself ([`frame`], [`Decoder`], [`Assembler`], [`CloseFrame`], the handshake's
//! texts) does no I/O; [`connect()`], [`Connection`] and [`linger()`] join it to a socket. Every byte
//! gets an arrival time when it is read.

mod assembler;
mod close;
mod connect;
mod connection;
mod decoder;
pub mod frame;
mod handshake;
mod inbox;
mod limits;
mod linger;
mod loss;
mod observer;
mod opcode;
mod tap;
mod traffic;
mod violation;

pub use assembler::{Assembler, Message, MessageKind};
pub use close::{CloseFrame, MAX_REASON, NO_STATUS, may_be_sent};
pub use connect::{ConnectError, ConnectFailure, Connected, connect};
pub use connection::{Connection, Remains};
pub use decoder::{Decoder, Frame};
pub use handshake::{Answer, MAX_RESPONSE, UpgradeRequest, header_values};
pub use inbox::{Fate, Full, Inbox, InboxBounds, Overflow};
pub use limits::{FrameRules, Limits};
pub use linger::linger;
pub use loss::Loss;
pub use observer::{KeepAll, Observer, Reaction};
pub use opcode::Opcode;
pub use tap::{Direction, Shown, Tap};
pub use traffic::Traffic;
pub use violation::Violation;

//! One WebSocket connection (RFC 6455), frame by frame: handshake, frames, messages, inbox.
//!
//! The protocol itself ([`frame`], [`Decoder`], [`Assembler`], [`CloseFrame`]) does no I/O;
//! [`Connection`] joins it to a socket. Every byte gets an arrival time when it is read.

mod assembler;
mod close;
mod decoder;
pub mod frame;
mod opcode;
mod violation;

pub use assembler::{Assembler, Message, MessageKind};
pub use close::{CloseFrame, MAX_REASON, NO_STATUS, may_be_sent};
pub use decoder::{Decoder, Frame};
pub use opcode::Opcode;
pub use violation::Violation;

//! What a connection asks of whoever uses it: what to keep, drop or answer.

use std::time::Instant;

use crate::ws::{Frame, Message};

/// Is asked what to do with what arrives.
pub trait Observer {
    /// Whether a sampler waits on this connection now; then a full inbox does not hold it back.
    fn is_waiting(&self) -> bool;
    /// Offers a message that has just arrived; gives it back if the inbox is to keep it.
    fn message(&mut self, message: Message) -> Option<Message>;
    /// Shows a pong or close frame whose last byte was read at `arrived`. True if it was awaited, so
    /// that nobody else is to see it.
    fn control(&mut self, frame: &Frame, arrived: Instant) -> bool;
    /// What is to be sent in answer to messages that it did not give back, one at a time.
    fn take_reaction(&mut self) -> Option<Reaction> {
        None
    }
}

/// An answer that an [`Observer`] wants sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reaction {
    /// A pong with this payload, unless the connection has answered the ping by itself.
    Pong(Vec<u8>),
    /// A text message.
    Text(String),
}

/// The observer while nothing waits on the connection: the inbox keeps everything.
#[derive(Debug)]
pub struct KeepAll;

impl Observer for KeepAll {
    fn is_waiting(&self) -> bool {
        false
    }
    fn message(&mut self, message: Message) -> Option<Message> {
        Some(message)
    }
    fn control(&mut self, _: &Frame, _: Instant) -> bool {
        false
    }
}

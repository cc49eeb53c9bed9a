//! Looking on: what passes over a connection, for those who want to see it.

use std::fmt::Debug;
use std::time::Instant;

use crate::ws::Opcode;

/// Is shown everything that passes over a connection.
pub trait Tap: Debug {
    /// Shows an upgrade request, or the answer to it as far as it was read.
    fn head(&mut self, direction: Direction, bytes: &[u8], at: Instant);
    /// Shows a frame: one that is about to be sent, or whose last byte was read at `at`.
    fn frame(&mut self, direction: Direction, frame: Shown<'_>, at: Instant);
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From us to the server.
    Sent,
    /// From the server to us.
    Received,
}

/// A frame, as it is shown.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// What it is.
    pub opcode: Opcode,
    /// Whether it ends its message.
    pub last: bool,
    /// Without its mask.
    pub payload: &'a [u8],
}

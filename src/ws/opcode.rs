//! Opcodes of RFC 6455 5.2, without the reserved ones.

use tungstenite::protocol::frame::coding::{Control, Data, OpCode};

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opcode {
    /// A further fragment of a message.
    Continuation,
    /// A text message, or its first fragment.
    Text,
    /// A binary message, or its first fragment.
    Binary,
    /// Closes the connection.
    Close,
    /// Asks for a pong.
    Ping,
    /// Answers a ping.
    Pong,
}

impl Opcode {
    /// Whether this is a control frame (RFC 6455 5.5).
    pub fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }

    pub(crate) fn to_coding(self) -> OpCode {
        match self {
            Self::Continuation => OpCode::Data(Data::Continue),
            Self::Text => OpCode::Data(Data::Text),
            Self::Binary => OpCode::Data(Data::Binary),
            Self::Close => OpCode::Control(Control::Close),
            Self::Ping => OpCode::Control(Control::Ping),
            Self::Pong => OpCode::Control(Control::Pong),
        }
    }

    /// `None` for the reserved ones.
    pub(crate) fn from_coding(coding: OpCode) -> Option<Self> {
        match coding {
            OpCode::Data(Data::Continue) => Some(Self::Continuation),
            OpCode::Data(Data::Text) => Some(Self::Text),
            OpCode::Data(Data::Binary) => Some(Self::Binary),
            OpCode::Control(Control::Close) => Some(Self::Close),
            OpCode::Control(Control::Ping) => Some(Self::Ping),
            OpCode::Control(Control::Pong) => Some(Self::Pong),
            OpCode::Data(Data::Reserved(_)) | OpCode::Control(Control::Reserved(_)) => None,
        }
    }
}

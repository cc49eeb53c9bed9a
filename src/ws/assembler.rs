//! Frames to messages: joins fragments (RFC 6455 5.4).

use std::cell::OnceCell;
use std::time::Instant;

use serde_json::Value;

use crate::ws::{Frame, Opcode, Violation};

/// The type of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// UTF-8.
    Text,
    /// Anything.
    Binary,
}

/// A whole message, however many frames carried it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its type.
    pub kind: MessageKind,
    /// Its payload; valid UTF-8 if it is text.
    pub payload: Vec<u8>,
    /// Headers and payloads of all its frames, in bytes.
    pub wire_length: u64,
    /// When the first byte of its first frame was read.
    pub first_byte: Instant,
    /// When its last byte was read.
    pub arrived: Instant,
    /// The payload as JSON, once someone has asked for it.
    json: OnceCell<Box<Result<Value, String>>>,
}

impl Message {
    /// A message with these parts.
    pub fn new(
        kind: MessageKind,
        payload: Vec<u8>,
        wire_length: u64,
        first_byte: Instant,
        arrived: Instant,
    ) -> Self {
        Self { kind, payload, wire_length, first_byte, arrived, json: OnceCell::new() }
    }

    /// The payload as JSON (RFC 8259), or why it is none. Parsed at most once, by whoever asks
    /// first: filters, matchers, assertions and extractors share it.
    pub fn json(&self) -> Result<&Value, &str> {
        let parse = || Box::new(serde_json::from_slice(&self.payload).map_err(|e| e.to_string()));
        (**self.json.get_or_init(parse)).as_ref().map_err(String::as_str)
    }
}

/// Joins the data frames of one connection.
#[derive(Debug)]
pub struct Assembler {
    max_size: u64,
    /// Boxed: only connections that hold part of a message pay for it.
    unfinished: Option<Box<Message>>,
}

impl Assembler {
    /// An assembler that refuses messages of more than `max_size` bytes.
    pub fn new(max_size: u64) -> Self {
        Self { max_size, unfinished: None }
    }

    /// Memory held for an unfinished message's payload, in bytes: at most twice what has arrived.
    pub fn reserved(&self) -> usize {
        self.unfinished.as_ref().map_or(0, |message| message.payload.capacity())
    }

    /// Whether part of a message is there.
    pub fn is_inside_a_message(&self) -> bool {
        self.unfinished.is_some()
    }

    /// Takes a data frame whose last byte was read at `arrived`; gives the message it completes.
    /// Control frames are not for it.
    pub fn push(&mut self, frame: Frame, arrived: Instant) -> Result<Option<Message>, Violation> {
        let kind = match frame.opcode {
            Opcode::Continuation => return self.continue_message(&frame, arrived),
            Opcode::Text => MessageKind::Text,
            _ => MessageKind::Binary,
        };
        if self.unfinished.is_some() {
            return Err(Violation::UnfinishedMessage);
        }
        let (length, first_byte) = (frame.wire_length, frame.first_byte);
        let message = Message::new(kind, frame.payload, length, first_byte, arrived);
        self.check_size(message.payload.len())?;
        if frame.last {
            return finish(message).map(Some);
        }
        self.unfinished = Some(Box::new(message));
        Ok(None)
    }

    fn continue_message(
        &mut self,
        frame: &Frame,
        arrived: Instant,
    ) -> Result<Option<Message>, Violation> {
        let mut message = self.unfinished.take().ok_or(Violation::StrayContinuation)?;
        self.check_size(message.payload.len() + frame.payload.len())?;
        message.payload.extend_from_slice(&frame.payload);
        message.wire_length += frame.wire_length;
        message.arrived = arrived;
        if frame.last {
            return finish(*message).map(Some);
        }
        self.unfinished = Some(message);
        Ok(None)
    }

    fn check_size(&self, size: usize) -> Result<(), Violation> {
        if size as u64 > self.max_size {
            return Err(Violation::TooLarge { limit: self.max_size });
        }
        Ok(())
    }
}

fn finish(message: Message) -> Result<Message, Violation> {
    if message.kind == MessageKind::Text && std::str::from_utf8(&message.payload).is_err() {
        return Err(Violation::TextNotUtf8);
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    fn frame(opcode: Opcode, last: bool, payload: &[u8]) -> Frame {
        let wire_length = payload.len() as u64 + 2;
        Frame { opcode, last, payload: payload.to_vec(), wire_length, first_byte: clock::now() }
    }

    #[test]
    fn fragments_become_one_message_with_all_their_bytes() {
        let mut assembler = Assembler::new(100);
        let now = clock::now();
        // The é is cut in two: UTF-8 is judged for the message, not for its fragments.
        assert_eq!(assembler.push(frame(Opcode::Text, false, b"caf\xc3"), now), Ok(None));
        assert_eq!(assembler.push(frame(Opcode::Continuation, false, b"\xa9"), now), Ok(None));
        let message =
            assembler.push(frame(Opcode::Continuation, true, b"!"), now).unwrap().unwrap();
        assert_eq!((message.payload.as_slice(), message.wire_length), ("café!".as_bytes(), 12));
    }

    #[test]
    fn broken_sequences_are_told_apart() {
        let now = clock::now();
        let mut assembler = Assembler::new(100);
        let stray = assembler.push(frame(Opcode::Continuation, true, b""), now);
        assert_eq!(stray, Err(Violation::StrayContinuation));
        assembler.push(frame(Opcode::Text, false, b"a"), now).unwrap();
        let second = assembler.push(frame(Opcode::Binary, true, b"b"), now);
        assert_eq!(second, Err(Violation::UnfinishedMessage));
    }

    #[test]
    fn the_limit_holds_for_the_whole_message() {
        let now = clock::now();
        let mut assembler = Assembler::new(5);
        assembler.push(frame(Opcode::Binary, false, b"abc"), now).unwrap();
        let more = assembler.push(frame(Opcode::Continuation, true, b"def"), now);
        assert_eq!(more, Err(Violation::TooLarge { limit: 5 }));
    }

    #[test]
    fn text_must_be_utf8_and_binary_need_not_be() {
        let now = clock::now();
        let mut assembler = Assembler::new(5);
        let text = assembler.push(frame(Opcode::Text, true, b"\xff"), now);
        assert_eq!(text, Err(Violation::TextNotUtf8));
        assert!(assembler.push(frame(Opcode::Binary, true, b"\xff"), now).unwrap().is_some());
    }
}

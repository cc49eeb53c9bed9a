//! Frames to messages: joins fragments (RFC 6455 5.4), or makes each a message of its own.

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
    /// A ping frame, where a connection hands them out.
    Ping,
    /// A pong frame, where a connection hands them out.
    Pong,
}

impl MessageKind {
    /// The opcode of a message's first frame.
    pub fn opcode(self) -> Opcode {
        match self {
            Self::Text => Opcode::Text,
            Self::Binary => Opcode::Binary,
            Self::Ping => Opcode::Ping,
            Self::Pong => Opcode::Pong,
        }
    }

    /// Whether it is data, and not a ping or pong.
    pub fn is_data(self) -> bool {
        matches!(self, Self::Text | Self::Binary)
    }
}

/// A whole message, however many frames carried it; or one frame, where a connection hands them out
/// one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its type; that of the first frame for each fragment.
    pub kind: MessageKind,
    /// Its payload. Whole text is valid UTF-8; a fragment may begin or end within a character.
    pub payload: Vec<u8>,
    /// Whether nothing of the message is still to come: false only for a fragment but the last.
    pub last: bool,
    /// Headers and payloads of all its frames, in bytes.
    pub wire_length: u64,
    /// When the first byte of its first frame was read.
    pub first_byte: Instant,
    /// When its last byte was read.
    pub arrived: Instant,
    /// When the message began: for a later fragment earlier than its first byte.
    pub began: Instant,
    /// The payload as JSON, once someone has asked for it.
    json: OnceCell<Box<Result<Value, String>>>,
}

impl Message {
    /// A whole message with these parts.
    pub fn new(
        kind: MessageKind,
        payload: Vec<u8>,
        wire_length: u64,
        first_byte: Instant,
        arrived: Instant,
    ) -> Self {
        let json = OnceCell::new();
        let began = first_byte;
        Self { kind, payload, last: true, wire_length, first_byte, arrived, began, json }
    }

    /// The payload as JSON (RFC 8259), or why it is none. Parsed at most once, by whoever asks
    /// first: filters, matchers, assertions and extractors share it.
    pub fn json(&self) -> Result<&Value, &str> {
        let parse = || Box::new(serde_json::from_slice(&self.payload).map_err(|e| e.to_string()));
        (**self.json.get_or_init(parse)).as_ref().map_err(String::as_str)
    }
}

/// Makes messages of the data frames of one connection.
#[derive(Debug)]
pub struct Assembler {
    max_size: u64,
    /// Boxed: only connections that hold part of a message pay for it.
    unfinished: Option<Box<Unfinished>>,
    /// Whether each fragment is given out as it comes.
    in_fragments: bool,
}

/// A message of which the last frame has not come.
#[derive(Debug)]
enum Unfinished {
    /// All of it so far.
    Joined(Message),
    /// Its fragments were given out.
    Given {
        kind: MessageKind,
        began: Instant,
        size: usize,
        /// The first bytes of a character that the next fragment goes on with.
        cut: Vec<u8>,
    },
}

impl Assembler {
    /// An assembler that joins fragments, and refuses messages of more than `max_size` bytes.
    pub fn new(max_size: u64) -> Self {
        Self { max_size, unfinished: None, in_fragments: false }
    }

    /// Makes each fragment a message of its own. What is judged for a whole message still is: its
    /// size, and whether it is UTF-8.
    #[must_use]
    pub fn in_fragments(self) -> Self {
        Self { in_fragments: true, ..self }
    }

    /// Memory held for an unfinished message's payload, in bytes: at most twice what has arrived.
    pub fn reserved(&self) -> usize {
        self.unfinished.as_deref().map_or(0, |unfinished| match unfinished {
            Unfinished::Joined(message) => message.payload.capacity(),
            Unfinished::Given { cut, .. } => cut.capacity(),
        })
    }

    /// Whether part of a message is there.
    pub fn is_inside_a_message(&self) -> bool {
        self.unfinished.is_some()
    }

    /// Takes a data frame whose last byte was read at `arrived`; gives the message it completes.
    /// Control frames are not for it.
    pub fn push(&mut self, frame: Frame, arrived: Instant) -> Result<Option<Message>, Violation> {
        let kind = match frame.opcode {
            Opcode::Continuation => return self.continue_message(frame, arrived),
            Opcode::Text => MessageKind::Text,
            _ => MessageKind::Binary,
        };
        if self.unfinished.is_some() {
            return Err(Violation::UnfinishedMessage);
        }
        let last = frame.last;
        self.check_size(frame.payload.len())?;
        let message = message_of(frame, kind, arrived);
        if last {
            return finish(message).map(Some);
        }
        if self.in_fragments {
            return self.give(message, 0, Vec::new()).map(Some);
        }
        self.unfinished = Some(Box::new(Unfinished::Joined(message)));
        Ok(None)
    }

    fn continue_message(
        &mut self,
        frame: Frame,
        arrived: Instant,
    ) -> Result<Option<Message>, Violation> {
        let mut message = match *self.unfinished.take().ok_or(Violation::StrayContinuation)? {
            Unfinished::Joined(message) => message,
            Unfinished::Given { kind, began, size, cut } => {
                let fragment = Message { began, ..message_of(frame, kind, arrived) };
                return self.give(fragment, size, cut).map(Some);
            }
        };
        self.check_size(message.payload.len() + frame.payload.len())?;
        message.payload.extend_from_slice(&frame.payload);
        message.wire_length += frame.wire_length;
        message.arrived = arrived;
        if frame.last {
            message.last = true;
            return finish(message).map(Some);
        }
        self.unfinished = Some(Box::new(Unfinished::Joined(message)));
        Ok(None)
    }

    /// Gives out a fragment that follows `before` bytes of its message, of which the last few, `cut`,
    /// are the beginning of a character.
    fn give(
        &mut self,
        fragment: Message,
        before: usize,
        cut: Vec<u8>,
    ) -> Result<Message, Violation> {
        let size = before + fragment.payload.len();
        self.check_size(size)?;
        let cut = match fragment.kind {
            MessageKind::Text => rest_of_text(cut, &fragment.payload)?,
            _ => cut,
        };
        if fragment.last {
            return if cut.is_empty() { Ok(fragment) } else { Err(Violation::TextNotUtf8) };
        }
        let Message { kind, began, .. } = fragment;
        self.unfinished = Some(Box::new(Unfinished::Given { kind, began, size, cut }));
        Ok(fragment)
    }

    fn check_size(&self, size: usize) -> Result<(), Violation> {
        if size as u64 > self.max_size {
            return Err(Violation::TooLarge { limit: self.max_size });
        }
        Ok(())
    }
}

fn message_of(frame: Frame, kind: MessageKind, arrived: Instant) -> Message {
    let last = frame.last;
    let message = Message::new(kind, frame.payload, frame.wire_length, frame.first_byte, arrived);
    Message { last, ..message }
}

fn finish(message: Message) -> Result<Message, Violation> {
    if message.kind == MessageKind::Text && std::str::from_utf8(&message.payload).is_err() {
        return Err(Violation::TextNotUtf8);
    }
    Ok(message)
}

/// Checks text that goes on after the beginning of a character, `cut`; gives the beginning of the
/// character, if there is one, that it is cut in itself.
fn rest_of_text(mut cut: Vec<u8>, mut bytes: &[u8]) -> Result<Vec<u8>, Violation> {
    while !cut.is_empty() {
        let Some((next, rest)) = bytes.split_first() else { return Ok(cut) };
        cut.push(*next);
        bytes = rest;
        match std::str::from_utf8(&cut) {
            Ok(_) => cut.clear(),
            Err(error) if error.error_len().is_some() => return Err(Violation::TextNotUtf8),
            Err(_) => {}
        }
    }
    match std::str::from_utf8(bytes) {
        Ok(_) => Ok(Vec::new()),
        Err(error) if error.error_len().is_some() => Err(Violation::TextNotUtf8),
        Err(error) => Ok(bytes[error.valid_up_to()..].to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    #[test]
    fn fragments_are_given_out_one_by_one_and_a_character_may_be_cut_between_them() {
        let now = clock::now();
        let mut assembler = Assembler::new(100).in_fragments();
        let mut push = |opcode, last, payload: &[u8]| {
            let message = assembler.push(frame(opcode, last, payload), now).unwrap().unwrap();
            assert_eq!(message.kind, MessageKind::Text);
            (message.payload, message.last, message.wire_length)
        };
        // The € has three bytes, here in three frames, one of them empty.
        assert_eq!(push(Opcode::Text, false, b"a\xe2"), (b"a\xe2".to_vec(), false, 4));
        assert_eq!(push(Opcode::Continuation, false, b""), (b"".to_vec(), false, 2));
        assert_eq!(push(Opcode::Continuation, false, b"\x82"), (b"\x82".to_vec(), false, 3));
        assert_eq!(push(Opcode::Continuation, true, b"\xacb"), (b"\xacb".to_vec(), true, 4));
        assert_eq!(push(Opcode::Text, true, b"next"), (b"next".to_vec(), true, 6));
    }

    #[test]
    fn fragments_given_out_are_judged_as_one_message() {
        let now = clock::now();
        let after = |first: &[u8], last, second: &[u8]| {
            let mut assembler = Assembler::new(5).in_fragments();
            assembler.push(frame(Opcode::Text, false, first), now).unwrap();
            assembler.push(frame(Opcode::Continuation, last, second), now).map(|_| ())
        };
        assert_eq!(after(b"\xe2\x82", false, b"a"), Err(Violation::TextNotUtf8));
        assert_eq!(after(b"\xe2", true, b"\x82"), Err(Violation::TextNotUtf8));
        assert_eq!(after(b"\xe2", true, b"\x82\xac"), Ok(()));
        assert_eq!(after(b"abc", true, b"def"), Err(Violation::TooLarge { limit: 5 }));
        let mut assembler = Assembler::new(5).in_fragments();
        let stray = assembler.push(frame(Opcode::Continuation, true, b""), now);
        assert_eq!(stray, Err(Violation::StrayContinuation));
    }

    proptest! {
        #[test]
        fn fragments_one_by_one_are_the_message_joined_and_break_the_same_rules(
            text in prop_oneof![
                any::<Vec<u8>>(),
                "[a-zé€😀]{0,12}".prop_map(String::into_bytes),
            ],
            cuts in prop::collection::vec(0_usize..6, 0..8),
        ) {
            let mut fragments: Vec<&[u8]> = Vec::new();
            let mut rest = text.as_slice();
            for cut in cuts {
                let (head, tail) = rest.split_at(cut.min(rest.len()));
                fragments.push(head);
                rest = tail;
            }
            fragments.push(rest);
            let now = clock::now();
            let all = |mut assembler: Assembler| {
                let mut payload = Vec::new();
                for (index, fragment) in fragments.iter().enumerate() {
                    let opcode = if index == 0 { Opcode::Text } else { Opcode::Continuation };
                    let last = index + 1 == fragments.len();
                    let message = assembler.push(frame(opcode, last, fragment), now)?;
                    payload.extend(message.into_iter().flat_map(|message| message.payload));
                }
                Ok::<_, Violation>(payload)
            };
            let joined = all(Assembler::new(1_000));
            prop_assert_eq!(all(Assembler::new(1_000).in_fragments()), joined);
        }
    }
}

//! What a trial run shows: events are collected as they happen and handed on between steps, so that
//! secrets that a step has brought to light are hidden in what it did before.

mod hidden;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use crate::clock;
use crate::exec::evaluate::Scope;
use crate::exec::judge::shown;
use crate::sample::{Payload, Trace};
use crate::ws::{CloseFrame, Direction, Message, Opcode, Shown, Tap};

/// Bytes of a payload, or of an upgrade answer with its body, that are shown.
pub(crate) const SHOWN_BYTES: usize = 1_024;

/// Characters of a message that are shown with its fate.
const SHOWN_CHARS: usize = 60;

/// Events that were not handed on yet.
#[derive(Debug, Default)]
pub(crate) struct Tracer(RefCell<Vec<(Instant, Trace)>>);

impl Tracer {
    pub(crate) fn push(&self, trace: Trace) {
        self.push_at(clock::now(), trace);
    }

    fn push_at(&self, at: Instant, trace: Trace) {
        self.0.borrow_mut().push((at, trace));
    }

    /// Tells what became of a message.
    pub(crate) fn fate(&self, what: &str, message: &Message) {
        let mut text = format!("{what}: ");
        shown(message, SHOWN_CHARS, &mut text);
        self.push(Trace::Fate(text));
    }

    /// What has happened, with secrets hidden.
    pub(crate) fn take(&self, scope: &Scope) -> Vec<(Instant, Trace)> {
        let mut events = self.0.take();
        // A frame bears the time at which it was read, which may be after that of an event before.
        events.sort_by_key(|(at, _)| *at);
        hidden::hide(&mut events, scope);
        events
    }
}

/// Shows what passes over one connection.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionTap {
    pub(crate) tracer: Rc<Tracer>,
    pub(crate) connection: String,
}

impl Tap for ConnectionTap {
    fn head(&mut self, direction: Direction, bytes: &[u8], at: Instant) {
        if bytes.is_empty() {
            return;
        }
        // Of a head all is shown; of a body only its beginning.
        let head = bytes.windows(4).position(|four| four == b"\r\n\r\n").map_or(0, |at| at + 4);
        let end = bytes.len().min(head + SHOWN_BYTES);
        let mut text = String::from_utf8_lossy(&bytes[..end]).into_owned();
        if end < bytes.len() {
            text.push('…');
        }
        let sent = direction == Direction::Sent;
        self.tracer.push_at(at, Trace::Head { sent, size: bytes.len() as u64, text });
    }

    fn frame(&mut self, direction: Direction, frame: Shown<'_>, at: Instant) {
        let (kind, payload) = match frame.opcode {
            Opcode::Text => ("text", payload(frame.payload)),
            Opcode::Binary => ("binary", Payload::Binary(cut(frame.payload).to_vec())),
            Opcode::Continuation => ("continuation", payload(frame.payload)),
            Opcode::Ping => ("ping", payload(frame.payload)),
            Opcode::Pong => ("pong", payload(frame.payload)),
            Opcode::Close => ("close", close(frame.payload)),
        };
        self.tracer.push_at(
            at,
            Trace::Frame {
                connection: self.connection.clone(),
                sent: direction == Direction::Sent,
                kind,
                last: frame.last,
                size: frame.payload.len() as u64,
                whole: frame.payload.len() <= SHOWN_BYTES,
                payload,
            },
        );
    }
}

fn cut(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(SHOWN_BYTES)]
}

/// Text if it is some, but for a character that the cut has split.
fn payload(bytes: &[u8]) -> Payload {
    match std::str::from_utf8(cut(bytes)) {
        Ok(text) => Payload::Text(text.to_owned()),
        Err(error) if error.error_len().is_none() => {
            let valid = &bytes[..error.valid_up_to()];
            Payload::Text(String::from_utf8_lossy(valid).into_owned())
        }
        Err(_) => Payload::Binary(cut(bytes).to_vec()),
    }
}

/// Status and reason.
fn close(bytes: &[u8]) -> Payload {
    match CloseFrame::parse(bytes) {
        Ok(_) if bytes.is_empty() => Payload::Text("no status".to_owned()),
        Ok(close) => {
            Payload::Text(format!("{} {}", close.code, close.reason).trim_end().to_owned())
        }
        Err(_) => Payload::Binary(bytes.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_text_where_they_can_be() {
        assert_eq!(payload("ü".as_bytes()), Payload::Text("ü".to_owned()));
        let long = "ü".repeat(SHOWN_BYTES);
        assert_eq!(payload(&long.as_bytes()[..1_025]), Payload::Text("ü".repeat(512)));
        assert_eq!(payload(&[0xff, 1]), Payload::Binary(vec![0xff, 1]));
        assert_eq!(close(b"\x03\xe8bye"), Payload::Text("1000 bye".to_owned()));
        assert_eq!(close(&[]), Payload::Text("no status".to_owned()));
    }
}

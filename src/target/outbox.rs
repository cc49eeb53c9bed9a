//! What one connection is about to send: frames are appended, and one write takes them all.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;
use tokio::net::TcpStream;

use crate::target::counters::Tallies;
use crate::ws::frame::{Head, Role, encode};
use crate::ws::{CloseFrame, Message, MessageKind, Opcode};

/// An outbox is full from here on: nothing more is read, pushed or made up until the peer has taken
/// what is there. One message and one read's answers can go beyond it.
pub(super) const FULL: usize = 64 * 1024;

/// A spare buffer that has grown beyond this is not kept.
const LARGEST_SPARE: usize = 4 * FULL;

thread_local! {
    /// The buffer that connections borrow while they have something to send, which is nearly always
    /// gone with one write; so an idle connection owns none.
    static SPARE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Bytes on their way to the peer.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    /// How many of `bytes` the kernel has taken.
    written: usize,
    /// How many of `bytes` are in the counters already.
    counted: usize,
    /// Messages in `bytes` since it was last empty.
    messages: u64,
    /// How many of `messages` are in the counters already.
    messages_counted: u64,
}

impl Outbox {
    pub(super) fn is_empty(&self) -> bool {
        self.written == self.bytes.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() - self.written >= FULL
    }

    /// Appends a message in one frame.
    pub(super) fn message(&mut self, kind: MessageKind, payload: &[u8]) {
        self.frame(kind.opcode(), true, payload);
        self.messages += 1;
    }

    /// Appends a message in `count` frames of nearly equal length, some empty if it is short.
    pub(super) fn fragments(&mut self, message: &Message, count: usize) {
        let length = message.payload.len();
        let mut begin = 0;
        for index in 0..count {
            let end = length * (index + 1) / count;
            let code = if index == 0 { message.kind.opcode() } else { Opcode::Continuation };
            self.frame(code, index + 1 == count, &message.payload[begin..end]);
            begin = end;
        }
        self.messages += 1;
    }

    /// Appends a pong.
    pub(super) fn pong(&mut self, payload: &[u8]) {
        self.frame(Opcode::Pong, true, payload);
    }

    /// Appends a close frame.
    pub(super) fn close(&mut self, code: u16, reason: &str) {
        let close = CloseFrame { code, reason: reason.to_owned() };
        self.frame(Opcode::Close, true, &close.payload());
    }

    /// Appends a frame that was encoded before and is a whole message.
    pub(super) fn encoded_message(&mut self, frame: &[u8]) {
        self.lend();
        self.bytes.extend_from_slice(frame);
        self.messages += 1;
    }

    fn frame(&mut self, opcode: Opcode, last: bool, payload: &[u8]) {
        self.lend();
        encode(&mut self.bytes, opcode, last, payload, None);
    }

    fn lend(&mut self) {
        if self.bytes.capacity() == 0 {
            self.bytes = SPARE.take();
        }
    }

    /// Hands everything to the kernel. Counts before it writes, so that a peer that has an answer
    /// finds it counted.
    pub(super) fn poll_flush(
        &mut self,
        stream: &mut TcpStream,
        tallies: &Tallies,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_empty() {
            return Poll::Ready(Ok(()));
        }
        self.count(tallies);
        while !self.is_empty() {
            let rest = &self.bytes[self.written..];
            match ready!(Pin::new(&mut *stream).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                taken => self.written += taken,
            }
        }
        self.give_back();
        Poll::Ready(Ok(()))
    }

    fn count(&mut self, tallies: &Tallies) {
        tallies.messages_sent.add(self.messages - self.messages_counted);
        tallies.bytes_sent.add((self.bytes.len() - self.counted) as u64);
        self.messages_counted = self.messages;
        self.counted = self.bytes.len();
    }

    /// Takes what will never be sent out of the counters again.
    pub(super) fn abandon(&mut self, tallies: &Tallies) {
        self.count(tallies);
        tallies.messages_sent.take_back(self.messages_unsent());
        tallies.bytes_sent.take_back((self.bytes.len() - self.written) as u64);
        *self = Self::default();
    }

    /// Messages whose last byte the kernel has not taken.
    fn messages_unsent(&self) -> u64 {
        let (mut position, mut unsent) = (0, 0);
        // The bytes are our own frames, whole ones, so parsing them back does not fail.
        while let Ok(Some(head)) = Head::parse(&self.bytes[position..], Role::Client) {
            position += head.head_length + usize::try_from(head.payload_length).unwrap_or(0);
            let ends_message = head.last && !head.opcode.is_control();
            unsent += u64::from(ends_message && position > self.written);
        }
        unsent
    }

    fn give_back(&mut self) {
        let mut bytes = std::mem::take(self).bytes;
        if bytes.capacity() <= LARGEST_SPARE {
            bytes.clear();
            SPARE.set(bytes);
        }
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[self.written..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn fragments_carry_the_whole_message() {
        let mut outbox = Outbox::default();
        let now = clock::now();
        let text = |payload: &[u8]| Message::new(MessageKind::Text, payload.to_vec(), 10, now, now);
        outbox.fragments(&text(b"abcd"), 3);
        assert_eq!(outbox.bytes(), b"\x01\x01a\x00\x01b\x80\x02cd");
        outbox = Outbox::default();
        outbox.fragments(&text(b""), 2);
        assert_eq!(outbox.bytes(), b"\x01\x00\x80\x00");
    }

    #[test]
    fn what_was_never_sent_is_not_counted_for_good() {
        let tallies = Tallies::default();
        let mut outbox = Outbox::default();
        for _ in 0..3 {
            outbox.message(MessageKind::Text, b"ok");
            outbox.pong(b"");
        }
        outbox.count(&tallies);
        assert_eq!((tallies.messages_sent.value(), tallies.bytes_sent.value()), (3, 18));
        // The first message and its pong, and all but a byte of the second message.
        outbox.written = 9;
        outbox.message(MessageKind::Text, b"late");
        outbox.abandon(&tallies);
        assert_eq!((tallies.messages_sent.value(), tallies.bytes_sent.value()), (1, 9));
    }
}

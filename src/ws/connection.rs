//! One connection: frames over a socket, pumped by whoever waits.
//!
//! Nothing here waits by itself. [`Connection::poll_pump`] reads what is there, answers pings and
//! closes, and offers what arrived to an [`Observer`]; the engine calls it for every connection of a
//! thread whenever that thread waits. Loss is a value that stays until someone asks.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::clock;
use crate::net::Stream;
use crate::ws::frame::{self, Role};
use crate::ws::inbox::Full;
use crate::ws::{
    Assembler, CloseFrame, Decoder, Direction, Frame, FrameRules, Inbox, Limits, Loss, Message,
    MessageKind, Observer, Opcode, Reaction, Shown, Tap, Traffic, Violation,
};

/// How much one pump reads at most before others get their turn, in bytes.
const READ_BUDGET: usize = 64 * 1024;

/// Pongs wait for the kernel up to this many bytes; beyond, only the newest ping is answered, as
/// RFC 6455 5.5.3 allows, so that a peer that never reads cannot fill our memory.
const MAX_UNSENT_PONGS: usize = 4 * 1024;

/// Answers to messages are queued while less than this many bytes wait for the kernel.
const MAX_UNSENT_ANSWERS: usize = 64 * 1024;
/// For so long a socket that was read empty counts as empty unasked. In a closed loop the next request
/// follows sooner, and asking would cost it a system call.
const STAYS_EMPTY: Duration = Duration::from_micros(10);

/// What a peer is told when its messages overflow an inbox that must not overflow.
const POLICY_VIOLATION: u16 = 1008;

/// What a peer is told that does not answer pings, if it still listens.
const UNEXPECTED_CONDITION: u16 = 1011;

/// A client's end of a WebSocket connection.
#[derive(Debug)]
pub struct Connection {
    stream: Option<Stream>,
    decoder: Decoder,
    assembler: Assembler,
    inbox: Inbox,
    /// Encoded frames that the kernel has not taken yet; usually empty and without memory.
    unsent: Vec<u8>,
    /// How much of `unsent` the kernel has taken: cutting it off each time would move the rest of a
    /// long frame again and again.
    taken: usize,
    /// The newest ping that found `unsent` full.
    late_ping: Option<Vec<u8>>,
    close_sent: bool,
    rules: FrameRules,
    /// Whether observers may have something to say to what they take.
    reacts: bool,
    /// Who looks on, in a trial run.
    tap: Option<Box<dyn Tap>>,
    /// The peer's close frame and when it arrived.
    peer_close: Option<Box<(Frame, Instant)>>,
    traffic: Traffic,
    /// What the last pump left in the socket, as far as the runtime knew.
    left: Left,
    /// When the last read took all that was in the socket.
    emptied: Option<Instant>,
    /// Why nothing can be written any more. What the peer wrote before is still read: it may be the
    /// close frame that explains it.
    write_error: Option<String>,
    loss: Option<Loss>,
}

/// What a pump leaves in the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    /// There may be more.
    Unknown,
    /// A read took all there was, and the runtime was not asked to wake anyone for more.
    Nothing,
    /// Nothing was there to read, and the runtime wakes the task when something comes.
    NothingAndWakes,
}

/// What is left of a connection that is over: see [`linger`](crate::ws::linger()).
#[derive(Debug)]
pub struct Remains {
    pub(crate) stream: Stream,
    pub(crate) unsent: Vec<u8>,
}

impl Connection {
    /// A connection over a stream whose upgrade was accepted.
    pub fn new(stream: Stream, limits: Limits) -> Self {
        let assembler = Assembler::new(limits.max_message_size);
        let rules = limits.frames;
        Self {
            stream: Some(stream),
            decoder: Decoder::new(Role::Client, limits.max_message_size),
            assembler: if rules.deliver_fragments { assembler.in_fragments() } else { assembler },
            inbox: Inbox::new(limits.inbox),
            unsent: Vec::new(),
            taken: 0,
            late_ping: None,
            close_sent: false,
            rules,
            reacts: rules.deliver_pings,
            tap: None,
            peer_close: None,
            traffic: Traffic::default(),
            left: Left::Unknown,
            emptied: None,
            write_error: None,
            loss: None,
        }
    }

    /// What arrived and was not read yet.
    pub fn inbox(&mut self) -> &mut Inbox {
        &mut self.inbox
    }

    /// Why the connection is gone, if it is.
    pub fn loss(&self) -> Option<&Loss> {
        self.loss.as_ref()
    }

    /// Whether the kernel has taken everything that was sent.
    pub fn is_flushed(&self) -> bool {
        self.unsent.is_empty() && self.write_error.is_none()
    }

    /// Whether everything that has come by `now`, which is the present, has been read. After a read
    /// budget, or where a full inbox holds the reading back, more may be there. So it may while the
    /// thread was busy: the runtime learns of arrivals only between turns, so the kernel is asked.
    pub fn is_caught_up(&mut self, now: Instant) -> bool {
        let read_just_now = |at: Instant| now.saturating_duration_since(at) < STAYS_EMPTY;
        self.is_read_empty() && (self.emptied.is_some_and(read_just_now) || !self.has_unread())
    }

    /// Whether the last pump left nothing in the socket, as far as the runtime knew.
    pub fn is_read_empty(&self) -> bool {
        self.left != Left::Unknown
    }

    /// Whether nobody would be woken if more came: it needs another pump before a wait.
    pub fn is_unarmed(&self) -> bool {
        self.left == Left::Nothing
    }

    /// Whether there is something in the socket, if only its end. An error ends the connection here,
    /// since the kernel tells it once; the next pump shows it.
    fn has_unread(&mut self) -> bool {
        let Some(stream) = &self.stream else { return false };
        match stream.has_unread() {
            Ok(is_there) => is_there,
            Err(error) => {
                self.disconnect(&error.to_string());
                true
            }
        }
    }

    /// From now on `tap` sees every frame.
    pub fn set_tap(&mut self, tap: Option<Box<dyn Tap>>) {
        self.tap = tap;
    }

    /// From now on observers may answer what they take: they are asked at each message.
    pub fn let_observers_react(&mut self) {
        self.reacts = true;
    }

    /// Whether a close frame of ours was sent: nothing may follow it (RFC 6455 5.5.1).
    pub fn is_closing(&self) -> bool {
        self.close_sent
    }

    /// The peer's close frame and when its last byte was read, if one has come.
    pub fn close_frame(&self) -> Option<(&Frame, Instant)> {
        self.peer_close.as_deref().map(|(frame, arrived)| (frame, *arrived))
    }

    /// What has passed over it so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Adds what passed before the first frame.
    pub(crate) fn add_upgrade(&mut self, sent: u64, received: u64) {
        self.traffic.sent += sent;
        self.traffic.received += received;
    }

    /// Gives up on a peer that does not answer a ping.
    pub fn fail_ping(&mut self) {
        if self.loss.is_none() {
            self.end(UNEXPECTED_CONDITION, Loss::PingTimeout);
        }
    }

    /// The most that can be in the socket unread, in bytes.
    pub fn receive_buffer(&self) -> usize {
        self.stream.as_ref().map_or(0, Stream::receive_buffer)
    }

    /// Whether part of a message has arrived.
    pub fn is_inside_a_message(&self) -> bool {
        self.decoder.is_inside_a_frame() || self.assembler.is_inside_a_message()
    }

    /// Sends one frame, with a fresh mask; `scratch` is any buffer. Returns the frame's length in
    /// bytes. What the kernel does not take at once is kept and goes with the next pumps. Does
    /// nothing on a lost connection. The peer's answer to a close frame is a [`Loss::Closed`].
    pub fn send(&mut self, opcode: Opcode, payload: &[u8], scratch: &mut Vec<u8>) -> usize {
        self.close_sent |= opcode == Opcode::Close;
        self.show_sent(opcode, payload);
        scratch.clear();
        let length = frame::encode(scratch, opcode, true, payload, Some(frame::fresh_mask()));
        self.traffic.sent += length as u64;
        let mut taken = 0;
        if let (Some(stream), true) = (&mut self.stream, self.unsent.is_empty()) {
            match stream.try_write(scratch) {
                Ok(written) => taken = written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => self.write_error = Some(error.to_string()),
            }
        }
        if self.write_error.is_none() && taken < scratch.len() {
            self.traffic.write_stalls += 1;
            self.unsent.extend_from_slice(&scratch[taken..]);
        }
        length
    }

    /// Writes and reads what can be now, and arranges to be woken for more; tells when something was
    /// read last, if it was. `buffer` is shared by all connections of a worker.
    pub fn poll_pump(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut [u8],
        observer: &mut dyn Observer,
    ) -> Option<Instant> {
        let mut read_at = None;
        if self.reacts {
            self.take_reactions(observer);
        }
        self.poll_flush(context);
        self.left = Left::Unknown;
        let mut budget = READ_BUDGET;
        while self.loss.is_none() && (observer.is_waiting() || !self.inbox.holds_back()) {
            if budget == 0 {
                context.waker().wake_by_ref();
                break;
            }
            let room = budget.min(buffer.len());
            let Poll::Ready(read) = self.poll_read(context, &mut buffer[..room]) else {
                self.left = Left::NothingAndWakes;
                break;
            };
            match read {
                Ok(0) => self.disconnect("the peer closed TCP without a close frame"),
                Ok(length) => {
                    budget -= length;
                    let now = clock::now();
                    read_at = Some(now);
                    let is_empty = length < room && self.ends_in_short_reads();
                    self.emptied = is_empty.then_some(now);
                    self.receive(&buffer[..length], now, observer);
                    // The runtime knows as well that such a read leaves nothing.
                    if is_empty && self.loss.is_none() {
                        self.left = Left::Nothing;
                        self.poll_flush(context);
                        break;
                    }
                }
                Err(error) => self.disconnect(&error.to_string()),
            }
            self.poll_flush(context);
        }
        self.notice_write_error();
        read_at
    }

    /// A connection that cannot be written is lost once all that the peer wrote before is read: also
    /// what a full inbox has held back so far, and what the runtime has not seen yet.
    fn notice_write_error(&mut self) {
        if self.loss.is_none()
            && self.write_error.is_some()
            && self.is_read_empty()
            && !self.has_unread()
        {
            let how = self.write_error.take().unwrap_or_default();
            self.disconnect(&how);
        }
    }

    /// Takes bytes that were read at `now`.
    pub(crate) fn receive(&mut self, mut input: &[u8], now: Instant, observer: &mut dyn Observer) {
        self.traffic.received += input.len() as u64;
        while self.loss.is_none() {
            match self.decoder.next(&mut input, now) {
                Ok(None) => break,
                Ok(Some(frame)) => {
                    if let Err(violation) = self.take_frame(frame, now, observer) {
                        self.fail(violation);
                    }
                }
                Err(violation) => self.fail(violation),
            }
        }
    }

    /// Hands out what is left of a lost or closed connection, once.
    pub fn take_remains(&mut self) -> Option<Remains> {
        let stream = self.stream.take()?;
        let unsent = self.unsent.split_off(self.taken);
        self.forget_unsent();
        Some(Remains { stream, unsent })
    }

    fn take_frame(
        &mut self,
        frame: Frame,
        now: Instant,
        observer: &mut dyn Observer,
    ) -> Result<(), Violation> {
        if let Some(tap) = &mut self.tap {
            let Frame { opcode, last, payload, .. } = &frame;
            let shown = Shown { opcode: *opcode, last: *last, payload };
            tap.frame(Direction::Received, shown, now);
        }
        match frame.opcode {
            Opcode::Ping => {
                if self.rules.answer_pings {
                    self.answer_ping(&frame.payload);
                }
                self.deliver_control(frame, MessageKind::Ping, now, observer);
            }
            Opcode::Pong => {
                if !observer.control(&frame, now) {
                    self.deliver_control(frame, MessageKind::Pong, now, observer);
                }
            }
            Opcode::Close => {
                let close = CloseFrame::parse(&frame.payload)?;
                observer.control(&frame, now);
                self.peer_close = Some(Box::new((frame, now)));
                self.end(close.code, Loss::Closed(close));
            }
            Opcode::Text | Opcode::Binary | Opcode::Continuation => {
                if let Some(message) = self.assembler.push(frame, now)? {
                    self.deliver(message, observer);
                }
            }
        }
        Ok(())
    }

    /// A ping or pong as a message, if they are to be seen.
    fn deliver_control(
        &mut self,
        frame: Frame,
        kind: MessageKind,
        now: Instant,
        observer: &mut dyn Observer,
    ) {
        if self.rules.deliver_pings {
            let Frame { payload, wire_length, first_byte, .. } = frame;
            self.deliver(Message::new(kind, payload, wire_length, first_byte, now), observer);
        }
    }

    fn deliver(&mut self, message: Message, observer: &mut dyn Observer) {
        let kept = observer.message(message).map(|message| self.inbox.push(message));
        if kept == Some(Err(Full)) {
            self.end(POLICY_VIOLATION, Loss::InboxFull);
        } else if kept.is_none() && self.reacts {
            self.take_reactions(observer);
        }
    }

    /// Queues what an observer answers to messages that it took.
    fn take_reactions(&mut self, observer: &mut dyn Observer) {
        while let Some(answer) = observer.take_reaction() {
            match answer {
                Reaction::Pong(_) if self.rules.answer_pings => {}
                Reaction::Pong(payload) => self.answer_ping(&payload),
                // We may not, or the peer does not read: what it asks for is not kept.
                Reaction::Text(_)
                    if self.close_sent || self.unsent.len() - self.taken >= MAX_UNSENT_ANSWERS => {}
                Reaction::Text(text) => self.queue(Opcode::Text, text.as_bytes()),
            }
        }
    }

    /// Queues the pong; the pump flushes it right after this read.
    fn answer_ping(&mut self, payload: &[u8]) {
        if self.unsent.len() - self.taken < MAX_UNSENT_PONGS {
            self.queue(Opcode::Pong, payload);
        } else {
            self.late_ping = Some(payload.to_vec());
        }
    }

    fn queue(&mut self, opcode: Opcode, payload: &[u8]) {
        self.show_sent(opcode, payload);
        let mask = Some(frame::fresh_mask());
        self.traffic.sent += frame::encode(&mut self.unsent, opcode, true, payload, mask) as u64;
    }

    fn show_sent(&mut self, opcode: Opcode, payload: &[u8]) {
        if let Some(tap) = &mut self.tap {
            tap.frame(Direction::Sent, Shown { opcode, last: true, payload }, clock::now());
        }
    }

    fn fail(&mut self, violation: Violation) {
        self.end(violation.close_code(), Loss::Violation(violation));
    }

    /// Ends the connection with a close frame of ours, unless one was sent before: the answer to
    /// the peer's (RFC 6455 5.5.1), or the news that it failed (7.1.7).
    fn end(&mut self, code: u16, loss: Loss) {
        if !self.close_sent {
            self.close_sent = true;
            self.queue(Opcode::Close, &CloseFrame { code, reason: String::new() }.payload());
        }
        self.loss = Some(loss);
    }

    fn disconnect(&mut self, how: &str) {
        self.stream = None;
        self.forget_unsent();
        self.loss = Some(Loss::Disconnected(how.to_owned()));
    }

    /// The kernel has taken so many bytes more. What it took goes once it is the larger half, so that
    /// neither a long frame is moved often nor pongs without end pile up behind it.
    fn take_unsent(&mut self, written: usize) {
        self.taken += written;
        if self.taken * 2 > self.unsent.len() {
            self.unsent.drain(..self.taken);
            self.taken = 0;
        }
    }

    fn forget_unsent(&mut self) {
        self.unsent = Vec::new();
        self.taken = 0;
    }

    fn poll_read(&mut self, context: &mut Context<'_>, room: &mut [u8]) -> Poll<io::Result<usize>> {
        let Some(stream) = &mut self.stream else { return Poll::Pending };
        let mut buffer = ReadBuf::new(room);
        match Pin::new(stream).poll_read(context, &mut buffer) {
            Poll::Ready(Ok(())) => Poll::Ready(Ok(buffer.filled().len())),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }

    fn ends_in_short_reads(&self) -> bool {
        self.stream.as_ref().is_some_and(Stream::ends_in_short_reads)
    }

    /// Hands `unsent` to the kernel.
    fn poll_flush(&mut self, context: &mut Context<'_>) {
        while !self.unsent.is_empty() {
            let Some(stream) = &mut self.stream else { return };
            match Pin::new(stream).poll_write(context, &self.unsent[self.taken..]) {
                Poll::Pending => return,
                Poll::Ready(Ok(written)) => self.take_unsent(written),
                Poll::Ready(Err(error)) => {
                    self.write_error = Some(error.to_string());
                    self.taken = self.unsent.len();
                }
            }
            if self.taken == self.unsent.len() {
                self.forget_unsent();
                if let (Some(payload), None) = (self.late_ping.take(), &self.loss) {
                    self.queue(Opcode::Pong, &payload);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;

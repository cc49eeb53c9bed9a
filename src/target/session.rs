//! One WebSocket connection, from its upgrade to the end of TCP.
//!
//! A hand-written future: it reads into a buffer that all connections of the thread share, answers
//! all frames of a read with one write, and while nothing happens holds no buffer at all.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep_until};

use crate::clock;
use crate::target::behaviour::Behaviour;
use crate::target::outbox::Outbox;
use crate::target::route::Ending;
use crate::target::server::{Place, Shared};
use crate::ws::frame::Role;
use crate::ws::{Assembler, CloseFrame, Decoder, Frame, NO_STATUS, Opcode, Violation};

/// The size of the shared read buffer, in bytes.
const READ_BUFFER: usize = 64 * 1024;

/// The largest message taken, in bytes.
const MAX_MESSAGE: u64 = 16 << 20;

/// How long a connection that has begun to close may take to be gone.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Says that the server goes away (RFC 6455 7.4.1).
const GOING_AWAY: u16 = 1001;

thread_local! {
    static READ: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BUFFER].into_boxed_slice());
}

/// One WebSocket connection.
pub(super) struct Session {
    stream: TcpStream,
    shared: Arc<Shared>,
    decoder: Decoder,
    assembler: Assembler,
    behaviour: Behaviour,
    outbox: Outbox,
    phase: Phase,
    /// Counts it as open; given up when it begins to close.
    place: Option<Place>,
    /// By when it must be gone, once it has begun to close.
    deadline: Option<Instant>,
    /// Made when first wanted: most connections never wait for a time.
    timer: Option<Pin<Box<Sleep>>>,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// Our close frame is on its way, the peer's is awaited.
    Closing,
    /// Both close frames have been seen: the server ends TCP when the outbox is empty.
    Closed,
    /// What is in the outbox is the last: the stream is ended after it, without waiting for a close.
    LastWords,
    /// TCP is reset when the outbox is empty.
    Resetting,
    /// The stream was ended; the peer's end is awaited, so that no reset overtakes our last bytes.
    Draining,
}

impl Session {
    pub(super) fn new(
        stream: TcpStream,
        shared: Arc<Shared>,
        behaviour: Behaviour,
        place: Place,
    ) -> Self {
        Self {
            stream,
            shared,
            decoder: Decoder::new(Role::Server, MAX_MESSAGE),
            assembler: Assembler::new(MAX_MESSAGE),
            behaviour,
            outbox: Outbox::default(),
            phase: Phase::Open,
            place: Some(place),
            deadline: None,
            timer: None,
        }
    }

    /// Takes bytes that came together with the upgrade request, and begins.
    pub(super) fn begin(&mut self, input: &[u8]) {
        self.end_if_told();
        self.take(input, clock::now());
    }

    /// Closes because the server stops.
    pub(super) fn stop(&mut self) {
        if self.phase == Phase::Open {
            self.close(GOING_AWAY, "the server stops", Phase::Closing);
        }
    }

    /// Goes on until the connection is gone.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let reading = self.wants_input();
            let mut again = match self.poll_read(reading, cx) {
                Poll::Ready(Ok(more)) => more,
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Pending => false,
            };
            again |= self.phase == Phase::Open && self.behaviour.top_up(&mut self.outbox, cx);
            match self.outbox.poll_flush(&mut self.stream, &self.shared.tallies, cx) {
                Poll::Ready(Ok(())) if self.is_over(cx) => return Poll::Ready(()),
                // What was not polled for lack of room wakes nobody, so it is polled now.
                Poll::Ready(Ok(())) => again |= self.wants_input() && !reading,
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Pending => {}
            }
            match self.poll_time(cx) {
                Poll::Ready(true) => return Poll::Ready(()),
                Poll::Pending if !again => return Poll::Pending,
                Poll::Ready(false) | Poll::Pending => {}
            }
        }
    }

    fn wants_input(&self) -> bool {
        match self.phase {
            Phase::Open | Phase::Closing => !self.outbox.is_full() && self.behaviour.takes_input(),
            Phase::Draining => true,
            Phase::Closed | Phase::LastWords | Phase::Resetting => false,
        }
    }

    /// Reads and takes what is there; false if it did not try. An error, and the end of the stream,
    /// end the connection.
    fn poll_read(&mut self, wanted: bool, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        if !wanted {
            return Poll::Ready(Ok(false));
        }
        READ.with_borrow_mut(|buffer| {
            let mut buffer = ReadBuf::new(buffer);
            std::task::ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
            if buffer.filled().is_empty() {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
            self.take(buffer.filled(), clock::now());
            Poll::Ready(Ok(true))
        })
    }

    fn take(&mut self, mut input: &[u8], now: Instant) {
        self.shared.tallies.bytes_received.add(input.len() as u64);
        while matches!(self.phase, Phase::Open | Phase::Closing) {
            match self.decoder.next(&mut input, now) {
                Ok(None) => return,
                Ok(Some(frame)) => {
                    if let Err(violation) = self.take_frame(frame, now) {
                        self.fail(violation);
                    }
                }
                Err(violation) => self.fail(violation),
            }
        }
    }

    fn take_frame(&mut self, frame: Frame, now: Instant) -> Result<(), Violation> {
        match frame.opcode {
            Opcode::Ping if self.phase == Phase::Open => self.outbox.pong(&frame.payload),
            Opcode::Ping | Opcode::Pong => {}
            Opcode::Close => self.take_close(&CloseFrame::parse(&frame.payload)?),
            Opcode::Text | Opcode::Binary | Opcode::Continuation => {
                let Some(message) = self.assembler.push(frame, now)? else { return Ok(()) };
                self.shared.tallies.messages_received.add(1);
                if self.phase == Phase::Open {
                    self.behaviour.on_message(message, &mut self.outbox);
                    self.end_if_told();
                }
            }
        }
        Ok(())
    }

    /// RFC 6455 5.5.1: a close is answered with a close of the same status.
    fn take_close(&mut self, close: &CloseFrame) {
        self.shared.tallies.closes_received.add(1);
        if self.phase == Phase::Open {
            self.close(close.code, "", Phase::Closed);
        } else {
            self.phase = Phase::Closed;
        }
    }

    /// RFC 6455 7.1.7: says which rule was broken and ends the connection.
    fn fail(&mut self, violation: Violation) {
        self.shared.tallies.violations.add(1);
        if self.phase == Phase::Open {
            self.close(violation.close_code(), &violation.to_string(), Phase::LastWords);
        } else {
            self.phase = Phase::LastWords;
        }
    }

    /// Ends the connection if its script says so.
    fn end_if_told(&mut self) {
        match self.behaviour.ending() {
            None => {}
            Some(Ending::Close(NO_STATUS)) => self.close(NO_STATUS, "", Phase::Closing),
            Some(Ending::Close(code)) => self.close(code, "dropped as asked", Phase::Closing),
            Some(Ending::EndOfStream) => self.leave_open(Phase::LastWords),
            Some(Ending::Reset) => self.leave_open(Phase::Resetting),
        }
    }

    fn close(&mut self, code: u16, reason: &str, next: Phase) {
        self.outbox.close(code, reason);
        self.leave_open(next);
    }

    /// Gives up the place before the close frame is sent, so that a peer that has it can come back.
    fn leave_open(&mut self, next: Phase) {
        self.phase = next;
        self.place = None;
        self.deadline = Some(clock::now() + CLOSE_TIMEOUT);
    }

    /// What follows when everything has been sent. True if the connection is to be dropped.
    fn is_over(&mut self, cx: &mut Context<'_>) -> bool {
        match self.phase {
            Phase::Open | Phase::Closing | Phase::Draining => false,
            Phase::Closed => true,
            Phase::Resetting => {
                // Without it the peer would see an orderly end: nothing to be done about that.
                let _ = self.stream.set_zero_linger();
                true
            }
            Phase::LastWords => {
                self.phase = Phase::Draining;
                !matches!(Pin::new(&mut self.stream).poll_shutdown(cx), Poll::Ready(Ok(())))
            }
        }
    }

    /// Waits for what is due next and does it; ready with true when the connection is overdue.
    fn poll_time(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let due = match self.deadline {
            Some(deadline) => deadline,
            None => match self.behaviour.due(&self.outbox) {
                Some(due) => due,
                None => return Poll::Pending,
            },
        };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(due.into())));
        if timer.deadline().into_std() != due {
            timer.as_mut().reset(due.into());
        }
        std::task::ready!(timer.as_mut().poll(cx));
        if self.deadline.is_some() {
            return Poll::Ready(true);
        }
        let Shared { clock, tallies, .. } = &*self.shared;
        self.behaviour.on_time(clock::now(), clock, tallies, &mut self.outbox);
        Poll::Ready(false)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.outbox.abandon(&self.shared.tallies);
    }
}

//! A stream as the HTTP library reads and writes it: it notes how far the exchange is, and gives way.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::clock;
use crate::net::client::{HttpError, HttpLimits};
use crate::net::{Stream, TLS_ALERT, give_way};

/// A turn moves about so many bytes.
const TURN: usize = 64 * 1024;

/// What a read or write of hardly anything counts for, in bytes: it costs a call of the kernel's all
/// the same.
const LEAST: usize = 256;

/// What has passed on the way to an answer, from one server to the next; known also where the way is cut
/// off.
#[derive(Debug, Default)]
pub struct HttpTally {
    /// When it was first connected, or connecting failed.
    pub connected: Cell<Option<Instant>>,
    /// When the first byte of the last server's answer was read.
    pub first_byte: Cell<Option<Instant>>,
    /// Bytes sent.
    pub sent: Cell<u64>,
    /// Bytes received.
    pub received: Cell<u64>,
}

/// How far an exchange is.
#[derive(Debug)]
pub(super) struct Progress {
    connected: Instant,
    pub(super) sent: Cell<u64>,
    pub(super) received: Cell<u64>,
    /// When bytes were last handed to the kernel.
    last_write: Cell<Instant>,
    /// Whether the kernel took no more.
    is_blocked: Cell<bool>,
    /// What the server has begun with.
    begins: Cell<[u8; 2]>,
    pub(super) last_read: Cell<Option<Instant>>,
    /// How many bytes the turn may still move.
    allowance: Cell<usize>,
    tally: Rc<HttpTally>,
}

impl Progress {
    pub(super) fn new(connected: Instant, tally: &Rc<HttpTally>) -> Self {
        tally.connected.set(tally.connected.get().or(Some(connected)));
        tally.first_byte.set(None);
        Self {
            connected,
            sent: Cell::new(0),
            received: Cell::new(0),
            last_write: Cell::new(connected),
            is_blocked: Cell::new(false),
            begins: Cell::default(),
            last_read: Cell::new(None),
            allowance: Cell::new(TURN),
            tally: Rc::clone(tally),
        }
    }

    /// What follows is done without giving way to other tasks.
    pub(super) fn begin_turn(&self) {
        self.allowance.set(TURN);
    }

    /// Pending, to go on in the next turn, where this one has moved enough: the library reads on for as
    /// long as there is something to read, and passes over interim answers as it does.
    fn poll_turn(&self, context: &mut Context<'_>) -> Poll<()> {
        if self.allowance.get() == 0 {
            give_way(context);
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    fn has_moved(&self, bytes: usize) {
        self.allowance.set(self.allowance.get().saturating_sub(bytes.max(LEAST)));
    }

    pub(super) fn deadline(&self, limits: HttpLimits) -> Instant {
        if self.is_blocked.get() {
            self.connected + limits.write
        } else {
            self.last_write.get() + limits.read
        }
    }

    pub(super) fn timed_out(&self) -> HttpError {
        if self.is_blocked.get() {
            return HttpError::WriteTimeout;
        }
        HttpError::ReadTimeout {
            so_far: match self.received.get() {
                0 => String::new(),
                bytes => format!("; {bytes} bytes had come"),
            },
        }
    }

    /// Whether the server has begun with an alert of TLS.
    pub(super) fn met_tls(&self) -> bool {
        self.begins.get() == TLS_ALERT
    }

    fn has_read(&self, bytes: &[u8]) {
        let now = Some(clock::now());
        let Self { tally, received, begins, .. } = self;
        for (at, byte) in (received.get()..2).zip(bytes) {
            let mut both = begins.get();
            both[usize::from(at > 0)] = *byte;
            begins.set(both);
        }
        tally.first_byte.set(tally.first_byte.get().or(now));
        self.last_read.set(now);
        received.set(received.get() + bytes.len() as u64);
        tally.received.set(tally.received.get() + bytes.len() as u64);
    }

    fn has_written(&self, outcome: &Poll<io::Result<usize>>) {
        match outcome {
            Poll::Pending => self.is_blocked.set(true),
            Poll::Ready(Ok(bytes)) => {
                self.is_blocked.set(false);
                self.sent.set(self.sent.get() + *bytes as u64);
                self.tally.sent.set(self.tally.sent.get() + *bytes as u64);
                self.has_moved(*bytes);
                self.last_write.set(clock::now());
            }
            Poll::Ready(Err(_)) => self.is_blocked.set(false),
        }
    }
}

/// A stream that notes its progress.
pub(super) struct Wire {
    pub(super) stream: Stream,
    pub(super) progress: Rc<Progress>,
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.progress.poll_turn(context));
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let bytes = buffer.filled().len() - before;
        self.progress.has_moved(bytes);
        if bytes == 0 && self.stream.is_cut() {
            // Else a body that ends with the connection would pass for whole (RFC 9112 9.8).
            let how = "the server closed TCP without ending TLS (no `close_notify`)";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::UnexpectedEof, how)));
        }
        if bytes > 0 {
            self.progress.has_read(&buffer.filled()[before..]);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.progress.poll_turn(context));
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.progress.has_written(&outcome);
        outcome
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

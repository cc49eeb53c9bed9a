//! TLS over one socket, by rustls' interface without buffers: an idle connection keeps its keys and no
//! buffer. What is read is decrypted in a buffer that all connections of an OS thread share; only a
//! record that has come in part, and what nobody has taken yet, is kept.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;
use rustls::unbuffered::{ConnectionState, EncodeError, EncodeTlsData, WriteTraffic};
use rustls::{ClientConfig, HandshakeKind};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::net::give_way;
use crate::net::tls::error::Told;
use crate::net::tls::{TlsError, TlsSettings};

/// What a server that does not speak TLS often begins with.
const HTTP: &[u8] = b"HTTP/";

/// How much is read from a socket at once, in bytes: two records.
const READ: usize = 32 * 1024;

/// How much may be held that cannot be understood without more, in bytes: the library takes handshake
/// messages of so much, and one record more may have begun.
const MAX_HELD: usize = 64 * 1024 + 18 * 1024;

/// How many plain bytes become records at once.
const MAX_WRITE: usize = 64 * 1024;

/// So many reads in a row may bring nothing that is for the reader.
const ROUNDS: u32 = 8;

/// What a record adds to at most 16 KiB: header, nonce, tag and type, with room to spare.
const OVERHEAD: usize = 64;

thread_local! {
    /// Where records are read and decrypted, by one connection at a time.
    static SHARED: RefCell<Box<[u8]>> = RefCell::new(vec![0; MAX_HELD + READ].into_boxed_slice());
}

/// The encrypted side of a connection; the socket is with the caller.
pub(in crate::net) struct TlsSession {
    tls: UnbufferedClientConnection,
    told: Told,
    /// Part of a record or message; usually empty and without memory, as the two that follow.
    held: Vec<u8>,
    /// Decrypted and not taken yet.
    plain: Vec<u8>,
    /// Records that the kernel has not taken yet.
    records: Vec<u8>,
    /// How much of `records` it has taken.
    taken: usize,
    /// Plain bytes whose records are made and not yet all in the kernel: the next write begins with
    /// them, and is done with them when the records are.
    encrypted: usize,
    /// How much of [`HTTP`] the server has begun with, until it said something else.
    http: Option<u8>,
    /// The server has ended TLS, or TCP has ended.
    is_over: bool,
    /// TCP has ended before TLS had.
    is_cut: bool,
    /// What ended TLS otherwise; it is told after what was decrypted before.
    failure: Option<Box<TlsError>>,
}

impl fmt::Debug for TlsSession {
    /// Without keys, and what was sent or received.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { told, encrypted, is_over, failure, .. } = self;
        let mut shown = f.debug_struct("TlsSession");
        shown.field("told", told).field("encrypted", encrypted);
        shown.field("is_over", is_over).field("failure", failure).finish_non_exhaustive()
    }
}

impl TlsSession {
    pub(super) fn new(
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
        settings: &TlsSettings,
    ) -> Result<Self, TlsError> {
        let told = Told::by(settings);
        let tls = UnbufferedClientConnection::new(config, name)
            .map_err(|error| TlsError::of(&error, told))?;
        Ok(Self {
            tls,
            told,
            held: Vec::new(),
            plain: Vec::new(),
            records: Vec::new(),
            taken: 0,
            encrypted: 0,
            http: Some(0),
            is_over: false,
            is_cut: false,
            failure: None,
        })
    }

    /// Goes on with the handshake until it is complete and all of ours is in the kernel.
    pub(in crate::net) fn poll_handshake(
        &mut self,
        tcp: &mut TcpStream,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), TlsError>> {
        let mut rounds = 0;
        loop {
            // The first of it is ours.
            self.go_on();
            let flushed = self.poll_flush(tcp, Some(context));
            if let Poll::Ready(Err(error)) = flushed {
                self.listen(tcp);
                let said = self.failure.take().map(|failure| *failure);
                return Poll::Ready(Err(said.unwrap_or_else(|| TlsError::io(&error))));
            }
            if !self.tls.is_handshaking() && self.failure.is_none() {
                ready!(flushed).map_err(|error| TlsError::io(&error))?;
                self.told.is_handshaking = false;
                return Poll::Ready(Ok(()));
            }
            if self.failure.is_none() && !self.is_over {
                ready!(poll_round(&mut rounds, context));
                ready!(self.poll_receive(tcp, Some(context), None))
                    .map_err(|error| TlsError::io(&error))?;
            }
            if let Some(failure) = self.failure.take() {
                // The server is told why, if it still listens.
                let _ = self.poll_flush(tcp, None);
                let is_http = usize::from(self.http.unwrap_or(0)) == HTTP.len();
                return Poll::Ready(Err(if is_http { TlsError::plain_http() } else { *failure }));
            }
            if self.is_over {
                return Poll::Ready(Err(TlsError::closed()));
            }
        }
    }

    /// Whether an earlier session was resumed; known after the handshake.
    pub(in crate::net) fn is_resumed(&self) -> bool {
        self.tls.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// Whether the server has ended TCP without ending TLS (RFC 8446 6.1): it may not have been the
    /// server, and there may have been more.
    pub(in crate::net) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Reads plain bytes. None is the end: the server has said so, or TCP has ended.
    pub(in crate::net) fn poll_read(
        &mut self,
        tcp: &mut TcpStream,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let mut rounds = 0;
        loop {
            // First what is decrypted and was not taken yet: the socket would not wake anyone for it.
            self.take_plain(buffer);
            if buffer.filled().len() > before || buffer.remaining() == 0 {
                return Poll::Ready(Ok(()));
            }
            if let Some(failure) = &self.failure {
                return Poll::Ready(Err(io::Error::other(TlsError::clone(failure))));
            }
            // Many servers end TCP without a word of TLS.
            if self.is_over {
                return Poll::Ready(Ok(()));
            }
            ready!(poll_round(&mut rounds, context));
            ready!(self.poll_receive(tcp, Some(context), Some(buffer)))?;
        }
    }

    fn take_plain(&mut self, buffer: &mut ReadBuf<'_>) {
        let length = self.plain.len().min(buffer.remaining());
        buffer.put_slice(&self.plain[..length]);
        self.plain.drain(..length);
        if self.plain.is_empty() {
            self.plain = Vec::new();
        }
    }

    /// Encrypts `plain` and hands the records to the kernel, and tells how many plain bytes are done:
    /// only those whose records the kernel has taken. After `Pending` the next write must begin with
    /// the same bytes. Without a context nobody is woken.
    pub(in crate::net) fn poll_write(
        &mut self,
        tcp: &mut TcpStream,
        context: Option<&mut Context<'_>>,
        plain: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.encrypted == 0 && !plain.is_empty() && self.failure.is_none() {
            self.encrypt(&plain[..plain.len().min(MAX_WRITE)]);
        }
        if let Some(failure) = &self.failure {
            return Poll::Ready(Err(io::Error::other(TlsError::clone(failure))));
        }
        match ready!(self.poll_flush(tcp, context)) {
            Ok(()) => Poll::Ready(Ok(std::mem::take(&mut self.encrypted))),
            Err(error) => {
                self.listen(tcp);
                let said = self.failure.as_deref().cloned().map(io::Error::other);
                Poll::Ready(Err(said.unwrap_or(error)))
            }
        }
    }

    /// Hands all records to the kernel.
    pub(in crate::net) fn poll_flush(
        &mut self,
        tcp: &mut TcpStream,
        mut context: Option<&mut Context<'_>>,
    ) -> Poll<io::Result<()>> {
        while self.taken < self.records.len() {
            let rest = &self.records[self.taken..];
            match ready!(poll_write(tcp, context.as_deref_mut(), rest)) {
                Ok(0) => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                Ok(length) => self.taken += length,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        self.records = Vec::new();
        self.taken = 0;
        Poll::Ready(Ok(()))
    }

    /// Tells the server that nothing more will come (RFC 8446 6.1), as far as the kernel takes it now.
    pub(in crate::net) fn say_goodbye(&mut self, tcp: &mut TcpStream) {
        self.turn(Ask::Goodbye);
        // A server that is gone need not be told.
        let _ = self.poll_flush(tcp, None);
    }

    fn encrypt(&mut self, plain: &[u8]) {
        self.turn(Ask::Encrypt(plain));
        if self.encrypted == 0 && self.failure.is_none() {
            self.failure = Some(Box::new(TlsError::ended()));
        }
    }

    fn go_on(&mut self) {
        self.turn(Ask::Nothing);
    }

    /// Lets the library do what it can without more of the server's bytes.
    fn turn(&mut self, ask: Ask<'_>) {
        let mut held = std::mem::take(&mut self.held);
        let used = self.process(&mut held, None, ask);
        held.drain(..used);
        self.held = if held.is_empty() { Vec::new() } else { held };
    }

    /// Reads from the socket and decrypts, into `buffer` as far as there is room. The end of TCP is the
    /// end of TLS too.
    fn poll_receive(
        &mut self,
        tcp: &mut TcpStream,
        context: Option<&mut Context<'_>>,
        buffer: Option<&mut ReadBuf<'_>>,
    ) -> Poll<io::Result<()>> {
        SHARED.with_borrow_mut(|shared| {
            let held = self.held.len();
            if held > MAX_HELD {
                let text = "the server sent a message of TLS that is too long";
                self.failure = Some(Box::new(TlsError::plain(text)));
                return Poll::Ready(Ok(()));
            }
            let length = ready!(poll_read(tcp, context, &mut shared[held..held + READ]))?;
            if length == 0 {
                self.is_cut = !self.is_over;
                self.is_over = true;
                return Poll::Ready(Ok(()));
            }
            shared[..held].copy_from_slice(&self.held);
            let all = &mut shared[..held + length];
            self.notice_http(&all[held..]);
            let used = self.process(all, buffer, Ask::Nothing);
            self.held.clear();
            self.held.extend_from_slice(&all[used..]);
            if self.held.is_empty() {
                self.held = Vec::new();
            }
            if !self.records.is_empty() && !self.told.is_handshaking {
                // The answer to new keys, or what is wrong; what the kernel does not take goes with
                // the next write.
                let _ = self.poll_flush(tcp, None);
            }
            Poll::Ready(Ok(()))
        })
    }

    /// Goes through the server's bytes as far as they can be understood, and does what is asked in the
    /// end. Gives how many of the bytes are used up.
    fn process(
        &mut self,
        incoming: &mut [u8],
        mut buffer: Option<&mut ReadBuf<'_>>,
        mut ask: Ask<'_>,
    ) -> usize {
        let Self { tls, records, plain, encrypted, failure, is_over, told, .. } = self;
        // The library must not go on with bytes that it has found wrong.
        if failure.is_some() {
            return incoming.len();
        }
        let mut used = 0;
        loop {
            let status = tls.process_tls_records(&mut incoming[used..]);
            let mut discard = status.discard;
            let state = match status.state {
                Ok(state) => state,
                Err(error) => {
                    *failure = Some(Box::new(TlsError::of(&error, *told)));
                    self.take_alerts(&mut incoming[used + discard..]);
                    // Nothing of what is left will ever be understood.
                    return incoming.len();
                }
            };
            let is_done = match state {
                ConnectionState::ReadTraffic(mut traffic) => {
                    while let Some(Ok(record)) = traffic.next_record() {
                        discard += record.discard;
                        keep(record.payload, plain, buffer.as_deref_mut());
                    }
                    false
                }
                ConnectionState::EncodeTlsData(mut data) => {
                    encode(&mut data, records);
                    false
                }
                ConnectionState::TransmitTlsData(data) => {
                    // They are ours to send now.
                    data.done();
                    false
                }
                ConnectionState::PeerClosed => {
                    *is_over = true;
                    false
                }
                ConnectionState::WriteTraffic(traffic) => {
                    // Encrypting may leave news of new keys to send.
                    let asked = std::mem::replace(&mut ask, Ask::Nothing);
                    let is_asked = !matches!(asked, Ask::Nothing);
                    *encrypted += asked.answer(traffic, records);
                    !is_asked
                }
                // Nothing goes on without the server, or at all.
                _ => true,
            };
            used += discard;
            if is_done {
                return used;
            }
        }
    }

    /// Takes the alerts that tell the server what was wrong with it: they come before any more of its
    /// bytes is looked at, and no more must be.
    fn take_alerts(&mut self, rest: &mut [u8]) {
        while self.tls.wants_write() {
            match self.tls.process_tls_records(rest).state {
                Ok(ConnectionState::EncodeTlsData(mut data)) => {
                    encode(&mut data, &mut self.records);
                }
                // What was decrypted before is never more than the reader has been given.
                _ => return,
            }
        }
    }

    fn notice_http(&mut self, bytes: &[u8]) {
        let Some(seen) = self.http else { return };
        let wanted = &HTTP[usize::from(seen)..];
        let common = wanted.len().min(bytes.len());
        // At most five.
        let all = u8::try_from(common).unwrap_or(u8::MAX);
        self.http = (bytes[..common] == wanted[..common]).then_some(seen + all);
    }

    /// Looks for what the server said last: one that resets may have told why.
    fn listen(&mut self, tcp: &mut TcpStream) {
        for _ in 0..ROUNDS {
            if self.failure.is_some() || self.is_over || self.plain.len() >= MAX_HELD {
                return;
            }
            match self.poll_receive(tcp, None, None) {
                Poll::Ready(Ok(())) => {}
                Poll::Ready(Err(_)) | Poll::Pending => return,
            }
        }
    }
}

/// What the library is to do once it has nothing else to do.
enum Ask<'a> {
    Nothing,
    Encrypt(&'a [u8]),
    Goodbye,
}

impl Ask<'_> {
    /// Does it; gives how many plain bytes became records.
    fn answer<D>(self, mut traffic: WriteTraffic<'_, D>, records: &mut Vec<u8>) -> usize {
        let start = records.len();
        let (written, plain) = match self {
            Self::Nothing => return 0,
            Self::Encrypt(plain) => {
                let overhead = (plain.len() / (16 * 1024) + 1) * OVERHEAD;
                records.resize(start + plain.len() + overhead, 0);
                (traffic.encrypt(plain, &mut records[start..]).ok(), plain.len())
            }
            Self::Goodbye => {
                records.resize(start + OVERHEAD, 0);
                (traffic.queue_close_notify(&mut records[start..]).ok(), 0)
            }
        };
        records.truncate(start + written.unwrap_or(0));
        if written.is_some() { plain } else { 0 }
    }
}

/// Appends a record of the handshake.
fn encode<D>(data: &mut EncodeTlsData<'_, D>, records: &mut Vec<u8>) {
    let start = records.len();
    if let Err(EncodeError::InsufficientSize(error)) = data.encode(&mut []) {
        records.resize(start + error.required_size, 0);
        let written = data.encode(&mut records[start..]).unwrap_or(0);
        records.truncate(start + written);
    }
}

/// Gives decrypted bytes to the reader, or keeps them for it.
fn keep(payload: &[u8], plain: &mut Vec<u8>, buffer: Option<&mut ReadBuf<'_>>) {
    match buffer {
        Some(buffer) if plain.is_empty() && buffer.remaining() >= payload.len() => {
            buffer.put_slice(payload);
        }
        _ => plain.extend_from_slice(payload),
    }
}

/// Pending after so many reads that brought nothing for anyone, such as tickets without end: other
/// tasks and deadlines have their turn.
fn poll_round(rounds: &mut u32, context: &mut Context<'_>) -> Poll<()> {
    if *rounds == ROUNDS {
        give_way(context);
        return Poll::Pending;
    }
    *rounds += 1;
    Poll::Ready(())
}

/// With a context the task is woken when it could go on.
fn poll_read(
    tcp: &mut TcpStream,
    context: Option<&mut Context<'_>>,
    buffer: &mut [u8],
) -> Poll<io::Result<usize>> {
    let Some(context) = context else { return or_pending(tcp.try_read(buffer)) };
    let mut buffer = ReadBuf::new(buffer);
    ready!(Pin::new(tcp).poll_read(context, &mut buffer))?;
    Poll::Ready(Ok(buffer.filled().len()))
}

/// As [`poll_read`].
fn poll_write(
    tcp: &mut TcpStream,
    context: Option<&mut Context<'_>>,
    bytes: &[u8],
) -> Poll<io::Result<usize>> {
    match context {
        None => or_pending(tcp.try_write(bytes)),
        Some(context) => Pin::new(tcp).poll_write(context, bytes),
    }
}

fn or_pending(outcome: io::Result<usize>) -> Poll<io::Result<usize>> {
    match outcome {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Poll::Pending,
        outcome => Poll::Ready(outcome),
    }
}

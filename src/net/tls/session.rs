//! TLS over one socket, without a buffer that stays while the connection is idle.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, HandshakeKind};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::net::tls::error::Told;
use crate::net::tls::{TlsError, TlsSettings};

/// What a server that does not speak TLS often begins with.
const HTTP: &[u8] = b"HTTP/";

/// The encrypted side of a connection; the socket is with the caller.
#[derive(Debug)]
pub(in crate::net) struct TlsSession {
    tls: ClientConnection,
    told: Told,
    /// Plain bytes whose records are made and not yet all in the kernel: the next write begins with
    /// them, and is done with them when the records are.
    encrypted: usize,
    /// How much of [`HTTP`] the server has begun with, until it said something else.
    http: Option<u8>,
}

impl TlsSession {
    pub(super) fn new(
        config: Arc<ClientConfig>,
        name: ServerName<'static>,
        settings: &TlsSettings,
    ) -> Result<Self, TlsError> {
        let told = Told::by(settings);
        let tls =
            ClientConnection::new(config, name).map_err(|error| TlsError::of(&error, told))?;
        Ok(Self { tls, told, encrypted: 0, http: Some(0) })
    }

    /// Goes on with the handshake until it is complete and all of ours is in the kernel.
    pub(in crate::net) fn poll_handshake(
        &mut self,
        tcp: &mut TcpStream,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), TlsError>> {
        loop {
            let flushed = self.poll_flush(tcp, Some(context));
            if let Poll::Ready(Err(error)) = flushed {
                // A server that resets may have said why.
                self.listen(tcp)?;
                return Poll::Ready(Err(TlsError::io(&error)));
            }
            if !self.tls.is_handshaking() {
                ready!(flushed).map_err(|error| TlsError::io(&error))?;
                self.told.is_handshaking = false;
                return Poll::Ready(Ok(()));
            }
            match ready!(self.poll_receive(tcp, Some(context))) {
                Ok(0) => return Poll::Ready(Err(TlsError::closed())),
                Ok(_) => {}
                Err(error) => return Poll::Ready(Err(self.handshake_error(&error))),
            }
        }
    }

    fn handshake_error(&self, error: &io::Error) -> TlsError {
        if usize::from(self.http.unwrap_or(0)) == HTTP.len() {
            return TlsError::plain_http();
        }
        super::tls_error(error).cloned().unwrap_or_else(|| TlsError::io(error))
    }

    /// Whether an earlier session was resumed; known after the handshake.
    pub(in crate::net) fn is_resumed(&self) -> bool {
        self.tls.handshake_kind() == Some(HandshakeKind::Resumed)
    }

    /// Reads plain bytes. None is the end: the server has said so, or TCP has ended.
    pub(in crate::net) fn poll_read(
        &mut self,
        tcp: &mut TcpStream,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            // First what is decrypted and was not taken yet: the socket would not wake anyone for it.
            match self.tls.reader().read(buffer.initialize_unfilled()) {
                Ok(length) => {
                    buffer.advance(length);
                    return Poll::Ready(Ok(()));
                }
                // Without a word of TLS, which many servers do not say.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() != ErrorKind::WouldBlock => {
                    return Poll::Ready(Err(error));
                }
                Err(_) => {}
            }
            ready!(self.poll_receive(tcp, Some(context)))?;
        }
    }

    /// Encrypts `plain` and hands the records to the kernel, and tells how many plain bytes are done:
    /// only those whose records the kernel has taken. After `Pending` the next write must begin with
    /// the same bytes. Without a context nobody is woken.
    pub(in crate::net) fn poll_write(
        &mut self,
        tcp: &mut TcpStream,
        mut context: Option<&mut Context<'_>>,
        plain: &[u8],
    ) -> Poll<io::Result<usize>> {
        while self.encrypted == 0 && !plain.is_empty() {
            self.encrypted = self.tls.writer().write(plain)?;
            if self.encrypted == 0 {
                // No room beside what else must go.
                ready!(self.poll_flush(tcp, context.as_deref_mut()))?;
            }
        }
        match ready!(self.poll_flush(tcp, context)) {
            Ok(()) => Poll::Ready(Ok(std::mem::take(&mut self.encrypted))),
            Err(error) => {
                // A server that resets may have said why.
                self.listen(tcp).map_err(io::Error::other)?;
                Poll::Ready(Err(error))
            }
        }
    }

    /// Hands all records to the kernel.
    pub(in crate::net) fn poll_flush(
        &mut self,
        tcp: &mut TcpStream,
        mut context: Option<&mut Context<'_>>,
    ) -> Poll<io::Result<()>> {
        while self.tls.wants_write() {
            let mut outgoing = Socket { tcp, context: context.as_deref_mut() };
            match self.tls.write_tls(&mut outgoing) {
                Ok(0) => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Tells the server that nothing more will come (RFC 8446 6.1), as far as the kernel takes it now.
    pub(in crate::net) fn say_goodbye(&mut self, tcp: &mut TcpStream) {
        self.tls.send_close_notify();
        // A server that is gone need not be told.
        let _ = self.poll_flush(tcp, None);
    }

    /// Reads from the socket and decrypts; gives the number of bytes that were read.
    fn poll_receive(
        &mut self,
        tcp: &mut TcpStream,
        context: Option<&mut Context<'_>>,
    ) -> Poll<io::Result<usize>> {
        let mut incoming = Incoming { socket: Socket { tcp, context }, http: &mut self.http };
        let length = match self.tls.read_tls(&mut incoming) {
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Poll::Pending,
            Err(error) => return Poll::Ready(Err(error)),
        };
        let processed = self.tls.process_new_packets();
        if self.tls.wants_write() && !self.tls.is_handshaking() || processed.is_err() {
            // The answer to new keys, or what is wrong; what the kernel does not take goes with the
            // next write.
            let _ = self.poll_flush(tcp, None);
        }
        Poll::Ready(match processed {
            Ok(_) => Ok(length),
            Err(error) => Err(io::Error::other(TlsError::of(&error, self.told))),
        })
    }

    /// Looks for what the server said last; fails with it.
    fn listen(&mut self, tcp: &mut TcpStream) -> Result<(), TlsError> {
        while let Poll::Ready(read) = self.poll_receive(tcp, None) {
            match read {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => return super::tls_error(&error).map_or(Ok(()), |e| Err(e.clone())),
            }
        }
        Ok(())
    }
}

/// A socket as the library wants it. With a context the task is woken when it could go on.
struct Socket<'a, 'c, 'w> {
    tcp: &'a mut TcpStream,
    context: Option<&'c mut Context<'w>>,
}

impl Read for Socket<'_, '_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(context) = &mut self.context else { return self.tcp.try_read(buffer) };
        let mut buffer = ReadBuf::new(buffer);
        match Pin::new(&mut *self.tcp).poll_read(context, &mut buffer) {
            Poll::Ready(read) => read.map(|()| buffer.filled().len()),
            Poll::Pending => Err(ErrorKind::WouldBlock.into()),
        }
    }
}

impl Write for Socket<'_, '_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, bytes: &[IoSlice<'_>]) -> io::Result<usize> {
        let Some(context) = &mut self.context else { return self.tcp.try_write_vectored(bytes) };
        match Pin::new(&mut *self.tcp).poll_write_vectored(context, bytes) {
            Poll::Ready(written) => written,
            Poll::Pending => Err(ErrorKind::WouldBlock.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Notices a server that answers in HTTP.
struct Incoming<'a, 'c, 'w, 'h> {
    socket: Socket<'a, 'c, 'w>,
    http: &'h mut Option<u8>,
}

impl Read for Incoming<'_, '_, '_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.socket.read(buffer)?;
        if let Some(seen) = *self.http {
            let wanted = &HTTP[usize::from(seen)..];
            let common = wanted.len().min(length);
            // At most five.
            let all = u8::try_from(common).unwrap_or(u8::MAX);
            *self.http = (buffer[..common] == wanted[..common]).then_some(seen + all);
        }
        Ok(length)
    }
}

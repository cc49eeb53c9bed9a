//! A connected byte stream, plain or encrypted.

use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll};

use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::net::tls::TlsSession;

/// TCP, and TLS over it where the URL asks for that. A write is done when the kernel has it; after
/// one that could not be done at once, the next must begin with the same bytes.
#[derive(Debug)]
pub struct Stream {
    tcp: TcpStream,
    tls: Option<Box<TlsSession>>,
}

impl Stream {
    /// TCP alone.
    pub fn plain(tcp: TcpStream) -> Self {
        Self { tcp, tls: None }
    }

    pub(super) fn encrypted(tcp: TcpStream, tls: Box<TlsSession>) -> Self {
        Self { tcp, tls: Some(tls) }
    }

    /// Whether a read that does not fill its buffer has taken all there was: bytes of TLS that are no
    /// message, or no whole one, may be there too.
    pub fn ends_in_short_reads(&self) -> bool {
        self.tls.is_none()
    }

    /// Whether there is something in the socket, if only its end. The kernel tells an error once.
    pub fn has_unread(&self) -> io::Result<bool> {
        let mut byte = [MaybeUninit::uninit()];
        match SockRef::from(&self.tcp).peek(&mut byte) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The most that can be in the socket unread, in bytes.
    pub fn receive_buffer(&self) -> usize {
        SockRef::from(&self.tcp).recv_buffer_size().unwrap_or_default()
    }

    /// Writes what the kernel takes now; fails with `WouldBlock` if that is nothing.
    pub fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.tcp.try_write(bytes),
            Some(tls) => match tls.poll_write(&mut self.tcp, None, bytes) {
                Poll::Ready(written) => written,
                Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
            },
        }
    }

    /// Tells the peer of a TLS connection that nothing more will come, as far as that can be done now.
    pub fn say_goodbye(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.say_goodbye(&mut self.tcp);
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { tcp, tls } = &mut *self;
        match tls {
            None => Pin::new(tcp).poll_read(context, buffer),
            Some(tls) => tls.poll_read(tcp, context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let Self { tcp, tls } = &mut *self;
        match tls {
            None => Pin::new(tcp).poll_write(context, bytes),
            Some(tls) => tls.poll_write(tcp, Some(context), bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { tcp, tls } = &mut *self;
        match tls {
            None => Pin::new(tcp).poll_flush(context),
            Some(tls) => tls.poll_flush(tcp, Some(context)),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.say_goodbye();
        Pin::new(&mut self.tcp).poll_shutdown(context)
    }
}

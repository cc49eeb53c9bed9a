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
pub struct Stream(Transport);

/// There may be very many that are plain, which TLS must not make larger.
#[derive(Debug)]
enum Transport {
    Plain(TcpStream),
    Tls(Box<Encrypted>),
}

#[derive(Debug)]
struct Encrypted {
    tcp: TcpStream,
    tls: TlsSession,
}

impl Stream {
    /// TCP alone.
    pub fn plain(tcp: TcpStream) -> Self {
        Self(Transport::Plain(tcp))
    }

    pub(super) fn encrypted(tcp: TcpStream, tls: TlsSession) -> Self {
        Self(Transport::Tls(Box::new(Encrypted { tcp, tls })))
    }

    fn tcp(&self) -> &TcpStream {
        match &self.0 {
            Transport::Plain(tcp) => tcp,
            Transport::Tls(encrypted) => &encrypted.tcp,
        }
    }

    /// Whether a read that does not fill its buffer has taken all there was: bytes of TLS that are no
    /// message, or no whole one, may be there too.
    pub fn ends_in_short_reads(&self) -> bool {
        matches!(self.0, Transport::Plain(_))
    }

    /// Whether the end of what could be read is no end that TLS knows of: something may be missing.
    pub fn is_cut(&self) -> bool {
        match &self.0 {
            Transport::Plain(_) => false,
            Transport::Tls(own) => own.tls.is_cut(),
        }
    }

    /// Whether there is something in the socket, if only its end. The kernel tells an error once.
    pub fn has_unread(&self) -> io::Result<bool> {
        let mut byte = [MaybeUninit::uninit()];
        match SockRef::from(self.tcp()).peek(&mut byte) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The most that can be in the socket unread, in bytes.
    pub fn receive_buffer(&self) -> usize {
        SockRef::from(self.tcp()).recv_buffer_size().unwrap_or_default()
    }

    /// Writes what the kernel takes now; fails with `WouldBlock` if that is nothing.
    pub fn try_write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Transport::Plain(tcp) => tcp.try_write(bytes),
            Transport::Tls(own) => match own.tls.poll_write(&mut own.tcp, None, bytes) {
                Poll::Ready(written) => written,
                Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
            },
        }
    }

    /// Tells the peer of a TLS connection that nothing more will come, as far as that can be done now.
    pub fn say_goodbye(&mut self) {
        if let Transport::Tls(own) = &mut self.0 {
            own.tls.say_goodbye(&mut own.tcp);
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Transport::Plain(tcp) => Pin::new(tcp).poll_read(context, buffer),
            Transport::Tls(own) => own.tls.poll_read(&mut own.tcp, context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.0 {
            Transport::Plain(tcp) => Pin::new(tcp).poll_write(context, bytes),
            Transport::Tls(own) => own.tls.poll_write(&mut own.tcp, Some(context), bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.0 {
            Transport::Plain(tcp) => Pin::new(tcp).poll_flush(context),
            Transport::Tls(own) => own.tls.poll_flush(&mut own.tcp, Some(context)),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.say_goodbye();
        match &mut self.0 {
            Transport::Plain(tcp) => Pin::new(tcp).poll_shutdown(context),
            Transport::Tls(own) => Pin::new(&mut own.tcp).poll_shutdown(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_stream_pays_a_pointer_at_most_for_tls() {
        assert!(size_of::<Option<Stream>>() <= size_of::<TcpStream>() + size_of::<usize>());
    }

    #[test]
    fn what_tls_adds_to_a_connection_is_known() {
        // Keys, counters, certificates and buffers that are empty come on top.
        let size = size_of::<Encrypted>();
        assert!(size < 1_600, "{size} bytes");
    }
}

//! Name lookup, TCP connect and TLS handshake, within one deadline.

use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout_at;

use crate::clock;
use crate::net::{Stream, TlsConnector, TlsError, Url};

/// A connected stream and how long it took.
#[derive(Debug)]
pub struct Dialed {
    /// Connected, with `TCP_NODELAY`.
    pub stream: Stream,
    /// Name lookup.
    pub dns: Duration,
    /// TCP connect, including addresses that did not answer.
    pub tcp: Duration,
    /// The TLS handshake, if there was one.
    pub tls: Option<TlsPhase>,
}

/// A TLS handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlsPhase {
    /// From the first byte to the last of ours.
    pub time: Duration,
    /// Whether it resumed an earlier session.
    pub resumed: bool,
}

/// Why no connection could be made. Each text names the address.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    /// The name has no address.
    #[error("failed to resolve `{host}`")]
    Dns {
        /// The name.
        host: String,
        /// What the resolver said.
        source: io::Error,
    },
    /// The deadline passed.
    #[error("no connection to {to} in time")]
    Timeout {
        /// Name or address and port.
        to: String,
    },
    /// No address accepted; the error is the last one's.
    #[error("failed to connect to {to}")]
    Refused {
        /// Address and port.
        to: SocketAddr,
        /// What the operating system said.
        source: io::Error,
    },
    /// TCP was there, and TLS failed or took too long.
    #[error(transparent)]
    Tls(TlsError),
}

/// Who speaks TLS, and with whom.
#[derive(Debug, Clone, Copy)]
pub struct TlsTo<'a> {
    /// The thread's.
    pub connector: &'a TlsConnector,
    /// What the server's certificate must be for.
    pub server_name: &'a str,
}

/// Connects to the first address of the URL's host that accepts. Each address gets an even share
/// of the time that is left, so that a dead one does not use up the others'. With `tls` a handshake
/// follows.
pub async fn dial(
    url: &Url,
    tls: Option<TlsTo<'_>>,
    deadline: Instant,
) -> Result<Dialed, DialError> {
    let (tcp, dns, tcp_time) = connect(url, deadline).await?;
    let (stream, tls) = match tls {
        None => (Stream::plain(tcp), None),
        Some(tls) => {
            let (stream, phase) = encrypt(tcp, tls, deadline).await.map_err(DialError::Tls)?;
            (stream, Some(phase))
        }
    };
    Ok(Dialed { stream, dns, tcp: tcp_time, tls })
}

async fn encrypt(
    mut tcp: TcpStream,
    tls: TlsTo<'_>,
    deadline: Instant,
) -> Result<(Stream, TlsPhase), TlsError> {
    let start = clock::now();
    let mut session = tls.connector.begin(tls.server_name)?;
    let handshake = poll_fn(|context| session.poll_handshake(&mut tcp, context));
    match timeout_at(deadline.into(), handshake).await {
        Err(_) => return Err(TlsError::timeout()),
        Ok(outcome) => outcome?,
    }
    let phase = TlsPhase { time: clock::now() - start, resumed: session.is_resumed() };
    Ok((Stream::encrypted(tcp, session), phase))
}

/// A TCP connection, and how long name lookup and TCP took.
async fn connect(
    url: &Url,
    deadline: Instant,
) -> Result<(TcpStream, Duration, Duration), DialError> {
    let start = clock::now();
    let addresses = resolve(url, deadline).await?;
    let resolved = clock::now();
    let timeout = || DialError::Timeout { to: format!("{}:{}", url.host, url.port) };
    let mut error = timeout();
    for (tried, &address) in addresses.iter().enumerate() {
        let left = deadline.saturating_duration_since(clock::now());
        let share = left / u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        let until = clock::now() + share;
        match timeout_at(until.into(), TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // Without it a small frame could wait for the acknowledgement of the one before.
                // A socket that refuses the option is already dead, which its first use will tell.
                stream.set_nodelay(true).ok();
                return Ok((stream, resolved - start, clock::now() - resolved));
            }
            Ok(Err(source)) if source.kind() == io::ErrorKind::TimedOut => error = timeout(),
            Ok(Err(source)) => error = DialError::Refused { to: address, source },
            Err(_) => error = timeout(),
        }
    }
    Err(error)
}

async fn resolve(url: &Url, deadline: Instant) -> Result<Vec<SocketAddr>, DialError> {
    if let Ok(address) = url.host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, url.port)]);
    }
    let dns = |source| DialError::Dns { host: url.host.clone(), source };
    match timeout_at(deadline.into(), lookup_host((url.host.as_str(), url.port))).await {
        Err(_) => Err(dns(io::ErrorKind::TimedOut.into())),
        Ok(Err(source)) => Err(dns(source)),
        Ok(Ok(addresses)) => {
            let addresses: Vec<SocketAddr> = addresses.collect();
            if addresses.is_empty() {
                return Err(dns(io::Error::other("it has no address")));
            }
            Ok(addresses)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    fn soon() -> Instant {
        clock::now() + Duration::from_secs(5)
    }

    #[test]
    fn a_listening_address_is_reached() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("ws://{}/", listener.local_addr().unwrap());
        let url = Url::parse(&url, None).unwrap();
        let (stream, ..) = block_on(connect(&url, soon())).unwrap();
        assert!(stream.nodelay().unwrap());
    }

    #[test]
    fn a_closed_port_is_refused_and_named() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let url = Url::parse(&format!("ws://{address}/"), None).unwrap();
        let error = block_on(dial(&url, None, soon())).unwrap_err();
        assert!(matches!(error, DialError::Refused { to, .. } if to == address), "{error:?}");
    }
}

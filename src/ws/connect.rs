//! From a URL to a [`Connection`], within one deadline for everything.

use std::io;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout_at;

use crate::clock;
use crate::net::{DialError, Stream, TlsPhase, TlsTo, Url, dial, tls_error};
use crate::ws::handshake::{Answer, Asked, MAX_INTERIM, MAX_RESPONSE, UpgradeRequest};
use crate::ws::{Connection, Direction, KeepAll, Limits, Refusal, Tap, refusal};

/// An accepted upgrade.
#[derive(Debug)]
pub struct Connected {
    /// Ready to use; frames that came with the answer are already in it.
    pub connection: Connection,
    /// Name lookup.
    pub dns: Duration,
    /// TCP connect.
    pub tcp: Duration,
    /// The TLS handshake, if there was one.
    pub tls: Option<TlsPhase>,
    /// From the first byte of the request to the end of the answer's head.
    pub upgrade: Duration,
    /// When the answer's head was complete.
    pub done: Instant,
    /// Bytes of the upgrade request.
    pub sent_bytes: u64,
    /// Bytes of the answer's head.
    pub bytes: u64,
    /// The head of the answer: see [`header_values`](crate::ws::header_values).
    pub head: Vec<u8>,
}

/// A failed attempt: why, and what had passed over the wire.
#[derive(Debug)]
pub struct ConnectFailure {
    /// Why.
    pub error: ConnectError,
    /// Bytes of the upgrade request, if it was sent.
    pub sent_bytes: u64,
    /// Bytes of the answer, as far as it was read, or of what came instead.
    pub bytes: u64,
    /// The answer, if it was another than 101.
    pub refusal: Option<Box<Refusal>>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Name lookup, TCP or TLS failed.
    #[error(transparent)]
    Dial(DialError),
    /// The deadline passed during the upgrade.
    #[error("no complete answer to the upgrade request from {host}:{port} in time")]
    Timeout {
        /// The URL's host.
        host: String,
        /// The URL's port.
        port: u16,
    },
    /// TCP ended during the upgrade.
    #[error("the connection ended during the upgrade: {how}")]
    Disconnected {
        /// How.
        how: String,
    },
    /// Another HTTP status than 101.
    #[error("the server answered `{line}`")]
    Refused {
        /// The status.
        status: u16,
        /// Status and reason.
        line: String,
    },
    /// An answer that does not conform, or a request that could not be written.
    #[error("{what}")]
    Invalid {
        /// What is wrong.
        what: String,
    },
}

/// Connects, over TLS if `tls` is given, and upgrades; `tap` looks on.
pub async fn connect(
    url: &Url,
    tls: Option<TlsTo<'_>>,
    asked: &Asked,
    limits: Limits,
    deadline: Instant,
    mut tap: Option<Box<dyn Tap>>,
) -> Result<Connected, ConnectFailure> {
    let failure = |error| ConnectFailure { error, sent_bytes: 0, bytes: 0, refusal: None };
    let request = UpgradeRequest::new(&url.uri, asked)
        .map_err(|what| failure(ConnectError::Invalid { what }))?;
    let dialed =
        dial(url, tls, deadline).await.map_err(|error| failure(ConnectError::Dial(error)))?;
    let started = clock::now();
    let mut exchange = Exchange::new(dialed.stream);
    let timeout = || ConnectError::Timeout { host: url.host.clone(), port: url.port };
    let outcome = match timeout_at(deadline.into(), exchange.upgrade(&request)).await {
        Ok(outcome) => outcome,
        Err(_) => Err((timeout(), exchange.received.len())),
    };
    let sent_bytes = exchange.sent as u64;
    let refusal = match &outcome {
        Err((ConnectError::Refused { status, .. }, length)) => {
            let Exchange { stream, received, .. } = &mut exchange;
            Some(Box::new(refusal::read(stream, received, (*status, *length), deadline).await))
        }
        _ => None,
    };
    if let Some(tap) = &mut tap {
        tap.head(Direction::Sent, &request.bytes[..exchange.sent], started);
        if let Some(Refusal { head, body, done }) = refusal.as_deref() {
            let bytes = [exchange.interim.as_slice(), head, body].concat();
            tap.head(Direction::Received, &bytes, *done);
        } else {
            let length = outcome.as_ref().map_or(exchange.received.len(), |(length, _)| *length);
            let bytes = [exchange.interim.as_slice(), &exchange.received[..length]].concat();
            tap.head(Direction::Received, &bytes, clock::now());
        }
    }
    let interim = exchange.interim.len() as u64;
    match outcome {
        Ok((length, done)) => {
            let bytes = interim + length as u64;
            let mut connection = Connection::new(exchange.stream, limits);
            connection.add_upgrade(sent_bytes, bytes);
            connection.set_tap(tap);
            connection.receive(&exchange.received[length..], done, &mut KeepAll);
            Ok(Connected {
                connection,
                dns: dialed.dns,
                tcp: dialed.tcp,
                tls: dialed.tls,
                upgrade: done - started,
                done,
                sent_bytes,
                bytes,
                head: exchange.received[..length].to_vec(),
            })
        }
        Err((error, length)) => {
            let last = if refusal.is_some() { exchange.received.len() } else { length } as u64;
            Err(ConnectFailure { error, sent_bytes, bytes: interim + last, refusal })
        }
    }
}

/// The upgrade's bytes, kept outside the future that a deadline may cut off.
struct Exchange {
    stream: Stream,
    sent: usize,
    /// Answers that said nothing yet.
    interim: Vec<u8>,
    /// How many.
    interims: usize,
    /// What came after them.
    received: Vec<u8>,
}

impl Exchange {
    fn new(stream: Stream) -> Self {
        Self { stream, sent: 0, interim: Vec::new(), interims: 0, received: Vec::new() }
    }

    /// Gives the length of an accepted head and when it was complete; or the error and the length
    /// of what came.
    async fn upgrade(
        &mut self,
        request: &UpgradeRequest,
    ) -> Result<(usize, Instant), (ConnectError, usize)> {
        // A server may refuse what TLS told it, such as a client certificate, after the handshake.
        let disconnected = |error: io::Error| match tls_error(&error) {
            Some(error) => ConnectError::Dial(DialError::Tls(error.clone())),
            None => ConnectError::Disconnected { how: error.to_string() },
        };
        while self.sent < request.bytes.len() {
            match self.stream.write(&request.bytes[self.sent..]).await {
                Ok(written) => self.sent += written,
                Err(error) => return Err((disconnected(error), 0)),
            }
        }
        loop {
            match self.stream.read_buf(&mut self.received).await {
                Ok(0) => {
                    let how = "the server closed TCP before its answer was complete".to_owned();
                    return Err((ConnectError::Disconnected { how }, self.received.len()));
                }
                Ok(_) => {}
                Err(error) => return Err((disconnected(error), self.received.len())),
            }
            match self.judge(request) {
                Answer::Incomplete | Answer::Interim { .. } => {}
                Answer::Accepted { length } => return Ok((length, clock::now())),
                Answer::Refused { status, line, length } => {
                    return Err((ConnectError::Refused { status, line }, length));
                }
                Answer::Invalid { what } => {
                    return Err((ConnectError::Invalid { what }, self.received.len()));
                }
            }
        }
    }

    /// Judges what has come, past interim answers: a server may send any number of them, but not for ever
    /// (RFC 9110 15.2).
    fn judge(&mut self, request: &UpgradeRequest) -> Answer {
        loop {
            let answer = request.judge(&self.received);
            let Answer::Interim { length } = answer else { return answer };
            self.interims += 1;
            if self.interims > MAX_INTERIM || self.interim.len() + length > MAX_RESPONSE {
                let most = format!("{MAX_INTERIM} interim answers or {MAX_RESPONSE} bytes of them");
                return Answer::Invalid { what: format!("more than {most}, and no other answer") };
            }
            self.interim.extend(self.received.drain(..length));
        }
    }
}

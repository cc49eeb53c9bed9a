//! From a URL to a [`Connection`], within one deadline for everything.

use std::io;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout_at;

use crate::clock;
use crate::net::{DialError, Stream, Url, dial};
use crate::ws::handshake::{Answer, Asked, UpgradeRequest};
use crate::ws::{Connection, Direction, KeepAll, Limits, Tap};

/// An accepted upgrade.
#[derive(Debug)]
pub struct Connected {
    /// Ready to use; frames that came with the answer are already in it.
    pub connection: Connection,
    /// Name lookup.
    pub dns: Duration,
    /// TCP connect.
    pub tcp: Duration,
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
    /// Bytes of the answer's head, or of what came instead.
    pub bytes: u64,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Name lookup or TCP failed.
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

/// Connects and upgrades; `tap` looks on.
pub async fn connect(
    url: &Url,
    asked: &Asked,
    limits: Limits,
    deadline: Instant,
    mut tap: Option<Box<dyn Tap>>,
) -> Result<Connected, ConnectFailure> {
    let failure = |error| ConnectFailure { error, sent_bytes: 0, bytes: 0 };
    let request = UpgradeRequest::new(&url.uri, asked)
        .map_err(|what| failure(ConnectError::Invalid { what }))?;
    let dialed = dial(url, deadline).await.map_err(|error| failure(ConnectError::Dial(error)))?;
    let started = clock::now();
    let mut exchange = Exchange { stream: dialed.stream, sent: 0, received: Vec::new() };
    let timeout = || ConnectError::Timeout { host: url.host.clone(), port: url.port };
    let outcome = match timeout_at(deadline.into(), exchange.upgrade(&request)).await {
        Ok(outcome) => outcome,
        Err(_) => Err((timeout(), exchange.received.len())),
    };
    let sent_bytes = exchange.sent as u64;
    if let Some(tap) = &mut tap {
        tap.head(Direction::Sent, &request.bytes[..exchange.sent], started);
        let length = outcome.as_ref().map_or(exchange.received.len(), |(length, _)| *length);
        tap.head(Direction::Received, &exchange.received[..length], clock::now());
    }
    match outcome {
        Ok((length, done)) => {
            let mut connection = Connection::new(exchange.stream, limits);
            connection.add_upgrade(sent_bytes, length as u64);
            connection.set_tap(tap);
            connection.receive(&exchange.received[length..], done, &mut KeepAll);
            Ok(Connected {
                connection,
                dns: dialed.dns,
                tcp: dialed.tcp,
                upgrade: done - started,
                done,
                sent_bytes,
                bytes: length as u64,
                head: exchange.received[..length].to_vec(),
            })
        }
        Err((error, length)) => Err(ConnectFailure { error, sent_bytes, bytes: length as u64 }),
    }
}

/// The upgrade's bytes, kept outside the future that a deadline may cut off.
struct Exchange {
    stream: Stream,
    sent: usize,
    received: Vec<u8>,
}

impl Exchange {
    /// Gives the length of an accepted head and when it was complete; or the error and the length
    /// of what came.
    async fn upgrade(
        &mut self,
        request: &UpgradeRequest,
    ) -> Result<(usize, Instant), (ConnectError, usize)> {
        let disconnected = |error: io::Error| ConnectError::Disconnected { how: error.to_string() };
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
            match request.judge(&self.received) {
                Answer::Incomplete => {}
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
}

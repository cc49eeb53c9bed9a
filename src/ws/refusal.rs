//! What a server answers instead of accepting an upgrade: its head, and the beginning of its body.

use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout_at;

use crate::clock;
use crate::ws::handshake::header_values;

/// So much of a body is kept, in bytes.
const KEPT: usize = 1_024;

/// So much is read at most for it, in bytes: chunks have sizes and extensions beside their data.
const MOST_READ: usize = 8 * KEPT;

/// How long the body may keep us once the head is there; a server need not send one, nor end it.
const PATIENCE: Duration = Duration::from_millis(500);

/// An answer other than 101.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Its head: see [`header_values`].
    pub head: Vec<u8>,
    /// The first kilobyte of its body, as far as it came in time; without the sizes of chunks.
    pub body: Vec<u8>,
    /// When the head was complete.
    pub done: Instant,
}

/// Reads on after the head, of this length, in `received`.
pub(super) async fn read<S: AsyncRead + Unpin>(
    stream: &mut S,
    received: &mut Vec<u8>,
    (status, length): (u16, usize),
    deadline: Instant,
) -> Refusal {
    let done = clock::now();
    let until = deadline.min(done + PATIENCE);
    let ending = Ending::of(status, &received[..length]);
    let (mut body, mut is_whole) = ending.body(&received[length..]);
    while !is_whole && body.len() < KEPT && received.len() - length < MOST_READ {
        received.reserve(KEPT);
        // The end, an error and the time being over leave what there is.
        let Ok(Ok(1..)) = timeout_at(until.into(), stream.read_buf(received)).await else { break };
        (body, is_whole) = ending.body(&received[length..]);
    }
    body.truncate(KEPT);
    Refusal { head: received[..length].to_vec(), body, done }
}

/// How a body ends (RFC 9112 6.3).
#[derive(Debug, PartialEq, Eq)]
enum Ending {
    /// After so many bytes.
    Length(usize),
    /// With a chunk of no bytes.
    Chunks,
    /// With the connection.
    Close,
}

impl Ending {
    fn of(status: u16, head: &[u8]) -> Self {
        if matches!(status, 100..=199 | 204 | 304) {
            return Self::Length(0);
        }
        let codings = header_values(head, "Transfer-Encoding");
        if codings.last().is_some_and(|codings| codings.to_ascii_lowercase().ends_with("chunked")) {
            return Self::Chunks;
        }
        let lengths = header_values(head, "Content-Length");
        lengths.first().and_then(|length| length.parse().ok()).map_or(Self::Close, Self::Length)
    }

    /// What there is of the body, and whether that is all of it.
    fn body(&self, raw: &[u8]) -> (Vec<u8>, bool) {
        match self {
            Self::Length(length) => (raw[..raw.len().min(*length)].to_vec(), raw.len() >= *length),
            Self::Chunks => unchunked(raw),
            Self::Close => (raw.to_vec(), false),
        }
    }
}

/// The data of the chunks (RFC 9112 7.1), and whether nothing is to follow.
fn unchunked(mut raw: &[u8]) -> (Vec<u8>, bool) {
    let mut data = Vec::new();
    loop {
        let (size, rest) = match httparse::parse_chunk_size(raw) {
            Ok(httparse::Status::Complete((used, size))) => (size, &raw[used..]),
            Ok(httparse::Status::Partial) => return (data, false),
            // No chunks: the answer is over for us.
            Err(_) => return (data, true),
        };
        if size == 0 {
            return (data, true);
        }
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        data.extend_from_slice(&rest[..rest.len().min(size)]);
        match rest.get(size.saturating_add(2)..) {
            Some(next) => raw = next,
            None => return (data, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Head and body of what a refusal keeps of `answer`, whose stream ends after it.
    fn refusal(status: u16, answer: &str) -> (usize, String) {
        let length = answer.find("\r\n\r\n").unwrap() + 4;
        // What comes with the head, and what comes later.
        let (now, mut later) = answer.as_bytes().split_at(length + (answer.len() - length) / 2);
        let mut received = now.to_vec();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let deadline = clock::now() + Duration::from_secs(5);
        let read = read(&mut later, &mut received, (status, length), deadline);
        let refusal = runtime.block_on(read);
        (refusal.head.len(), String::from_utf8(refusal.body).unwrap())
    }

    #[test]
    fn a_body_ends_as_its_head_says() {
        for (fields, body, kept) in [
            ("Content-Length: 2", "no, and more", "no"),
            ("Content-Length: 20", "not all", "not all"),
            ("X: y", "until the end", "until the end"),
            (
                "Transfer-Encoding: chunked",
                "3;x=y\r\nno \r\na\r\nway at all\r\n0\r\n\r\n",
                "no way at all",
            ),
            ("Transfer-Encoding: gzip, Chunked", "5\r\nab", "ab"),
            ("Transfer-Encoding: chunked", "xyz", ""),
            ("Transfer-Encoding: chunked", "ffffffffffffffff\r\nab", "ab"),
        ] {
            let head = format!("HTTP/1.1 403 No\r\n{fields}\r\n\r\n");
            let found = refusal(403, &format!("{head}{body}"));
            assert_eq!(found, (head.len(), kept.to_owned()), "{fields}: {body}");
        }
        assert_eq!(refusal(304, "HTTP/1.1 304 No\r\n\r\nnothing").1, "");
    }

    #[test]
    fn a_kilobyte_is_enough() {
        let answer = format!("HTTP/1.1 500 No\r\n\r\n{}", "x".repeat(100_000));
        assert_eq!(refusal(500, &answer).1.len(), KEPT);
    }
}

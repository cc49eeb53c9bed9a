//! One connection of a scripted [`Peer`](crate::support::peer::Peer): what its script can do.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use socket2::SockRef;
use tungstenite::handshake::derive_accept_key;
use wsmeter::clock;

use crate::support::peer_frame::{
    BINARY, CLOSE, PING, PONG, PeerFrame, TEXT, close_payload, frame,
};
use crate::support::time::{PATIENCE, left_until};

/// What a connection received.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record {
    /// The head of the upgrade request, as sent; empty if it was not read.
    pub(crate) request: String,
    /// All frames, also those a script did not ask for, in order.
    pub(crate) frames: Vec<PeerFrame>,
    /// When and how the client ended the stream, if that was seen.
    pub(crate) end: Option<(Instant, End)>,
}

/// How a client ended the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// In order.
    EndOfStream,
    /// By a reset.
    Reset,
}

/// What came next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Next {
    Frame(PeerFrame),
    End(End),
    /// Nothing in time.
    Nothing,
}

/// A connection in the hands of its script. All `expect_…` panic if something else comes.
pub(crate) struct PeerConnection {
    index: usize,
    stream: TcpStream,
    deadline: Instant,
    /// Read and not yet understood.
    buffer: Vec<u8>,
    record: Record,
}

impl Record {
    /// The value of a request header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.request.lines().filter_map(|line| line.split_once(':'));
        let mut lines = lines.filter(|(other, _)| other.eq_ignore_ascii_case(name));
        lines.next().map(|(_, value)| value.trim())
    }

    /// The texts of all whole text messages.
    pub(crate) fn texts(&self) -> Vec<String> {
        let texts = self.frames.iter().filter(|frame| frame.first == TEXT);
        texts.map(PeerFrame::text).collect()
    }
}

impl PeerConnection {
    pub(crate) fn new(index: usize, stream: TcpStream, accepted: Instant) -> Self {
        stream.set_nodelay(true).expect("TCP_NODELAY can be set");
        let deadline = accepted + PATIENCE;
        Self { index, stream, deadline, buffer: Vec::new(), record: Record::default() }
    }

    pub(crate) fn into_record(self) -> Record {
        self.record
    }

    /// Which connection of its peer it is, from 0.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Reads the head of the upgrade request.
    pub(crate) fn read_request(&mut self) {
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            let more = self.fill(self.deadline);
            assert!(more == Fill::Bytes, "no upgrade request but {more:?}");
        };
        let head: Vec<u8> = self.buffer.drain(..end).collect();
        self.record.request = String::from_utf8(head).expect("a request head is UTF-8");
    }

    /// The head of the request that was read last.
    pub(crate) fn request(&self) -> &str {
        &self.record.request
    }

    /// Whom the client takes it for.
    pub(crate) fn host(&self) -> String {
        self.record.header("Host").expect("the request has a host").to_owned()
    }

    /// Reads the body of the request whose head was read; gives both.
    pub(crate) fn request_with_body(&mut self) -> String {
        let length = self
            .record
            .header("Content-Length")
            .map_or(0, |length| length.trim().parse::<usize>().expect("it is a number"));
        while self.buffer.len() < length {
            let more = self.fill(self.deadline);
            assert!(more == Fill::Bytes, "no body but {more:?}");
        }
        let body: Vec<u8> = self.buffer.drain(..length).collect();
        let body = String::from_utf8(body).expect("the body is UTF-8");
        format!("{}{body}", self.record.request)
    }

    /// Waits for whatever comes, and passes over it.
    pub(crate) fn skip_some_bytes(&mut self) {
        let more = self.fill(self.deadline);
        assert!(more == Fill::Bytes, "nothing but {more:?}");
        self.buffer.clear();
    }

    /// What a correct server answers to the request that was read.
    pub(crate) fn upgrade_response(&self) -> String {
        let key = self.record.header("Sec-WebSocket-Key").expect("the request has a key");
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {}\r\n\r\n",
            derive_accept_key(key.as_bytes())
        )
    }

    /// Reads the upgrade request and accepts it.
    pub(crate) fn accept(&mut self) {
        self.read_request();
        self.send(self.upgrade_response().as_bytes());
    }

    /// Sends any bytes. A client that is gone is no error: what it did shows in what it sent.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let left = left_until(self.deadline, "sending");
        self.stream.set_write_timeout(Some(left)).expect("a timeout can be set");
        let _ = self.stream.write_all(bytes);
    }

    /// Sends the same bytes over and over, as fast as they are taken, until the client ends the stream.
    pub(crate) fn flood(&mut self, bytes: &[u8]) {
        let many = bytes.repeat(64 * 1024 / bytes.len() + 1);
        while let left = self.deadline.saturating_duration_since(clock::now())
            && !left.is_zero()
        {
            self.stream.set_write_timeout(Some(left)).expect("a timeout can be set");
            if self.stream.write_all(&many).is_err() {
                return;
            }
        }
    }

    /// Sends byte by byte, a pause before each; ends early when the client is gone.
    pub(crate) fn trickle(&mut self, bytes: &[u8], pause: Duration) {
        for byte in bytes {
            self.listen(pause);
            if self.record.end.is_some() {
                return;
            }
            self.send(&[*byte]);
        }
    }

    pub(crate) fn send_frame(&mut self, first: u8, payload: &[u8]) {
        self.send(&frame(first, payload));
    }

    pub(crate) fn send_text(&mut self, text: &str) {
        self.send_frame(TEXT, text.as_bytes());
    }

    pub(crate) fn send_ping(&mut self, payload: &[u8]) {
        self.send_frame(PING, payload);
    }

    pub(crate) fn send_close(&mut self, code: u16, reason: &str) {
        self.send_frame(CLOSE, &close_payload(code, reason));
    }

    /// The next frame, or whatever else comes first before `until`.
    pub(crate) fn next(&mut self, until: Instant) -> Next {
        loop {
            if let Some(frame) = PeerFrame::parse(&self.buffer, clock::now()) {
                self.buffer.drain(..frame.wire_length);
                self.record.frames.push(frame.clone());
                return Next::Frame(frame);
            }
            if let Some((_, end)) = self.record.end {
                return Next::End(end);
            }
            if self.fill(until.min(self.deadline)) == Fill::Nothing {
                return Next::Nothing;
            }
        }
    }

    /// The next frame, which must be masked.
    pub(crate) fn expect_frame(&mut self) -> PeerFrame {
        match self.next(self.deadline) {
            Next::Frame(frame) => {
                assert!(frame.mask.is_some(), "the client does not mask: {frame:?}");
                frame
            }
            other => panic!("connection {}: no frame but {other:?}", self.index),
        }
    }

    /// The next frame, which must be a whole text message: its text.
    pub(crate) fn expect_text(&mut self) -> String {
        let frame = self.expect_frame();
        assert_eq!(frame.first, TEXT, "{frame:?}");
        frame.text()
    }

    /// The next frame, which must be a pong with this payload: when it came.
    pub(crate) fn expect_pong(&mut self, payload: &[u8]) -> Instant {
        let frame = self.expect_frame();
        assert_eq!((frame.first, frame.payload.as_slice()), (PONG, payload));
        frame.at
    }

    /// The next frame, which must be a close: its code.
    pub(crate) fn expect_close(&mut self) -> Option<u16> {
        let frame = self.expect_frame();
        assert_eq!(frame.first, CLOSE, "{frame:?}");
        frame.close_code()
    }

    /// The client must close, after frames of any kind.
    pub(crate) fn await_close(&mut self) {
        while self.expect_frame().first != CLOSE {}
    }

    /// The client must end the stream, after frames of any kind.
    pub(crate) fn expect_end(&mut self) -> End {
        loop {
            match self.next(self.deadline) {
                Next::Frame(_) => {}
                Next::End(end) => return end,
                Next::Nothing => panic!("connection {}: the client does not end it", self.index),
            }
        }
    }

    /// Takes what comes for this long, or until the client ends the stream: the frames.
    pub(crate) fn listen(&mut self, duration: Duration) -> Vec<PeerFrame> {
        let until = clock::now() + duration;
        let before = self.record.frames.len();
        while let Next::Frame(_) = self.next(until) {}
        self.record.frames[before..].to_vec()
    }

    /// Behaves from here on: echoes messages, answers pings and the close, and ends after it.
    pub(crate) fn echo(&mut self) {
        while let Next::Frame(frame) = self.next(self.deadline) {
            match frame.first {
                TEXT | BINARY => self.send_frame(frame.first, &frame.payload),
                PING => self.send_frame(PONG, &frame.payload),
                CLOSE => return self.send_frame(CLOSE, &frame.payload),
                _ => {}
            }
        }
    }

    /// Answers pings and the close, and ends after it; never sends a message.
    pub(crate) fn echo_nothing(&mut self) {
        while let Next::Frame(frame) = self.next(self.deadline) {
            match frame.first {
                PING => self.send_frame(PONG, &frame.payload),
                CLOSE => return self.send_frame(CLOSE, &frame.payload),
                _ => {}
            }
        }
    }

    /// Whether the client has not ended the stream, as far as was read, and there is time left.
    pub(crate) fn is_connected(&self) -> bool {
        self.record.end.is_none() && clock::now() < self.deadline
    }

    /// Makes the end of the script a TCP reset.
    pub(crate) fn reset(&mut self) {
        let zero = Some(Duration::ZERO);
        SockRef::from(&self.stream).set_linger(zero).expect("SO_LINGER can be set");
    }

    fn fill(&mut self, until: Instant) -> Fill {
        let left = until.saturating_duration_since(clock::now());
        if left.is_zero() {
            return Fill::Nothing;
        }
        self.stream.set_read_timeout(Some(left)).expect("a timeout can be set");
        let mut chunk = [0; 16 * 1024];
        let end = match self.stream.read(&mut chunk) {
            Ok(0) => End::EndOfStream,
            Ok(length) => {
                self.buffer.extend_from_slice(&chunk[..length]);
                return Fill::Bytes;
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => return Fill::Nothing,
                ErrorKind::Interrupted => return Fill::Bytes,
                _ => End::Reset,
            },
        };
        self.record.end = Some((clock::now(), end));
        Fill::End
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fill {
    Bytes,
    End,
    Nothing,
}

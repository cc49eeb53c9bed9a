//! Upgrades and frames, as little of RFC 6455 as an echo needs.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use mio::{Interest, Poll, Token};

const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// A frame that the bytes begin with: where its payload is, and where the next frame begins.
pub(crate) struct Frame {
    pub(crate) is_final: bool,
    pub(crate) opcode: u8,
    pub(crate) mask: Option<[u8; 4]>,
    pub(crate) payload: usize,
    pub(crate) end: usize,
}

/// The request for an upgrade.
pub(crate) fn request(path: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n\r\n"
    )
}

/// The answer to it.
pub(crate) fn answer(key: &[u8]) -> String {
    let accept = tungstenite::handshake::derive_accept_key(key);
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    )
}

/// Connects and upgrades, and waits for both. What comes with the answer is not looked at.
pub(crate) fn open(address: SocketAddr, path: &str) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.write_all(request(path).as_bytes())?;
    let (mut head, mut length) = ([0; 1024], 0);
    while !head[..length].windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut head[length..])? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            read => length += read,
        }
    }
    if head.starts_with(b"HTTP/1.1 101 ") {
        Ok(stream)
    } else {
        Err(io::Error::other(String::from_utf8_lossy(&head[..length])))
    }
}

/// So many of them, which `poll` watches: the token of each is its place.
pub(crate) fn open_all(
    address: SocketAddr,
    path: &str,
    connections: usize,
    poll: &Poll,
    interest: Interest,
) -> io::Result<Vec<mio::net::TcpStream>> {
    let open = |at| {
        let stream = open(address, path)?;
        stream.set_nonblocking(true)?;
        let mut stream = mio::net::TcpStream::from_std(stream);
        poll.registry().register(&mut stream, Token(at), interest)?;
        Ok(stream)
    };
    (0..connections).map(open).collect()
}

/// A client's frame with a text of so many bytes, masked once for all.
pub(crate) fn text(bytes: usize) -> Vec<u8> {
    let mut frame = header(0x81, bytes, 0x80);
    frame.extend(MASK);
    frame.extend((0..bytes).map(|at| b'x' ^ MASK[at % 4]));
    frame
}

/// A client's close with status 1000.
pub(crate) fn close() -> Vec<u8> {
    let mut frame = header(0x88, 2, 0x80);
    frame.extend(MASK);
    frame.extend([0x03 ^ MASK[0], 0xe8 ^ MASK[1]]);
    frame
}

/// The header of a frame, without a mask.
pub(crate) fn header(first: u8, bytes: usize, masked: u8) -> Vec<u8> {
    let mut header = vec![first];
    match (u8::try_from(bytes), u16::try_from(bytes)) {
        (Ok(short @ 0..=125), _) => header.push(masked | short),
        (_, Ok(middle)) => {
            header.push(masked | 126);
            header.extend(middle.to_be_bytes());
        }
        _ => {
            header.push(masked | 127);
            header.extend((bytes as u64).to_be_bytes());
        }
    }
    header
}

/// The frame that these bytes begin with, if it is there as a whole.
pub(crate) fn first(bytes: &[u8]) -> Option<Frame> {
    let (&[first, second], rest) = bytes.split_first_chunk()?;
    let (length, mut at) = match second & 0x7f {
        126 => (usize::from(u16::from_be_bytes(*rest.first_chunk()?)), 4),
        127 => (usize::try_from(u64::from_be_bytes(*rest.first_chunk()?)).ok()?, 10),
        short => (usize::from(short), 2),
    };
    let mut mask = None;
    if second & 0x80 != 0 {
        mask = Some(*bytes.get(at..)?.first_chunk()?);
        at += 4;
    }
    (bytes.len() >= at + length).then_some(Frame {
        is_final: first & 0x80 != 0,
        opcode: first & 0xf,
        mask,
        payload: at,
        end: at + length,
    })
}

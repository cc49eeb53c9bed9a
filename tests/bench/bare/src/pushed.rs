//! Connections that only receive: one message a second each.

use std::io::{self, ErrorKind, Read};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use crate::frame;

/// What so many connections receive in so long a time, opening them not counted.
pub(crate) fn run(address: SocketAddr, connections: usize, time: Duration) -> io::Result<String> {
    let mut poll = Poll::new()?;
    let mut streams = Vec::with_capacity(connections);
    for at in 0..connections {
        let stream = frame::open(address, "/push?hz=1")?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        poll.registry().register(&mut stream, Token(at), Interest::READABLE)?;
        streams.push(stream);
    }
    let (mut events, mut buffer) = (Events::with_capacity(1024), vec![0; 1 << 14]);
    let (start, mut messages) = (Instant::now(), 0);
    while start.elapsed() < time {
        poll.poll(&mut events, Some(Duration::from_millis(100)))?;
        for event in &events {
            match streams[event.token().0].read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => messages += count(&buffer[..read]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(format!("{{\"count\":{messages},\"seconds\":{seconds}}}"))
}

/// A push is far below what a socket holds, so it comes as a whole.
fn count(mut bytes: &[u8]) -> u64 {
    let mut frames = 0;
    while let Some(frame) = frame::first(bytes) {
        bytes = &bytes[frame.end..];
        frames += 1;
    }
    frames
}

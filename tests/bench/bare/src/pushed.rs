//! Connections that only receive: one message a second each.

use std::io::{self, ErrorKind, Read};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll};

use crate::frame;

/// In this time all is read that came while connections were opened.
const SETTLING: Duration = Duration::from_secs(1);

/// What so many connections receive in so long a time, once all are open.
pub(crate) fn run(address: SocketAddr, connections: usize, time: Duration) -> io::Result<String> {
    let mut poll = Poll::new()?;
    let mut streams =
        frame::open_all(address, "/push?hz=1", connections, &poll, Interest::READABLE)?;
    let mut events = Events::with_capacity(1024);
    receive(&mut poll, &mut events, &mut streams, SETTLING)?;
    let start = Instant::now();
    let messages = receive(&mut poll, &mut events, &mut streams, time)?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(format!("{{\"count\":{messages},\"seconds\":{seconds}}}"))
}

/// How many messages come in so long a time.
fn receive(
    poll: &mut Poll,
    events: &mut Events,
    streams: &mut [TcpStream],
    time: Duration,
) -> io::Result<u64> {
    let (mut buffer, mut messages) = (vec![0; 1 << 14], 0);
    let start = Instant::now();
    while start.elapsed() < time {
        poll.poll(events, Some(Duration::from_millis(100)))?;
        for event in &*events {
            match streams[event.token().0].read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => messages += count(&buffer[..read]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(messages)
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

//! A closed loop: each connection sends a frame, awaits its echo, and sends again.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll};

use crate::frame;

struct Client {
    stream: TcpStream,
    /// What of the frame the socket did not take yet, and of the echo is still to come.
    unsent: usize,
    awaited: usize,
}

/// Round trips on so many connections at once, for so long.
pub(crate) fn run(
    address: SocketAddr,
    connections: usize,
    bytes: usize,
    time: Duration,
) -> io::Result<String> {
    let message = frame::text(bytes);
    // The echo has no mask.
    let echo = message.len() - 4;
    let mut poll = Poll::new()?;
    let both = Interest::READABLE | Interest::WRITABLE;
    let streams = frame::open_all(address, "/echo", connections, &poll, both)?;
    let mut clients: Vec<Client> =
        streams.into_iter().map(|stream| Client { stream, unsent: 0, awaited: 0 }).collect();
    let (mut events, mut buffer) = (Events::with_capacity(1024), vec![0; 1 << 18]);
    let (start, mut round_trips) = (Instant::now(), 0_u64);
    for client in &mut clients {
        client.send(&message, echo)?;
    }
    while start.elapsed() < time {
        poll.poll(&mut events, Some(Duration::from_millis(100)))?;
        for event in &events {
            let client = &mut clients[event.token().0];
            if client.unsent > 0 && event.is_writable() {
                client.flush(&message)?;
            }
            if event.is_readable() && client.receive(&mut buffer)? {
                round_trips += 1;
                client.send(&message, echo)?;
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(format!("{{\"count\":{round_trips},\"seconds\":{seconds}}}"))
}

impl Client {
    fn send(&mut self, message: &[u8], echo: usize) -> io::Result<()> {
        (self.unsent, self.awaited) = (message.len(), echo);
        self.flush(message)
    }

    fn flush(&mut self, message: &[u8]) -> io::Result<()> {
        while self.unsent > 0 {
            match self.stream.write(&message[message.len() - self.unsent..]) {
                Ok(written) => self.unsent -= written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether the echo is there as a whole.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<bool> {
        loop {
            match self.stream.read(buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => self.awaited -= read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
            if self.awaited == 0 {
                return Ok(true);
            }
        }
    }
}

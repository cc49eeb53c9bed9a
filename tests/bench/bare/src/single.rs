//! One connection, one round trip after the other, each measured: the true distribution.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::{Events, Interest, Poll};

use crate::frame;

/// So many round trips of so many bytes.
pub(crate) fn run(address: SocketAddr, bytes: usize, rounds: usize) -> io::Result<String> {
    let message = frame::text(bytes);
    let (mut poll, mut events) = (Poll::new()?, Events::with_capacity(1));
    let mut streams = frame::open_all(address, "/echo", 1, &poll, Interest::READABLE)?;
    let stream = &mut streams[0];
    let (mut times, mut buffer) = (Vec::with_capacity(rounds), vec![0; 1 << 18]);
    let start = Instant::now();
    for _ in 0..rounds {
        let sent = Instant::now();
        stream.write_all(&message)?;
        let mut awaited = message.len() - 4;
        while awaited > 0 {
            poll.poll(&mut events, Some(Duration::from_secs(5)))?;
            if events.is_empty() {
                return Err(ErrorKind::TimedOut.into());
            }
            match stream.read(&mut buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => awaited -= read,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        times.push(sent.elapsed());
    }
    let seconds = start.elapsed().as_secs_f64();
    times.sort_unstable();
    let quantile = |q: f64| times[((rounds - 1) as f64 * q) as usize].as_secs_f64() * 1e6;
    let (p50, p99) = (quantile(0.5), quantile(0.99));
    Ok(format!(
        "{{\"count\":{rounds},\"seconds\":{seconds},\"p50_us\":{p50:.1},\"p99_us\":{p99:.1}}}"
    ))
}

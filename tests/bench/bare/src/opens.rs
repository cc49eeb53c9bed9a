//! Opens: connect, upgrade, close, one after the other.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::frame;

/// How many sessions fit into so long a time.
pub(crate) fn run(address: SocketAddr, time: Duration) -> io::Result<String> {
    let (start, mut opens) = (Instant::now(), 0_u64);
    let (close, mut rest) = (frame::close(), Vec::new());
    while start.elapsed() < time {
        let mut stream = frame::open(address, "/echo")?;
        stream.write_all(&close)?;
        // The server answers and ends TCP first (RFC 6455 7.1.1).
        stream.read_to_end(&mut rest)?;
        rest.clear();
        opens += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(format!("{{\"count\":{opens},\"seconds\":{seconds}}}"))
}

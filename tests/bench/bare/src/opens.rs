//! Opens: connect, upgrade, close, one after the other.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::frame;

/// How many sessions fit into so long a time.
pub(crate) fn run(address: SocketAddr, time: Duration) -> io::Result<String> {
    let (start, mut opens) = (Instant::now(), 0_u64);
    let (close, mut echo) = (frame::close(), [0; 4]);
    while start.elapsed() < time {
        let mut stream = frame::open(address, "/echo")?;
        stream.write_all(&close)?;
        stream.read_exact(&mut echo)?;
        opens += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(format!("{{\"count\":{opens},\"seconds\":{seconds}}}"))
}

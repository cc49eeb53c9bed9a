//! What a WebSocket client and server cost that do nothing beside their system calls: the limit that load
//! testers are measured against. Everything is bounded in time, and prints one line of JSON.

mod closed;
mod frame;
mod framed;
mod opens;
mod pushed;
mod server;
mod single;

use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "usage: bare serve SECONDS                           an echo and push server, on a free port
       bare closed PORT CONNECTIONS BYTES SECONDS     each connection sends, awaits the echo, sends again
       bare framed PORT CONNECTIONS BYTES SECONDS     the same on a current-thread tokio
       bare single PORT BYTES ROUNDS                  round trips of one connection, each measured
       bare pushed PORT CONNECTIONS SECONDS           each connection gets a message a second
       bare opens PORT SECONDS                        opens and closes, one after the other";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some(job) = job(&words) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match job {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// `None` if the words are not understood.
fn job(words: &[&str]) -> Option<io::Result<String>> {
    let (&kind, rest) = words.split_first()?;
    let numbers: Option<Vec<u64>> = rest.iter().map(|word| word.parse().ok()).collect();
    Some(match (kind, numbers?.as_slice()) {
        ("serve", &[seconds]) => server::serve(Duration::from_secs(seconds)),
        ("closed", &[port, connections, bytes, seconds]) => closed::run(
            address(port)?,
            count(connections)?,
            count(bytes)?,
            Duration::from_secs(seconds),
        ),
        ("framed", &[port, connections, bytes, seconds]) => framed::run(
            address(port)?,
            count(connections)?,
            count(bytes)?,
            Duration::from_secs(seconds),
        ),
        ("single", &[port, bytes, rounds]) => {
            single::run(address(port)?, count(bytes)?, count(rounds)?)
        }
        ("pushed", &[port, connections, seconds]) => {
            pushed::run(address(port)?, count(connections)?, Duration::from_secs(seconds))
        }
        ("opens", &[port, seconds]) => opens::run(address(port)?, Duration::from_secs(seconds)),
        _ => return None,
    })
}

fn address(port: u64) -> Option<SocketAddr> {
    Some(SocketAddr::from(([127, 0, 0, 1], u16::try_from(port).ok()?)))
}

fn count(number: u64) -> Option<usize> {
    usize::try_from(number).ok()
}

//! The end of a connection's TCP: gives the server the time to close first, so that the client is
//! not left with sockets in `TIME_WAIT`.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::ws::connection::Remains;

/// How long the server has to close TCP.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a server may still send before it is cut off, in bytes.
const MAX_REST: usize = 1024 * 1024;

/// Sends what is unsent and waits, at most a second, until the server closes TCP.
pub async fn linger(mut remains: Remains) {
    let goodbye = async {
        if remains.stream.write_all(&remains.unsent).await.is_err() {
            return;
        }
        let mut rest = [0; 512];
        let mut total = 0;
        while total < MAX_REST {
            match remains.stream.read(&mut rest).await {
                Ok(0) | Err(_) => return,
                Ok(length) => total += length,
            }
        }
    };
    // Either end is fine: closed by the server, or dropped by us.
    timeout(PATIENCE, goodbye).await.ok();
    remains.stream.say_goodbye();
}

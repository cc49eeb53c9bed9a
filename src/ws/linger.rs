//! The end of a connection's TCP: gives the server the time to close first, so that the client is
//! not left with sockets in `TIME_WAIT`.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
use tokio::time::timeout;

use crate::ws::connection::Remains;

/// How long the server has to close TCP.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a server may still send before it is cut off, in bytes.
const MAX_REST: usize = 1024 * 1024;

/// Sends what is unsent and waits, at most a second, until the server closes TCP.
pub async fn linger(mut remains: Remains) {
    // Either end is fine: closed by the server, or dropped by us.
    timeout(PATIENCE, goodbye(&mut remains)).await.ok();
    remains.stream.say_goodbye();
}

async fn goodbye(remains: &mut Remains) {
    if remains.stream.write_all(&remains.unsent).await.is_err() {
        return;
    }
    let mut total = 0;
    poll_fn(|context| {
        // On the stack only while it reads: at the end of a run thousands of sockets linger at once.
        let mut rest = [0; 512];
        while total < MAX_REST {
            let mut rest = ReadBuf::new(&mut rest);
            match ready!(Pin::new(&mut remains.stream).poll_read(context, &mut rest)) {
                Ok(()) if !rest.filled().is_empty() => total += rest.filled().len(),
                Ok(()) | Err(_) => break,
            }
        }
        Poll::Ready(())
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_that_lingers_holds_little() {
        fn held_by<F: Future>(_: impl Fn(Remains) -> F) -> usize {
            size_of::<F>()
        }
        // At the end of a run as many linger as there were connections.
        assert!(held_by(linger) <= 288, "{} bytes", held_by(linger));
    }
}

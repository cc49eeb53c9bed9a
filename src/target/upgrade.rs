//! From an accepted TCP connection to a WebSocket session, or to a plain answer.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::clock;
use crate::target::behaviour::Behaviour;
use crate::target::request::{self, Refusal, Request};
use crate::target::route::{self, Action, PATHS, Script};
use crate::target::server::{Place, Shared};
use crate::target::session::Session;

/// How long a request head may take to arrive.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a client may take to accept a plain answer and to close.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

/// What is done with one connection.
enum Outcome {
    Serve {
        session: Box<Session>,
    },
    Answer {
        stream: TcpStream,
        bytes: Vec<u8>,
    },
    /// It is gone, or was too slow.
    Drop,
}

/// Reads the request and answers it; gives the session if it was an accepted handshake.
pub(super) async fn upgrade(stream: TcpStream, shared: Arc<Shared>) -> Option<Box<Session>> {
    match decide(stream, &shared).await {
        Outcome::Serve { session } => Some(session),
        Outcome::Answer { stream, bytes } => {
            // The client may be gone or may take nothing; the answer is not owed to it then.
            let _ = timeout(ANSWER_TIMEOUT, answer(stream, &bytes)).await;
            None
        }
        Outcome::Drop => None,
    }
}

async fn decide(mut stream: TcpStream, shared: &Arc<Shared>) -> Outcome {
    let mut head = Vec::new();
    let request = match timeout(HEAD_TIMEOUT, read_head(&mut stream, &mut head)).await {
        Ok(Some(Ok(request))) => request,
        Ok(Some(Err(refusal))) => return refuse(stream, shared, &refusal),
        Ok(None) | Err(_) => {
            shared.tallies.incomplete.add(u64::from(!head.is_empty()));
            return Outcome::Drop;
        }
    };
    let route = match route::route(&request.target) {
        Ok(route) => route,
        Err(refusal) => return refuse(stream, shared, &refusal),
    };
    if !route.delay.is_zero() {
        sleep(route.delay).await;
    }
    match route.action {
        Action::Paths => plain(stream, TEXT, &format!("{PATHS}\n")),
        Action::Count => {
            let counters = shared.tallies.snapshot();
            match serde_json::to_string(&counters) {
                Ok(json) => plain(stream, JSON, &format!("{json}\n")),
                Err(error) => refuse(stream, shared, &Refusal::new(500, error.to_string())),
            }
        }
        Action::Reject(status) => {
            refuse(stream, shared, &Refusal::new(status, "refused, as asked"))
        }
        Action::Serve { script, cap } => {
            let rest = head.split_off(request.length);
            // The plan's word, else the client's first choice.
            let first = request.subprotocols.into_iter().next();
            let subprotocol =
                route.subprotocol.map_or(first, |name| Some(name).filter(|name| !name.is_empty()));
            let chosen = Chosen { script, cap, subprotocol };
            accept(stream, shared, request.accept, chosen, &rest).await
        }
    }
}

/// Reads until a head is complete or cannot become one; `None` if the client ends first.
async fn read_head(stream: &mut TcpStream, head: &mut Vec<u8>) -> Option<Result<Request, Refusal>> {
    loop {
        // Reading no more than a head may have keeps what an eager client adds small.
        head.reserve(1_024);
        if stream.read_buf(head).await.ok()? == 0 {
            return None;
        }
        match request::parse(head) {
            Ok(None) => {}
            Ok(Some(request)) => return Some(Ok(request)),
            Err(refusal) => return Some(Err(refusal)),
        }
    }
}

/// What becomes of an accepted handshake.
struct Chosen {
    script: Script,
    cap: Option<u64>,
    subprotocol: Option<String>,
}

async fn accept(
    mut stream: TcpStream,
    shared: &Arc<Shared>,
    accept: Result<Option<String>, Refusal>,
    Chosen { script, cap, subprotocol }: Chosen,
    rest: &[u8],
) -> Outcome {
    let key = match accept {
        Ok(Some(key)) => key,
        Ok(None) => {
            let refusal = Refusal::new(426, "this path speaks WebSocket (RFC 6455) only");
            return refuse(stream, shared, &refusal);
        }
        Err(refusal) => return refuse(stream, shared, &refusal),
    };
    let Some(place) = Place::take(shared, cap) else {
        return refuse(stream, shared, &Refusal::new(503, "all places are taken"));
    };
    let bytes = request::accepted(&key, subprotocol.as_deref());
    if !matches!(timeout(ANSWER_TIMEOUT, stream.write_all(&bytes)).await, Ok(Ok(()))) {
        return Outcome::Drop;
    }
    let behaviour = Behaviour::new(script, clock::now(), shared.clock.started(), &shared.rooms);
    let mut session = Box::new(Session::new(stream, Arc::clone(shared), behaviour, place));
    session.begin(rest);
    Outcome::Serve { session }
}

fn plain(stream: TcpStream, content_type: &str, body: &str) -> Outcome {
    Outcome::Answer { stream, bytes: request::answer(200, content_type, body) }
}

fn refuse(stream: TcpStream, shared: &Shared, refusal: &Refusal) -> Outcome {
    shared.tallies.rejected.add(1);
    let bytes = request::answer(refusal.status, TEXT, &format!("{}\n", refusal.text));
    Outcome::Answer { stream, bytes }
}

/// Sends an answer, ends the stream and waits for the client's end: closing with bytes unread would
/// be a reset, which can overtake the answer.
async fn answer(mut stream: TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    stream.write_all(bytes).await?;
    stream.shutdown().await?;
    let mut rest = [0; 512];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

/// Serves one connection until it is gone or the server stops.
pub(super) async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let stop = Arc::clone(&shared);
    let mut stopped = std::pin::pin!(stop.stopped.notified());
    let session = tokio::select! {
        biased;
        () = &mut stopped => return,
        // Boxed, so that its room is free again while the session runs.
        session = Box::pin(upgrade(stream, shared)) => session,
    };
    let Some(mut session) = session else { return };
    let mut told = false;
    poll_fn(|cx| {
        if !told && stopped.as_mut().poll(cx).is_ready() {
            told = true;
            session.stop();
        }
        session.poll(cx)
    })
    .await;
}

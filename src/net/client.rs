//! One HTTP/1.1 request and its answer, over a connection of its own.

use std::error::Error as _;
use std::fmt::Write as _;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncReadExt;
use tokio::time::{sleep_until, timeout};

use crate::clock;
use crate::net::client::wire::{Progress, Wire};
use crate::net::{DialError, Stream, TlsTo, Url, dial, host_header, tls_error};

pub use wire::HttpTally;

mod wire;

/// An answer's head may be this long, in bytes.
const MAX_HEAD: usize = 64 * 1024;

/// It may have so many headers.
const MAX_HEADERS: usize = 128;

/// How long the server has to close TCP.
const PATIENCE: Duration = Duration::from_secs(1);

/// A request, ready to send.
#[derive(Debug)]
pub struct HttpRequest {
    /// Such as `POST`.
    pub method: &'static str,
    /// Where to.
    pub url: Url,
    /// Beside `Host`, `Connection` and `Content-Length`; valid as HTTP has them.
    pub headers: Vec<(String, String)>,
    /// What is sent; `None` for a request without a body.
    pub body: Option<Vec<u8>>,
}

/// What bounds a request and its answer.
#[derive(Debug, Clone, Copy)]
pub struct HttpLimits {
    /// When it must be connected.
    pub connect_by: Instant,
    /// How long the kernel may take to accept the request.
    pub write: Duration,
    /// How long the whole answer may take once the request is written.
    pub read: Duration,
    /// A larger body fails the request, in bytes.
    pub max_body: u64,
}

/// What came of a request.
#[derive(Debug)]
pub struct HttpExchange {
    /// When the last byte of the answer was read, or the failure noticed.
    pub end: Instant,
    /// Bytes sent.
    pub sent: u64,
    /// The head of the request, as text.
    pub request_head: String,
    /// The answer.
    pub result: Result<HttpAnswer, HttpError>,
    /// What the server has yet to close, for [`drain`].
    pub remains: Option<Stream>,
}

/// A whole answer.
#[derive(Debug)]
pub struct HttpAnswer {
    /// Its status.
    pub status: u16,
    /// Status line and headers, as HTTP/1.1 writes them.
    pub head: Vec<u8>,
    /// Without the sizes of chunks.
    pub body: Vec<u8>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Name lookup, TCP or TLS failed.
    #[error(transparent)]
    Dial(DialError),
    /// The kernel did not take the request in time.
    #[error("the request was not handed to the kernel within `write_timeout`")]
    WriteTimeout,
    /// The answer was not there, or not complete, in time.
    #[error("no complete answer within `read_timeout`{so_far}")]
    ReadTimeout {
        /// What had come.
        so_far: String,
    },
    /// The connection ended before the answer was complete.
    #[error("the connection ended before the answer was complete: {how}")]
    Disconnected {
        /// How.
        how: String,
    },
    /// The answer is not HTTP.
    #[error("the answer is not HTTP: {what}")]
    Invalid {
        /// What is wrong.
        what: String,
    },
    /// The body of the answer exceeds the limit.
    #[error("the answer has more than {max} bytes (`max_message_size`)")]
    TooLarge {
        /// The limit.
        max: u64,
    },
}

/// Sends the request, over TLS if `tls` is given, and waits for the whole answer. `tally` is added to.
pub async fn request(
    request: HttpRequest,
    tls: Option<TlsTo<'_>>,
    limits: HttpLimits,
    tally: &Rc<HttpTally>,
) -> HttpExchange {
    let url = request.url.clone();
    let message = message(request);
    let request_head = request_head(&message);
    let dialed = dial(&url, tls, limits.connect_by).await;
    let connected = clock::now();
    let progress = Rc::new(Progress::new(connected, tally));
    let outcome = match dialed {
        Ok(dialed) => {
            let wire = Wire { stream: dialed.stream, progress: Rc::clone(&progress) };
            in_time(exchange(wire, message, limits.max_body), &progress, limits).await
        }
        Err(error) => Err(HttpError::Dial(error)),
    };
    let (result, remains) = match outcome {
        Ok((answer, stream)) => (Ok(answer), Some(stream)),
        Err(HttpError::Invalid { .. }) if progress.met_tls() => {
            let what = "it is an alert of TLS; `https://` may reach the server".to_owned();
            (Err(HttpError::Invalid { what }), None)
        }
        Err(error) => (Err(error), None),
    };
    let end = match &result {
        Ok(_) => progress.last_read.get().unwrap_or(connected),
        Err(_) => clock::now(),
    };
    HttpExchange { end, sent: progress.sent.get(), request_head, result, remains }
}

/// Waits, at most a second, until the server closes TCP, as it was asked to: the side that closes first
/// is left with a socket in `TIME_WAIT`.
pub async fn drain(mut stream: Stream) {
    let mut rest = [0; 512];
    let goodbye = async { while matches!(stream.read(&mut rest).await, Ok(1..)) {} };
    timeout(PATIENCE, goodbye).await.ok();
}

/// Waits as long as the limits allow, which depends on how far it is. A server that sends without pause
/// gets one turn after another, and the clock is asked after each: neither the deadline nor the other
/// threads of the worker wait for it.
async fn in_time(
    exchange: impl Future<Output = Result<(HttpAnswer, Stream), HttpError>>,
    progress: &Progress,
    limits: HttpLimits,
) -> Result<(HttpAnswer, Stream), HttpError> {
    let mut exchange = pin!(exchange);
    let mut timer = pin!(sleep_until(progress.deadline(limits).into()));
    poll_fn(|context| {
        progress.begin_turn();
        if let Poll::Ready(result) = exchange.as_mut().poll(context) {
            return Poll::Ready(result);
        }
        // It moves with every byte that is sent.
        let until = progress.deadline(limits);
        if clock::now() >= until {
            return Poll::Ready(Err(progress.timed_out()));
        }
        if timer.deadline() != until.into() {
            timer.as_mut().reset(until.into());
        }
        timer.as_mut().poll(context).map(|()| Err(progress.timed_out()))
    })
    .await
}

async fn exchange(
    wire: Wire,
    message: Request<Full<Bytes>>,
    max_body: u64,
) -> Result<(HttpAnswer, Stream), HttpError> {
    let mut builder = http1::Builder::new();
    // As people write them; proxies of old are said to mind.
    builder.title_case_headers(true).max_header_size(MAX_HEAD).max_headers(MAX_HEADERS);
    let io = TokioIo::new(wire);
    let (mut sender, mut connection) = builder.handshake(io).await.map_err(failed)?;
    let answer = async {
        let answer = sender.send_request(message).await.map_err(failed)?;
        let (parts, mut body) = answer.into_parts();
        let mut bytes = Vec::new();
        while let Some(frame) = next_frame(&mut body).await? {
            if (bytes.len() + frame.len()) as u64 > max_body {
                return Err(HttpError::TooLarge { max: max_body });
            }
            bytes.extend_from_slice(&frame);
        }
        let head = answer_head(&Response::from_parts(parts, ()));
        Ok((head, bytes))
    };
    // The connection moves the bytes of the exchange; it may be done before the last are taken.
    let (mut answer, mut is_done) = (pin!(answer), false);
    let ((status, head), body) = poll_fn(|context| {
        if !is_done {
            is_done = connection.poll_without_shutdown(context).is_ready();
        }
        answer.as_mut().poll(context)
    })
    .await?;
    let stream = connection.into_parts().io.into_inner().stream;
    Ok((HttpAnswer { status, head, body }, stream))
}

/// The next data of a body; `None` at its end. Trailers are passed over.
async fn next_frame(body: &mut Incoming) -> Result<Option<Bytes>, HttpError> {
    match body.frame().await {
        None => Ok(None),
        Some(Ok(frame)) => Ok(Some(frame.into_data().unwrap_or_default())),
        Some(Err(error)) => Err(failed(error)),
    }
}

fn message(request: HttpRequest) -> Request<Full<Bytes>> {
    let HttpRequest { method, url, headers, body } = request;
    let mut message = Request::new(Full::new(body.unwrap_or_default().into()));
    *message.method_mut() = method.parse().unwrap_or_default();
    let target = url.uri.path_and_query().map_or("/", |target| target.as_str());
    *message.uri_mut() = target.parse().unwrap_or_default();
    let all = message.headers_mut();
    let set = |all: &mut HeaderMap, name: &str, value: &str| {
        // Both were checked before.
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes())) {
            all.append(name, value);
        }
    };
    set(all, "Host", &host_header(&url.uri));
    for (name, value) in &headers {
        set(all, name, value);
    }
    all.insert(header::CONNECTION, HeaderValue::from_static("close"));
    message
}

fn request_head(message: &Request<Full<Bytes>>) -> String {
    let line = format!("{} {} HTTP/1.1\r\n", message.method(), message.uri());
    head(line, message.headers())
}

/// The status and the whole head.
fn answer_head(answer: &Response<()>) -> (u16, Vec<u8>) {
    let written = answer.extensions().get::<hyper::ext::ReasonPhrase>();
    let reason = match written {
        Some(reason) => String::from_utf8_lossy(reason.as_bytes()).into_owned(),
        None => answer.status().canonical_reason().unwrap_or_default().to_owned(),
    };
    let line = format!("HTTP/1.1 {} {reason}\r\n", answer.status().as_u16());
    (answer.status().as_u16(), head(line, answer.headers()).into_bytes())
}

fn head(mut text: String, headers: &HeaderMap) -> String {
    for (name, value) in headers {
        for part in [name.as_str(), ": ", &String::from_utf8_lossy(value.as_bytes()), "\r\n"] {
            text.push_str(part);
        }
    }
    text + "\r\n"
}

/// What is wrong with the chunks of a body: the library tells it like an error of the system's.
fn broken_body(error: &io::Error) -> Option<String> {
    let is_input = matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput);
    (is_input && error.raw_os_error().is_none()).then(|| format!("in its body: {error}"))
}

#[expect(clippy::needless_pass_by_value, reason = "the signature is that of `map_err`")]
fn failed(error: hyper::Error) -> HttpError {
    let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    if error.is_parse() {
        let mut what = format!("{error}{source}");
        // The library tells the one from the other nowhere else, and neither limit.
        if what.ends_with("too large") {
            let _ = write!(what, " (at most {MAX_HEAD} bytes and {MAX_HEADERS} headers)");
        }
        return HttpError::Invalid { what };
    }
    if error.is_incomplete_message() {
        return HttpError::Disconnected { how: "the server closed TCP".to_owned() };
    }
    let of_the_system = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    if let Some(tls) = of_the_system.and_then(tls_error) {
        return HttpError::Dial(DialError::Tls(tls.clone()));
    }
    if let Some(what) = of_the_system.and_then(broken_body) {
        return HttpError::Invalid { what };
    }
    let how = match of_the_system {
        Some(of_the_system) => of_the_system.to_string(),
        None => format!("{error}{source}"),
    };
    HttpError::Disconnected { how }
}

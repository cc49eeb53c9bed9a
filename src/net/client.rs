//! One HTTP/1.1 request and its answer, over a connection of its own.

use std::cell::Cell;
use std::error::Error as _;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::time::{sleep_until, timeout};

use crate::clock;
use crate::net::{DialError, Stream, TlsTo, Url, dial, host_header, tls_error};

/// An answer's head may be this long, in bytes.
const MAX_HEAD: usize = 64 * 1024;

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
    /// When it was connected, or connecting failed.
    pub connected: Instant,
    /// When the first byte of the answer was read.
    pub first_byte: Option<Instant>,
    /// When the last byte of the answer was read, or the failure noticed.
    pub end: Instant,
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
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

/// Sends the request, over TLS if `tls` is given, and waits for the whole answer.
pub async fn request(
    request: HttpRequest,
    tls: Option<TlsTo<'_>>,
    limits: HttpLimits,
) -> HttpExchange {
    let url = request.url.clone();
    let message = message(request);
    let request_head = request_head(&message);
    let dialed = dial(&url, tls, limits.connect_by).await;
    let connected = clock::now();
    let progress = Rc::new(Progress::new(connected));
    let outcome = match dialed {
        Ok(dialed) => {
            let wire = Wire { stream: dialed.stream, progress: Rc::clone(&progress) };
            in_time(exchange(wire, message, limits.max_body), &progress, limits).await
        }
        Err(error) => Err(HttpError::Dial(error)),
    };
    let (result, remains) = match outcome {
        Ok((answer, stream)) => (Ok(answer), Some(stream)),
        Err(error) => (Err(error), None),
    };
    let end = match &result {
        Ok(_) => progress.last_read.get().unwrap_or(connected),
        Err(_) => clock::now(),
    };
    HttpExchange {
        connected,
        first_byte: progress.first_read.get(),
        end,
        sent: progress.sent.get(),
        received: progress.received.get(),
        request_head,
        result,
        remains,
    }
}

/// Waits, at most a second, until the server closes TCP, as it was asked to: the side that closes first
/// is left with a socket in `TIME_WAIT`.
pub async fn drain(mut stream: Stream) {
    let mut rest = [0; 512];
    let goodbye = async { while matches!(stream.read(&mut rest).await, Ok(1..)) {} };
    timeout(PATIENCE, goodbye).await.ok();
}

/// Waits as long as the limits allow, which depends on how far it is.
async fn in_time(
    exchange: impl Future<Output = Result<(HttpAnswer, Stream), HttpError>>,
    progress: &Progress,
    limits: HttpLimits,
) -> Result<(HttpAnswer, Stream), HttpError> {
    let mut exchange = pin!(exchange);
    let mut timer = pin!(sleep_until(progress.deadline(limits).into()));
    poll_fn(|context| {
        if let Poll::Ready(result) = exchange.as_mut().poll(context) {
            return Poll::Ready(result);
        }
        // It moves with every byte that is sent.
        let until = progress.deadline(limits).into();
        if timer.deadline() != until {
            timer.as_mut().reset(until);
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
    builder.title_case_headers(true).max_header_size(MAX_HEAD);
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

#[expect(clippy::needless_pass_by_value, reason = "the signature is that of `map_err`")]
fn failed(error: hyper::Error) -> HttpError {
    let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    if error.is_parse() {
        return HttpError::Invalid { what: format!("{error}{source}") };
    }
    if error.is_incomplete_message() {
        return HttpError::Disconnected { how: "the server closed TCP".to_owned() };
    }
    let of_the_system = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    if let Some(tls) = of_the_system.and_then(tls_error) {
        return HttpError::Dial(DialError::Tls(tls.clone()));
    }
    let how = match of_the_system {
        Some(of_the_system) => of_the_system.to_string(),
        None => format!("{error}{source}"),
    };
    HttpError::Disconnected { how }
}

/// How far an exchange is.
#[derive(Debug)]
struct Progress {
    connected: Instant,
    sent: Cell<u64>,
    received: Cell<u64>,
    /// When bytes were last handed to the kernel.
    last_write: Cell<Instant>,
    /// Whether the kernel took no more.
    is_blocked: Cell<bool>,
    first_read: Cell<Option<Instant>>,
    last_read: Cell<Option<Instant>>,
}

impl Progress {
    fn new(connected: Instant) -> Self {
        Self {
            connected,
            sent: Cell::new(0),
            received: Cell::new(0),
            last_write: Cell::new(connected),
            is_blocked: Cell::new(false),
            first_read: Cell::new(None),
            last_read: Cell::new(None),
        }
    }

    fn deadline(&self, limits: HttpLimits) -> Instant {
        if self.is_blocked.get() {
            self.connected + limits.write
        } else {
            self.last_write.get() + limits.read
        }
    }

    fn timed_out(&self) -> HttpError {
        if self.is_blocked.get() {
            return HttpError::WriteTimeout;
        }
        HttpError::ReadTimeout {
            so_far: match self.received.get() {
                0 => String::new(),
                bytes => format!("; {bytes} bytes had come"),
            },
        }
    }

    fn has_written(&self, outcome: &Poll<io::Result<usize>>) {
        match outcome {
            Poll::Pending => self.is_blocked.set(true),
            Poll::Ready(Ok(bytes)) => {
                self.is_blocked.set(false);
                self.sent.set(self.sent.get() + *bytes as u64);
                self.last_write.set(clock::now());
            }
            Poll::Ready(Err(_)) => self.is_blocked.set(false),
        }
    }
}

/// A stream that notes its progress.
struct Wire {
    stream: Stream,
    progress: Rc<Progress>,
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let bytes = buffer.filled().len() - before;
        if bytes > 0 {
            let now = Some(clock::now());
            let Progress { first_read, last_read, received, .. } = &*self.progress;
            first_read.set(first_read.get().or(now));
            last_read.set(now);
            received.set(received.get() + bytes as u64);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.progress.has_written(&outcome);
        outcome
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

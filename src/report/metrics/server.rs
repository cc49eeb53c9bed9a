//! Answers those who fetch metrics while a run goes on, on a thread of its own: no worker ever waits
//! for one of them.
//!
//! A worker gives an outline of its figures when it next hands on its rows, at most once a second however many
//! ask. What a client can take is bounded: connections at once, bytes of a request, time.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use crate::clock;
use crate::report::Live;
use crate::report::metrics::{About, Now, render};
use crate::stats::Stats;

/// Connections that are served at once. When there is another, it takes the place of one that has asked for
/// nothing yet.
pub(crate) const MOST_CONNECTIONS: usize = 32;
/// So long every connection may take before it loses its place to another: its request is on its way.
const IDLE: Duration = Duration::from_millis(100);
/// A request and its answer take no longer, or the connection is dropped.
const LIMIT: Duration = Duration::from_secs(5);
/// The head of a request takes no longer: it is one packet.
const HEAD_LIMIT: Duration = Duration::from_secs(1);
/// Bytes of a request's head.
const MOST_HEAD: usize = 16 * 1024;
/// Workers are asked no more often than this.
const EVERY: Duration = Duration::from_secs(1);
/// So long an answer waits for the workers' figures; then it takes the last ones.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// How often it is looked whether they are there.
const LOOK: Duration = Duration::from_millis(20);
/// After an error of `accept`, such as too many open files.
const RECOVERY: Duration = Duration::from_millis(100);

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PATH: &str = "/metrics";

/// An address that is taken, and on which nothing is answered yet.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

/// Metrics are served as long as this is kept.
#[derive(Debug)]
pub struct Serving {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Listening {
    /// Takes an address; port 0 is a free one.
    pub fn on(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where the metrics are.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Begins to answer.
    pub fn serve(self, live: Arc<Live>, about: About) -> io::Result<Serving> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = {
            let _context = runtime.enter();
            tokio::net::TcpListener::from_std(self.listener)?
        };
        let (stop, stopped) = oneshot::channel();
        let source = Arc::new(Source { live, about, asked: Mutex::default() });
        let thread = std::thread::Builder::new().name("metrics".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = accept(listener, &source) => {}
                    _ = stopped => {}
                }
            });
        })?;
        Ok(Serving { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Dropping the sender tells as much.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It does nothing that panics, and its end costs no run its results.
            thread.join().ok();
        }
    }
}

/// Where the figures come from.
struct Source {
    live: Arc<Live>,
    about: About,
    /// When workers were asked last, and the number of the question.
    asked: Mutex<Option<(Instant, u64)>>,
}

/// A connection that is served.
struct Client {
    since: Instant,
    /// Whether its request is there.
    has_asked: Arc<AtomicBool>,
    task: AbortHandle,
}

async fn accept(listener: tokio::net::TcpListener, source: &Arc<Source>) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut clients: VecDeque<Client> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(RECOVERY).await;
            continue;
        };
        let Some(place) = place(&places, &mut clients).await else { return };
        let (source, has_asked) = (Arc::clone(source), Arc::new(AtomicBool::new(false)));
        let asked = Arc::clone(&has_asked);
        let task = tokio::spawn(async move {
            let _place = place;
            // A client that breaks off or is too slow is no concern of the run.
            timeout(LIMIT, serve(stream, source, asked)).await.ok();
        });
        clients.push_back(Client { since: clock::now(), has_asked, task: task.abort_handle() });
    }
}

/// A place for one more, that of one who asks for nothing if there is no other.
async fn place(
    places: &Arc<Semaphore>,
    clients: &mut VecDeque<Client>,
) -> Option<OwnedSemaphorePermit> {
    loop {
        clients.retain(|client| !client.task.is_finished());
        let free = timeout(LOOK, Arc::clone(places).acquire_owned()).await;
        if let Ok(place) = free {
            return place.ok();
        }
        let now = clock::now();
        for client in clients.iter() {
            let age = now.saturating_duration_since(client.since);
            if age >= IDLE && !client.has_asked.load(Ordering::Relaxed) {
                client.task.abort();
            }
        }
    }
}

async fn serve(stream: TcpStream, source: Arc<Source>, asked: Arc<AtomicBool>) {
    let service = service_fn(move |request| {
        asked.store(true, Ordering::Relaxed);
        let source = Arc::clone(&source);
        async move { Ok::<_, Infallible>(answer(&request, &source).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .keep_alive(false)
        .max_buf_size(MOST_HEAD)
        .serve_connection(TokioIo::new(stream), service);
    connection.await.ok();
}

async fn answer(request: &Request<Incoming>, source: &Source) -> Response<Full<Bytes>> {
    let plain = |status, text: &str| response(status, "text/plain; charset=utf-8", text.to_owned());
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let mut refusal = plain(StatusCode::METHOD_NOT_ALLOWED, "metrics are fetched with GET\n");
        refusal.headers_mut().insert(header::ALLOW, http::HeaderValue::from_static("GET, HEAD"));
        return refusal;
    }
    if request.uri().path() != PATH {
        return plain(StatusCode::NOT_FOUND, "the metrics of this run are at /metrics\n");
    }
    let stats = source.figures().await;
    let live = &source.live;
    let now = Now {
        connections: live.connections.now(),
        peak_connections: live.connections.peak(),
        threads: live.threads.now(),
    };
    match render(stats, source.about.clone(), now) {
        Ok(text) => response(StatusCode::OK, CONTENT_TYPE, text),
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the metrics cannot be written\n"),
    }
}

impl Source {
    /// Figures that are no older than a second or so; older ones of workers that do not answer in time.
    async fn figures(&self) -> Stats {
        let question = self.question();
        let deadline = clock::now() + PATIENCE;
        while !self.live.snapshots.is_answered(question) && clock::now() < deadline {
            sleep(LOOK).await;
        }
        self.live.snapshots.together().unwrap_or_default()
    }

    /// Asks the workers, unless that was done a moment ago.
    fn question(&self) -> u64 {
        let now = clock::now();
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        match *asked {
            Some((last, question)) if now.saturating_duration_since(last) < EVERY => question,
            _ => {
                let question = self.live.snapshots.ask();
                *asked = Some((now, question));
                question
            }
        }
    }
}

fn response(status: StatusCode, kind: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(kind));
    response
}

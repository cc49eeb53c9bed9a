//! The server as a whole: its thread, its accept loop, and its end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{sleep, timeout};

use crate::clock::Clock;
use crate::target::Counters;
use crate::target::counters::Tallies;
use crate::target::login::Logins;
use crate::target::room::Rooms;
use crate::target::upgrade;

/// Connections that the kernel completes ahead of the accept loop; it may allow fewer.
const BACKLOG: i32 = 4_096;

/// How long connections may take to close when the server stops.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);

/// The pause after a failed accept, for instance when all file descriptors are in use.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address is in use, is not ours, or needs rights.
    #[error("failed to listen on `{address}`")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The system gave no thread or no means to wait for sockets.
    #[error("failed to start the thread of the server on `{address}`")]
    Thread {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
}

/// A running server, on a thread of its own. Dropping it stops it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the connections of a server share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) clock: Clock,
    pub(super) tallies: Tallies,
    pub(super) rooms: Arc<Rooms>,
    pub(super) logins: Logins,
    /// Tells all connections that the server stops.
    pub(super) stopped: Notify,
}

impl Server {
    /// Listens on `address` (port 0: a free one) and serves. When it returns, clients can connect.
    pub fn start(address: SocketAddr) -> Result<Self, StartError> {
        let (listener, bound) =
            listen(address).map_err(|source| StartError::Listen { address, source })?;
        let thread_error = |source| StartError::Thread { address, source };
        let runtime = Builder::new_current_thread().enable_all().build().map_err(thread_error)?;
        let shared = Arc::new(Shared {
            clock: Clock::start(),
            tallies: Tallies::default(),
            rooms: Arc::default(),
            logins: Logins::default(),
            stopped: Notify::new(),
        });
        let (stop, stopping) = oneshot::channel();
        let for_thread = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("target".to_owned())
            .spawn(move || run(&runtime, listener, &for_thread, stopping))
            .map_err(thread_error)?;
        Ok(Self { address: bound, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// The address it listens on, with the real port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has counted so far.
    pub fn counters(&self) -> Counters {
        self.shared.tallies.snapshot()
    }

    /// Closes all connections with 1001 and ends, within about a second. Gives the final counters.
    pub fn stop(mut self) -> Counters {
        self.end();
        self.counters()
    }

    fn end(&mut self) {
        // A failed send means that the thread is gone already, and so does a failed join.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn listen(address: SocketAddr) -> io::Result<(std::net::TcpListener, SocketAddr)> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // The server closes first (RFC 6455 7.1.1), so its own TIME_WAITs would keep the port.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    let listener = std::net::TcpListener::from(socket);
    let bound = listener.local_addr()?;
    Ok((listener, bound))
}

fn run(
    runtime: &Runtime,
    listener: std::net::TcpListener,
    shared: &Arc<Shared>,
    stopping: oneshot::Receiver<()>,
) {
    runtime.block_on(async {
        // Fails only where the runtime has no I/O driver; there is nobody left to tell.
        let Ok(listener) = TcpListener::from_std(listener) else { return };
        // Every connection holds a sender, so the channel ends when the last one is gone.
        let (alive, mut all_gone) = mpsc::channel::<()>(1);
        tokio::select! {
            _ = stopping => {}
            () = accept_all(&listener, shared, &alive) => {}
        }
        drop((listener, alive));
        shared.stopped.notify_waiters();
        let _ = timeout(STOP_TIMEOUT, all_gone.recv()).await;
    });
}

async fn accept_all(listener: &TcpListener, shared: &Arc<Shared>, alive: &mpsc::Sender<()>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Without it answers only wait for more; a socket that refuses it still works.
                let _ = stream.set_nodelay(true);
                let (shared, alive) = (Arc::clone(shared), alive.clone());
                tokio::spawn(async move {
                    upgrade::serve(stream, shared).await;
                    drop(alive);
                });
            }
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
}

/// A connection's place among the open ones; given back when dropped.
#[derive(Debug)]
pub(super) struct Place {
    shared: Arc<Shared>,
    capped: bool,
}

impl Place {
    /// `None` if `cap` places of its kind are taken.
    pub(super) fn take(shared: &Arc<Shared>, cap: Option<u64>) -> Option<Self> {
        let tallies = &shared.tallies;
        if let Some(cap) = cap {
            if tallies.open_capped.value() >= cap {
                return None;
            }
            tallies.open_capped.add(1);
        }
        tallies.connections.add(1);
        tallies.open.add(1);
        Some(Self { shared: Arc::clone(shared), capped: cap.is_some() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.shared.tallies.open.take_back(1);
        self.shared.tallies.open_capped.take_back(u64::from(self.capped));
    }
}

//! A server whose every byte a test decides: accepts on a free loopback port and runs a script for
//! each connection, on a thread of its own.
//!
//! It knows RFC 6455 by itself, not through the library, so that it can judge the library. Every
//! wait ends: a connection as a whole has [`PATIENCE`], after which its script panics, and
//! [`Peer::finish`] passes that panic on to the test.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use wsmeter::clock;

use crate::support::ANY_PORT;
use crate::support::peer_connection::{PeerConnection, Record};
use crate::support::time::PATIENCE;

/// A scripted server.
pub(crate) struct Peer {
    address: SocketAddr,
    stopping: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<Vec<JoinHandle<Record>>>>,
}

impl Peer {
    /// Runs `script` for each connection, several at once if they come so;
    /// [`PeerConnection::index`] tells them apart. The connection closes when the script returns.
    pub(crate) fn spawn(script: impl Fn(&mut PeerConnection) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(ANY_PORT).expect("a loopback address can be listened on");
        let address = listener.local_addr().expect("a listener has an address");
        let stopping = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopping);
        let script = Arc::new(script);
        let acceptor = thread::spawn(move || {
            let mut connections = Vec::new();
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    break;
                }
                let stream = stream.expect("a connection can be accepted");
                let (index, script) = (connections.len(), Arc::clone(&script));
                connections.push(thread::spawn(move || {
                    let mut connection = PeerConnection::new(index, stream, clock::now());
                    script(&mut connection);
                    connection.into_record()
                }));
            }
            connections
        });
        Self { address, stopping, acceptor: Some(acceptor) }
    }

    /// `ws://127.0.0.1:<port>` and the path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("ws://{}{path}", self.address)
    }

    /// Accepts no more, waits for the scripts, and gives what each connection received, in order of
    /// acceptance. Panics as a script did.
    pub(crate) fn finish(mut self) -> Vec<Record> {
        let connections = self.stop().expect("finish comes once");
        let join = |script: JoinHandle<Record>| script.join().unwrap_or_else(|e| resume_unwind(e));
        connections.into_iter().map(join).collect()
    }

    fn stop(&mut self) -> Option<Vec<JoinHandle<Record>>> {
        let acceptor = self.acceptor.take()?;
        self.stopping.store(true, Ordering::SeqCst);
        // Wakes the acceptor.
        drop(TcpStream::connect_timeout(&self.address, PATIENCE));
        acceptor.join().ok()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stop();
    }
}

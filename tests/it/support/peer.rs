//! A server whose every byte a test decides: accepts on a free loopback port and runs a script for
//! each connection, on a thread of its own.
//!
//! It knows RFC 6455 by itself, not through the library, so that it can judge the library. Every
//! wait ends: a connection as a whole has [`PATIENCE`], after which its script panics, and
//! [`Peer::finish`] passes that panic on to the test.

use std::net::{SocketAddr, TcpListener};
use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use socket2::{Domain, Socket, Type};
use wsmeter::clock;

use crate::support::ANY_PORT;
use crate::support::peer_connection::{PeerConnection, Record};
use crate::support::time::PATIENCE;

/// A scripted server.
pub(crate) struct Peer {
    address: SocketAddr,
    /// Where the connection comes from that ends accepting.
    last: Arc<OnceLock<SocketAddr>>,
    acceptor: Option<JoinHandle<Vec<JoinHandle<Record>>>>,
}

impl Peer {
    /// Runs `script` for each connection, several at once if they come so;
    /// [`PeerConnection::index`] tells them apart. The connection closes when the script returns.
    pub(crate) fn spawn(script: impl Fn(&mut PeerConnection) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(ANY_PORT).expect("a loopback address can be listened on");
        let address = listener.local_addr().expect("a listener has an address");
        let last = Arc::new(OnceLock::new());
        let stop = Arc::clone(&last);
        let script = Arc::new(script);
        let acceptor = thread::spawn(move || {
            let mut connections = Vec::new();
            for stream in listener.incoming() {
                let stream = stream.expect("a connection can be accepted");
                if stop.get().is_some_and(|last| stream.peer_addr().is_ok_and(|peer| peer == *last))
                {
                    break;
                }
                let (index, script) = (connections.len(), Arc::clone(&script));
                connections.push(thread::spawn(move || {
                    let mut connection = PeerConnection::new(index, stream, clock::now());
                    script(&mut connection);
                    connection.into_record()
                }));
            }
            connections
        });
        Self { address, last, acceptor: Some(acceptor) }
    }

    /// `ws://127.0.0.1:<port>` and the path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("ws://{}{path}", self.address)
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
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
        // A connection of our own wakes the acceptor. It is the last in the queue, so that none that
        // came before is left out, and it is known by its port before it is made.
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket can be made");
        socket.bind(&ANY_PORT.into()).expect("a loopback address can be bound");
        let own = socket.local_addr().ok().and_then(|address| address.as_socket());
        self.last.set(own.expect("it has an address")).expect("this is done once");
        socket.connect_timeout(&self.address.into(), PATIENCE).expect("the acceptor listens");
        acceptor.join().ok()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tungstenite::{Error, Message};
    use wsmeter::clock;

    use super::*;
    use crate::support::client::{ask, connect, socket};
    use crate::support::peer_connection::End;
    use crate::support::peer_frame::{CLOSE, TEXT, frame};

    #[test]
    fn a_peer_echoes_and_records_what_it_received() {
        let peer = Peer::spawn(|client| {
            client.accept();
            client.echo();
        });
        let mut client = connect(peer.address, "/chat?room=1");
        for length in [0, 125, 126, 70_000] {
            let text = "x".repeat(length);
            assert_eq!(ask(&mut client, &text), Message::text(text));
        }
        client.close(None).unwrap();
        while client.read().is_ok() {}
        let record = &peer.finish()[0];
        assert!(record.request.starts_with("GET /chat?room=1 HTTP/1.1\r\n"));
        assert_eq!(record.header("upgrade"), Some("websocket"));
        let lengths: Vec<usize> = record.texts().iter().map(String::len).collect();
        assert_eq!(lengths, [0, 125, 126, 70_000]);
        assert_eq!(record.frames.last().unwrap().first, CLOSE);
    }

    #[test]
    fn a_peer_serves_several_connections_at_once_and_tells_them_apart() {
        let peer = Peer::spawn(|client| {
            client.accept();
            let index = client.index();
            client.send_text(&index.to_string());
            client.echo();
        });
        let mut first = connect(peer.address, "/");
        assert_eq!(first.read().unwrap(), Message::text("0"));
        let mut second = connect(peer.address, "/");
        assert_eq!(second.read().unwrap(), Message::text("1"));
        drop((first, second));
        let ends: Vec<_> = peer.finish().iter().map(|record| record.end.unwrap().1).collect();
        assert_eq!(ends, [End::EndOfStream; 2]);
    }

    #[test]
    fn a_trickled_frame_arrives_whole_and_slowly() {
        let peer = Peer::spawn(|client| {
            client.accept();
            client.trickle(&frame(TEXT, b"abc"), Duration::from_millis(10));
        });
        let mut client = connect(peer.address, "/");
        let started = clock::now();
        assert_eq!(client.read().unwrap(), Message::text("abc"));
        assert!(started.elapsed() >= Duration::from_millis(40), "{:?}", started.elapsed());
        drop(peer);
    }

    #[test]
    fn a_reset_is_a_reset() {
        let peer = Peer::spawn(|client| {
            client.accept();
            client.expect_text();
            client.reset();
        });
        let mut client = connect(peer.address, "/");
        client.send(Message::text("a")).unwrap();
        let Err(Error::Io(error)) = client.read() else { panic!("no reset") };
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
        assert_eq!(peer.finish()[0].texts(), ["a"]);
    }

    #[test]
    fn a_script_that_fails_fails_its_test() {
        let peer = Peer::spawn(|client| {
            client.accept();
            client.expect_text();
        });
        drop(socket(peer.address));
        let failure = thread::spawn(|| peer.finish()).join().unwrap_err();
        let text = failure.downcast_ref::<String>().unwrap();
        assert!(text.contains("no upgrade request"), "{text}");
    }
}

//! A client that is not ours (tungstenite's), to judge the embedded server by.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use tungstenite::error::Error;
use tungstenite::handshake::HandshakeError;
use tungstenite::{Message, WebSocket};

use crate::support::time::PATIENCE;

/// A connected client.
pub(crate) type Client = WebSocket<TcpStream>;

/// A socket on which every read and write ends in time.
pub(crate) fn socket(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect_timeout(&address, PATIENCE).expect("connects");
    socket.set_read_timeout(Some(PATIENCE)).expect("a timeout can be set");
    socket.set_write_timeout(Some(PATIENCE)).expect("a timeout can be set");
    socket.set_nodelay(true).expect("TCP_NODELAY can be set");
    socket
}

/// Connects and upgrades.
pub(crate) fn connect(address: SocketAddr, target: &str) -> Client {
    try_connect(address, target).unwrap_or_else(|status| panic!("{target} answered {status}"))
}

/// Connects and upgrades, or gives the status of the refusal.
pub(crate) fn try_connect(address: SocketAddr, target: &str) -> Result<Client, u16> {
    match tungstenite::client(format!("ws://{address}{target}"), socket(address)) {
        Ok((client, _)) => Ok(client),
        Err(HandshakeError::Failure(Error::Http(response))) => Err(response.status().as_u16()),
        Err(error) => panic!("{target}: {error}"),
    }
}

/// Sends a text and gives the next message.
pub(crate) fn ask(client: &mut Client, text: &str) -> Message {
    client.send(Message::text(text)).expect("the server takes a message");
    client.read().expect("the server answers")
}

/// Sends these bytes and gives everything that comes until the server ends the stream.
pub(crate) fn exchange(address: SocketAddr, request: &str) -> String {
    let mut socket = socket(address);
    socket.write_all(request.as_bytes()).expect("the server takes a request");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("the server answers and closes");
    answer
}

/// A plain HTTP request: the whole answer.
pub(crate) fn get(address: SocketAddr, target: &str) -> String {
    exchange(address, &format!("GET {target} HTTP/1.1\r\nHost: {address}\r\n\r\n"))
}

/// The server's own counters, asked for over HTTP.
pub(crate) fn count(address: SocketAddr) -> serde_json::Value {
    let answer = get(address, "/count");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a body");
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    serde_json::from_str(body).expect("/count answers with JSON")
}

/// The opening handshake as text, for tests that send it in pieces.
pub(crate) fn handshake(target: &str) -> String {
    format!(
        "GET {target} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
}

/// Reads one HTTP head, byte by byte so that nothing after it is taken.
pub(crate) fn read_head(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).expect("a whole head comes");
        head.push(byte[0]);
    }
    String::from_utf8(head).expect("a head is ASCII")
}

//! The server: echoes what comes on any path, and on `/push` sends a message a second. One thread, one epoll.

use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant, SystemTime};

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};

use crate::frame;

const LISTENER: Token = Token(usize::MAX);
/// Beyond it a connection gets an error, which ends it.
const MOST: usize = 40_000;

struct Peer {
    stream: TcpStream,
    upgraded: bool,
    /// What came and is no whole frame yet.
    input: Vec<u8>,
    /// What the socket did not take.
    output: Vec<u8>,
    pushes: u64,
    /// Whether the close handshake is done: the server ends TCP first (RFC 6455 7.1.1).
    closed: bool,
}

struct Server {
    poll: Poll,
    listener: TcpListener,
    peers: Vec<Option<Peer>>,
    free: Vec<usize>,
    /// Those that get pushes, and the next one to get its.
    pushed: Vec<usize>,
    next: usize,
    buffer: Vec<u8>,
    reply: Vec<u8>,
}

/// Serves for so long. The port is the first line of the output.
pub(crate) fn serve(time: Duration) -> io::Result<String> {
    let mut listener = TcpListener::bind(([127, 0, 0, 1], 0).into())?;
    println!("{}", listener.local_addr()?.port());
    let poll = Poll::new()?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    let mut server = Server {
        poll,
        listener,
        peers: Vec::new(),
        free: Vec::new(),
        pushed: Vec::new(),
        next: 0,
        buffer: vec![0; 1 << 18],
        reply: Vec::new(),
    };
    let (mut events, start) = (Events::with_capacity(1024), Instant::now());
    let (mut owed, mut last) = (0.0, start);
    while start.elapsed() < time {
        // Pushes are spread evenly over each second, in steps of a millisecond.
        let wait = if server.pushed.is_empty() { 100 } else { 1 };
        server.poll.poll(&mut events, Some(Duration::from_millis(wait)))?;
        for event in &events {
            match event.token() {
                LISTENER => server.accept()?,
                Token(at) => server.serve(at, event.is_writable()),
            }
        }
        let now = Instant::now();
        owed += (now - last).as_secs_f64() * server.pushed.len() as f64;
        last = now;
        while owed >= 1.0 {
            owed -= 1.0;
            server.push();
        }
    }
    Ok("{}".to_owned())
}

impl Server {
    fn accept(&mut self) -> io::Result<()> {
        loop {
            let mut stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            stream.set_nodelay(true)?;
            let at = self.free.pop().unwrap_or(self.peers.len());
            if at >= MOST {
                return Err(io::Error::other("too many connections"));
            }
            let both = Interest::READABLE | Interest::WRITABLE;
            self.poll.registry().register(&mut stream, Token(at), both)?;
            let peer = Peer {
                stream,
                upgraded: false,
                input: Vec::new(),
                output: Vec::new(),
                pushes: 0,
                closed: false,
            };
            if at == self.peers.len() {
                self.peers.push(None);
            }
            self.peers[at] = Some(peer);
        }
    }

    /// Reads and answers; drops the connection where it has ended.
    fn serve(&mut self, at: usize, writable: bool) {
        let Some(peer) = self.peers.get_mut(at).and_then(Option::as_mut) else { return };
        let mut goes_on = !writable || peer.output.is_empty() || peer.flush();
        let mut path = None;
        while goes_on {
            match peer.stream.read(&mut self.buffer) {
                Ok(0) => goes_on = false,
                Ok(read) => {
                    let bytes = &self.buffer[..read];
                    if !peer.upgraded {
                        path = peer.upgrade(bytes);
                    } else if peer.input.is_empty() {
                        let used = peer.echo(bytes, &mut self.reply);
                        peer.input.extend(&bytes[used..]);
                    } else {
                        let mut input = std::mem::take(&mut peer.input);
                        input.extend(bytes);
                        let used = peer.echo(&input, &mut self.reply);
                        input.drain(..used);
                        peer.input = input;
                    }
                    goes_on = peer.write(&self.reply) && !peer.closed;
                    self.reply.clear();
                    // A short read has emptied the socket.
                    if read < self.buffer.len() {
                        break;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => goes_on = false,
            }
        }
        if path.is_some_and(|path| path.starts_with("/push")) {
            self.pushed.push(at);
        }
        if !goes_on {
            self.peers[at] = None;
            self.pushed.retain(|pushed| *pushed != at);
            self.free.push(at);
        }
    }

    fn push(&mut self) {
        self.next = (self.next + 1) % self.pushed.len();
        let Some(peer) = self.peers[self.pushed[self.next]].as_mut() else { return };
        peer.pushes += 1;
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let text = format!("{{\"seq\":{},\"t\":{}}}", peer.pushes, now.as_millis());
        let mut message = frame::header(0x81, text.len(), 0);
        message.extend(text.as_bytes());
        peer.write(&message);
    }
}

impl Peer {
    /// The path, once the whole request is there.
    fn upgrade(&mut self, bytes: &[u8]) -> Option<String> {
        self.input.extend(bytes);
        if !self.input.ends_with(b"\r\n\r\n") {
            return None;
        }
        let head = String::from_utf8_lossy(&std::mem::take(&mut self.input)).into_owned();
        let key = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("sec-websocket-key").then(|| value.trim().to_owned())
        });
        self.write(frame::answer(key?.as_bytes()).as_bytes());
        self.upgraded = true;
        head.split(' ').nth(1).map(str::to_owned)
    }

    /// Appends the answers to all whole frames, and says how many bytes those were.
    fn echo(&mut self, bytes: &[u8], reply: &mut Vec<u8>) -> usize {
        let mut used = 0;
        while let Some(frame) = frame::first(&bytes[used..]) {
            let payload = &bytes[used + frame.payload..used + frame.end];
            used += frame.end;
            let opcode = match frame.opcode {
                0x9 => 0xa,
                0xa => continue,
                0x8 => {
                    self.closed = true;
                    0x8
                }
                other => other,
            };
            // A fragment is echoed as one.
            let fin = if frame.is_final { 0x80 } else { 0 };
            reply.extend(frame::header(fin | opcode, payload.len(), 0));
            let start = reply.len();
            reply.extend(payload);
            if let Some(mask) = frame.mask {
                unmask(&mut reply[start..], mask);
            }
        }
        used
    }

    /// False where the connection is gone.
    fn write(&mut self, bytes: &[u8]) -> bool {
        if !self.output.is_empty() {
            self.output.extend(bytes);
            return true;
        }
        if bytes.is_empty() {
            return true;
        }
        match self.stream.write(bytes) {
            Ok(written) => self.output.extend(&bytes[written..]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => self.output.extend(bytes),
            Err(_) => return false,
        }
        self.output.is_empty() || self.flush()
    }

    fn flush(&mut self) -> bool {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(written) => drop(self.output.drain(..written)),
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
        true
    }
}

fn unmask(bytes: &mut [u8], mask: [u8; 4]) {
    let word = u64::from_ne_bytes([mask, mask].concat().try_into().expect("twice four are eight"));
    let (chunks, rest) = bytes.as_chunks_mut::<8>();
    for chunk in chunks {
        *chunk = (u64::from_ne_bytes(*chunk) ^ word).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}

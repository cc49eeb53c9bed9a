//! The closed loop as a frame-level client on a current-thread tokio has it: a task a connection, a buffer
//! shared by all, masks of their own, a clock read at both ends. What it costs beyond the bare loop is what an
//! asynchronous client pays before it interprets, measures or writes anything.

use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::task::LocalSet;

use crate::frame;

struct Shared {
    buffer: RefCell<Vec<u8>>,
    round_trips: Cell<u64>,
    waited: Cell<Duration>,
    end: Instant,
}

/// Round trips on so many connections at once, for so long.
pub(crate) fn run(
    address: SocketAddr,
    connections: usize,
    bytes: usize,
    time: Duration,
) -> io::Result<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut streams = Vec::with_capacity(connections);
    for _ in 0..connections {
        let stream = frame::open(address, "/echo")?;
        stream.set_nonblocking(true)?;
        streams.push(stream);
    }
    let start = Instant::now();
    let shared = Rc::new(Shared {
        buffer: RefCell::new(vec![0; 1 << 18]),
        round_trips: Cell::new(0),
        waited: Cell::new(Duration::ZERO),
        end: start + time,
    });
    let tasks = LocalSet::new();
    let mut clients = Vec::new();
    for stream in streams {
        clients.push(tasks.spawn_local(talk(stream, bytes, Rc::clone(&shared))));
    }
    tasks.block_on(&runtime, async {
        for client in clients {
            client.await.map_err(io::Error::other)??;
        }
        Ok::<(), io::Error>(())
    })?;
    let (count, seconds) = (shared.round_trips.get(), start.elapsed().as_secs_f64());
    let mean_us = shared.waited.get().as_secs_f64() * 1e6 / count as f64;
    Ok(format!("{{\"count\":{count},\"seconds\":{seconds},\"mean_us\":{mean_us:.1}}}"))
}

async fn talk(stream: std::net::TcpStream, bytes: usize, shared: Rc<Shared>) -> io::Result<()> {
    let stream = TcpStream::from_std(stream)?;
    let text = vec![b'x'; bytes];
    let (mut output, mut key) = (Vec::new(), 0x1234_5678_u32);
    loop {
        let sent = Instant::now();
        if sent >= shared.end {
            return Ok(());
        }
        key = key.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        output.clear();
        output.extend(frame::header(0x81, bytes, 0x80));
        output.extend(key.to_ne_bytes());
        output.extend(text.iter().zip(key.to_ne_bytes().iter().cycle()).map(|(x, k)| x ^ k));
        write(&stream, &output).await?;
        receive(&stream, output.len() - 4, &shared.buffer).await?;
        shared.waited.set(shared.waited.get() + sent.elapsed());
        shared.round_trips.set(shared.round_trips.get() + 1);
    }
}

async fn write(stream: &TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match stream.try_write(bytes) {
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => stream.writable().await?,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

async fn receive(
    stream: &TcpStream,
    mut awaited: usize,
    buffer: &RefCell<Vec<u8>>,
) -> io::Result<()> {
    while awaited > 0 {
        stream.readable().await?;
        match stream.try_read(&mut buffer.borrow_mut()) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => awaited -= read,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

//! The engine against real sockets, without plan files and reports.

mod controllers;
mod schedule;
mod size;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tungstenite::WebSocket;
use tungstenite::protocol::CloseFrame;

use crate::exec;
use crate::program::*;
use crate::sample::{Note, RunEnd, Sample, Sink, WorkerSink};
use crate::secrets::Secrets;

/// The label whose row brings a thread down.
const BUG: &str = "bug";

/// Keeps rows as `label code success`, of transactions with their number of samples, and notes as debug text.
#[derive(Clone, Default)]
struct Collected(Arc<Mutex<(Vec<String>, Vec<String>)>>);

impl Sink for Collected {
    fn worker(&self) -> Box<dyn WorkerSink> {
        Box::new(self.clone())
    }
}

impl WorkerSink for Collected {
    fn sample(&mut self, sample: &Sample<'_>) {
        assert_ne!(sample.label, BUG);
        let mut row = format!("{} {} {}", sample.label, sample.code, sample.success);
        if sample.transaction {
            let samples = sample.message.split([':', ',']).nth(1).unwrap_or_default();
            row.extend([" of", samples]);
        }
        self.0.lock().unwrap().0.push(row);
    }
    fn note(&mut self, note: &Note<'_>) {
        self.0.lock().unwrap().1.push(format!("{note:?}"));
    }
    fn flush(&mut self) {}
}

/// Serves `connections` connections in turn and then stops listening.
fn peer(connections: usize, serve: fn(WebSocket<TcpStream>)) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for _ in 0..connections {
            let (stream, _) = listener.accept().unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            serve(tungstenite::accept(stream).unwrap());
        }
    });
    address
}

fn echo(mut socket: WebSocket<TcpStream>) {
    while let Ok(message) = socket.read() {
        if message.is_text() && socket.send(message).is_err() {
            return;
        }
    }
}

fn sampler(name: &str, kind: SamplerKind) -> Step {
    let time = Setting::Fixed(Duration::from_secs(5));
    Step::Sampler(Box::new(Sampler {
        name: Template::constant(name),
        connection: Template::constant("main"),
        read_timeout: time.clone(),
        write_timeout: None,
        on_error: OnError::Continue,
        assertions: Vec::new(),
        filters: Vec::new(),
        timers: Vec::new(),
        extractors: Vec::new(),
        needs: Vec::new(),
        kind,
    }))
}

fn open(address: SocketAddr) -> Step {
    let open = Open {
        tls: None,
        url: Template::constant(format!("ws://{address}/")),
        path: None,
        connect_timeout: Setting::Fixed(Duration::from_secs(5)),
        subprotocols: Vec::new(),
        head: RequestHead::default(),
        max_message_size: Setting::Fixed(ByteSize(1 << 20)),
        inbox: InboxLimits {
            messages: Setting::Fixed(1000),
            bytes: Setting::Fixed(ByteSize(1 << 20)),
            when_full: Setting::Fixed(WhenFull::DropOldest),
        },
        pings: Setting::Fixed(Pings::Answer),
        answer_pings: Setting::Fixed(true),
        fragments: Setting::Fixed(Fragments::Join),
        heartbeat: Heartbeat::default(),
        if_open: Setting::Fixed(IfOpen::Replace),
        backoff: None,
    };
    sampler("open", SamplerKind::Open(Box::new(open)))
}

fn ask() -> Step {
    let payload = Payload::FixedText("hello".to_owned());
    let request = RequestResponse {
        payload,
        expect: Setting::Fixed(Expect::Same),
        matching: Matching {
            reply: None,
            late_replies: Setting::Fixed(LateReplies::Skip),
            unmatched: None,
            varies: false,
            others_read: false,
        },
        connect: None,
    };
    sampler("ask", SamplerKind::RequestResponse(request))
}

fn close() -> Step {
    let close = Close {
        status: Setting::Fixed(1000),
        reason: Template::default(),
        expect_status: Vec::new(),
    };
    sampler("close", SamplerKind::Close(close))
}

fn pause(milliseconds: u64) -> Step {
    Step::Pause(Pause::Constant(Setting::Fixed(Duration::from_millis(milliseconds))))
}

fn run(
    threads: u32,
    loops: Times,
    counters: usize,
    steps: Vec<Step>,
) -> (Vec<String>, Vec<String>, RunEnd) {
    let group = Group {
        name: "g".to_owned(),
        phase: Phase::Main,
        number: 1,
        threads,
        schedule: Schedule::Ramp(Duration::ZERO),
        delay: Duration::ZERO,
        loops,
        duration: None,
        connections: ConnectionCount::of(&[]),
        data_sets: Vec::new(),
        steps,
    };
    let sink = Collected::default();
    let running = exec::start(&Arc::new(program(group, counters)), &sink, 2).unwrap();
    let end = running.join();
    let (rows, notes) = sink.0.lock().unwrap().clone();
    (rows, notes, end)
}

/// A run of one group.
fn program(group: Group, counters: usize) -> Program {
    Program {
        name: "test".to_owned(),
        variable_names: Vec::new(),
        variables: Vec::new(),
        families: Families::new(),
        data_sets: Vec::new(),
        graceful_stop: Duration::from_secs(30),
        time_limit: None,
        last_frame_final: None,
        numbered: std::collections::HashMap::new(),
        secret_variables: Vec::new(),
        telling_variables: Vec::new(),
        secrets: Secrets::default(),
        show_secrets: false,
        rendezvous: 0,
        in_turn: false,
        sample_variables: Vec::new(),
        counters,
        groups: vec![group],
        thresholds: Vec::new(),
        compare: None,
    }
}

#[test]
fn a_thread_opens_asks_and_closes() {
    let address = peer(2, echo);
    let looped = Loop { times: Setting::Fixed(Times::Count(3)), steps: vec![ask()] };
    let looped = Step::Controller(Box::new(Controller::Loop(looped)));
    let (rows, notes, end) = run(1, Times::Count(2), 0, vec![open(address), looped, close()]);
    let once = ["open 101 true", "ask 200 true", "ask 200 true", "ask 200 true", "close 1000 true"];
    assert_eq!(rows, [once, once].concat(), "{notes:?}");
    assert_eq!(end, RunEnd::Completed);
}

#[test]
fn one_refused_connection_is_one_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let (rows, notes, _) = run(1, Times::Count(1), 0, vec![open(address), ask(), ask(), close()]);
    assert_eq!(rows, ["open CONNECT_REFUSED false"]);
    assert_eq!(notes.iter().filter(|note| note.starts_with("Skipped")).count(), 3, "{notes:?}");
}

#[test]
fn a_close_during_a_pause_is_met_by_the_next_sampler_only() {
    fn going_away(mut socket: WebSocket<TcpStream>) {
        let reason = CloseFrame { code: 1001.into(), reason: "bye".into() };
        socket.close(Some(reason)).unwrap();
        while socket.read().is_ok() {}
    }
    let address = peer(1, going_away);
    let (rows, notes, _) =
        run(1, Times::Count(1), 0, vec![open(address), pause(200), ask(), close()]);
    assert_eq!(rows, ["open 101 true", "ask 1001 false"]);
    assert!(notes.iter().any(|note| note.starts_with("Skipped")), "{notes:?}");
}

#[test]
fn an_empty_loop_ends_with_a_row() {
    let (rows, _, _) = run(1, Times::Forever, 0, vec![pause(0)]);
    assert_eq!(rows, ["loop EMPTY_LOOP false"]);
}

#[test]
fn a_bug_in_one_thread_is_told_and_the_others_come_to_their_end() {
    let address = peer(3, echo);
    let Step::Sampler(mut bug) = ask() else { panic!("not a sampler") };
    bug.name = Template::constant(BUG);
    let (rows, notes, end) =
        run(3, Times::Count(1), 0, vec![open(address), Step::Sampler(bug), close()]);
    assert!(matches!(&end, RunEnd::BrokeOff(why) if why.contains("`g 1-")), "{end:?}");
    assert!(!rows.is_empty() && rows.iter().all(|row| row == "open 101 true"), "{rows:?}");
    let count = |what| notes.iter().filter(|note| note.starts_with(what)).count();
    assert_eq!(count("ThreadFinished"), count("ThreadStarted"));
}

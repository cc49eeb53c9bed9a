//! Connections to a peer that reads nothing.

use super::*;
use crate::ws::{InboxBounds, Overflow};

/// Does something with a connection to a peer that reads nothing.
fn with_connection(rules: FrameRules, test: impl FnOnce(Connection)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _context = runtime.enter();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    stream.set_nonblocking(true).unwrap();
    let inbox = InboxBounds { messages: 1, bytes: 1, overflow: Overflow::Wait };
    let limits = Limits { max_message_size: 1, inbox, frames: rules };
    let stream = tokio::net::TcpStream::from_std(stream).unwrap();
    test(Connection::new(Stream::plain(stream), limits));
}

#[test]
fn what_the_kernel_takes_leaves_the_memory_though_it_never_takes_all() {
    with_connection(FrameRules::default(), |mut connection| {
        for number in 0..1_000_u16 {
            let bytes: Vec<u8> = (0..100).map(|_| number.to_be_bytes()[1]).collect();
            connection.unsent.extend(bytes);
            connection.take_unsent(if number == 0 { 40 } else { 100 });
            assert!(connection.unsent.len() < 300, "{}", connection.unsent.len());
            let rest = &connection.unsent[connection.taken..];
            assert_eq!(rest, [number.to_be_bytes()[1]; 60], "the newest 60 bytes are left");
        }
    });
}

/// Answers everything that it is offered.
struct AnswerAll(Vec<Reaction>);

impl Observer for AnswerAll {
    fn is_waiting(&self) -> bool {
        true
    }

    fn message(&mut self, message: Message) -> Option<Message> {
        self.0.push(match message.kind {
            MessageKind::Ping => Reaction::Pong(message.payload),
            _ => Reaction::Text("answer".to_owned()),
        });
        None
    }

    fn control(&mut self, _: &Frame, _: Instant) -> bool {
        false
    }

    fn take_reaction(&mut self) -> Option<Reaction> {
        self.0.pop()
    }
}

#[test]
fn answers_to_a_peer_that_reads_nothing_do_not_pile_up() {
    let rules = FrameRules { deliver_pings: true, answer_pings: false, ..FrameRules::default() };
    for frame in [b"\x81\x01a", b"\x89\x01a"] {
        with_connection(rules, |mut connection| {
            let flood = frame.repeat(100_000);
            connection.receive(&flood, clock::now(), &mut AnswerAll(Vec::new()));
            assert_eq!(connection.loss(), None);
            let queued = connection.unsent.len();
            assert!((1_000..MAX_UNSENT_ANSWERS + 100).contains(&queued), "{queued}");
        });
    }
}

#[test]
fn a_ping_is_answered_once_whoever_would_answer_it() {
    let rules = FrameRules { deliver_pings: true, ..FrameRules::default() };
    with_connection(rules, |mut connection| {
        connection.receive(b"\x89\x01a", clock::now(), &mut AnswerAll(Vec::new()));
        assert_eq!(connection.unsent.len(), 2 + 4 + 1, "one masked pong");
    });
}

#[test]
fn pongs_but_no_data_follow_our_close_frame() {
    with_connection(FrameRules::default(), |mut connection| {
        connection.send(Opcode::Close, &[], &mut Vec::new());
        connection.receive(b"\x81\x01a\x89\x01a", clock::now(), &mut AnswerAll(Vec::new()));
        assert_eq!(connection.traffic().sent, (2 + 4) + (2 + 4 + 1), "a close and a pong");
    });
}

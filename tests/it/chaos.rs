//! Servers that do anything at all, in any order: whatever it is, each execution of a sampler is a row
//! or a skip, every wait ends, and the run does.

use std::collections::BTreeSet;
use std::time::Duration;

use wsmeter::clock;

use crate::run::{plan, run_against};
use crate::support::peer::Peer;
use crate::support::peer_connection::PeerConnection;
use crate::support::peer_frame::{BINARY, CLOSE, PING, PONG, TEXT, close_payload, frame};

/// A row of numbers that is the same each time (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u16) -> u16 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let number = self.0 % u64::from(sides);
        u16::try_from(number).expect("it is below a u16")
    }

    fn bytes(&mut self, at_most: u16) -> Vec<u8> {
        (0..=self.below(at_most))
            .map(|_| self.0.to_be_bytes()[usize::from(self.below(8))])
            .collect()
    }
}

/// One connection's worth of trouble.
fn trouble(client: &mut PeerConnection, dice: &mut Dice) {
    client.read_request();
    match dice.below(12) {
        0 => return,
        1 => return client.send(&dice.bytes(40)),
        2 => return client.send(b"HTTP/1.1 503 Busy\r\n\r\n"),
        3 => {
            let answer = client.upgrade_response();
            client.send(&answer.as_bytes()[..answer.len() - 3]);
            client.expect_end();
            return;
        }
        _ => client.send(client.upgrade_response().as_bytes()),
    }
    for _ in 0..dice.below(20) {
        match dice.below(24) {
            0 => client.send(&dice.bytes(8)),
            1 => client.send(&frame(BINARY, &vec![7; 70_000])[..60_000]),
            2 => client.send(&[0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0]),
            3 => client.send_frame(CLOSE, &close_payload(999 + dice.below(20), "so")),
            4 => return client.reset(),
            5 => client.send_frame(0x00, b"more"),
            6 => client.send_frame(0x01, "é".as_bytes().split_at(1).0),
            7 | 8 => client.send(&frame(TEXT, b"flood").repeat(40)),
            9 | 10 => client.send_frame(PING, b"there?"),
            11 | 12 => client.send_frame(PONG, b"here"),
            13 | 14 => client.send_frame(BINARY, b"not asked for"),
            15 => drop(client.listen(Duration::from_millis(60))),
            _ => behave(client, Duration::from_millis(20)),
        }
    }
    behave(client, Duration::from_millis(dice.below(200).into()));
}

/// Answers what comes for this long, as a server should.
fn behave(client: &mut PeerConnection, duration: Duration) {
    for asked in client.listen(duration) {
        match asked.first {
            PING => client.send_frame(PONG, &asked.payload),
            TEXT | CLOSE => client.send_frame(asked.first, &asked.payload),
            _ => {}
        }
    }
}

/// One of each sampler, and one that is known by its matcher.
const STEPS: &str = "
- open: {inbox: {messages: 20, when_full: '${__P(when_full)}'}, max_message_size: 64KiB}
- request_response: {name: ask, send: hello}
- single_write: hello
- ping_pong
- single_read: {optional: true}
- request_response: {name: match, send_json: {id: 1}, correlate: $.id, late_replies: discard}
- pause: 20ms
- close";

/// A server that makes trouble of its own on each connection.
fn troubled(seed: u64) -> Peer {
    Peer::spawn(move |client| {
        let mut dice = Dice(seed * (client.index() as u64 + 1));
        // The first numbers of small seeds are alike.
        dice.bytes(1);
        dice.bytes(1);
        trouble(client, &mut dice);
    })
}

#[test]
fn whatever_a_server_does_each_execution_is_a_row_or_a_skip_and_the_run_ends() {
    for (seed, when_full) in [(0x9e37_79b9, "drop_oldest"), (0x7f4a_7c15, "wait"), (77, "fail")] {
        let settings =
            "threads: 10\nloops: 5\ndefaults: {read_timeout: 100ms, connect_timeout: 100ms}";
        let text = plan(settings, STEPS).replace("${__P(when_full)}", when_full);
        let started = clock::now();
        let (finished, records) = run_against(troubled(seed), &text);
        finished.expect_exit(1);
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
        assert_eq!((finished.rows("open").len(), records.len()), (50, 50));
        let skipped = finished.summary_number("labels/all/skipped");
        #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
        let rows = finished.rows.len() as f64;
        assert!((rows + skipped - 350.0).abs() < f64::EPSILON, "{rows} rows, {skipped} skipped");
        let slowest = finished.rows.iter().map(|row| row.elapsed).max();
        assert!(slowest < Some(5_000), "{slowest:?}");
        let codes: BTreeSet<&str> = finished.rows.iter().map(|row| row.code.as_str()).collect();
        assert!(codes.len() > 6, "little trouble: {codes:?}");
        assert!(!finished.stderr.contains("panicked"), "{}", finished.stderr);
    }
}

#[test]
fn a_duration_ends_whatever_the_servers_do() {
    let settings = "threads: 20\nloops: forever\nduration: 1s\n\
                    defaults: {read_timeout: 300ms, connect_timeout: 300ms}";
    let text = plan(settings, STEPS).replace("${__P(when_full)}", "wait");
    let started = clock::now();
    let (finished, records) = run_against(troubled(0x1234_5678), &text);
    // A second, the deadlines of what was at work, and two for closing what was left open.
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    finished.expect_exit(1);
    assert_eq!(finished.rows("open").len(), records.len());
    assert!(!finished.rows.iter().any(|row| row.code == "INTERRUPTED"), "{finished:#?}");
}

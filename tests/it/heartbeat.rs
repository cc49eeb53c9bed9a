//! Heartbeats: what connections do by themselves while their threads wait.

use std::time::Duration;

use wsmeter::clock;

use crate::run::{plan, run_against, run_scripted};
use crate::support::env::Finished;
use crate::support::peer::Peer;
use crate::support::peer_connection::{Next, PeerConnection, Record};
use crate::support::peer_frame::{CLOSE, PING, PONG, TEXT};

fn beats(finished: &Finished, what: &str) -> u64 {
    let value = &finished.summary["connections"]["heartbeat"][what];
    value.as_u64().unwrap_or_else(|| panic!("{finished:#?}"))
}

/// A server that asks `2` until the client has answered `times` times, and each time in good time.
fn ask(client: &mut PeerConnection, times: usize) {
    for _ in 0..times {
        let sent = clock::now();
        client.send_text("2");
        assert_eq!(client.expect_text(), "3");
        let took = clock::now() - sent;
        assert!(took < Duration::from_millis(300), "answered after {took:?}");
        client.listen(Duration::from_millis(50));
    }
}

#[test]
fn a_server_that_asks_is_answered_while_the_thread_pauses() {
    let steps = r"
- open: { heartbeat: { answer: { when: { equals: '2' }, send: '3' } } }
- pause: 1s
- request_response: { send: hello, assert: { equals: hello } }
- close
";
    let script = |client: &mut PeerConnection| {
        ask(client, 10);
        client.echo();
    };
    let (finished, record) = run_scripted(script, steps);
    finished.expect_exit(0);
    assert_eq!(record.texts()[..10], ["3"; 10]);
    assert_eq!(beats(&finished, "answered"), 10);
    assert_eq!(finished.summary["labels"]["all"]["early"], 0);
    assert_eq!(finished.rows.len(), 3);
    assert!(finished.stderr.contains("0 pings, 0 messages sent, 10 answered"), "{finished:#?}");
}

#[test]
fn what_comes_with_the_answer_to_the_upgrade_is_answered_too() {
    let steps = r"
- open: { heartbeat: { answer: [{ when: { starts_with: ask }, send: '${__threadNum} here' }] } }
- single_read: { assert: { equals: news } }
- close
";
    let peer = Peer::spawn(|client| {
        client.read_request();
        let mut bytes = client.upgrade_response().into_bytes();
        bytes.extend(b"\x81\x04ask1\x81\x04news");
        client.send(&bytes);
        assert_eq!(client.expect_text(), "1 here");
        client.echo();
    });
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
    // The rest of the upgrade's bytes belongs to the connection, not to the reader.
    assert_eq!(finished.row("single_read").bytes, 6);
}

#[test]
fn messages_are_sent_regularly_whatever_the_thread_waits_for() {
    let steps = r"
- open: { heartbeat: { send: { every: 100ms, text: alive } } }
- pause: 350ms
- single_read: { optional: true, read_timeout: 350ms }
- request_response: slow
- close
";
    let script = |client: &mut PeerConnection| {
        let opened = clock::now();
        let mut beats = 0;
        while let Next::Frame(frame) = client.next(opened + Duration::from_secs(5)) {
            if frame.text() != "alive" {
                break;
            }
            beats += 1;
            // The peer may have been late to note the open.
            let after = frame.at - opened + Duration::from_millis(5);
            assert!(after >= Duration::from_millis(100) * beats, "beat {beats} after {after:?}");
        }
        assert!(beats >= 3, "{beats} beats in 700 ms");
        let others = client.listen(Duration::from_millis(400));
        assert!(others.len() >= 2, "{others:?}");
        client.send_text("slow");
        client.echo_nothing();
    };
    let (finished, record) = run_scripted(script, steps);
    finished.expect_exit(0);
    let sent = record.texts().iter().filter(|text| *text == "alive").count() as u64;
    assert_eq!(beats(&finished, "sent"), sent);
    // No beat follows the close frame.
    assert_eq!(record.frames.last().map(|frame| frame.first), Some(CLOSE));
    // Beats are in no row.
    assert_eq!(finished.row("request_response").sent_bytes, 4 + 6);
}

#[test]
fn pings_go_out_one_at_a_time_and_each_has_its_own_payload() {
    let steps = r"
- open: { heartbeat: { ping: { every: 50ms, fail_after: 5s } }, pings: deliver }
- pause: 600ms
- single_read: { optional: true, read_timeout: 50ms }
- ping_pong
- close
";
    let script = |client: &mut PeerConnection| {
        let mut payloads = Vec::new();
        for _ in 0..3 {
            let ping = client.expect_frame();
            assert_eq!(ping.first, PING);
            // There is no other while this one is unanswered.
            assert_eq!(client.listen(Duration::from_millis(120)), []);
            client.send_frame(PONG, b"not this one");
            client.send_frame(PONG, &ping.payload);
            payloads.push(ping.payload);
        }
        payloads.dedup();
        assert_eq!(payloads.len(), 3);
        client.echo();
    };
    let (finished, _) = run_scripted(script, steps);
    // The pongs of the heartbeat are its own; others are delivered.
    assert_eq!(finished.row("single_read").code, "UNEXPECTED_TYPE");
    assert!(finished.row("ping_pong").success);
    assert!(beats(&finished, "pings") >= 3);
}

#[test]
fn a_server_that_stops_answering_pings_is_lost_and_the_first_sampler_says_so() {
    let steps = r"
- open: { heartbeat: { ping: { every: 100ms, fail_after: 200ms } } }
- pause: 1s
- single_write: { name: first, send: x }
- single_write: { name: second, send: x }
";
    let script = |client: &mut PeerConnection| {
        let ping = client.expect_frame();
        client.send_frame(PONG, &ping.payload);
        let ping = client.expect_frame();
        assert_eq!(ping.first, PING);
        assert_eq!(client.expect_close(), Some(1011));
        let waited = clock::now() - ping.at;
        assert!(waited >= Duration::from_millis(190), "gave up after {waited:?}");
    };
    let (finished, _) = run_scripted(script, steps);
    finished.expect_exit(1);
    let first = finished.row("first");
    assert_eq!((first.code.as_str(), first.message.as_str()), ("PING_TIMEOUT", "Ping timed out"));
    assert!(first.failure.contains("`fail_after`"), "{first:?}");
    assert_eq!(finished.rows("second").len(), 0);
    assert!(finished.summary["skipped"].to_string().contains("PING_TIMEOUT"), "{finished:#?}");
}

#[test]
fn a_reader_that_waits_fails_at_once_when_a_ping_gets_no_answer() {
    let steps = r"
- open: { heartbeat: { ping: { every: 50ms, fail_after: 100ms } } }
- single_read: { read_timeout: 5s }
";
    let script = |client: &mut PeerConnection| {
        client.await_close();
    };
    let (finished, _) = run_scripted(script, steps);
    let read = finished.row("single_read");
    assert_eq!(read.code, "PING_TIMEOUT");
    assert!((145..3_000).contains(&read.elapsed), "{read:?}");
}

#[test]
fn a_loss_by_an_unanswered_ping_that_no_sampler_meets_is_counted() {
    let steps = "
- open: { heartbeat: { ping: { every: 50ms, fail_after: 50ms } } }
- pause: 500ms
";
    let (finished, _) = run_scripted(PeerConnection::await_close, steps);
    finished.expect_exit(0);
    assert_eq!(finished.summary["connections"]["lost_while_idle"]["PING_TIMEOUT"], 1);
}

#[test]
fn an_inbox_that_holds_the_reading_back_is_no_silence_of_the_peer() {
    let steps = r"
- open:
    inbox: { messages: 1, when_full: wait }
    heartbeat: { ping: { every: 50ms, fail_after: 50ms } }
- pause: 400ms
- single_read
- single_read
- close
";
    let script = |client: &mut PeerConnection| {
        client.send_text("one");
        client.send_text("two");
        client.echo();
    };
    let (finished, _) = run_scripted(script, steps);
    finished.expect_exit(0);
}

#[test]
fn heartbeats_merge_by_key_over_scopes_and_null_removes() {
    let plan = "
defaults:
  url: ${__P(target)}
  heartbeat: { ping: { fail_after: 9s }, send: [{ every: 50ms, text: outer }] }
thread_groups:
  - defaults: { heartbeat: { ping: { every: 50ms } } }
    steps:
      - open: { heartbeat: { send: null } }
      - pause: 400ms
      - close
  - steps:
      - open: { heartbeat: { ping: null } }
      - pause: 400ms
      - close
";
    let peer = Peer::spawn(|client| {
        client.accept();
        client.echo_nothing();
    });
    let (finished, records) = run_against(peer, plan);
    finished.expect_exit(0);
    let has = |record: &Record, first| record.frames.iter().any(|frame| frame.first == first);
    let mut kinds: Vec<_> = records.iter().map(|one| (has(one, PING), has(one, TEXT))).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, [(false, true), (true, false)], "{records:#?}");
}

#[test]
fn all_bytes_of_connections_are_counted_whoever_sent_them() {
    let steps = r"
- open: { heartbeat: { ping: { every: 50ms }, send: { every: 70ms, text: alive } } }
- pause: 300ms
- request_response: hello
- close
";
    let script = |client: &mut PeerConnection| {
        client.send_ping(b"ping");
        client.send_text("unread");
        client.echo();
    };
    let (finished, record) = run_scripted(script, steps);
    finished.expect_exit(0);
    let frames: usize = record.frames.iter().map(|frame| frame.wire_length).sum();
    let sent = (record.request.len() + frames) as u64;
    let number = |key: &str| finished.summary["connections"][key].as_u64();
    assert_eq!(number("sent_bytes"), Some(sent), "{finished:#?}");
    let rows: u64 = finished.rows.iter().map(|row| row.bytes).sum();
    assert!(number("received_bytes") > Some(rows + 14), "{finished:#?}");
    assert!(finished.stderr.contains("traffic"), "{}", finished.stderr);
}

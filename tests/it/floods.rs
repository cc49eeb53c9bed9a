//! Servers that send more than anyone asked for: bounded inboxes do what they were told, deadlines
//! hold, and memory does too.

use std::ops::RangeInclusive;
use std::time::Duration;

use wsmeter::clock;

use crate::hostile::{GOES_ON, TEXT_BEGINS, close_codes, outline, run};
use crate::run::{plan, run_against};
use crate::support::peer::Peer;
use crate::support::peer_connection::PeerConnection;
use crate::support::peer_frame::{BINARY, TEXT, frame};
use crate::support::time::idle;

/// Sends numbered messages at once, then behaves.
fn flood(numbers: RangeInclusive<i32>) -> impl Fn(&mut PeerConnection) + Send + Sync + 'static {
    let messages: Vec<Vec<u8>> =
        numbers.map(|number| frame(TEXT, format!("m{number}").as_bytes())).collect();
    let messages = messages.concat();
    move |client| {
        client.accept();
        client.send(&messages);
        client.echo();
    }
}

/// Steps for `when_full`: what a ping's pong comes behind has arrived, while a sampler waited.
fn with_inbox(when_full: &str, steps: &str) -> String {
    format!(
        "- open: {{inbox: {{messages: 10, when_full: {when_full}}}}}\n- ping_pong\n{steps}\n- close"
    )
}

#[test]
fn a_flood_drops_the_oldest_and_the_summary_counts_and_says_so() {
    let steps = "
- loop:
    times: 10
    steps:
      - single_read: {assert: {equals: 'm${__counter(TRUE, n)}'}}
- single_read: {name: no more, optional: true, read_timeout: 50ms}";
    // The newest ten are m1 to m10.
    let (finished, _) = run(&with_inbox("drop_oldest", steps), flood(-489..=10));
    finished.expect_exit(0);
    assert_eq!(finished.rows("single_read").len(), 10);
    assert_eq!(finished.row("no more").code, "NO_MESSAGE");
    assert!((finished.summary_number("connections/inbox_dropped") - 490.0).abs() < f64::EPSILON);
    assert_eq!(finished.summary["connections"]["inbox_peak"], 10);
    assert_eq!(finished.summary["connections"]["write_stalls"], 0);
    assert!(finished.stderr.contains("490 messages dropped"), "{}", finished.stderr);
}

#[test]
fn a_flood_into_an_inbox_that_waits_loses_nothing() {
    let steps = "
- pause: 100ms
- loop:
    times: 500
    steps:
      - single_read: {assert: {equals: 'm${__counter(TRUE, n)}'}}
- request_response: {send: hello, assert: {equals: hello}}";
    let (finished, _) = run(&with_inbox("wait", steps), flood(1..=500));
    finished.expect_exit(0);
    assert_eq!(finished.rows.len(), 504);
}

#[test]
fn a_flood_into_an_inbox_that_must_not_overflow_fails_the_connection() {
    let steps = "
- loop:
    times: 12
    steps:
      - single_read: {assert: {equals: 'm${__counter(TRUE, n)}'}}";
    let (finished, record) = run(&with_inbox("fail", steps), flood(1..=500));
    finished.expect_exit(1);
    let row = finished.row("ping_pong");
    assert_eq!((row.code.as_str(), row.success), ("INBOX_FULL", false));
    assert!(row.failure.contains("when_full"), "{row:?}");
    let reads = finished.rows("single_read");
    assert!(reads.len() == 10 && reads.iter().all(|row| row.success), "what came before is read");
    assert_eq!(close_codes(&record), [Some(1_008)]);
}

/// Answers the request only behind a flood of messages that are not its reply.
fn flood_before_the_reply(client: &mut PeerConnection) {
    client.accept();
    assert_eq!(client.expect_text(), "ask");
    let mut messages: Vec<_> =
        (1..=500).map(|number| frame(TEXT, format!("m{number}").as_bytes())).collect();
    messages.push(frame(TEXT, b"the reply"));
    client.send(&messages.concat());
    client.echo();
}

#[test]
fn a_request_finds_its_reply_behind_a_flood_as_its_inbox_allows() {
    for when_full in ["drop_oldest", "wait", "fail"] {
        let steps = format!(
            "- open: {{inbox: {{messages: 10, when_full: {when_full}}}}}
- request_response: {{send: ask, reply: [{{contains: reply}}], unmatched: keep}}
- loop:
    times: 10
    steps:
      - single_read: {{optional: true, read_timeout: 100ms}}
- close"
        );
        let (finished, record) = run(&steps, flood_before_the_reply);
        let row = finished.row("request_response");
        let dropped = finished.summary_number("connections/inbox_dropped");
        if when_full == "fail" {
            assert_eq!(row.code, "INBOX_FULL");
            assert_eq!(close_codes(&record), [Some(1_008)]);
        } else {
            finished.expect_exit(0);
            assert_eq!(row.code, "200");
            let lost = if when_full == "wait" { 0.0 } else { 490.0 };
            assert!((dropped - lost).abs() < f64::EPSILON, "{when_full}: {dropped}");
        }
        let reads = finished.rows("single_read");
        assert_eq!(reads.iter().filter(|row| row.code == "200").count(), 10, "{when_full}");
    }
}

#[test]
fn an_inbox_that_waits_loses_nothing_when_the_peer_vanishes_meanwhile() {
    // A frame that the peer does not take is left over, so that its end is noticed by writing while
    // the full inbox keeps the reading back.
    let peer = Peer::spawn(|client| {
        client.accept();
        idle(Duration::from_millis(700));
        for text in ["one", "two", "three"] {
            client.send_text(text);
            idle(Duration::from_millis(50));
        }
        client.reset();
    });
    let steps = "
- open: {inbox: {messages: 1, when_full: wait}}
- single_write: {send: '${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}', write_timeout: 100ms}
- pause: 1200ms
- single_read: {assert: {equals: one}}
- single_read: {assert: {equals: two}}
- single_read: {assert: {equals: three}}
- single_read: {name: end}";
    let variables = "variables: {m: '${__RandomString(1000000, x)}'}\nthread_groups:";
    let (finished, _) = run_against(peer, &plan("", steps).replace("thread_groups:", variables));
    assert_eq!(finished.row("single_write").code, "WRITE_TIMEOUT");
    assert_eq!(finished.summary["connections"]["write_stalls"], 1);
    assert!(finished.stderr.contains("\nwrite stalls    1 frame"), "{}", finished.stderr);
    let reads = finished.rows("single_read");
    assert!(reads.len() == 3 && reads.iter().all(|row| row.success), "{reads:#?}");
    assert_eq!(finished.row("end").code, "DISCONNECTED");
}

#[test]
fn what_comes_while_an_older_frame_keeps_the_request_waiting_is_not_its_reply() {
    let peer = Peer::spawn(|client| {
        client.accept();
        // The frame before times out; the request waits behind it, and the wait is nobody's.
        idle(Duration::from_millis(700));
        client.send_text("early");
        idle(Duration::from_millis(100));
        assert_eq!(client.expect_text().len(), 15_000_000);
        assert_eq!(client.expect_text(), "ask");
        idle(Duration::from_millis(50));
        client.send_text("the reply");
        client.echo();
    });
    let steps = "
- open
- single_write: {send: '${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}', write_timeout: 100ms}
- request_response: {send: ask, assert: {equals: the reply}}
- single_read: {assert: {equals: early}}
- close";
    let variables = "variables: {m: '${__RandomString(1000000, x)}'}\nthread_groups:";
    let (finished, _) = run_against(peer, &plan("", steps).replace("thread_groups:", variables));
    let row = finished.row("request_response");
    assert!(row.success, "{row:?}");
    assert!(row.elapsed >= 50, "{row:?}");
    assert!(finished.row("single_read").success, "{finished:#?}");
}

#[test]
fn a_connection_that_holds_a_flood_back_is_closed_without_delay() {
    // Twelve connections one after the other, each full when the next `open` closes it.
    let steps = "- loop:\n    times: 12\n    steps:\n      \
                 - open: {inbox: {messages: 1, when_full: wait}}\n      - pause: 20ms";
    let peer = Peer::spawn(|client| {
        client.accept();
        client.send(&frame(BINARY, &[7; 1_000]).repeat(200));
        client.echo();
    });
    let started = clock::now();
    let (finished, records) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
    assert!(started.elapsed() < Duration::from_secs(6), "{:?}", started.elapsed());
    for record in records {
        assert_eq!(close_codes(&record), [Some(1_000)]);
    }
}

#[test]
fn a_flood_after_the_close_costs_its_deadline_and_is_no_answer() {
    let (finished, _) = run("- open\n- close: {read_timeout: 300ms}", |client| {
        client.accept();
        client.expect_close();
        let messages = frame(TEXT, &[b'x'; 1_000]).repeat(20);
        while client.is_connected() {
            client.send(&messages);
            client.listen(Duration::from_millis(1));
        }
    });
    finished.expect_exit(1);
    let row = finished.row("close");
    assert_eq!(row.code, "READ_TIMEOUT");
    assert!((300..=2_000).contains(&row.elapsed), "{row:?}");
}

#[test]
fn fragments_without_end_cost_the_deadline_and_no_memory() {
    let steps = "- open\n- request_response: {send: hello, read_timeout: 300ms}";
    let (finished, _) = run(steps, |client| {
        client.accept();
        client.expect_text();
        client.send(&frame(TEXT_BEGINS, b"x"));
        let empty = frame(GOES_ON, b"").repeat(10_000);
        while client.is_connected() {
            client.send(&empty);
            client.listen(Duration::from_millis(1));
        }
    });
    let row = finished.row("request_response");
    assert_eq!(row.code, "READ_TIMEOUT");
    assert!(row.failure.contains("part of a message had arrived"), "{row:?}");
    assert!((300..=2_000).contains(&row.elapsed), "{row:?}");
    let peak = finished.summary["generator"]["peak_memory_bytes"].as_u64();
    assert!(peak.is_none_or(|bytes| bytes < 64 << 20), "{peak:?} bytes");
}

/// What a text of some megabytes is made of.
const LARGE: &str = "variables: {m: '${__RandomString(1000000, x)}'}\nthread_groups:";

#[test]
fn a_frame_that_is_never_taken_is_one_error() {
    let peer = Peer::spawn(|client| {
        client.accept();
        if client.index() == 0 {
            idle(Duration::from_millis(2_500));
            client.reset();
        } else {
            client.echo();
        }
    });
    let steps = "
- open
- single_write: {name: large, send: '${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}', write_timeout: 100ms}
- single_write: {name: next, send: x, write_timeout: 100ms}
- request_response: {name: ask, send: x, write_timeout: 100ms}
- ping_pong: {name: ping, write_timeout: 100ms}
- open: {name: kept, if_open: keep}
- request_response: {name: again, send: x}
- close: {name: closed}
- open: {name: third}
- close: {name: last}";
    let (finished, _) = run_against(peer, &plan("", steps).replace("thread_groups:", LARGE));
    let wanted = [
        ("open", "101", true),
        ("large", "WRITE_TIMEOUT", false),
        ("kept", "101", true),
        ("again", "200", true),
        ("closed", "1000", true),
        ("third", "101", true),
        ("last", "1000", true),
    ];
    assert_eq!(outline(&finished), wanted, "{finished:#?}");
    for label in ["next", "ask", "ping"] {
        let skipped = finished.summary_number(&format!("labels/{label}/skipped"));
        assert!((skipped - 1.0).abs() < f64::EPSILON, "{label}");
    }
}

#[test]
fn a_close_behind_a_frame_that_is_never_taken_is_skipped() {
    let peer = Peer::spawn(|client| {
        client.accept();
        idle(Duration::from_millis(2_500));
        client.reset();
    });
    let steps = "
- open
- single_write: {send: '${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}${m}', write_timeout: 100ms}
- close: {write_timeout: 100ms}";
    let (finished, _) = run_against(peer, &plan("", steps).replace("thread_groups:", LARGE));
    finished.expect_exit(1);
    assert_eq!(finished.rows.len(), 2, "{finished:#?}");
    let skipped = finished.summary_number("labels/close/skipped");
    assert!((skipped - 1.0).abs() < f64::EPSILON);
}

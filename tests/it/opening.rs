//! `connect`, `if_open` and `backoff`: samplers that open their connection, and opens that need not
//! or must wait.

use std::time::Duration;

use wsmeter::clock;

use crate::run::{plan, run_against, start};
use crate::support::env::{Env, Finished};
use crate::support::peer::Peer;
use crate::support::peer_connection::Record;
use crate::support::peer_frame::{TEXT, frame};
use crate::support::target;

fn codes(finished: &Finished) -> Vec<(&str, &str)> {
    finished.rows.iter().map(|row| (row.label.as_str(), row.code.as_str())).collect()
}

fn skipped(finished: &Finished) -> f64 {
    finished.summary_number("labels/all/skipped")
}

/// All that a connection sent, in bytes.
fn sent(record: &Record) -> u64 {
    let frames: usize = record.frames.iter().map(|frame| frame.wire_length).sum();
    (record.request.len() + frames) as u64
}

#[test]
fn a_request_with_its_own_connection_is_one_row() {
    let server = target();
    let steps = r"
- request_response:
    send: hello
    connect: { path: '/slow?ms=300&delay_upgrade_ms=300' }
    read_timeout: 500ms
    assert: [{ status: 101 }, { equals: hello }, { header: { name: upgrade, equals: websocket } }]
    extract: { header: { name: connection, as: answer } }
- request_response: { name: again, send: '${answer}' }
- close
";
    let url = format!("ws://{}/echo", server.address());
    let finished = start(&Env::new(), &plan("", steps), &url).finish();
    finished.expect_exit(0);
    let wanted = [("request_response", "101"), ("again", "200"), ("close", "1000")];
    assert_eq!(codes(&finished), wanted);
    let row = finished.row("request_response");
    assert_eq!(row.message, "Switching Protocols");
    // The deadline of 500 ms begins when the request is written.
    assert!(row.connect >= 300 && row.elapsed >= 600, "{row:?}");
    assert!(row.latency >= 600 && row.latency <= row.elapsed, "{row:?}");
    assert!(row.url.contains("/slow"), "{row:?}");
    assert!(row.bytes > 100 && row.sent_bytes > 100, "the upgrade is not counted: {row:?}");
    assert_eq!(finished.row("again").connect, 0);
    assert_eq!(server.counters().connections, 1);
}

#[test]
fn each_thread_opens_one_connection_for_each_execution() {
    let server = target();
    let steps = r"
- request_response: { send: 'id ${__threadNum}', assert: { equals: 'id ${__threadNum}' } }
- single_write: { send: hello, connect: reuse }
";
    let url = format!("ws://{}/echo", server.address());
    let plan = format!("assert: {{ status: 101 }}\n{}", plan("threads: 8\nloops: 5", steps));
    let plan = plan.replace("defaults:\n", "defaults:\n  connect: new\n");
    let finished = start(&Env::new(), &plan, &url).finish();
    finished.expect_exit(0);
    assert_eq!(finished.rows("request_response").len(), 40);
    assert!(finished.rows("request_response").iter().all(|row| row.code == "101"));
    assert!(finished.rows("single_write").iter().all(|row| row.code == "200"));
    let counters = server.counters();
    assert_eq!((counters.connections, counters.open), (40, 0));
    assert_eq!(counters.messages_received, 80);
    assert!((finished.summary_number("connections/opened") - 40.0).abs() < f64::EPSILON);
}

#[test]
fn bytes_are_those_of_the_upgrade_and_of_the_messages() {
    let peer = Peer::spawn(|client| {
        client.accept();
        client.echo();
    });
    let steps = "- single_write: { send: hello, connect: new }\n\
                 - single_read: { read_timeout: 5s }";
    let (finished, records) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
    let frames: usize = records[0].frames.iter().skip(1).map(|frame| frame.wire_length).sum();
    let row = finished.row("single_write");
    assert_eq!(row.sent_bytes, sent(&records[0]) - frames as u64);
    assert!(row.bytes > 100 && row.connect <= row.elapsed, "{row:?}");
    assert_eq!((row.code.as_str(), row.latency), ("101", 0));
}

#[test]
fn a_reader_takes_what_comes_with_the_upgrade() {
    let peer = Peer::spawn(|client| {
        client.read_request();
        let mut bytes = client.upgrade_response().into_bytes();
        bytes.extend(frame(TEXT, b"welcome"));
        client.send(&bytes);
        client.echo();
    });
    let steps = "- single_read: { connect: new, assert: [{ equals: welcome }, { status: 101 }] }\n\
                 - close";
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
    assert_eq!(codes(&finished), [("single_read", "101"), ("close", "1000")]);
}

#[test]
fn a_greeting_is_not_the_reply_of_a_request_with_its_own_connection() {
    let peer = Peer::spawn(|client| {
        client.read_request();
        let mut bytes = client.upgrade_response().into_bytes();
        bytes.extend(frame(TEXT, b"welcome"));
        client.send(&bytes);
        assert_eq!(client.expect_text(), "hello");
        client.send_text("the reply");
        client.echo();
    });
    let steps = r"
- request_response: { send: hello, connect: new, assert: { equals: the reply } }
- single_read: { assert: { equals: welcome } }
- close
";
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
    assert_eq!(finished.rows.len(), 3);
}

#[test]
fn a_failed_open_is_the_failure_of_the_sampler_and_others_are_skipped() {
    let server = target();
    let steps = r"
- request_response: { send: a, connect: new }
- single_write: { send: a }
- single_read
";
    let url = format!("ws://{}/reject?status=403", server.address());
    let finished = start(&Env::new(), &plan("", steps), &url).finish();
    finished.expect_exit(1);
    assert_eq!(codes(&finished), [("request_response", "403")]);
    let row = finished.row("request_response");
    assert_eq!(row.message, "Upgrade refused");
    assert!(row.failure.contains("403") && row.bytes > 0 && row.sent_bytes > 0, "{row:?}");
    assert!((skipped(&finished) - 2.0).abs() < f64::EPSILON);
    assert!((finished.summary_number("connections/refused") - 1.0).abs() < f64::EPSILON);
}

#[test]
fn nobody_listening_and_an_upgrade_without_end_have_their_codes() {
    let unused = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = unused.local_addr().expect("it has an address");
    drop(unused);
    let server = target();
    let steps = format!(
        "- single_write: {{ name: refused, send: a, connect: {{ url: 'ws://{address}' }} }}\n\
         - single_read:\n    name: slow\n    connect: {{ path: '/echo?delay_upgrade_ms=60000', \
         connect_timeout: 200ms }}"
    );
    let url = format!("ws://{}/echo", server.address());
    let finished = start(&Env::new(), &plan("", &steps), &url).finish();
    finished.expect_exit(1);
    assert_eq!(codes(&finished), [("refused", "CONNECT_REFUSED"), ("slow", "CONNECT_TIMEOUT")]);
    let row = finished.row("slow");
    assert!(row.connect >= 200 && row.connect == row.elapsed && row.latency == 0, "{row:?}");
}

#[test]
fn a_setting_that_is_wrong_in_the_run_leaves_no_connection_behind() {
    let server = target();
    let steps = r"
- open
- single_write: { name: bad, send_hex: '${odd}', connect: new }
- single_write: { name: after, send: a }
";
    let plan = format!("variables: {{ odd: abc }}\n{}", plan("", steps));
    let url = format!("ws://{}/echo", server.address());
    let finished = start(&Env::new(), &plan, &url).finish();
    finished.expect_exit(1);
    assert_eq!(codes(&finished), [("open", "101"), ("bad", "BAD_VALUE")]);
    assert!((skipped(&finished) - 1.0).abs() < f64::EPSILON);
    let counters = server.counters();
    assert_eq!((counters.connections, counters.messages_received), (1, 0));
}

#[test]
fn a_new_connection_is_in_sync_after_a_request_went_unanswered_on_the_old_one() {
    let peer = Peer::spawn(|client| {
        client.accept();
        if client.index() == 0 {
            client.expect_text();
            client.await_close();
        } else {
            client.echo();
        }
    });
    let steps = r"
- open
- request_response: { name: lost, send: one, read_timeout: 100ms }
- request_response: { name: new, send: two, connect: new, assert: { equals: two } }
- request_response: { name: reuse, send: three, assert: { equals: three } }
- close
";
    let (finished, records) = run_against(peer, &plan("", steps));
    finished.expect_exit(1);
    let wanted = [
        ("open", "101"),
        ("lost", "READ_TIMEOUT"),
        ("new", "101"),
        ("reuse", "200"),
        ("close", "1000"),
    ];
    assert_eq!(codes(&finished), wanted);
    assert_eq!(records[1].texts(), ["two", "three"]);
    assert!((finished.summary_number("labels/lost/unanswered") - 1.0).abs() < f64::EPSILON);
}

#[test]
fn a_time_out_on_its_own_connection_leaves_it_out_of_sync() {
    let peer = Peer::spawn(|client| {
        client.accept();
        client.echo_nothing();
    });
    let steps = "- request_response: { send: one, connect: new, read_timeout: 100ms }\n\
                 - request_response: { name: next, send: two }\n- close";
    let (finished, records) = run_against(peer, &plan("", steps));
    finished.expect_exit(1);
    assert_eq!(codes(&finished), [("request_response", "READ_TIMEOUT"), ("close", "1000")]);
    let row = finished.row("request_response");
    assert!(row.elapsed >= 100 && row.latency == 0 && row.sent_bytes > 100, "{row:?}");
    assert_eq!(records[0].texts(), ["one"]);
}

#[test]
fn a_server_that_closes_at_once_is_met_in_the_row_that_connected() {
    let peer = Peer::spawn(|client| {
        client.accept();
        client.send_close(1_011, "full");
        client.expect_close();
    });
    let steps = "- single_read: { connect: new }\n- single_read: { name: next }";
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(1);
    assert_eq!(codes(&finished), [("single_read", "1011")]);
    let row = finished.row("single_read");
    assert_eq!(row.message, "Connection closed");
    assert!(row.failure.contains("full") && row.sent_bytes > 100, "{row:?}");
}

#[test]
fn an_open_connection_is_kept_without_a_row() {
    let server = target();
    let steps = "- open: { if_open: keep }\n- request_response: hello";
    let url = format!("ws://{}/echo", server.address());
    let finished = start(&Env::new(), &plan("threads: 4\nloops: 3", steps), &url).finish();
    finished.expect_exit(0);
    assert_eq!(finished.rows("open").len(), 4);
    assert_eq!(finished.rows("request_response").len(), 12);
    assert_eq!(server.counters().connections, 4);
    assert!(skipped(&finished).abs() < f64::EPSILON);
}

#[test]
fn what_is_lost_or_out_of_sync_is_not_kept() {
    let peer = Peer::spawn(|client| {
        client.accept();
        match client.index() {
            0 => {
                client.expect_text();
                client.send_close(1_001, "");
                client.expect_close();
            }
            1 => client.echo_nothing(),
            _ => client.echo(),
        }
    });
    let steps = "- open: { if_open: keep }\n- request_response: { send: a, read_timeout: 100ms }";
    let (finished, records) = run_against(peer, &plan("loops: 4", steps));
    finished.expect_exit(1);
    let wanted = [
        ("open", "101"),
        ("request_response", "1001"),
        ("open", "101"),
        ("request_response", "READ_TIMEOUT"),
        ("open", "101"),
        ("request_response", "200"),
        ("request_response", "200"),
    ];
    assert_eq!(codes(&finished), wanted);
    assert_eq!(records.len(), 3);
}

#[test]
fn attempts_after_failed_ones_wait_longer_and_longer_outside_of_elapsed() {
    let peer = Peer::spawn(|client| {
        client.accept();
        if client.index() == 0 {
            client.listen(Duration::from_millis(100));
            let asked = clock::now();
            client.send_ping(b"there?");
            let answered = client.expect_pong(b"there?");
            assert!(answered - asked < Duration::from_millis(250), "{:?}", answered - asked);
        }
        client.echo();
    });
    let server = target();
    let steps = format!(
        "- open: {{ name: other, connection: other, if_open: keep }}\n\
         - open: {{ url: 'ws://{}/reject', backoff: {{ first: 300ms, max: 500ms }} }}\n\
         - single_write: {{ send: a }}",
        server.address()
    );
    let (finished, _) = run_against(peer, &plan("loops: 4", &steps));
    finished.expect_exit(1);
    let opens = finished.rows("open");
    let times: Vec<u64> = opens.iter().map(|row| row.time_stamp).collect();
    assert_eq!(times.len(), 4, "{finished:#?}");
    assert!(times[1] - times[0] >= 300, "{times:?}");
    assert!(times[2] - times[1] >= 500 && times[3] - times[2] >= 500, "{times:?}");
    assert!(opens.iter().all(|row| row.elapsed < 300), "{opens:?}");
}

#[test]
fn the_end_of_the_duration_ends_a_backoff() {
    let server = target();
    let url = format!("ws://{}/reject", server.address());
    for steps in [
        "- open: { backoff: { first: 50s, max: 60s } }",
        "- single_read: { connect: { backoff: { first: 50s, max: 60s } } }",
    ] {
        let group = "duration: 700ms\nloops: 2";
        let env = Env::new();
        let running = start(&env, &plan(group, steps), &url);
        let finished = running.finish_within(Duration::from_secs(20));
        finished.expect_exit(1);
        assert_eq!(finished.rows.len(), 1, "{finished:#?}");
    }
}

#[test]
fn a_success_ends_the_waits() {
    let peer = Peer::spawn(|client| {
        if client.index() == 0 {
            // The connection ends without an answer.
            return;
        }
        client.accept();
        client.echo();
    });
    let steps = "- loop:\n    times: 2\n    steps: [{ open: { backoff: { first: 200ms } } }]\n\
                 - close\n- open: { name: later, backoff: { first: 50s, max: 60s } }";
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(1);
    let wanted = [("open", "DISCONNECTED"), ("open", "101"), ("close", "1000"), ("later", "101")];
    assert_eq!(codes(&finished), wanted);
}

//! Frame by frame: closes that are waited for, pings and pongs as messages, fragments one by one.

use std::time::Duration;

use crate::run::run_scripted;
use crate::support::jtl::Row;
use crate::support::peer_connection::PeerConnection;
use crate::support::peer_frame::{BINARY, PONG};

/// A text message of which more frames follow.
const FIRST_OF_TEXT: u8 = 0x01;
/// A frame in the middle of a message.
const MIDDLE: u8 = 0x00;
/// The last frame of a message that has several.
const LAST: u8 = 0x80;

fn assert_success(row: &Row, code: &str) {
    assert_eq!((row.code.as_str(), row.success), (code, true), "{row:?}");
}

fn assert_failure(row: &Row, code: &str, text: &str) {
    assert_eq!((row.code.as_str(), row.success), (code, false), "{row:?}");
    assert!(row.failure.contains(text), "{row:?}");
}

#[test]
fn a_close_that_is_waited_for_is_a_success_with_its_code_and_bytes() {
    let steps = r"
- open
- single_write: go
- single_read: { name: end, expect: close, assert: { close_status: 1011 } }
- single_read: { name: after }
";
    let script = |client: &mut PeerConnection| {
        client.expect_text();
        client.send_text("one");
        client.send_text("two");
        client.listen(Duration::from_millis(200));
        client.send_close(1011, "tired");
        assert_eq!(client.expect_close(), Some(1011));
    };
    let (finished, _) = run_scripted(script, steps);
    let end = finished.row("end");
    assert_success(end, "1011");
    assert_eq!((end.bytes, end.data_type.as_str()), (2 + 2 + 5, "text"));
    assert!(end.elapsed >= 150, "{end:?}");
    // What was passed over stays for a reader; then the end is no news any more.
    assert_success(finished.row("after"), "200");
    assert_eq!(finished.row("after").bytes, 5);
    finished.expect_exit(0);
}

#[test]
fn a_close_that_came_during_a_pause_takes_no_time_and_is_met_once() {
    let steps = r"
- open
- pause: 300ms
- single_read: { name: end, expect: close }
- single_write: { name: after, send: x }
";
    let script = |client: &mut PeerConnection| {
        client.send_close(1001, "");
        client.await_close();
    };
    let (finished, _) = run_scripted(script, steps);
    let end = finished.row("end");
    assert_success(end, "1001");
    assert_eq!((end.elapsed, end.latency, end.bytes), (0, 0, 4));
    assert_eq!(finished.rows("after").len(), 0);
    assert!((finished.summary_number("labels/after/skipped") - 1.0).abs() < f64::EPSILON);
    assert_eq!(finished.summary["connections"]["lost_while_idle"].to_string(), "{}");
    finished.expect_exit(0);
}

#[test]
fn a_close_that_does_not_come_fails_and_says_what_came_instead() {
    let steps = r"
- open
- single_read: { name: end, expect: close, read_timeout: 300ms }
- single_read: { name: none, expect: close, read_timeout: 100ms, optional: true }
- request_response: { name: bye, send: bye, expect: close }
";
    let script = |client: &mut PeerConnection| {
        client.send_text("hello");
        assert_eq!(client.expect_text(), "bye");
        client.send_text("no");
    };
    let (finished, _) = run_scripted(script, steps);
    assert_failure(finished.row("end"), "READ_TIMEOUT", "passed over: /hello/");
    assert_success(finished.row("none"), "NO_MESSAGE");
    assert_failure(finished.row("bye"), "DISCONNECTED", "without a close frame");
}

#[test]
fn a_request_can_be_answered_by_a_close() {
    let steps = "
- open
- request_response: { name: bye, send: bye, expect: close, assert: { close_status: 4000 } }
";
    let script = |client: &mut PeerConnection| {
        client.expect_text();
        client.send_close(4000, "so be it");
        client.await_close();
    };
    let (finished, _) = run_scripted(script, steps);
    assert_success(finished.row("bye"), "4000");
    assert!((finished.summary_number("labels/bye/unanswered")).abs() < f64::EPSILON);
    finished.expect_exit(0);
}

#[test]
fn pings_are_left_unanswered_where_the_plan_says_so() {
    let steps = "- open: { pings: ignore }\n- single_write: go\n- single_read\n- close";
    let script = |client: &mut PeerConnection| {
        client.expect_text();
        client.send_ping(b"are you there");
        client.send_frame(PONG, b"nobody asked");
        assert_eq!(client.listen(Duration::from_millis(200)), []);
        client.send_text("message");
        client.echo();
    };
    let (finished, record) = run_scripted(script, steps);
    assert_success(finished.row("single_read"), "200");
    finished.expect_exit(0);
    assert!(record.frames.iter().all(|frame| frame.first != PONG), "{record:?}");
}

#[test]
fn a_ping_is_answered_until_the_peer_has_closed_too() {
    let script = |client: &mut PeerConnection| {
        client.await_close();
        client.send_ping(b"still there");
        client.expect_pong(b"still there");
        client.send_close(1000, "");
    };
    let (finished, _) = run_scripted(script, "- open\n- close");
    assert_success(finished.row("close"), "1000");
    finished.expect_exit(0);
}

#[test]
fn pings_and_pongs_that_are_delivered_are_messages_for_readers_and_answered_too() {
    let steps = r"
- open: { pings: deliver }
- single_write: go
- single_read: { name: ping, expect: ping, assert: { type: ping } }
- single_read: { name: pong, expect: pong, assert: [{ type: pong }, { size: { equals: 4B } }] }
- single_read: { name: text }
- close
";
    let script = |client: &mut PeerConnection| {
        client.expect_text();
        client.send_ping(b"one");
        client.send_frame(PONG, b"four");
        client.send_text("text");
        client.expect_pong(b"one");
        client.echo();
    };
    let (finished, _) = run_scripted(script, steps);
    assert_success(finished.row("ping"), "200");
    assert_eq!(finished.row("ping").bytes, 5);
    assert_success(finished.row("pong"), "200");
    assert_success(finished.row("text"), "200");
    finished.expect_exit(0);
}

#[test]
fn a_delivered_ping_in_place_of_a_reply_is_of_the_wrong_type_unless_a_filter_takes_it() {
    let steps = r"
- open: { pings: deliver }
- request_response: { name: wrong, send: a }
- single_read: { name: read }
- request_response: { name: filtered, send: b, filters: ping_pong }
- close
";
    let script = |client: &mut PeerConnection| {
        for _ in 0..2 {
            let text = client.expect_text();
            client.send_ping(b"hm");
            client.send_text(&text);
            client.expect_pong(b"hm");
        }
        client.echo();
    };
    let (finished, _) = run_scripted(script, steps);
    let wrong = finished.row("wrong");
    assert_failure(
        wrong,
        "UNEXPECTED_TYPE",
        "the message is a ping, and `expect: same` wants text; write `expect: ping` to take it",
    );
    assert_eq!(wrong.bytes, 4);
    let filtered = finished.row("filtered");
    assert_success(filtered, "200");
    assert_eq!(filtered.bytes, 4 + 3, "the discarded ping belongs to the sample");
    assert_eq!(finished.summary["labels"]["filtered"]["filtered"], 1);
    finished.expect_exit(1);
}

#[test]
fn only_a_filter_that_replies_answers_pings_where_the_connection_does_not() {
    let steps = r"
- open: { pings: deliver, answer_pings: false }
- single_write: go
- single_read: { name: first, filters: { ping_pong: { which: ping } } }
- single_read: { name: second, filters: { ping_pong: { which: ping, reply: true } } }
- close
";
    let script = |client: &mut PeerConnection| {
        client.expect_text();
        client.send_ping(b"unheard");
        client.send_text("first");
        client.send_ping(b"heard");
        client.expect_pong(b"heard");
        client.send_text("second");
        client.echo();
    };
    let (finished, record) = run_scripted(script, steps);
    assert_success(finished.row("first"), "200");
    assert_success(finished.row("second"), "200");
    finished.expect_exit(0);
    let pongs = record.frames.iter().filter(|frame| frame.first == PONG).count();
    assert_eq!(pongs, 1, "{record:?}");
}

#[test]
fn the_pong_of_a_ping_pong_is_its_own_although_pongs_are_delivered() {
    let steps = r"
- open: { pings: deliver }
- ping_pong
- single_read: { name: stray, expect: pong, assert: { size: { equals: 5B } } }
- single_read: { name: rest, optional: true, read_timeout: 100ms }
- close
";
    let script = |client: &mut PeerConnection| {
        let ping = client.expect_frame();
        client.send_frame(PONG, b"stray");
        client.send_frame(PONG, &ping.payload);
        client.echo();
    };
    let (finished, _) = run_scripted(script, steps);
    assert_success(finished.row("ping_pong"), "200");
    assert_success(finished.row("stray"), "200");
    assert_success(finished.row("rest"), "NO_MESSAGE");
    finished.expect_exit(0);
}

#[test]
fn fragments_are_read_one_by_one_and_the_variable_tells_the_last() {
    let steps = r"
- open: { fragments: deliver }
- request_response: { name: first, send: go, assert: { starts_with: Gr } }
- single_write: '${websocket.last_frame_final}'
- single_read: { name: second, expect: text }
- single_write: '${websocket.last_frame_final}'
- single_read: { name: third, expect: text, assert: { ends_with: sse } }
- single_write: '${websocket.last_frame_final}'
- single_read: { name: whole, expect: binary }
- single_write: '${websocket.last_frame_final}'
- close
";
    let script = |client: &mut PeerConnection| {
        client.expect_text();
        // "Grüsse" with its ü cut in two, and a ping between fragments.
        client.send_frame(FIRST_OF_TEXT, b"Gr\xc3");
        client.send_ping(b"");
        client.send_frame(MIDDLE, b"\xbc");
        client.send_frame(LAST, b"sse");
        client.send_frame(BINARY, b"\xff");
        client.echo_nothing();
    };
    let (finished, record) = run_scripted(script, steps);
    finished.expect_exit(0);
    let bytes = |label| finished.row(label).bytes;
    assert_eq!([bytes("first"), bytes("second"), bytes("third"), bytes("whole")], [5, 3, 5, 3]);
    assert_eq!(record.texts(), ["go", "false", "false", "true", "true"]);
}

#[test]
fn a_reader_that_gets_nothing_leaves_the_last_frame_final() {
    let steps = r"
- open: { fragments: deliver }
- single_read
- single_write: 'read ${websocket.last_frame_final}'
- single_read: { name: nothing, read_timeout: 100ms }
- single_write: 'failed ${websocket.last_frame_final}'
- close
";
    let script = |client: &mut PeerConnection| {
        client.send_frame(FIRST_OF_TEXT, b"never finished");
        client.echo_nothing();
    };
    let (finished, record) = run_scripted(script, steps);
    assert_failure(finished.row("nothing"), "READ_TIMEOUT", "part of a message had arrived");
    assert_eq!(record.texts(), ["read false", "failed true"]);
}

#[test]
fn fragments_that_are_no_text_together_lose_the_connection_at_the_one_that_shows_it() {
    let steps = "- open: { fragments: deliver }\n- single_read\n- single_read: { name: bad }";
    let script = |client: &mut PeerConnection| {
        client.send_frame(FIRST_OF_TEXT, b"\xe2\x82");
        client.send_frame(LAST, b"no");
        assert_eq!(client.expect_close(), Some(1007));
    };
    let (finished, _) = run_scripted(script, steps);
    assert_success(finished.row("single_read"), "200");
    assert_failure(finished.row("bad"), "PROTOCOL_ERROR", "not UTF-8");
}

#[test]
fn joined_messages_always_end_with_their_last_frame() {
    let steps = "
- open
- single_read: { assert: { equals: whole } }
- single_write: '${websocket.last_frame_final}'
- close
";
    let script = |client: &mut PeerConnection| {
        client.send_frame(FIRST_OF_TEXT, b"who");
        client.send_frame(LAST, b"le");
        client.echo_nothing();
    };
    let (finished, record) = run_scripted(script, steps);
    finished.expect_exit(0);
    assert_eq!(record.texts(), ["true"]);
}

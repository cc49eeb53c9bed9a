//! Servers that mean harm or have gone wrong: rules broken at every moment, garbage, limits at their
//! edge, and words after the last. Each ends in a clear row, and nothing is taken for what it is not.

use std::time::Duration;

use crate::run::{plan, run_against};
use crate::support::env::Finished;
use crate::support::peer::Peer;
use crate::support::peer_connection::{PeerConnection, Record};
use crate::support::peer_frame::{
    BINARY, CLOSE, PING, PONG, PeerFrame, TEXT, close_payload, frame,
};

/// First bytes of fragments.
pub(crate) const TEXT_BEGINS: u8 = 0x01;
const BINARY_BEGINS: u8 = 0x02;
pub(crate) const GOES_ON: u8 = 0x00;
const ENDS: u8 = 0x80;

/// Runs `steps` against a peer with this script.
pub(crate) fn run(
    steps: &str,
    script: impl Fn(&mut PeerConnection) + Send + Sync + 'static,
) -> (Finished, Record) {
    let (finished, mut records) = run_against(Peer::spawn(script), &plan("", steps));
    assert_eq!(records.len(), 1, "connections: {finished:#?}");
    (finished, records.remove(0))
}

/// The codes of all close frames that the peer received: one at most, or the client is wrong too.
pub(crate) fn close_codes(record: &Record) -> Vec<Option<u16>> {
    let closes = record.frames.iter().filter(|frame| frame.first == CLOSE);
    closes.map(PeerFrame::close_code).collect()
}

/// Label, code and success of all rows.
pub(crate) fn outline(finished: &Finished) -> Vec<(&str, &str, bool)> {
    finished.rows.iter().map(|row| (row.label.as_str(), row.code.as_str(), row.success)).collect()
}

/// A frame whose length is written in a longer form than it needs.
fn long_form(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len()).expect("a short payload");
    [&[first, 126][..], &length.to_be_bytes(), payload].concat()
}

#[test]
fn rules_that_only_a_second_look_finds_broken_are_rules_too() {
    let not_shortest = "shortest form";
    let cases: [(&str, Vec<u8>, u16, &str); 14] = [
        ("16 bits for 7", long_form(TEXT, b"hello"), 1_002, not_shortest),
        (
            "64 bits for 16",
            [&[0x82, 127, 0, 0, 0, 0, 0, 0, 0, 200][..], &[0; 200]].concat(),
            1_002,
            not_shortest,
        ),
        ("the top bit", vec![0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 1], 1_002, not_shortest),
        ("RSV of a ping", frame(0xc9, b""), 1_002, "RSV"),
        ("fragmented close", frame(0x08, b"\x03\xe8"), 1_002, "fragmented"),
        (
            "long close",
            frame(CLOSE, &close_payload(1_000, &"r".repeat(124))),
            1_002,
            "longer than 125",
        ),
        ("stray fragment", frame(GOES_ON, b"hi"), 1_002, "continuation"),
        (
            "continuation after a message",
            [frame(BINARY_BEGINS, b"a"), frame(ENDS, b"b"), frame(ENDS, b"c")].concat(),
            1_002,
            "continuation",
        ),
        (
            "binary within text",
            [frame(TEXT_BEGINS, b"a"), frame(BINARY_BEGINS, b"b")].concat(),
            1_002,
            "before the fragmented one",
        ),
        (
            "a character cut off",
            [frame(TEXT_BEGINS, b"ok \xe2"), frame(ENDS, b"\x82")].concat(),
            1_007,
            "UTF-8",
        ),
        ("a surrogate", frame(TEXT, b"\xed\xa0\x80"), 1_007, "UTF-8"),
        ("an overlong slash", frame(TEXT, b"\xc0\xaf"), 1_007, "UTF-8"),
        ("close code 0", frame(CLOSE, b"\x00\x00"), 1_002, "close code 0 "),
        ("close code 1005", frame(CLOSE, &close_payload(1_005, "")), 1_002, "1005"),
    ];
    for (what, bytes, code, text) in cases {
        let steps = "- open\n- request_response: {send: hello, expect: any}\n- close";
        let (finished, record) = run(steps, move |client| {
            client.accept();
            client.expect_text();
            client.send(&bytes);
            client.await_close();
        });
        finished.expect_exit(1);
        if what == "continuation after a message" {
            // The message before it was whole, and the reply.
            assert_eq!(finished.row("request_response").code, "200", "{what}");
            assert_eq!(finished.row("close").code, "PROTOCOL_ERROR", "{what}");
        } else {
            let row = finished.row("request_response");
            assert_eq!((row.code.as_str(), row.success), ("PROTOCOL_ERROR", false), "{what}");
            assert!(row.failure.contains(text), "{what}: no `{text}`: {row:?}");
        }
        assert_eq!(close_codes(&record), [Some(code)], "{what}");
    }
}

#[test]
fn garbage_after_the_upgrade_is_met_by_the_first_sampler() {
    let text = b"HTTP/1.1 200 OK\r\n\r\n<html>".to_vec();
    for garbage in [text, vec![0xff; 64], vec![0x00; 64], b"\r\n".to_vec()] {
        let steps = "- open\n- pause: 50ms\n- request_response: hello\n- single_read\n- close";
        let (finished, record) = run(steps, move |client| {
            client.read_request();
            let answer = client.upgrade_response();
            client.send(&[answer.as_bytes(), &garbage].concat());
            client.await_close();
        });
        finished.expect_exit(1);
        let expected = [("open", "101", true), ("request_response", "PROTOCOL_ERROR", false)];
        assert_eq!(outline(&finished), expected, "{finished:#?}");
        assert_eq!(close_codes(&record), [Some(1_002)]);
    }
}

#[test]
fn readers_get_what_came_before_a_violation_and_a_writer_meets_it_at_once() {
    let script = |client: &mut PeerConnection| {
        client.accept();
        client.send(&[frame(TEXT, b"one"), frame(0xc1, b"two"), frame(TEXT, b"three")].concat());
        client.await_close();
    };
    let steps = "- open\n- ping_pong: {read_timeout: 5s}\n- single_read: {assert: {equals: one}}\n\
                 - single_read\n- single_write: hello\n- close";
    let (finished, record) = run(steps, script);
    finished.expect_exit(1);
    // The one that meets the loss is the one that fails; the second reader finds it met.
    let expected = [
        ("open", "101", true),
        ("ping_pong", "PROTOCOL_ERROR", false),
        ("single_read", "200", true),
    ];
    assert_eq!(outline(&finished), expected);
    assert!((finished.summary_number("labels/all/skipped") - 3.0).abs() < f64::EPSILON);
    assert_eq!(close_codes(&record), [Some(1_002)]);
}

#[test]
fn a_violation_instead_of_the_close_answer_fails_the_close_without_a_second_close_frame() {
    let (finished, record) = run("- open\n- close", |client| {
        client.accept();
        client.expect_close();
        client.send(&frame(0x83, b"what"));
        client.expect_end();
    });
    finished.expect_exit(1);
    let row = finished.row("close");
    assert_eq!(row.code, "PROTOCOL_ERROR");
    assert!(row.failure.contains("opcode 3"), "{row:?}");
    assert_eq!(close_codes(&record), [Some(1_000)]);
}

#[test]
fn a_reply_of_a_hundred_thousand_fragments_is_one_message() {
    let fragment = frame(GOES_ON, b"x");
    let reply = [frame(TEXT_BEGINS, b"x"), fragment.repeat(99_998), frame(ENDS, b"x")].concat();
    let steps = "- open\n- request_response: {send: hello, assert: {size: {equals: 100000B}}}\n\
                 - close";
    let (finished, _) = run(steps, move |client| {
        client.accept();
        client.expect_text();
        client.send(&reply);
        client.echo();
    });
    finished.expect_exit(0);
    assert_eq!(finished.row("request_response").bytes, 300_000);
}

#[test]
fn words_after_the_last_are_heard_by_nobody() {
    // A late reply between our close and its answer, and one behind the peer's close.
    let peer = Peer::spawn(|client| {
        client.accept();
        match client.index() {
            0 => {
                assert_eq!(client.expect_text(), "one");
                assert_eq!(client.expect_close(), Some(1_000));
                client.send_text("late");
                client.send_close(1_000, "");
                client.send_text("later");
            }
            1 => {
                assert_eq!(client.expect_text(), "one");
                let close = frame(CLOSE, &close_payload(1_001, "bye"));
                client.send(&[close, frame(TEXT, b"late")].concat());
                client.expect_close();
                client.send_text("later");
                client.expect_end();
            }
            _ => client.echo(),
        }
    });
    let steps = "
- open
- single_write: one
- close: {expect_status: 1000}
- open
- request_response: one
- single_read
- open
- request_response: {name: fresh, send: two, assert: {equals: two}}
- single_read: {name: nothing, optional: true, read_timeout: 100ms}
- close";
    let (finished, records) = run_against(peer, &plan("", steps));
    finished.expect_exit(1);
    let expected = [
        ("open", "101", true),
        ("single_write", "200", true),
        ("close", "1000", true),
        ("open", "101", true),
        ("request_response", "1001", false),
        ("open", "101", true),
        ("fresh", "200", true),
        ("nothing", "NO_MESSAGE", true),
        ("close", "1000", true),
    ];
    assert_eq!(outline(&finished), expected, "{finished:#?}");
    assert_eq!(finished.rows("close")[0].bytes, 4, "the answer alone, not the late message");
    let codes: Vec<_> = records.iter().map(close_codes).collect();
    assert_eq!(codes, [[Some(1_000)], [Some(1_001)], [Some(1_000)]]);
}

#[test]
fn a_message_may_be_as_large_as_the_limit_and_not_a_byte_larger() {
    let whole = |size| frame(BINARY, &vec![7; size]);
    let parts = |sizes: [usize; 3]| {
        let [first, second, third] = sizes.map(|size| vec![7; size]);
        [frame(BINARY_BEGINS, &first), frame(GOES_ON, &second), frame(ENDS, &third)].concat()
    };
    let ping = || [frame(0x89, &[7; 125]), frame(BINARY, b"x")].concat();
    let cases = [
        (100, whole(100), true),
        (100, whole(101), false),
        (100, parts([60, 0, 40]), true),
        (100, parts([60, 40, 1]), false),
        (100, parts([100, 0, 0]), true),
        (65_536, whole(65_536), true),
        (65_536, whole(65_537), false),
        // Control frames are no messages.
        (1, ping(), true),
    ];
    for (limit, reply, fits) in cases {
        let steps = format!(
            "- open: {{max_message_size: {limit}B}}\n\
             - request_response: {{send: hello, expect: any}}\n- close"
        );
        let length = reply.len() as u64;
        let (finished, record) = run(&steps, move |client| {
            client.accept();
            client.expect_text();
            client.send(&reply);
            client.echo();
        });
        let row = finished.row("request_response");
        assert_eq!(row.success, fits, "{limit}: {row:?}");
        if fits {
            finished.expect_exit(0);
            let pings = if limit == 1 { 127 } else { 0 };
            assert_eq!(row.bytes, length - pings);
        } else {
            assert_eq!(row.code, "TOO_LARGE");
            assert!(row.failure.contains(&format!("{limit} bytes")), "{row:?}");
            assert_eq!(close_codes(&record), [Some(1_009)]);
        }
    }
}

#[test]
fn what_came_while_the_thread_was_busy_is_no_reply() {
    // The reply keeps the thread busy with its JSON; meanwhile a message comes that nobody asked for.
    let peer = Peer::spawn(|client| {
        client.accept();
        assert_eq!(client.expect_text(), "one");
        client.send_text(&format!("[{}]", "1,".repeat(1_000_000) + "2"));
        let asked = client.listen(Duration::from_millis(10));
        // Where this thread got no turn for so long, there is nothing to see.
        let order = if asked.is_empty() { ["early", "two"] } else { ["two", "early"] };
        for text in order {
            if text == "two" && asked.is_empty() {
                assert_eq!(client.expect_text(), "two");
            }
            client.send_text(text);
        }
        client.echo();
    });
    let steps = "
- open
- request_response: {send: one, assert: {json: {path: '$[0]', equals: 1}}}
- request_response: {send: two, assert: {equals: two}}
- single_read: {assert: {equals: early}}
- close";
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
}

#[test]
fn a_late_pong_is_not_credited_to_a_later_ping_with_the_same_payload() {
    let peer = Peer::spawn(|client| {
        client.accept();
        assert_eq!(client.expect_frame().payload, b"same");
        // Late, but in time for the next ping.
        let next = client.expect_frame();
        client.send_frame(PONG, b"same");
        client.send_frame(PONG, &next.payload);
        client.echo();
    });
    let steps = "
- open
- ping_pong: {name: late, payload: same, read_timeout: 100ms}
- ping_pong: {name: again, payload: same}
- ping_pong: {name: other, payload: other}
- ping_pong: {name: unique}
- close";
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(1);
    let expected = [
        ("open", "101", true),
        ("late", "READ_TIMEOUT", false),
        ("other", "200", true),
        ("unique", "200", true),
        ("close", "1000", true),
    ];
    assert_eq!(outline(&finished), expected);
    assert!(finished.summary["skipped"].to_string().contains("OUT_OF_SYNC"), "{finished:#?}");
}

#[test]
fn a_pong_that_was_sent_before_its_ping_is_not_its_pong() {
    // A full inbox leaves the pong in the socket until the ping's sampler reads.
    let peer = Peer::spawn(|client| {
        client.accept();
        client.send(&[frame(TEXT, b"one"), frame(PING, b"read")].concat());
        client.expect_pong(b"read");
        client.send_frame(PONG, b"same");
        assert_eq!(client.expect_frame().payload, b"same");
        client.listen(Duration::from_millis(150));
        client.send_frame(PONG, b"same");
        client.echo();
    });
    let steps = "
- open: {inbox: {messages: 1, when_full: wait}}
- pause: 300ms
- ping_pong: {payload: same}
- close";
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
    let row = finished.row("ping_pong");
    assert!(row.elapsed >= 150, "{row:?}");
}

#[test]
fn words_of_a_server_do_nothing_to_a_terminal_or_to_the_lines_of_a_file() {
    // Clear the screen, a bell, a C1 control sequence, a backspace, a line break, DEL.
    let evil = "\u{1b}[2J\u{7}\u{9b}31mred\u{8}\r\nrow\u{7f}";
    let replies = [
        frame(CLOSE, &close_payload(1_011, evil)),
        frame(TEXT, evil.as_bytes()),
        // Nothing in it that CSV would mind.
        frame(CLOSE, &close_payload(1_011, "\u{1b}[2J row")),
    ];
    for reply in replies {
        let steps = "- open\n- request_response: {send: hello, assert: {equals: fine}}";
        let (finished, _) = run(steps, move |client| {
            client.accept();
            client.expect_text();
            client.send(&reply);
            client.echo();
        });
        finished.expect_exit(1);
        let row = finished.row("request_response");
        assert!(row.failure.contains("\\u{1b}[2J") && row.failure.contains("row"), "{row:?}");
        for text in [&row.failure, &row.message, &finished.stderr] {
            let harmful = text.chars().find(|c| c.is_control() && *c != '\n');
            assert_eq!(harmful, None, "{text:?}");
        }
    }
}

#[test]
fn the_rest_of_a_message_that_began_before_the_request_is_no_reply() {
    let peer = Peer::spawn(|client| {
        client.accept();
        client.send_frame(TEXT_BEGINS, b"early");
        let ping = client.expect_frame();
        client.send_frame(PONG, &ping.payload);
        assert_eq!(client.expect_text(), "hello");
        client.send_frame(ENDS, b"rest");
        client.send_text("reply");
        client.echo();
    });
    let steps = "
- open: {fragments: deliver}
- ping_pong
- request_response: {send: hello, assert: {equals: reply}}
- single_read: {assert: {equals: early}}
- single_read: {assert: {equals: rest}}
- close";
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
}

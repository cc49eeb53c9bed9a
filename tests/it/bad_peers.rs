//! Servers that refuse, hang, break RFC 6455, flood or vanish: each gives a clear row, the run ends,
//! and nothing is lost.

use std::net::TcpListener;
use std::time::Duration;

use crate::support::ANY_PORT;
use crate::support::env::{Env, Finished};
use crate::support::peer::Peer;
use crate::support::peer_connection::{PeerConnection, Record};
use crate::support::peer_frame::{CLOSE, PeerFrame, TEXT, frame};
use crate::support::target;

/// Opens, asks twice, closes; every wait ends after 400 ms.
const PLAN: &str = "
name: bad peers
defaults:
  url: ${__P(target)}
  connect_timeout: 400ms
  read_timeout: 400ms
thread_groups:
  - name: Users
    steps:
      - open
      - request_response: {name: ask, send: hello}
      - request_response: {name: ask again, send: hello}
      - close
";

fn run(url: &str) -> Finished {
    Env::new().run(PLAN, &["-J", &format!("target={url}")])
}

fn run_against(script: impl Fn(&mut PeerConnection) + Send + Sync + 'static) -> (Finished, Record) {
    let peer = Peer::spawn(script);
    let finished = run(&peer.url("/"));
    let mut records = peer.finish();
    assert_eq!(records.len(), 1, "connections");
    (finished, records.remove(0))
}

/// The open failed with `code`, said `text`, and everything after it was skipped.
fn expect_no_connection(finished: &Finished, code: &str, text: &str) {
    finished.expect_exit(1);
    let [row] = finished.rows.as_slice() else { panic!("{finished:#?}") };
    assert_eq!((row.label.as_str(), row.code.as_str(), row.success), ("open", code, false));
    assert!(row.failure.contains(text), "no `{text}`: {row:?}");
    assert!((finished.summary_number("labels/all/skipped") - 3.0).abs() < f64::EPSILON);
}

/// The first request met the loss with `code` and said `text`; what followed was skipped.
fn expect_loss(what: &str, finished: &Finished, code: &str, text: &str) {
    finished.expect_exit(1);
    assert_eq!(finished.rows.len(), 2, "{what}: {finished:#?}");
    let row = finished.row("ask");
    assert_eq!((row.code.as_str(), row.success), (code, false), "{what}: {row:?}");
    assert!(row.failure.contains(text), "{what}: no `{text}`: {row:?}");
    assert!((finished.summary_number("labels/all/skipped") - 2.0).abs() < f64::EPSILON, "{what}");
}

#[test]
fn a_port_where_nobody_listens_is_refused() {
    let listener = TcpListener::bind(ANY_PORT).unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    drop(listener);
    expect_no_connection(&run(&url), "CONNECT_REFUSED", "refused");
}

#[test]
fn an_upgrade_that_hangs_costs_its_deadline() {
    let (finished, _) = run_against(|client| {
        client.read_request();
        client.expect_end();
    });
    expect_no_connection(&finished, "CONNECT_TIMEOUT", "in time");
    let row = finished.row("open");
    assert!((400..=480).contains(&row.elapsed), "{row:?}");
    assert_eq!(row.connect, row.elapsed, "the time until connecting failed");
}

#[test]
fn a_trickled_upgrade_does_not_extend_the_deadline() {
    let (finished, _) = run_against(|client| {
        client.read_request();
        let answer = client.upgrade_response();
        client.trickle(answer.as_bytes(), Duration::from_millis(50));
    });
    expect_no_connection(&finished, "CONNECT_TIMEOUT", "in time");
    let row = finished.row("open");
    assert!((400..=480).contains(&row.elapsed), "{row:?}");
}

#[test]
fn an_http_answer_gives_its_status_and_status_line() {
    for (status, line) in [("200", "200 OK"), ("403", "403 Forbidden"), ("503", "503 Busy")] {
        let answer = format!("HTTP/1.1 {line}\r\nContent-Length: 3\r\n\r\nno\n");
        let (finished, _) = run_against(move |client| {
            client.read_request();
            client.send(answer.as_bytes());
            client.expect_end();
        });
        expect_no_connection(&finished, status, line);
    }
}

#[test]
fn an_upgrade_that_does_not_conform_is_refused() {
    let cases: [(&str, &str, &str); 4] = [
        ("Sec-WebSocket-Accept: ", "Sec-WebSocket-Accept: x", "Sec-WebSocket-Accept"),
        ("Upgrade: websocket\r\n", "", "Upgrade"),
        ("Connection: Upgrade\r\n", "", "Connection"),
        ("HTTP/1.1 101", "garbage", ""),
    ];
    for (part, replacement, text) in cases {
        let (finished, _) = run_against(move |client| {
            client.read_request();
            let answer = client.upgrade_response().replace(part, replacement);
            client.send(answer.as_bytes());
            client.expect_end();
        });
        expect_no_connection(&finished, "UPGRADE", text);
    }
}

#[test]
fn an_endless_answer_to_the_upgrade_is_cut_off() {
    let (finished, _) = run_against(|client| {
        client.read_request();
        client.send(b"HTTP/1.1 101 Switching Protocols\r\n");
        client.send(&b"X-Filler: abcdefgh\r\n".repeat(100_000));
        client.expect_end();
    });
    expect_no_connection(&finished, "UPGRADE", "");
}

#[test]
fn a_connection_that_ends_during_the_upgrade_is_disconnected() {
    for reset in [false, true] {
        let (finished, _) = run_against(move |client| {
            client.read_request();
            client.send(b"HTTP/1.1 101 Swi");
            if reset {
                client.reset();
            }
        });
        expect_no_connection(&finished, "DISCONNECTED", "");
    }
}

#[test]
fn a_connection_that_ends_without_a_close_is_disconnected() {
    for reset in [false, true] {
        let (finished, _) = run_against(move |client| {
            client.accept();
            client.expect_text();
            if reset {
                client.reset();
            }
        });
        expect_loss("end", &finished, "DISCONNECTED", "");
    }
}

#[test]
fn half_a_frame_before_the_end_is_no_message() {
    let (finished, _) = run_against(|client| {
        client.accept();
        client.expect_text();
        client.send(&frame(TEXT, b"hello")[..4]);
    });
    expect_loss("half a frame", &finished, "DISCONNECTED", "");
}

#[test]
fn a_close_instead_of_a_reply_gives_its_code_and_reason() {
    let cases: [(&[u8], &str, &str); 4] = [
        (b"\x03\xe8done", "1000", "done"),
        (b"\x03\xf3internal", "1011", "internal"),
        (b"\x0f\xa0", "4000", ""),
        (b"", "1005", ""),
    ];
    for (payload, code, text) in cases {
        let (finished, record) = run_against(move |client| {
            client.accept();
            client.expect_text();
            client.send_frame(CLOSE, payload);
            client.expect_close();
        });
        expect_loss("close", &finished, code, text);
        let answer = record.frames.last().unwrap();
        assert_eq!(answer.close_code(), payload.get(..2).map(|_| code.parse().unwrap()));
    }
}

#[test]
fn each_violation_fails_the_connection_and_the_row_names_the_rule() {
    let fin_text_masked = [0x81, 0x82, 1, 2, 3, 4, b'h' ^ 1, b'i' ^ 2];
    let cases: [(&str, Vec<u8>, u16, &str); 14] = [
        ("masked", fin_text_masked.to_vec(), 1_002, "masked"),
        ("RSV1", frame(0xc1, b"hi"), 1_002, "RSV"),
        ("RSV2", frame(0xa1, b"hi"), 1_002, "RSV"),
        ("RSV3", frame(0x91, b"hi"), 1_002, "RSV"),
        ("opcode 3", frame(0x83, b"hi"), 1_002, "opcode 3"),
        ("opcode 11", frame(0x8b, b""), 1_002, "opcode 11"),
        ("long ping", frame(0x89, &[0; 126]), 1_002, "longer than 125"),
        ("fragmented ping", frame(0x09, b""), 1_002, "fragmented"),
        ("stray continuation", frame(0x80, b"hi"), 1_002, "continuation"),
        ("two at once", [frame(0x01, b"a"), frame(0x81, b"b")].concat(), 1_002, "fragmented"),
        ("not UTF-8", frame(0x81, b"\xff\xfe"), 1_007, "UTF-8"),
        ("short close", frame(0x88, b"\x03"), 1_002, "one byte"),
        ("close code 1006", frame(0x88, b"\x03\xee"), 1_002, "1006"),
        ("close reason", frame(0x88, b"\x03\xe8\xff"), 1_007, "UTF-8"),
    ];
    for (what, bytes, code, text) in cases {
        let (finished, record) = run_against(move |client| {
            client.accept();
            client.expect_text();
            client.send(&bytes);
            client.await_close();
        });
        expect_loss(what, &finished, "PROTOCOL_ERROR", text);
        let close = record.frames.iter().find(|frame| frame.first == CLOSE);
        assert_eq!(close.and_then(PeerFrame::close_code), Some(code), "{what}");
    }
}

#[test]
fn a_message_over_the_limit_is_too_large_whether_whole_or_in_fragments() {
    let whole = vec![0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0];
    let part = frame(0x00, &vec![0; 1 << 20]);
    let fragments = [frame(0x02, b""), part.repeat(17)].concat();
    for bytes in [whole, fragments] {
        let (finished, record) = run_against(move |client| {
            client.accept();
            client.expect_text();
            client.send(&bytes);
            client.await_close();
        });
        expect_loss("too large", &finished, "TOO_LARGE", "max_message_size");
        let close = record.frames.iter().find(|frame| frame.first == CLOSE);
        assert_eq!(close.and_then(PeerFrame::close_code), Some(1_009));
    }
}

#[test]
fn a_silent_server_times_out_once_and_the_rest_is_out_of_sync() {
    let (finished, record) = run_against(|client| {
        client.accept();
        client.echo_nothing();
    });
    finished.expect_exit(1);
    let row = finished.row("ask");
    assert_eq!(row.code, "READ_TIMEOUT");
    assert!((400..=480).contains(&row.elapsed), "{row:?}");
    assert_eq!(finished.rows("ask again").len(), 0);
    assert_eq!(finished.row("close").code, "1000");
    assert_eq!(record.texts(), ["hello"]);
}

#[test]
fn pings_without_end_do_not_extend_a_deadline() {
    let (finished, _) = run_against(|client| {
        client.accept();
        client.expect_text();
        while client.is_connected() {
            client.send_ping(b"still here");
            client.listen(Duration::from_millis(20));
        }
    });
    let row = finished.row("ask");
    assert_eq!(row.code, "READ_TIMEOUT");
    assert!((400..=480).contains(&row.elapsed), "{row:?}");
}

#[test]
fn a_flood_is_read_in_bounded_memory_and_the_run_ends() {
    let server = target();
    let plan = PLAN.replace("send: hello}", "send: hello, expect: binary}");
    let url = format!("target=ws://{}/flood", server.address());
    let finished = Env::new().run(&plan, &["-J", &url]);
    finished.expect_exit(1);
    assert!(server.counters().messages_sent > 1_000, "no flood: {:?}", server.counters());
    let peak = finished.summary["generator"]["peak_memory_bytes"].as_u64();
    assert!(peak.is_none_or(|bytes| bytes < 64 << 20), "{peak:?} bytes");
}

#[test]
fn a_server_that_never_closes_tcp_does_not_hold_the_run_up() {
    let (finished, record) = run_against(|client| {
        client.accept();
        for _ in 0..2 {
            let text = client.expect_text();
            client.send_text(&text);
        }
        let code = client.expect_close();
        client.send_close(code.unwrap(), "");
        client.expect_end();
    });
    finished.expect_exit(0);
    assert_eq!(finished.rows.len(), 4);
    assert!(finished.row("close").elapsed < 100, "waiting for TCP is in no row");
    assert!(record.end.is_some());
}

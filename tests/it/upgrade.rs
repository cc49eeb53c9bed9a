//! The upgrade request as a plan can shape it, and what servers make of it.

use std::time::Duration;

use wsmeter::clock;

use crate::run::{plan, run_against, start};
use crate::support::env::Env;
use crate::support::peer::Peer;
use crate::support::peer_connection::Record;
use crate::support::target;

/// A server that accepts each upgrade and echoes.
fn accepting() -> Peer {
    Peer::spawn(|client| {
        client.accept();
        client.echo();
    })
}

#[test]
fn subprotocols_are_offered_in_order_and_the_choice_can_be_asserted() {
    let server = target();
    let steps = r"
- open: { subprotocols: [chat.v2, '${newest}'], assert: { subprotocol: chat.v2 } }
- close
- open:
    name: second choice
    path: /echo?subprotocol=chat.v9
    subprotocols: [chat.v2, '${newest}']
    assert: { subprotocol: chat.v9 }
    extract: { header: { name: sec-websocket-protocol, as: chosen } }
- request_response: { send: '${chosen}', assert: { equals: chat.v9 } }
- close
- open: { name: none chosen, path: '/echo?subprotocol=', subprotocols: chat.v1 }
- close
- open: { name: wrong, subprotocols: [chat.v1], assert: { subprotocol: chat.v2 } }
";
    let url = format!("ws://{}/echo", server.address());
    let plan = format!("variables: {{ newest: chat.v9 }}\n{}", plan("", steps));
    let finished = start(&Env::new(), &plan, &url).finish();
    finished.expect_exit(1);
    let failed: Vec<&str> =
        finished.rows.iter().filter(|row| !row.success).map(|row| row.label.as_str()).collect();
    assert_eq!(failed, ["wrong"], "{finished:#?}");
    let row = finished.row("wrong");
    assert_eq!(row.code, "101");
    let failure = "Test failed: headers `Sec-WebSocket-Protocol` expected to equal /chat.v2/, \
                   found /chat.v1/";
    assert_eq!(row.failure, failure);
}

#[test]
fn a_subprotocol_that_was_not_offered_fails_the_upgrade() {
    let server = target();
    let steps = r"
- open: { name: other, path: /echo?subprotocol=b, subprotocols: [a, c] }
- open: { name: unasked, path: /echo?subprotocol=b }
";
    let url = format!("ws://{}/", server.address());
    let finished = start(&Env::new(), &plan("", steps), &url).finish();
    finished.expect_exit(1);
    let what = "the answer chooses a subprotocol that was not offered: `b`; ";
    for (label, offered) in [("other", "`a`, `c` were"), ("unasked", "none was")] {
        let row = finished.row(label);
        assert_eq!((row.code.as_str(), row.message.as_str()), ("UPGRADE", "Upgrade failed"));
        assert_eq!(row.failure, format!("{what}{offered}"));
    }
}

#[test]
fn interim_answers_are_passed_over() {
    let peer = Peer::spawn(|client| {
        client.read_request();
        let accepted = client.upgrade_response();
        let (hints, goes_on) =
            ("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n");
        match client.index() {
            0 => client.send(format!("{goes_on}{hints}{accepted}").as_bytes()),
            1 => client.trickle(format!("{hints}{accepted}").as_bytes(), Duration::from_millis(1)),
            2 => client.send(
                format!("{hints}HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno").as_bytes(),
            ),
            3 => client.flood(goes_on.as_bytes()),
            4 => {
                client.send(goes_on.as_bytes());
                client.expect_end();
            }
            _ => client.trickle(goes_on.repeat(500).as_bytes(), Duration::from_millis(1)),
        }
        client.echo();
    });
    let steps = r"
- open: { name: at once }
- request_response: hello
- close
- open: { name: in pieces }
- request_response: hello
- close
- open: { name: refused, assert: [{ status: 403 }, { equals: no }] }
- open: { name: without end }
- open: { name: nothing else, connect_timeout: 200ms }
- open: { name: slowly without end, connect_timeout: 300ms }
";
    let (finished, _) = run_against(peer, &plan("", steps));
    let codes: Vec<&str> = finished.rows.iter().map(|row| row.code.as_str()).collect();
    assert_eq!(
        codes,
        [
            "101",
            "200",
            "1000",
            "101",
            "200",
            "1000",
            "403",
            "UPGRADE",
            "CONNECT_TIMEOUT",
            "CONNECT_TIMEOUT"
        ],
        "{finished:#?}"
    );
    assert_eq!(finished.row("at once").bytes, 129 + 25 + 40);
    assert!(finished.row("refused").success);
    let row = finished.row("without end");
    assert!(row.failure.contains("100 interim answers") && row.elapsed < 3_000, "{row:?}");
    assert!(finished.row("slowly without end").bytes > 0);
}

#[test]
fn a_subprotocol_from_a_variable_that_is_none_is_a_bad_value() {
    let peer = accepting();
    let steps = "- open: { name: bad, subprotocols: ['${two}'] }\n\
                 - open: { name: twice, subprotocols: ['${one}', chat] }\n\
                 - open: { subprotocols: ['${one}', other] }";
    let plan = format!("variables: {{ one: chat, two: 'a, b' }}\n{}", plan("", steps));
    let (finished, records) = run_against(peer, &plan);
    finished.expect_exit(1);
    assert_eq!(finished.row("bad").code, "BAD_VALUE");
    assert_eq!(finished.row("bad").failure, "`a, b` is not a subprotocol, from `${two}`");
    assert_eq!(finished.row("twice").failure, "`chat` is offered twice, from `chat`");
    assert_eq!(records.len(), 1, "nothing is sent of those");
    assert_eq!(records[0].header("sec-websocket-protocol"), Some("chat, other"));
}

/// The header lines of a request as they were sent, but for those of the handshake itself.
fn headers(record: &Record) -> Vec<&str> {
    let own = ["Host", "Connection", "Upgrade", "Sec-WebSocket-"];
    let lines = record.request.lines().skip(1).filter(|line| !line.is_empty());
    lines.filter(|line| !own.iter().any(|name| line.starts_with(name))).collect()
}

#[test]
fn headers_keep_order_and_duplicates_and_scopes_merge_by_name() {
    let peer = accepting();
    let steps = r"
- open:
    headers: { X-B: [1, '${two}'], x-first: changed, X-Gone: null, X-Last: 'ü', X-FIRST: again, x-b: 3 }
    cookies: { lang: en, theme: null, room: '${room}' }
    origin: https://chat.example
    basic_auth: { user: bob, password: 'p:ß' }
";
    let defaults = "  headers: { X-First: one, X-Gone: x }\n  cookies: { theme: dark }\n";
    let plan = format!("variables: {{ two: 2, room: a b }}\n{}", plan("", steps));
    let plan = plan.replace("defaults:\n", &format!("defaults:\n{defaults}"));
    let (finished, records) = run_against(peer, &plan);
    finished.expect_exit(0);
    let wanted = [
        "Origin: https://chat.example",
        "Authorization: Basic Ym9iOnA6w58=",
        "x-first: changed",
        "X-FIRST: again",
        "X-B: 1",
        "X-B: 2",
        "x-b: 3",
        "X-Last: ü",
        "Cookie: lang=en; room=a b",
    ];
    assert_eq!(headers(&records[0]), wanted);
}

#[test]
fn user_info_is_sent_as_basic_auth_and_shown_nowhere() {
    let peer = accepting();
    let address = peer.url("/").replace("ws://", "");
    let steps = format!(
        "- open: {{ url: 'ws://b%6Fb:hunter%32hunter2@{address}' }}\n\
         - open: {{ name: own, url: 'ws://bob:hunter2hunter2@{address}', headers: {{ authorization: \
         Bearer abcdefghij }} }}"
    );
    let (finished, records) = run_against(peer, &plan("", &steps));
    finished.expect_exit(0);
    assert_eq!(records[0].header("authorization"), Some("Basic Ym9iOmh1bnRlcjJodW50ZXIy"));
    assert_eq!(records[0].header("host"), Some(address.trim_end_matches('/')));
    assert_eq!(headers(&records[1]), ["authorization: Bearer abcdefghij"]);
    assert_eq!(finished.row("open").url, format!("ws://{address}"));
}

#[test]
fn values_that_cannot_be_sent_are_bad_values() {
    let peer = accepting();
    let steps = r"
- open: { name: header, headers: { X-A: '${lines}' } }
- open: { name: cookie, cookies: { a: 'b; ${room}' } }
- open: { name: user, basic_auth: { user: '${colon}' } }
- open: { name: redirects, follow_redirects: '${many}' }
- open: { cookies: { a: '${room}' } }
";
    let variables = r#"variables: { lines: "a\nHost: b", room: x, colon: 'a:b', many: 51 }"#;
    let plan = format!("{variables}\n{}", plan("", steps).replace("b; ${room}", "${semicolon}"));
    let plan = plan.replace("variables: {", "variables: { semicolon: 'b; x',");
    let (finished, records) = run_against(peer, &plan);
    for label in ["header", "cookie", "user", "redirects"] {
        assert_eq!(finished.row(label).code, "BAD_VALUE", "{finished:#?}");
    }
    assert_eq!(records.len(), 1, "nothing is sent of those");
}

#[test]
fn cookies_of_upgrades_are_kept_for_the_thread_and_sent_where_they_belong() {
    let peer = Peer::spawn(|client| {
        client.read_request();
        let set = "Set-Cookie: sid=0123456789; Path=/; HttpOnly\r\n\
                   Set-Cookie: deep=yes; Path=/deep\r\nSet-Cookie: foreign=1; Domain=example.org\r\n";
        let answer = client.upgrade_response().replacen("\r\n", &format!("\r\n{set}"), 1);
        client.send(answer.as_bytes());
        client.echo();
    });
    let steps = r"
- open: { path: /first }
- open: { path: /deep/er, cookies: { sid: mine, own: 1 } }
- open: { path: /last, headers: { Cookie: only=this } }
- open: { path: /other }
";
    let (finished, records) = run_against(peer, &plan("loops: 2", steps));
    finished.expect_exit(0);
    let sent: Vec<Option<&str>> = records.iter().map(|record| record.header("cookie")).collect();
    let later = [Some("sid=mine; own=1; deep=yes"), Some("only=this"), Some("sid=0123456789")];
    assert_eq!(sent[0], None);
    assert_eq!(sent[1..4], later);
    assert_eq!(sent[4], Some("sid=0123456789"), "the jar is kept across iterations");
    assert!(!finished.stdout.contains("0123456789"), "{finished:#?}");
}

#[test]
fn redirects_are_followed_in_one_row_if_the_plan_wants_it() {
    let server = target();
    let steps = r"
- open: { name: not, path: /redirect, assert: { status: 302 } }
- open: { name: refused, path: /redirect?status=307 }
- open: { name: followed, path: '/redirect?n=3&to=/echo', follow_redirects: 3 }
- request_response: { send: hello, assert: { equals: hello } }
- open: { name: too far, path: '/redirect?n=4&to=/echo', follow_redirects: 3 }
- open: { name: elsewhere, path: '/redirect?to=ftp://h/', follow_redirects: 5 }
- open: { name: to http, path: '/redirect?to=http://${host}/echo', follow_redirects: 1 }
";
    let url = format!("ws://{}/", server.address());
    let plan = format!("variables: {{ host: '{}' }}\n{}", server.address(), plan("", steps));
    let finished = start(&Env::new(), &plan, &url).finish();
    finished.expect_exit(1);
    let row = |label: &str| {
        let row = finished.row(label);
        (row.code.clone(), row.success, row.failure.clone())
    };
    assert_eq!(row("not"), ("302".to_owned(), true, String::new()));
    let failure = |label: &str, code: &str, text: &str| {
        let (found, success, failure) = row(label);
        assert!(found == code && !success && failure.contains(text), "{label}: {failure}");
    };
    failure("refused", "307", "the server answered `307 Temporary Redirect`: see /echo");
    assert_eq!(row("followed").0, "101", "{finished:#?}");
    assert!(finished.row("followed").url.ends_with("/echo"), "{finished:#?}");
    assert!(finished.row("followed").sent_bytes > 4 * 100, "all four requests count");
    failure("too far", "302", "3 redirects were followed, and it leads on to");
    failure("elsewhere", "302", "`ftp://h/` cannot be followed: its scheme");
    assert_eq!(row("to http").0, "101");
    assert_eq!(finished.rows.len(), 7);
    assert!((finished.summary_number("connections/opened") - 2.0).abs() < f64::EPSILON);
}

#[test]
fn a_loop_of_redirects_ends_and_is_called_one() {
    let peer = Peer::spawn(|client| {
        client.read_request();
        client.send(b"HTTP/1.1 301 Moved\r\nLocation: /\r\nContent-Length: 0\r\n\r\n");
    });
    let (finished, records) =
        run_against(peer, &plan("", "- open: { url: '${__P(target)}', follow_redirects: 4 }"));
    finished.expect_exit(1);
    assert_eq!(records.len(), 5);
    let row = finished.row("open");
    let text =
        "the server answered `301 Moved`; 4 redirects were followed, and it leads in a loop to";
    assert!(row.code == "301" && row.failure.starts_with(text), "{row:?}");
}

#[test]
fn credentials_do_not_follow_to_another_host() {
    let other = accepting();
    let there = other.url("/there");
    let peer = Peer::spawn(move |client| {
        client.read_request();
        let asks_for_here = client.index() == 0;
        let to = if asks_for_here { "/here" } else { &there };
        let answer = format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
        client.send(answer.as_bytes());
    });
    let steps = r"
- open:
    follow_redirects: 2
    basic_auth: { user: bob, password: hunter2 }
    cookies: { sid: abc }
    headers: { X-Api-Key: abc, X-Mine: 'a ${mine} b', X-Room: lobby }
";
    let plan = format!("variables: {{ mine: xyzzy }}\nsecrets: [mine]\n{}", plan("", steps));
    let (finished, records) = run_against(peer, &plan);
    finished.expect_exit(0);
    let all = [
        "Authorization: Basic Ym9iOmh1bnRlcjI=",
        "X-Api-Key: abc",
        "X-Mine: a xyzzy b",
        "X-Room: lobby",
        "Cookie: sid=abc",
    ];
    assert_eq!(headers(&records[0]), all);
    assert_eq!(headers(&records[1]), all, "the same server gets all again");
    assert_eq!(headers(&other.finish()[0]), ["X-Room: lobby"]);
}

#[test]
fn a_refusal_can_be_what_is_wanted_and_its_answer_asserted() {
    let server = target();
    let steps = r"
- open:
    name: wanted
    path: /reject?status=403
    assert:
      - status: 403
      - contains: as asked
      - header: { name: content-type, contains: text/plain }
- single_write: hello
- open: { name: other, path: /reject?status=404, assert: { status: 403 } }
- open: { name: body, path: /reject?status=403, assert: [{ status: 403 }, { contains: teapot }] }
";
    let url = format!("ws://{}/", server.address());
    let finished = start(&Env::new(), &plan("", steps), &url).finish();
    finished.expect_exit(1);
    let wanted = finished.row("wanted");
    assert!(wanted.success && wanted.code == "403", "{finished:#?}");
    assert_eq!(wanted.message, "Upgrade refused");
    assert!(finished.rows("single_write").is_empty(), "there is no connection");
    let other = finished.row("other");
    assert_eq!(other.failure, "the server answered `404 Not Found`: refused, as asked");
    assert_eq!(finished.row("body").failure, "Test failed: text expected to contain /teapot/");
    let causes = finished.summary["causes"].to_string();
    assert!(causes.contains("`404 Not Found`: refused, as asked"), "{causes}");
    let answer = finished.summary["causes"]
        .as_array()
        .expect("a list")
        .iter()
        .find_map(|cause| cause["answer"].as_str().filter(|_| cause["label"] == "other"));
    let answer = answer.expect("it is kept");
    assert!(answer.starts_with("HTTP/1.1 404 Not Found\nConnection: close\n"), "{answer}");
    assert!(answer.ends_with("Content-Length: 18\n\nrefused, as asked"), "{answer}");
}

#[test]
fn the_body_of_a_refusal_is_not_waited_for_without_end() {
    let peer = Peer::spawn(|client| {
        client.read_request();
        client.send(b"HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nsorry, \r\n");
        client.echo();
    });
    let began = clock::now();
    let (finished, _) = run_against(peer, &plan("", "- open"));
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
    let row = finished.row("open");
    assert_eq!(
        (row.code.as_str(), row.failure.as_str()),
        ("503", "the server answered `503 Busy`: sorry,")
    );
    assert!(row.elapsed < 500, "the body is not part of the time: {row:?}");
}

#[test]
fn whoever_has_no_cookie_and_no_token_is_refused() {
    let server = target();
    let steps = "- open: { path: /private, assert: { status: 401 } }";
    let url = format!("ws://{}/", server.address());
    let finished = start(&Env::new(), &plan("", steps), &url).finish();
    finished.expect_exit(0);
}

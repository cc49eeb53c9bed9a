//! `http` steps: what they send, what they take for a success, and what of it the upgrades share.

use std::time::Duration;

use crate::run::{plan, run_against, start};
use crate::support::env::{Env, Finished};
use crate::support::peer::Peer;
use crate::support::peer_connection::PeerConnection;
use crate::support::target;
use crate::support::time::idle;

/// Reads a request with its body, answers with these bytes, and gives the request.
fn answer(client: &mut PeerConnection, bytes: &str) -> String {
    client.read_request();
    let request = client.request_with_body();
    client.send(bytes.as_bytes());
    request
}

/// A server that gives the same answer to all requests.
fn answering(bytes: &'static str) -> Peer {
    Peer::spawn(move |client| {
        answer(client, bytes);
    })
}

fn run(peer: Peer, steps: &str) -> Finished {
    run_against(peer, &plan("", steps)).0
}

#[test]
fn a_login_gives_a_token_and_a_cookie_to_the_upgrades() {
    let server = target();
    let steps = r"
- http:
    name: login
    path: /login
    body: { json: { user: bob, password: '${password}' } }
    assert: [{ status: 200 }, { json: { path: $.user, equals: bob } }]
    extract: [{ json: { path: $.token, as: token } }, { header: { name: set-cookie, as: cookie } }]
- open: { name: by cookie, path: /private }
- request_response: { send: hello, assert: { equals: hello } }
- open: { name: by token, path: /private, headers: { Cookie: a=b, Authorization: 'Bearer ${token}' } }
- open: { name: neither, path: /private, headers: { Cookie: a=b }, assert: { status: 401 } }
- http: { name: who, path: /private, assert: { json: { path: $.user, equals: bob } } }
- http: { name: form, path: /login, body: { form: { user: bob, password: '${password}' } } }
- http: { name: forgot, path: /login, body: { form: { user: bob } }, assert: { status: 401 } }
";
    let plan = format!("variables: {{ password: 'a&b=c d' }}\n{}", plan("", steps));
    let url = format!("ws://{}/ignored", server.address());
    let finished = start(&Env::new(), &plan, &url).finish();
    finished.expect_exit(0);
    assert_eq!(finished.rows.len(), 8);
    let row = finished.row("login");
    assert_eq!((row.code.as_str(), row.message.as_str()), ("200", "OK"));
    assert_eq!(row.url, format!("http://{}/login", server.address()));
    assert!(row.bytes > 150 && row.sent_bytes > 100, "{row:?}");
    assert!(row.connect <= row.latency && row.latency <= row.elapsed, "{row:?}");
    assert_eq!(finished.row("forgot").message, "Unauthorized");
    assert!((finished.summary_number("connections/opened") - 2.0).abs() < f64::EPSILON);
}

#[test]
fn requests_are_sent_as_the_plan_says() {
    let peer = Peer::spawn(|client| {
        let request = answer(client, "HTTP/1.1 204 No Content\r\n\r\n");
        let (head, body) = request.split_once("\r\n\r\n").expect("it has a head");
        let line = head.lines().next().expect("it has a line");
        let header = |name: &str| {
            let lines = head.lines().filter_map(|line| line.split_once(": "));
            lines
                .filter(|(own, _)| own.eq_ignore_ascii_case(name))
                .map(|(_, value)| value)
                .collect::<Vec<_>>()
                .join("|")
        };
        let wanted = match client.index() {
            0 => ("GET /a%20b?q=1 HTTP/1.1", "", "", "1|2", ""),
            1 => ("POST /text HTTP/1.1", "text/plain; charset=utf-8", "5", "", "hello"),
            2 => ("PUT /json HTTP/1.1", "application/json", "18", "", "{\"a\":1,\"b\":[\"x\"]} "),
            3 => (
                "POST /form HTTP/1.1",
                "application/x-www-form-urlencoded",
                "14",
                "",
                "a=b%26c&d=%C3%BC",
            ),
            4 => ("POST /file HTTP/1.1", "image/png", "4", "", "\u{0}abc"),
            _ => ("DELETE /gone HTTP/1.1", "", "", "", ""),
        };
        assert_eq!(line, wanted.0);
        assert_eq!(header("content-type"), wanted.1, "{head}");
        assert_eq!(header("x-a"), wanted.3, "{head}");
        assert_eq!(body, wanted.4.trim_end(), "{head}");
        assert_eq!(header("connection"), "close");
        assert!(header("host").starts_with("127.0.0.1:"), "{head}");
        assert_eq!(header("content-length").parse().unwrap_or(0), body.len(), "{head}");
    });
    let env = Env::new();
    env.write("picture.png", b"\0abc");
    let steps = r"
- http: { path: '/a b?q=1', headers: { X-A: [1, 2] } }
- http: { path: /text, body: hello }
- http: { method: PUT, path: /json, body: { json: { a: 1, b: ['${x}'] } } }
- http: { path: /form, body: { form: { a: b&c, d: ü } } }
- http: { path: /file, headers: { content-type: image/png }, body: { file: { path: picture.png, type: binary } } }
- http: { path: /gone, method: DELETE }
";
    let plan = format!("variables: {{ x: x }}\n{}", plan("", steps));
    let finished = start(&env, &plan, &peer.url("/")).finish();
    finished.expect_exit(0);
    assert!(finished.rows.iter().all(|row| row.code == "204" && row.message == "No Content"));
    assert_eq!(peer.finish().len(), 6);
}

#[test]
fn the_status_decides_unless_an_assertion_does() {
    let not_found = "HTTP/1.1 404 Nope\r\nContent-Length: 9\r\n\r\nno\nsuch\tx";
    let steps = "- http: { name: plain, path: / }\n\
                 - http: { name: wanted, path: /, assert: [{ status: 404 }, { contains: such }] }\n\
                 - http: { name: other, path: /, assert: { status: 200 } }\n\
                 - http: { name: body, path: /, assert: [{ status: 404 }, { contains: x y }] }";
    let finished = run(answering(not_found), steps);
    finished.expect_exit(1);
    let row = finished.row("plain");
    assert_eq!((row.code.as_str(), row.message.as_str(), row.success), ("404", "Not Found", false));
    assert_eq!(row.failure, "the server answered `404 Nope`: no such x");
    assert!(finished.row("wanted").success);
    assert_eq!(finished.row("other").failure, row.failure);
    assert!(finished.row("body").failure.contains("expected to contain /x y/"));
}

#[test]
fn inherited_checks_of_messages_are_not_for_answers() {
    let server = target();
    let steps = "- http: { path: /count }\n- open: { path: /echo }\n- request_response: ok";
    let plan = format!(
        "assert: [{{ contains: ok }}]\nextract: {{ regex: {{ pattern: 'o(k)', as: k }} }}\n{}",
        plan("", steps)
    );
    let url = format!("ws://{}/", server.address());
    start(&Env::new(), &plan, &url).finish().expect_exit(0);
}

#[test]
fn answers_end_in_every_way_that_http_knows() {
    for (bytes, size) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 5),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\nX: y\r\n\r\n",
            5,
        ),
        ("HTTP/1.0 200 OK\r\n\r\nhello", 5),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0),
    ] {
        let steps = format!("- http: {{ path: /, assert: [{{ size: {{ equals: {size}B }} }}] }}");
        let finished = run(answering(bytes), &steps);
        finished.expect_exit(0);
        assert_eq!(finished.row("http").bytes, bytes.len() as u64, "{bytes}");
    }
}

#[test]
fn an_answer_that_goes_wrong_says_how() {
    for (bytes, code, text) in [
        ("", "DISCONNECTED", "ended before the answer was complete"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", "DISCONNECTED", "ended before"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            "PROTOCOL_ERROR",
            "in its body: Invalid chunk size",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe",
            "DISCONNECTED",
            "ended before",
        ),
        ("SSH-2.0-OpenSSH_9.2\r\n\r\n", "PROTOCOL_ERROR", "is not HTTP"),
        ("HTTP/1.1 200 OK\r\nX Y\r\n\r\n", "PROTOCOL_ERROR", "is not HTTP"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello hello",
            "TOO_LARGE",
            "more than 10 bytes",
        ),
    ] {
        let finished = run(answering(bytes), "- http: { path: /, max_message_size: 10B }");
        finished.expect_exit(1);
        let row = finished.row("http");
        assert!(row.failure.contains(text), "{bytes}: {row:?}");
        assert_eq!(row.code, code, "{bytes}: {row:?}");
    }
}

#[test]
fn an_answer_with_too_many_headers_says_how_many_it_may_have() {
    for (step, count, code) in
        [("http", 128, "200"), ("http", 129, "PROTOCOL_ERROR"), ("open", 129, "UPGRADE")]
    {
        let headers = "X: y\r\n".repeat(count - 1);
        let bytes = format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{headers}\r\n");
        let peer = Peer::spawn(move |client| {
            answer(client, &bytes);
        });
        let finished = run(peer, &format!("- {step}: {{ path: / }}"));
        let row = finished.row(step);
        assert_eq!(row.code, code, "{row:?}");
        assert!(row.success || row.failure.contains("128 headers"), "{row:?}");
    }
}

#[test]
fn an_answer_without_end_meets_its_deadline() {
    let silent = Peer::spawn(|client| {
        client.read_request();
        client.expect_end();
    });
    let endless = Peer::spawn(|client| {
        client.read_request();
        client.send(b"HTTP/1.1 200 OK\r\n\r\n");
        let drip = [b'x'; 1_000];
        client.trickle(&drip, Duration::from_millis(5));
        client.expect_end();
    });
    for (peer, text) in [(silent, "`read_timeout`"), (endless, "bytes had come")] {
        let finished = run(peer, "- http: { path: /, read_timeout: 300ms }");
        finished.expect_exit(1);
        let row = finished.row("http");
        assert_eq!((row.code.as_str(), row.message.as_str()), ("READ_TIMEOUT", "Read timed out"));
        assert!(row.failure.contains(text) && row.elapsed >= 300, "{row:?}");
    }
}

#[test]
fn a_request_that_nobody_takes_meets_its_deadline() {
    let peer = Peer::spawn(|_| idle(Duration::from_secs(3)));
    let env = Env::new();
    env.write("large.bin", vec![b'x'; 40 << 20]);
    let steps = "- http: { path: /, body: { file: { path: large.bin, type: binary } }, write_timeout: 500ms }";
    let finished = start(&env, &plan("", steps), &peer.url("/")).finish();
    finished.expect_exit(1);
    assert_eq!(finished.row("http").code, "WRITE_TIMEOUT", "{finished:#?}");
}

#[test]
fn a_server_that_is_not_there_has_its_code() {
    let steps = r"
- http: { name: closed, url: 'http://${closed}/' }
- http: { name: nowhere, url: 'http://does-not-exist.invalid/' }
- http: { name: bad, url: '${closed}' }
";
    let closed = std::net::TcpListener::bind("127.0.0.1:0").and_then(|own| own.local_addr());
    let closed = closed.expect("a free port can be found");
    let plan = format!("variables: {{ closed: '{closed}' }}\n{}", plan("", steps));
    let finished = start(&Env::new(), &plan, "ws://127.0.0.1:1/").finish();
    finished.expect_exit(1);
    let codes: Vec<&str> = finished.rows.iter().map(|row| row.code.as_str()).collect();
    assert_eq!(codes, ["CONNECT_REFUSED", "DNS", "BAD_VALUE"]);
    assert!(finished.row("closed").failure.contains(&closed.to_string()), "{finished:#?}");
}

#[test]
fn connections_are_kept_alive_while_a_request_waits() {
    let peer = Peer::spawn(|client| {
        if client.index() == 0 {
            client.accept();
            client.send_ping(b"there?");
            client.expect_pong(b"there?");
            client.echo();
        } else {
            client.read_request();
            idle(Duration::from_millis(300));
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let steps = "- open\n- http: { path: /slow }\n- close";
    let (finished, records) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
    let pong = records[0].frames.first().expect("the ping is answered");
    let asked = finished.row("http").elapsed;
    assert!(asked >= 300 && pong.first == 0x8a, "{asked} ms");
}

#[test]
fn a_redirect_of_a_post_becomes_a_get_and_takes_new_cookies_along() {
    let peer = Peer::spawn(|client| {
        let bytes = match client.index() {
            0 => {
                "HTTP/1.1 303 See Other\r\nLocation: /home\r\nSet-Cookie: sid=1\r\nContent-Length: 0\r\n\r\n"
            }
            1 => "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nwelcome",
            2 => "HTTP/1.1 307 Again\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n",
            3 => "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
            _ => "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
        };
        let request = answer(client, bytes);
        let (wanted, body) = match client.index() {
            0 => ("POST /login ", "a=b"),
            1 => ("GET /home ", ""),
            2 => ("POST /first ", "hello"),
            3 => ("POST /again ", "hello"),
            _ => ("GET /", ""),
        };
        assert!(
            request.starts_with(wanted) && request.ends_with(&format!("\r\n\r\n{body}")),
            "{request}"
        );
        assert_eq!(request.to_ascii_lowercase().contains("content-type"), !body.is_empty());
        assert_eq!(request.contains("sid=1"), client.index() > 0, "{request}");
    });
    let steps = r"
- http: { name: login, path: /login, body: { form: { a: b } }, follow_redirects: 5, assert: { contains: welcome } }
- http: { name: kept, path: /first, body: hello, follow_redirects: 5 }
- http: { name: not followed, path: / }
- http: { name: too many, path: /, follow_redirects: 1 }
";
    let (finished, records) = run_against(peer, &plan("", steps));
    finished.expect_exit(1);
    assert_eq!(records.len(), 7);
    assert!(finished.row("login").url.ends_with("/home"));
    assert!(finished.row("not followed").success, "302 is a success, as in JMeter");
    let row = finished.row("too many");
    assert!(!row.success && row.code == "302" && row.failure.contains("in a loop"), "{row:?}");
}

#[test]
fn each_server_on_the_way_has_its_own_time_to_be_connected_with() {
    let peer = Peer::spawn(|client| {
        client.read_request();
        if client.index() == 0 {
            idle(Duration::from_millis(900));
            // A name, which takes longer to look up than no time at all.
            let host = client.host().replace("127.0.0.1", "localhost");
            client
                .send(format!("HTTP/1.1 302 Found\r\nLocation: http://{host}/\r\n\r\n").as_bytes());
        } else {
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let steps = "- http: { path: /, follow_redirects: 1, connect_timeout: 800ms }";
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
    assert!(finished.row("http").elapsed >= 900, "{finished:#?}");
}

#[test]
fn the_server_closes_first_so_that_no_socket_of_ours_waits() {
    let peer = Peer::spawn(|client| {
        answer(client, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        client.listen(Duration::from_millis(800));
        assert!(client.is_connected(), "the client has closed first");
    });
    let steps = "- http: { path: /, assert: { equals: ok } }\n- pause: 900ms";
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
    assert!(finished.row("http").elapsed < 700, "{finished:#?}");
}

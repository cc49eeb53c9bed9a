//! Logins over TLS: `http` steps and redirects share with the upgrades what is said about secure
//! servers, and the login plan of the gallery does all of it.

use std::net::SocketAddr;

use crate::run::{plan, start};
use crate::support::env::{Env, Finished};
use crate::support::peer::Peer;
use crate::support::target;
use crate::support::tls::{Authority, Front, TlsServer};

/// A folder with the authority's certificate as `ca.pem`, and a server of it before the one behind.
fn secured(behind: SocketAddr) -> (Env, Front) {
    let (env, authority) = (Env::new(), Authority::new("ours"));
    env.write("ca.pem", authority.pem());
    let identity = authority.issue(&["localhost", "127.0.0.1"]);
    (env, Front::tls(&TlsServer::new(identity), behind))
}

fn run(env: &Env, tls: &str, steps: &str, url: &str) -> Finished {
    let plan = plan("", steps).replace("defaults:\n", &format!("defaults:\n  tls: {{ {tls} }}\n"));
    start(env, &plan, url).finish()
}

#[test]
fn the_login_plan_of_the_gallery_passes_over_tls_with_a_private_authority() {
    let server = target();
    let (env, front) = secured(server.address());
    let plan = fs_err::read_to_string("plans/login.yaml").expect("it is in the gallery");
    let secure = plan.replace("  # tls: { ca: ca.pem }", "  tls: { ca: ca.pem }");
    assert_ne!(plan, secure, "it says what to add for wss");
    let target = format!("target={}", front.named_url(""));
    let finished = env.run(&secure, &["-J", &target]);
    finished.expect_exit(0);
    assert_eq!(finished.rows.len(), 55);
    let login = finished.rows("login")[0];
    assert!(login.url.starts_with("https://localhost:"), "{login:?}");
    assert!(login.connect > 0 || login.elapsed == 0, "{login:?}");
    assert_eq!(server.counters().connections, 10);
    let (full, resumed, failed) = front.handshakes();
    assert_eq!((full + resumed, failed), (20, 0), "two requests and two upgrades of each thread");
    assert!(resumed > 0, "a thread resumes the session of its login");
}

#[test]
fn a_server_that_is_not_trusted_gets_no_password() {
    let behind = Peer::spawn(|client| panic!("request {} came through", client.index()));
    let (env, front) = secured(
        behind.url("/")["ws://".len()..].trim_end_matches('/').parse().expect("an address"),
    );
    let other = Authority::new("another");
    env.write("other.pem", other.pem());
    let steps = "- http: { path: /login, body: { form: { user: bob, password: x } } }";
    let finished = run(&env, "ca: other.pem", steps, &front.url("/"));
    finished.expect_exit(1);
    let row = finished.row("http");
    assert_eq!((row.code.as_str(), row.message.as_str()), ("TLS", "TLS failed"));
    assert!(!row.failure.is_empty() && row.sent_bytes == 0, "{row:?}");
}

#[test]
fn redirects_lead_from_plain_to_secure_servers_and_secrets_do_not() {
    let behind = Peer::spawn(|client| {
        client.accept();
        client.echo();
    });
    let address =
        behind.url("/")["ws://".len()..].trim_end_matches('/').parse().expect("an address");
    let (env, front) = secured(address);
    let location = front.url("/chat").replace("wss", "https");
    let first = Peer::spawn(move |client| {
        client.read_request();
        let head =
            format!("HTTP/1.1 301 Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
        client.send(head.as_bytes());
    });
    let steps = "- open: { url: '${__P(target)}', follow_redirects: 1, headers: { Authorization: a, X-B: b } }\n\
                 - request_response: { send: hello, assert: { equals: hello } }\n- close";
    let finished = run(&env, "ca: ca.pem", steps, &first.url("/"));
    finished.expect_exit(0);
    assert_eq!(finished.row("open").url, front.url("/chat"));
    let records = behind.finish();
    assert_eq!(records[0].header("authorization"), None);
    assert_eq!(records[0].header("x-b"), Some("b"));
    assert_eq!(records[0].header("host"), Some(front.address().to_string().as_str()));
    assert_eq!(first.finish()[0].header("authorization"), Some("a"));
}

#[test]
fn an_answer_that_ends_with_the_connection_is_whole_only_if_tls_says_so() {
    for (answer, is_cut, code) in [
        ("HTTP/1.1 200 OK\r\n\r\nhello", false, "200"),
        ("HTTP/1.1 200 OK\r\n\r\nhello", true, "DISCONNECTED"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", true, "DISCONNECTED"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", true, "200"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
            true,
            "200",
        ),
    ] {
        let behind = Peer::spawn(move |client| {
            client.read_request();
            client.send(answer.as_bytes());
        });
        let (env, authority) = (Env::new(), Authority::new("ours"));
        env.write("ca.pem", authority.pem());
        let server = TlsServer::new(authority.issue(&["127.0.0.1"]));
        let front = if is_cut { Front::cutting } else { Front::tls }(&server, behind.address());
        let finished = run(&env, "ca: ca.pem", "- http: { path: / }", &front.url("/"));
        let row = finished.row("http");
        assert_eq!(row.code, code, "{answer}: {row:?}");
        assert!(row.success || row.failure.contains("`close_notify`"), "{answer}: {row:?}");
    }
}

//! `wss://`: whom a run trusts, what a failed handshake says, and that nothing else changes.

use std::sync::{Arc, OnceLock};

use rustls::version::{TLS12, TLS13};

use crate::support::env::{Env, Finished};
use crate::support::peer::Peer;
use crate::support::target;
use crate::support::time::wait_until;
use crate::support::tls::{Authority, Front, Issued, TlsServer, VALID};

/// Opens, sends, receives and closes; `tls` are the settings of all.
fn plan(tls: &str, group: &str, steps: &str) -> String {
    format!(
        "defaults: {{ url: '${{__P(url)}}', read_timeout: 8s, tls: {{ {tls} }} }}\n\
         thread_groups:\n- {group}\n  steps:\n{steps}"
    )
}

const ONE: &str = "threads: 1";
const EXCHANGE: &str = "  - open\n  - request_response: { send: hello, assert: { equals: hello } }\n  \
                        - close\n";
const OPEN: &str = "  - open: { connect_timeout: 8s }\n";

/// A folder with the authority's certificate as `ca.pem`.
fn env_trusting(authority: &Authority) -> Env {
    let env = Env::new();
    env.write("ca.pem", authority.pem());
    env
}

fn run(env: &Env, plan: &str, url: &str) -> Finished {
    env.run(plan, &["--force", "-J", &format!("url={url}")])
}

/// The failure of an `open` that fails in TLS.
fn failure(finished: &Finished) -> &str {
    finished.expect_exit(1);
    let row = finished.row("open");
    assert_eq!((row.code.as_str(), row.message.as_str()), ("TLS", "TLS failed"), "{row:?}");
    assert!(row.connect > 0 || row.elapsed == 0, "{row:?}");
    &row.failure
}

#[test]
fn a_server_of_a_trusted_authority_is_spoken_with_by_address_and_by_name() {
    let (authority, server) = (Authority::new("ours"), target());
    let identity = authority.issue(&["127.0.0.1", "localhost"]);
    let front = Front::tls(&TlsServer::new(identity), server.address());
    let env = env_trusting(&authority);
    for url in [front.url("/echo"), front.named_url("/echo")] {
        let group = "threads: 3\n  loops: 2";
        let finished = run(&env, &plan("ca: ca.pem", group, EXCHANGE), &url);
        finished.expect_exit(0);
        assert_eq!(finished.rows.len(), 18);
        let row = finished.rows("open")[0];
        assert_eq!((row.code.as_str(), row.url.as_str()), ("101", url.as_str()));
        assert!(finished.stderr.contains(", TLS "), "{}", finished.stderr);
        let handshake =
            |key: &str| finished.summary_number(&format!("connections/handshake/{key}"));
        assert!((handshake("tls_count") - 6.0).abs() < f64::EPSILON);
        assert!(handshake("tls/p50_ms") > 0.0);
    }
    assert_eq!(server.counters().messages_received, 12);
}

#[test]
fn without_a_ca_this_machine_decides_whom_to_trust() {
    let (authority, server) = (Authority::new("ours"), target());
    let front = Front::tls(&TlsServer::new(authority.issue(&["127.0.0.1"])), server.address());
    let env = env_trusting(&authority);
    env.write("plan.yaml", plan("", ONE, OPEN));
    let run = ["run", "plan.yaml", "-o", "results", "--force", "-J"];
    let url = format!("url={}", front.url("/echo"));
    let arguments = [&run[..], &[&url]].concat();
    env.wsmeter_after("unset SSL_CERT_DIR; export SSL_CERT_FILE=ca.pem", &arguments)
        .finish()
        .expect_exit(0);
    env.write("other.pem", Authority::new("other").pem());
    let finished = env
        .wsmeter_after("unset SSL_CERT_DIR; export SSL_CERT_FILE=other.pem", &arguments)
        .finish();
    let text = failure(&finished);
    assert!(text.starts_with("unknown issuer: "), "{text}");
    assert!(text.contains("an authority that this machine trusts"), "{text}");
    let nobody = env
        .wsmeter_after("unset SSL_CERT_DIR; export SSL_CERT_FILE=/dev/null", &arguments)
        .finish();
    nobody.expect_exit(2);
    assert!(nobody.stderr.contains("this machine trusts no authority"), "{}", nobody.stderr);
}

#[test]
fn a_certificate_that_does_not_do_is_refused_with_the_reason() {
    let (authority, server) = (Authority::new("ours"), target());
    let foreign = Authority::new("foreign");
    let address = ["127.0.0.1"];
    let cases = [
        (
            authority.issue_for(&address, (2019, 2020)),
            "the server's certificate expired on 2020-01-01 00:00:00Z",
            "the server's certificate has expired",
        ),
        (
            authority.issue_for(&address, (2080, 2090)),
            "the server's certificate is not valid before 2080-01-01 00:00:00Z",
            "the server's certificate is not valid yet",
        ),
        (
            authority.issue_for(&address, (2090, 2019)),
            "the server's certificate is never valid: it ends before it begins",
            "the server's certificate is never valid: it ends before it begins",
        ),
        (
            foreign.issue(&address),
            "unknown issuer: the server's certificate is not from an authority in `ca`",
            "unknown issuer: the server's certificate is not from an authority in `ca`",
        ),
        (
            authority.issue(&["a.example.com", "*.b.example.com", "10.0.0.1"]),
            "wrong name: the server's certificate has `a.example.com`, `*.b.example.com`, \
             `10.0.0.1`, not `127.0.0.1`",
            "wrong name: the server's certificate is for another",
        ),
        (
            authority.issue(&[]),
            "wrong name: the server's certificate has no name, not `127.0.0.1`",
            "wrong name: the server's certificate is for another",
        ),
    ];
    for (identity, text, cause) in cases {
        let front = Front::tls(&TlsServer::new(identity), server.address());
        let finished =
            run(&env_trusting(&authority), &plan("ca: ca.pem", ONE, OPEN), &front.url("/echo"));
        assert_eq!(failure(&finished), text);
        let told = finished.summary["causes"][0]["text"].as_str();
        assert_eq!(told, Some(cause));
        let row = finished.row("open");
        assert_eq!((row.bytes, row.sent_bytes), (0, 0));
        let insecure = plan("ca: ca.pem, insecure: true", ONE, EXCHANGE);
        let finished = run(&env_trusting(&authority), &insecure, &front.url("/echo"));
        finished.expect_exit(0);
        let warning = "warning: no server is verified";
        assert!(finished.stderr.contains(warning), "{}", finished.stderr);
    }
}

#[test]
fn a_server_with_a_certificate_of_its_own_making_is_trusted_if_that_is_named() {
    let server = target();
    let plan = plan("ca: ca.pem", ONE, OPEN);
    let run_with = |server_has: &Issued, trusted: &str| {
        let front = Front::tls(&TlsServer::new(server_has.clone()), server.address());
        let env = Env::new();
        env.write("ca.pem", trusted);
        run(&env, &plan, &front.url("/echo"))
    };
    let own = Authority::self_signed(&["127.0.0.1"], VALID);
    run_with(&own, &own.cert).expect_exit(0);
    let other = run_with(&own, Authority::new("other").pem());
    let text = "the server's certificate is marked as an authority's (CA:TRUE): name it as `ca` if \
                it is to be trusted itself";
    assert_eq!(failure(&other), text);
    let named = Authority::self_signed(&["a.example.com"], VALID);
    let wrong = run_with(&named, &named.cert);
    let text = failure(&wrong);
    assert!(text.starts_with("wrong name: the server's certificate has `a.example.com`"), "{text}");
    let old = Authority::self_signed(&["127.0.0.1"], (2019, 2020));
    let expired = run_with(&old, &old.cert);
    assert!(failure(&expired).starts_with("the server's certificate expired on 2020-01-01"));
}

#[test]
fn whoever_does_not_speak_tls_to_a_server_that_does_is_told_so() {
    let (authority, server) = (Authority::new("ours"), target());
    let front = Front::tls(&TlsServer::new(authority.issue(&["127.0.0.1"])), server.address());
    let steps = "  - open\n  - http: { path: / }\n";
    let finished = run(&Env::new(), &plan("", ONE, steps), &front.url("/").replace("wss", "ws"));
    finished.expect_exit(1);
    let row = finished.row("open");
    let text = "the server speaks TLS on this port: `wss://` may reach it";
    assert_eq!((row.code.as_str(), row.failure.as_str()), ("UPGRADE", text));
    let row = finished.row("http");
    let text = "the answer is not HTTP: it is an alert of TLS; `https://` may reach the server";
    assert_eq!((row.code.as_str(), row.failure.as_str()), ("PROTOCOL_ERROR", text));
}

#[test]
fn another_name_may_be_sent_and_wanted() {
    let (authority, server) = (Authority::new("ours"), target());
    let identity = authority.issue(&["chat.example.com"]);
    let front = Front::tls(&TlsServer::new(identity), server.address());
    let env = env_trusting(&authority);
    let open = |name| format!("  - open: {{ tls: {{ server_name: {name} }} }}\n");
    let good = open("'${n}.example.com'");
    let plan_of =
        |steps: &str| format!("variables: {{ n: chat }}\n{}", plan("ca: ca.pem", ONE, steps));
    run(&env, &plan_of(&good), &front.url("/echo")).expect_exit(0);
    let bad = open("'${n} example'");
    let finished = run(&env, &plan_of(&bad), &front.url("/echo"));
    let row = finished.row("open");
    assert_eq!(
        (row.code.as_str(), row.failure.contains("no name of a server")),
        ("BAD_VALUE", true)
    );
}

/// What a client may show, and what becomes of it.
#[test]
fn a_server_may_require_a_certificate_of_the_client() {
    let (authority, server) = (Authority::new("ours"), target());
    let clients = Authority::new("clients");
    for version in [&TLS12, &TLS13] {
        let identity = authority.issue(&["127.0.0.1"]);
        let server_tls =
            TlsServer { clients: Some(&clients), ..TlsServer::new(identity).with_version(version) };
        let front = Front::tls(&server_tls, server.address());
        let with = |client: Option<Issued>| {
            let env = env_trusting(&authority);
            let mut tls = "ca: ca.pem".to_owned();
            if let Some(Issued { cert, key }) = client {
                env.write("client.pem", cert);
                env.write("client.key", key);
                tls.push_str(", cert: client.pem, key: client.key");
            }
            run(&env, &plan(&tls, ONE, EXCHANGE), &front.url("/echo"))
        };
        with(Some(clients.issue_to_client())).expect_exit(0);
        let none = with(None);
        let text = failure(&none);
        assert!(text.contains("requires a client certificate"), "{text}");
        let foreign = with(Some(Authority::new("foreign").issue_to_client()));
        let text = failure(&foreign);
        assert!(text.starts_with("the server refused the client certificate ("), "{text}");
    }
}

#[test]
fn a_server_that_is_too_old_is_told_by_its_version() {
    let (authority, server) = (Authority::new("ours"), target());
    let tls = TlsServer::new(authority.issue(&["127.0.0.1"])).with_version(&TLS12);
    let front = Front::tls(&tls, server.address());
    let env = env_trusting(&authority);
    let tls = "ca: ca.pem, min_version: 1.3";
    let finished = run(&env, &plan(tls, ONE, OPEN), &front.url("/echo"));
    let text = "protocol version: the server does not speak TLS 1.3, and `min_version` is 1.3";
    assert_eq!(failure(&finished), text);
}

#[test]
fn what_does_not_speak_tls_is_told_from_what_does() {
    let cases: [(&[u8], &str); 4] = [
        (
            b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
            "the server speaks plain HTTP on this port, not TLS; `ws://` or `http://` may reach it",
        ),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "what the server sent is not TLS"),
        (b"", "the server closed the connection during the TLS handshake"),
        (b"HTTP", "what the server sent is not TLS"),
    ];
    for (answer, text) in cases {
        let peer = Peer::spawn(move |client| {
            client.skip_some_bytes();
            client.send(answer);
        });
        let url = peer.url("/").replace("ws://", "wss://");
        let finished = run(&Env::new(), &plan("insecure: true", ONE, OPEN), &url);
        assert_eq!(failure(&finished), text);
    }
}

#[test]
fn a_handshake_that_stalls_at_any_message_costs_the_time_to_connect_and_no_more() {
    let (authority, server) = (Authority::new("ours"), target());
    for version in [&TLS12, &TLS13] {
        let tls = TlsServer::new(authority.issue(&["127.0.0.1"])).with_version(version);
        let front = Front::tls(&tls, server.address());
        let mut stalled = 0;
        for whole in 0.. {
            let relay = Front::stalling(whole, front.address());
            let steps = "  - open: { connect_timeout: 400ms }\n";
            let finished = run(
                &env_trusting(&authority),
                &plan("ca: ca.pem", ONE, steps),
                &relay.url("/echo"),
            );
            finished.expect_exit(1);
            let row = finished.row("open");
            assert!((400..5_000).contains(&row.elapsed), "{row:?}");
            if row.code == "CONNECT_TIMEOUT" {
                break;
            }
            assert_eq!(failure(&finished), "the TLS handshake was not complete in time");
            stalled += 1;
        }
        // Hello, certificate and so on; TLS 1.2 has a second turn.
        assert!(stalled >= 3, "only {stalled} records");
    }
}

#[test]
fn a_wrong_byte_anywhere_fails_the_connection_and_not_the_run() {
    let (authority, server) = (Authority::new("ours"), target());
    for version in [&TLS12, &TLS13] {
        let tls = TlsServer::new(authority.issue(&["127.0.0.1"])).with_version(version);
        let front = Front::tls(&tls, server.address());
        let relay = Front::corrupting(7, front.address());
        let steps = "  - open: { connect_timeout: 300ms, tls: { resume: false } }\n  \
                     - request_response: { send: hello, read_timeout: 300ms }\n  - close\n";
        let plan = plan("ca: ca.pem", "threads: 10\n  loops: 20", steps);
        let finished = run(&env_trusting(&authority), &plan, &relay.url("/echo"));
        finished.expect_exit(1);
        let opens = finished.rows("open");
        assert_eq!(opens.len(), 200);
        let count = |code: &str| opens.iter().filter(|row| row.code == code).count();
        // The handshake has about 1,000 bytes, which 140 clients get wrong.
        assert!(count("TLS") >= 80 && count("101") >= 20, "{} {}", count("TLS"), count("101"));
        let replies = finished.rows("request_response");
        assert!(replies.iter().all(|row| !row.success || row.elapsed < 300), "{replies:?}");
    }
}

#[test]
fn a_thread_resumes_its_own_sessions_and_no_other_threads() {
    let (authority, server) = (Authority::new("ours"), target());
    for version in [&TLS12, &TLS13] {
        let tls = TlsServer::new(authority.issue(&["127.0.0.1"])).with_version(version);
        for (settings, full, resumed) in
            [("ca: ca.pem", 3, 9), ("ca: ca.pem, resume: false", 12, 0)]
        {
            let front = Front::tls(&tls, server.address());
            let plan = plan(settings, "threads: 3\n  loops: 4", EXCHANGE);
            let finished = run(&env_trusting(&authority), &plan, &front.url("/echo"));
            finished.expect_exit(0);
            assert_eq!(front.handshakes(), (full, resumed, 0));
            let told = finished.summary["connections"]["handshake"]["tls_resumed"].as_u64();
            assert_eq!(told, Some(resumed as u64));
            let line = format!("12 handshakes, {resumed} resumed");
            assert!(finished.stderr.contains(&line), "{}", finished.stderr);
        }
    }
}

#[test]
fn other_settings_do_not_resume_what_these_have_begun() {
    let (authority, server) = (Authority::new("ours"), target());
    let identity = authority.issue(&["127.0.0.1"]);
    let front = Front::tls(&TlsServer::new(identity), server.address());
    let steps = "  - open\n  - open: { tls: { insecure: true, ca: null } }\n  - open\n";
    let env = env_trusting(&authority);
    run(&env, &plan("ca: ca.pem", ONE, steps), &front.url("/echo")).expect_exit(0);
    assert_eq!(front.handshakes(), (2, 1, 0));
}

#[test]
fn messages_of_any_size_pass_in_pieces_of_any_size_and_count_as_without_tls() {
    let (authority, server) = (Authority::new("ours"), target());
    let identity = authority.issue(&["127.0.0.1"]);
    let front = Front::tls(&TlsServer::new(identity), server.address());
    let steps = "  - open\n  \
                 - request_response: { name: small, send_random: 1B }\n  \
                 - request_response: { name: record, send_random: 16KiB }\n  \
                 - request_response: { name: large, send_random: 3MiB }\n  - close\n";
    let plan = plan("ca: ca.pem", ONE, steps);
    let plain = run(&env_trusting(&authority), &plan, &format!("ws://{}/echo", server.address()));
    plain.expect_exit(0);
    for size in [7, 1_000, 100_000] {
        // Small pieces of a large message would take long.
        let plan = if size == 7 { plan.replace("3MiB", "30KiB") } else { plan.clone() };
        let relay = Front::in_pieces(size, front.address());
        let finished = run(&env_trusting(&authority), &plan, &relay.url("/echo"));
        finished.expect_exit(0);
        let sizes = |finished: &Finished, label: &str| {
            let row = finished.row(label);
            (row.bytes, row.sent_bytes)
        };
        for label in ["small", "record"] {
            assert_eq!(sizes(&finished, label), sizes(&plain, label));
        }
    }
}

#[test]
fn a_write_is_done_when_the_kernel_has_all_of_its_records() {
    let authority = Authority::new("ours");
    let over = Arc::new(OnceLock::new());
    let is_over = Arc::clone(&over);
    let peer = Peer::spawn(move |client| {
        client.accept();
        wait_until("the run is over", || is_over.get().is_some());
    });
    let identity = authority.issue(&["127.0.0.1"]);
    let front = Front::tls(&TlsServer::new(identity), peer.address());
    let steps = "  - open\n  - single_write: { send_random: 32MiB, write_timeout: 500ms }\n";
    let env = env_trusting(&authority);
    let finished = run(&env, &plan("ca: ca.pem", ONE, steps), &front.url("/"));
    finished.expect_exit(1);
    let row = finished.row("single_write");
    assert_eq!(row.code, "WRITE_TIMEOUT");
    assert!(row.elapsed >= 500, "{row:?}");
    over.set(()).expect("once");
    peer.finish();
}

#[test]
fn pushes_and_the_end_of_tls_are_seen_while_a_thread_pauses() {
    let authority = Authority::new("ours");
    let peer = Peer::spawn(|client| {
        client.accept();
        client.send_text("one");
        client.send_text("two");
        client.expect_text();
    });
    let identity = authority.issue(&["127.0.0.1"]);
    let front = Front::tls(&TlsServer::new(identity), peer.address());
    let steps = "  - open\n  \
                 - single_read: { name: first, assert: { equals: one } }\n  \
                 - single_read: { name: second, assert: { equals: two } }\n  \
                 - single_write: bye\n  - pause: 300ms\n  - single_read: { name: end }\n";
    let env = env_trusting(&authority);
    let finished = run(&env, &plan("ca: ca.pem", ONE, steps), &front.url("/"));
    finished.expect_exit(1);
    assert!(finished.row("first").success && finished.row("second").success);
    let row = finished.row("end");
    assert_eq!((row.code.as_str(), row.elapsed), ("DISCONNECTED", 0), "{row:?}");
    peer.finish();
}

#[test]
fn no_output_shows_what_is_in_a_key_file() {
    let (authority, server) = (Authority::new("ours"), target());
    let clients = Authority::new("clients");
    let tls = TlsServer::new(authority.issue(&["127.0.0.1"]));
    let front = Front::tls(&TlsServer { clients: Some(&clients), ..tls }, server.address());
    let env = env_trusting(&authority);
    let Issued { cert, key } = clients.issue_to_client();
    env.write("client.pem", cert);
    env.write("client.key", &key);
    let tls = "ca: ca.pem, cert: client.pem, key: client.key";
    let plan = plan(tls, ONE, EXCHANGE);
    let url = format!("url={}", front.url("/echo"));
    let mut outputs = String::new();
    let finished = env.run(&plan, &["-J", &url]);
    finished.expect_exit(0);
    for arguments in
        [&["try", "plan.yaml", "-J", &url][..], &["check", "--explain", "plan.yaml", "-J", &url]]
    {
        let finished = env.wsmeter(arguments).finish();
        finished.expect_exit(0);
        outputs.push_str(&finished.stdout);
        outputs.push_str(&finished.stderr);
    }
    assert!(outputs.contains("authorities of ca.pem"), "{outputs}");
    let outputs = format!("{outputs}{finished:?}");
    for line in key.lines() {
        assert!(!outputs.contains(line), "{line}");
    }
}

#[test]
fn insecure_fails_a_strict_check() {
    let env = Env::new();
    env.write("plan.yaml", plan("insecure: true", ONE, OPEN));
    let check = ["check", "plan.yaml", "-J", "url=wss://h"];
    env.wsmeter(&check).finish().expect_exit(0);
    env.wsmeter(&[&check[..], &["--strict"]].concat()).finish().expect_exit(2);
}

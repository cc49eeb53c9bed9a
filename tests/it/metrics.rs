//! `run --metrics-addr`: what a run under way tells those who fetch its metrics.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use wsmeter::clock;
use wsmeter::target::Server;

use crate::support::env::{Env, Running};
use crate::support::time::wait_until;

const PLAN: &str = r"
thread_groups:
  - name: Chatters
    threads: 3
    duration: 50s
    steps:
      - open
      - loop:
          times: 1000000
          steps:
            - request_response: { name: 'say ${room}', send: hello }
            - request_response: { name: wrong, send: hello, assert: { equals: bye } }
            - pause: 10ms
variables: { room: '&quot;1&quot;' }
defaults: { url: '${__P(target)}/echo' }
";

fn target() -> Server {
    Server::start(([127, 0, 0, 1], 0).into()).expect("a free port")
}

/// The address that a run says its metrics are at.
fn address(running: &Running) -> String {
    let mut found = String::new();
    wait_until("the address is told", || {
        let stderr = running.stderr();
        let url = stderr.lines().find_map(|line| line.strip_prefix("metrics ").map(str::trim));
        let address = url.and_then(|url| url.strip_prefix("http://")?.strip_suffix("/metrics"));
        address.is_some_and(|address| {
            address.clone_into(&mut found);
            true
        })
    });
    found
}

/// What is answered to a request, until the connection ends.
fn ask(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("someone listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    stream.write_all(request.as_bytes()).expect("it is read");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

fn fetch(address: &str) -> String {
    ask(address, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

/// The value of a metric, which is there once.
fn value(text: &str, name: &str) -> f64 {
    let values: Vec<f64> = text
        .lines()
        .filter_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
        .collect();
    assert_eq!(values.len(), 1, "{name} in\n{text}");
    values[0]
}

#[test]
fn a_run_under_way_is_fetched_and_goes_on() {
    let (server, env) = (target(), Env::new());
    let url = format!("target=ws://{}", server.address());
    let running = env.start(PLAN, &["-J", &url, "--metrics-addr", "127.0.0.1:0"]);
    let address = address(&running);
    let samples = r#"wsmeter_samples_total{label="wrong"}"#;
    let mut first = String::new();
    wait_until("all threads are at work", || {
        first = fetch(&address);
        first.contains(samples) && first.contains("\nwsmeter_threads 3\n")
    });
    assert!(first.starts_with("HTTP/1.1 200 OK\r\n"), "{first}");
    assert!(first.contains("application/openmetrics-text; version=1.0.0"), "{first}");
    assert!(first.ends_with("# EOF\n"), "{first}");
    assert_eq!(value(&first, "wsmeter_connections_open").to_string(), "3");
    let failures = r#"wsmeter_failures_total{label="wrong",code="200"}"#;
    assert_eq!(value(&first, samples).to_bits(), value(&first, failures).to_bits());
    let label = r#"wsmeter_elapsed_seconds_count{label="say &quot;1&quot;"}"#;
    assert!(value(&first, label) > 0.0);
    let before = value(&first, samples);
    wait_until("there are more", || value(&fetch(&address), samples) > before);
    running.signal("INT");
    let finished = running.finish();
    finished.expect_exit(130);
    let metrics = fs_err::read_to_string(env.path("results/metrics.txt")).expect("metrics");
    let rows = finished.rows.iter().filter(|row| row.label == "wrong").count();
    assert_eq!(value(&metrics, samples).to_string(), rows.to_string());
    assert!(TcpStream::connect(&address).is_err(), "it ends with the run");
}

#[test]
fn an_address_that_is_taken_is_named_and_nothing_is_sent() {
    let (server, env) = (target(), Env::new());
    let url = format!("target=ws://{}", server.address());
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it has one").to_string();
    let finished = env.run(PLAN, &["-J", &url, "--metrics-addr", &address]);
    finished.expect_exit(2);
    let told = format!("failed to listen on {address} for metrics");
    assert!(finished.stderr.contains(&told), "{}", finished.stderr);
    assert!(finished.stderr.contains("choose another port"), "{}", finished.stderr);
    assert!(!env.path("results").exists());
    let finished = env.run(PLAN, &["-J", &url, "--metrics-addr", "9464"]);
    finished.expect_exit(2);
    assert!(finished.stderr.contains("as in `127.0.0.1:9464`"), "{}", finished.stderr);
}

#[test]
fn whoever_asks_badly_is_refused_and_hinders_nobody() {
    let (server, env) = (target(), Env::new());
    let url = format!("target=ws://{}", server.address());
    let running = env.start(PLAN, &["-J", &url, "--metrics-addr", "localhost:0"]);
    let address = address(&running);
    assert!(address.starts_with("127.0.0.1:") || address.starts_with("[::1]:"), "{address}");
    let status = |request: &str| {
        let answer = ask(&address, request);
        answer.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(status("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), "HTTP/1.1 404 Not Found");
    let post = "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(status(post), "HTTP/1.1 405 Method Not Allowed");
    let head = ask(&address, "HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 OK") && head.ends_with("\r\n\r\n"), "{head}");
    assert_eq!(status("nonsense\r\n\r\n"), "HTTP/1.1 400 Bad Request");
    let long = format!("GET /metrics HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(15_000));
    assert_eq!(status(&long), "HTTP/1.1 200 OK");
    // Some say nothing, some never stop, many more than are served at once.
    let slow: Vec<TcpStream> = (0..300)
        .map(|number| {
            let mut stream = TcpStream::connect(&address).expect("someone listens");
            let begun = ["", "GET /metrics HTTP/1.1\r\nX: "][number % 2];
            stream.write_all(begun.as_bytes()).expect("the kernel takes it");
            stream
        })
        .collect();
    let begun = clock::now();
    let answer = fetch(&address);
    assert!(answer.ends_with("# EOF\n"), "{answer}");
    let took = clock::now() - begun;
    // Each of them may take a second; nobody has to wait for all.
    assert!(took < Duration::from_secs(8), "{took:?}");
    drop(slow);
    running.signal("INT");
    let finished = running.finish();
    finished.expect_exit(130);
    assert!(!finished.rows.is_empty());
}

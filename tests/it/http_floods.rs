//! Servers that never come to the end of their answer to an `http` step, as fast as they can or byte by
//! byte: its deadline holds, the run's ends too, and the other threads of the worker go on.

use std::time::Duration;

use wsmeter::clock;

use crate::run::{plan, run_against, start};
use crate::support::env::Env;
use crate::support::peer::Peer;
use crate::support::time::wait_until;

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/// What comes first, and then without end.
const FLOODS: [(&str, &str, &str, &str); 9] = [
    ("100", "", "HTTP/1.1 100 Continue\r\n\r\n", "READ_TIMEOUT"),
    ("103", "", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", "READ_TIMEOUT"),
    ("header", "HTTP/1.1 200 OK\r\n", "X: a\r\n", "PROTOCOL_ERROR"),
    ("long header", "HTTP/1.1 200 OK\r\nX: ", "aaaaaaaaaaaaaaaa", "PROTOCOL_ERROR"),
    ("body", "HTTP/1.1 200 OK\r\n\r\n", "x", "TOO_LARGE or READ_TIMEOUT"),
    ("tiny chunks", CHUNKED, "1\r\nx\r\n", "TOO_LARGE or READ_TIMEOUT"),
    ("chunk extension", CHUNKED, "3;a", "PROTOCOL_ERROR"),
    ("size of a chunk", CHUNKED, "0000", "READ_TIMEOUT"),
    (
        "trailers",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
        "X: y\r\n",
        "PROTOCOL_ERROR",
    ),
];

/// Answers the first request with a flood, the others at once.
fn flooding(first: &'static str, then: &'static str) -> Peer {
    Peer::spawn(move |client| {
        client.read_request();
        if client.request().starts_with("GET /flood ") {
            client.send(first.as_bytes());
            client.flood(then.as_bytes());
        } else {
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
            client.listen(Duration::from_secs(1));
        }
    })
}

#[test]
fn a_flood_of_any_kind_meets_its_deadline_or_a_limit_and_holds_nobody_up() {
    for (what, first, then, code) in FLOODS {
        let peer = flooding(first, then);
        let plan = "defaults: { url: '${__P(target)}', read_timeout: 700ms }
thread_groups:
- name: flooded
  steps:
  - http: { name: flood, path: /flood, max_message_size: 4MiB }
- name: beside
  loops: 10
  steps:
  - http: { name: ok, path: /ok, read_timeout: 9s }
  - pause: 50ms
";
        let env = Env::new();
        env.write("plan.yaml", plan);
        // All threads on one worker.
        let target = format!("target={}", peer.url("/"));
        let run = ["run", "plan.yaml", "-o", "results", "-J", &target];
        let finished = env.wsmeter_after("taskset -cp 0 $$ >/dev/null 2>&1", &run).finish();
        finished.expect_exit(1);
        let row = finished.row("flood");
        // A worker that is held up has it for as long as the peer goes on, which is ten seconds.
        assert!(code.contains(&row.code) && row.elapsed < 7_000, "{what}: {row:?}");
        let beside = finished.rows("ok");
        assert_eq!(beside.len(), 10, "{what}");
        for row in beside {
            assert!(row.success && row.elapsed < 5_000, "{what}: {row:?}");
        }
    }
}

#[test]
fn the_end_of_the_run_and_a_second_signal_wait_for_no_flood() {
    let flood = "HTTP/1.1 103 Early Hints\r\n\r\n";
    let steps = "- http: { path: /flood, read_timeout: 8s }";
    let (finished, _) = run_against(
        flooding("", flood),
        &format!("time_limit: 500ms\ngraceful_stop: 200ms\n{}", plan("", steps)),
    );
    finished.expect_exit(3);
    let row = finished.row("http");
    assert!(row.code == "INTERRUPTED" && row.elapsed < 7_000, "{row:?}");
    assert!(row.bytes > 1_000 && row.sent_bytes > 50 && row.connect < row.elapsed, "{row:?}");

    let (peer, env) = (flooding("", flood), Env::new());
    let steps = format!("- http: {{ path: /ok }}\n{steps}");
    let running = start(&env, &plan("", &steps), &peer.url("/"));
    wait_until("the first row is written", || {
        fs_err::read_to_string(running.jtl()).is_ok_and(|text| text.lines().count() == 2)
    });
    let began = clock::now();
    running.signal("INT");
    wait_until("it is told", || running.stderr().contains("second signal"));
    running.signal("INT");
    running.finish().expect_exit(130);
    let took = clock::now() - began;
    assert!(took < Duration::from_secs(7), "{took:?}");
}

//! Several connections in one thread: names from templates, all alive while one step waits.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::env::{Env, Finished};
use crate::support::peer::Peer;
use crate::support::target;
use crate::support::time::wait_until;

/// A thread group of one thread, or of as many as `settings` say.
fn plan(settings: &str, steps: &str) -> String {
    format!(
        "defaults: {{ url: '${{__P(target, ws://127.0.0.1:1)}}', path: /echo, connection: 'c${{n}}' }}\n\
         thread_groups:\n- {settings}\n  steps:\n{steps}"
    )
}

/// A run against the embedded target.
fn run(steps: &str) -> Finished {
    let server = target();
    let url = format!("target=ws://{}", server.address());
    Env::new().run(&plan("threads: 1", steps), &["-J", &url, "-J", "sockets=3"])
}

fn labels(finished: &Finished) -> String {
    let labels: Vec<&str> = finished.rows.iter().map(|row| row.label.as_str()).collect();
    labels.join(" ")
}

#[test]
fn a_range_is_gone_through_up_to_its_last_number() {
    let finished = run("
  - for_each: { in: { from: 1, to: '${__P(sockets)}' }, as: n, steps: [open: { name: 'open ${n}' }] }
  - for_each: { in: { from: 0, to: 2 }, as: m, steps: [log: 'at ${m}'] }
  - set: { last: 2 }
  - for_each:
      in: { from: '${last}', to: '${__counter(TRUE, last)}' }
      as: n
      steps: [request_response: { name: never, send: x }]
  - set: { last: 3 }
  - for_each:
      in: { from: 2, to: '${last}' }
      as: n
      steps:
        - set: { last: 1 }   # too late: the range is known
        - request_response: { name: 'say ${n}', send: 'to ${n}', assert: { equals: 'to ${n}' } }
");
    finished.expect_exit(0);
    assert_eq!(labels(&finished).replace("open ", "o").replace("say ", "s"), "o1 o2 o3 s2 s3");
    for told in ["at 0", "at 1", "at 2"] {
        assert!(finished.stderr.contains(told), "{}", finished.stderr);
    }
    assert_eq!(finished.summary["connections"]["peak"], 3, "{}", finished.summary);
}

#[test]
fn a_range_that_is_no_number_in_the_run_is_told() {
    let finished = run("
  - set: { n: 1, last: many }
  - open
  - for_each: { in: { from: 1, to: '${last}' }, as: n, steps: [ping_pong] }
  - request_response: { name: after, send: x }
");
    finished.expect_exit(1);
    assert!(finished.stderr.contains("`many` is not a whole number"), "{}", finished.stderr);
}

#[test]
fn all_connections_of_a_thread_are_served_while_one_step_waits() {
    const SOCKETS: usize = 30;
    let accepted = AtomicUsize::new(0);
    let peer = Peer::spawn(move |connection| {
        connection.accept();
        // Only then: each answer has to come while the thread pauses.
        accepted.fetch_add(1, Ordering::SeqCst);
        wait_until("all are open", || accepted.load(Ordering::SeqCst) == SOCKETS);
        for beat in 0..3 {
            connection.send_ping(b"alive?");
            connection.expect_pong(b"alive?");
            connection.send_text("2");
            assert_eq!(connection.expect_text(), "3", "beat {beat}");
        }
        match connection.index() % 3 {
            0 => {
                connection.send_close(4001, "enough");
                assert_eq!(connection.expect_close(), Some(4001));
            }
            1 => connection.send_text("for later"),
            _ => {}
        }
        if connection.index() % 3 > 0 {
            connection.echo();
        }
    });
    let steps = format!(
        "
  - for_each:
      in: {{ from: 0, to: {last} }}
      as: n
      steps: [open: {{ heartbeat: {{ answer: {{ when: {{ equals: '2' }}, send: '3' }} }} }}]
  - pause: 2s
  - for_each:
      in: {{ from: 0, to: {last} }}
      as: n
      steps: [request_response: {{ name: ask, send: 'I am ${{n}}', assert: {{ equals: 'I am ${{n}}' }} }}]
  - for_each:
      in: {{ from: 0, to: {last} }}
      as: n
      steps: [single_read: {{ name: kept, read_timeout: 50ms, optional: true }}]
",
        last = SOCKETS - 1
    );
    let url = format!("target={}", peer.url(""));
    let finished = Env::new().run(&plan("threads: 1", &steps), &["-J", &url]);
    peer.finish();
    finished.expect_exit(1);
    let count = |label: &str, code: &str| {
        finished.rows(label).into_iter().filter(|row| row.code == code).count()
    };
    assert_eq!(count("open", "101"), SOCKETS);
    assert_eq!((count("ask", "200"), count("ask", "4001")), (SOCKETS / 3 * 2, SOCKETS / 3));
    // What came early is another's: the request did not take it, the reader finds it.
    assert_eq!((count("kept", "200"), count("kept", "NO_MESSAGE")), (SOCKETS / 3, SOCKETS / 3));
    assert_eq!(finished.summary["connections"]["close_codes"]["4001"], SOCKETS / 3);
    assert_eq!(finished.summary["connections"]["peak"], SOCKETS);
}

/// What a run of 50 threads that is refused says it needs, before `open files`.
fn needed(steps: &str) -> (String, u32) {
    let env = Env::new();
    env.write("plan.yaml", plan("threads: 50", steps));
    let run = ["run", "plan.yaml", "-o", "results", "--no-progress"];
    let refused = env.wsmeter_after("ulimit -n 40", &run).finish();
    refused.expect_exit(2);
    let words = refused.stderr.split(" open files").next().unwrap_or_default();
    let words = words.rsplit("error: the run needs ").next().unwrap_or_default();
    let (before, number) = words.rsplit_once(' ').unwrap_or(("", words));
    (
        before.to_owned(),
        number.replace(',', "").parse().unwrap_or_else(|_| panic!("{}", refused.stderr)),
    )
}

#[test]
fn what_a_run_needs_counts_the_connections_of_each_thread() {
    let each = |range: &str, steps: &str| {
        format!("  - for_each: {{ in: {range}, as: n, steps: [{steps}] }}\n")
    };
    let hundred = "{ from: 1, to: 100 }";
    let nested = "for_each: { in: [a, b], as: m, steps: [open: { connection: '${n}${m}' }] }";
    let many = ["a", "b"].repeat(30).join(", ");
    let (_, with_one) = needed(&each("[a]", "open"));
    for (steps, connections, before) in [
        (each(hundred, "open"), 100, ""),
        // The same names are the same connections.
        (each("{ from: 1, to: 60 }", "open") + &each(hundred, "open"), 100, ""),
        (each(&format!("[{many}]"), "open"), 2, ""),
        (each(hundred, "open") + &each("[a]", "open: { connection: 'x${n}' }"), 101, ""),
        // Only one of them is open at a time.
        (each(hundred, "open, ping_pong, close"), 1, ""),
        (each("{ from: 1, to: 10 }", nested), 20, ""),
        (each(hundred, "single_write: { send: x, connect: new }"), 100, ""),
        (each(hundred, "open: { connection: '${__threadNum} ${n}' }"), 100, ""),
        (each(hundred, "open: { connection: '${__counter(TRUE)} ${n}' }"), 100, "at least"),
        (each("{ from: 1, to: '${__Random(1, 9)}' }", "open"), 1, "at least"),
    ] {
        let expected = (before.to_owned(), with_one + 50 * (connections - 1));
        assert_eq!(needed(&steps), expected, "{steps}");
    }
}

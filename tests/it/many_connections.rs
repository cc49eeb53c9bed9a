//! Several connections in one thread: names from templates, all alive while one step waits.

use std::time::Duration;

use crate::support::env::{Env, Finished};
use crate::support::peer::Peer;
use crate::support::target;

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
  - for_each: { in: { from: -1, to: 1 }, as: m, steps: [log: 'at ${m}'] }
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
    for told in ["at -1", "at 0", "at 1"] {
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
    let peer = Peer::spawn(|connection| {
        connection.accept();
        // The last one is opened, and the thread pauses, before all have been through this: each answer
        // has to come while it does something else.
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
        finished.rows(label).into_iter().filter(|row| row.response_code == code).count()
    };
    assert_eq!(count("open", "101"), SOCKETS);
    assert_eq!((count("ask", "200"), count("ask", "4001")), (SOCKETS / 3 * 2, SOCKETS / 3));
    // What came early is another's: the request did not take it, the reader finds it.
    assert_eq!((count("kept", "200"), count("kept", "NO_MESSAGE")), (SOCKETS / 3, SOCKETS / 3));
    assert_eq!(finished.summary["connections"]["close_codes"]["4001"], SOCKETS / 3);
    assert_eq!(finished.summary["connections"]["peak"], SOCKETS);
}

#[test]
fn what_a_run_needs_counts_the_connections_of_each_thread() {
    let each = |range: &str, steps: &str| {
        format!("  - for_each: {{ in: {range}, as: n, steps: [{steps}] }}\n")
    };
    let hundred = "{ from: 1, to: 100 }";
    // 50 threads; what is needed beside connections is more than 20 and less than 100.
    for (steps, needed) in [
        (each(hundred, "open"), "needs 5,0"),
        // The same names are the same connections.
        (each(hundred, "open") + &each("{ from: 1, to: 60 }", "open"), "needs 5,0"),
        (each(&format!("[{}]", ["a", "b"].repeat(30).join(", ")), "open"), "needs 1"),
        (
            each(hundred, "open") + &each("[a]", "open: { connection: 'x${n}' }"),
            "needs 5,0",
        ),
        // Only one of them is open at a time.
        (each(hundred, "open, ping_pong, close") + "  - open: { connection: o }\n", "needs 1"),
        (
            each("{ from: 1, to: 10 }", "for_each: { in: [a, b], as: m, steps: [open: { connection: '${n}${m}' }] }"),
            "needs 1,0",
        ),
        (each(hundred, "open: { connection: '${__counter(TRUE)} ${n}' }"), "needs at least 5,0"),
        (each("{ from: 1, to: '${__Random(1, 9)}' }", "open"), "needs at least "),
    ] {
        let env = Env::new();
        env.write("plan.yaml", plan("threads: 50", &steps));
        let run = ["run", "plan.yaml", "-o", "results", "--no-progress"];
        let refused = env.wsmeter_after("ulimit -n 60", &run).finish();
        refused.expect_exit(2);
        let told = format!("error: the run {needed}");
        assert!(refused.stderr.contains(&told), "{told}: {}", refused.stderr);
        let number = refused.stderr.split(" open files").next().unwrap_or_default();
        let number = number.rsplit(' ').next().unwrap_or_default().replace(',', "");
        let number: u32 = number.parse().expect("the number of open files");
        let connections = number / 50 * 50;
        assert!(number - connections < 50 || connections > 0, "{number}");
    }
}

#[test]
fn a_hundred_sockets_end_together() {
    let steps = "
  - for_each: { in: { from: 1, to: 100 }, as: n, steps: [open] }
";
    let begun = std::time::Instant::now();
    let finished = run(steps);
    finished.expect_exit(0);
    assert_eq!(finished.summary["connections"]["peak"], 100);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

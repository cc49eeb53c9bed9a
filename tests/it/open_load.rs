//! Open and staged load, by what a user sees: how many threads come and go, and when.

use std::collections::HashSet;
use std::time::Duration;

use wsmeter::target::Server;

use crate::controllers::run;
use crate::support::env::Env;
use crate::support::time::{idle, wait_until};

/// A plan of one group against the embedded server.
fn plan(group: &str, steps: &str) -> String {
    format!(
        "defaults: {{ url: '${{__P(target)}}' }}\nthread_groups:\n  - {{ name: Open, {group}, steps: {steps} }}\n"
    )
}

#[test]
fn each_arrival_is_a_thread_that_does_the_steps_once() {
    let group = "arrivals: [{ rate: 100/s, over: 500ms }, { from: 100/s, rate: 0/s, over: 1s }]";
    let finished = run(group, "[open, request_response: x, close]");
    finished.expect_exit(0);
    assert_eq!(finished.rows("open").len(), 100, "50 and 50");
    let threads: HashSet<&str> = finished.rows.iter().map(|row| row.thread.as_str()).collect();
    assert_eq!(threads.len(), 100);
    assert!(threads.contains("U 1-1") && threads.contains("U 1-100"));
    assert_eq!(finished.summary["groups"][0]["model"], "open");
    assert_eq!(finished.summary["missed"], 0);
    // What the server saw.
    assert_eq!(finished.summary["connections"]["opened"], 100);
    for label in ["open", "request_response", "close", "all"] {
        let p99 = finished.summary_number(&format!("labels/{label}/p99_ms"));
        let intended = finished.summary_number(&format!("labels/{label}/intended/p99_ms"));
        assert!(intended >= p99, "{label}: {intended} {p99}");
    }
    assert!(finished.stderr.contains("\nlag  "), "{}", finished.stderr);
}

#[test]
fn evenly_spread_arrivals_begin_when_they_are_due() {
    let finished = run("arrivals: { rate: 20/s, over: 1s }", "[open]");
    finished.expect_exit(0);
    let mut starts: Vec<u64> = finished.rows.iter().map(|row| row.time_stamp).collect();
    starts.sort_unstable();
    assert_eq!(starts.len(), 20);
    // Never early; how late is the machine's affair.
    for (index, start) in (0..).zip(&starts) {
        assert!(start - starts[0] + 20 >= index * 50, "{starts:?}");
    }
    assert!(starts[19] - starts[0] >= 930, "{starts:?}");
}

#[test]
fn arrivals_beyond_max_threads_are_missed_and_a_threshold_sees_it() {
    let steps = "[open: '/slow?ms=600', request_response: x]";
    let text = plan("arrivals: { rate: 40/s, over: 1s }, max_threads: 4", steps);
    let with = format!("{text}thresholds: {{ all: missed == 0 }}\n");
    let finished = Env::new().run(&with, &["--serve", "--no-progress"]);
    finished.expect_exit(1);
    let missed = finished.summary["missed"].as_u64().expect("a number");
    assert!(missed > 10, "{missed}");
    assert_eq!(finished.rows("open").len() as u64 + missed, 40);
    assert!(finished.stderr.contains("\nmissed  "), "{}", finished.stderr);
    assert!(finished.stderr.contains("missed == 0"), "{}", finished.stderr);
}

#[test]
fn a_slow_server_shows_in_the_times_from_the_intended_start_of_a_pace() {
    // 20 a second were intended; each takes 200 ms, so all but the first begin 150 ms late,
    // and the two that each leaves out would have waited for 100 and 50 ms.
    let steps = "
- once: { steps: [open: '/slow?ms=200'] }
- pace: 20/s
- request_response: { name: asked, send: x }
";
    let finished = run("loops: 8", steps);
    finished.expect_exit(0);
    let plain = finished.summary_number("labels/asked/p50_ms");
    let intended = finished.summary_number("labels/asked/intended/p50_ms");
    assert!(plain >= 199.0 && intended >= plain + 40.0, "{intended} {plain}");
    let text = "defaults: { url: '${__P(target)}' }
thresholds: { asked: [intended.p50 < 1ms] }
thread_groups: { loops: 3, steps: [{ once: { steps: [open: '/slow?ms=50'] } }, pace: 100/s, { request_response: { name: asked, send: x } }] }
";
    Env::new().run(text, &["--serve", "--no-progress"]).expect_exit(1);
}

#[test]
fn a_server_that_stalls_again_and_again_shows_from_the_intended_start() {
    // A tenth of the time the server answers nobody, for 200 ms each: whoever was to begin at any time has
    // to wait with that chance, for 100 ms in the mean, and one in a hundred for more than 180 ms.
    let text = "
defaults: { url: '${__P(target)}', path: '/stall?every=2000&ms=200' }
thread_groups:
  - name: Paced
    duration: 8s
    steps: [open: { if_open: keep }, pace: 100/s, request_response: { name: paced, send: x }]
  - name: Arriving
    arrivals: { rate: 100/s, over: 8s }
    steps: [open: { name: arrive }, request_response: { name: arrived, send: x }, close: { name: leave }]
";
    let finished = Env::new().run(text, &["--serve", "--no-progress"]);
    finished.expect_exit(0);
    let figure =
        |label: &str, figure: &str| finished.summary_number(&format!("labels/{label}/{figure}_ms"));
    for label in ["paced", "arrived"] {
        let (p95, p99) = (figure(label, "intended/p95"), figure(label, "intended/p99"));
        assert!(
            (80.0..150.0).contains(&p95) && (160.0..230.0).contains(&p99),
            "{label}: {p95} {p99}"
        );
    }
    // The thread that waits for its answer sends nothing meanwhile: one request in 180 meets the stall.
    let plain = figure("paced", "p99");
    assert!(plain < 80.0, "{plain}");
    assert!(finished.rows("paced").iter().any(|row| row.elapsed > 150));
    assert!(finished.stderr.contains("  paced: p50 "), "{}", finished.stderr);
}

#[test]
fn stages_bring_threads_in_and_ask_them_to_leave() {
    let group =
        "stages: [{ ramp_to: 3, over: 300ms }, { hold: 300ms }, { ramp_to: 0, over: 600ms }]";
    let steps = "
- once: { steps: [open] }
- request_response: { name: asked, send: x }
- pause: 20ms
";
    let finished = run(group, steps);
    finished.expect_exit(0);
    let of = |thread: &str| -> Vec<u64> {
        let own = finished.rows("asked").into_iter().filter(|row| row.thread == thread);
        own.map(|row| row.time_stamp).collect()
    };
    let [first, second, third] = ["U 1-1", "U 1-2", "U 1-3"].map(of);
    let begin = first[0];
    assert!(second[0] - begin >= 90 && third[0] - begin >= 190, "{second:?} {third:?}");
    // The last to come is the first to leave: after 600, 800 and 1,000 ms.
    let last = |own: &[u64]| own[own.len() - 1] - begin;
    assert!(last(&third) < last(&first), "{} {}", last(&third), last(&first));
    assert!(last(&first) <= 1_400, "{}", last(&first));
    assert_eq!(finished.summary["groups"][0]["model"], "closed");
}

#[test]
fn who_does_not_come_to_an_end_is_cut_after_graceful_stop() {
    let text = plan(
        "stages: [{ ramp_to: 1, over: 0s }, { hold: 200ms }, { ramp_to: 0, over: 100ms }], on_error: stop_thread",
        "[open: /silent, { request_response: { send: x, read_timeout: 50s } }]",
    );
    let finished =
        Env::new().run(&format!("graceful_stop: 200ms\n{text}"), &["--serve", "--no-progress"]);
    finished.expect_exit(1);
    let row = finished.row("request_response");
    assert_eq!((row.code.as_str(), row.success), ("INTERRUPTED", false));
    assert!((350..20_000).contains(&row.elapsed), "{row:?}");
}

#[test]
fn a_time_limit_ends_the_run_as_one_that_broke_off() {
    let text =
        plan("loops: forever", "[open: /echo, { request_response: x }, { pause: 10ms }, close]");
    for (plan, arguments) in [
        (text.clone(), vec!["--serve", "--no-progress", "--time-limit", "300ms"]),
        (format!("time_limit: 300ms\n{text}"), vec!["--serve", "--no-progress"]),
    ] {
        let finished = Env::new().run(&plan, &arguments);
        finished.expect_exit(3);
        let last = finished.stderr.lines().last().unwrap_or_default();
        assert_eq!(last, "BROKE OFF: the time limit of 300ms was reached");
        assert!(finished.rows.len() > 3, "{}", finished.rows.len());
    }
    let env = Env::new();
    env.write("plan.yaml", &text);
    let refused = env.wsmeter(&["run", "plan.yaml", "--time-limit", "0"]).finish();
    refused.expect_exit(2);
    assert!(refused.stderr.contains("a run needs some time"), "{}", refused.stderr);
}

#[test]
fn a_machine_that_has_too_little_is_told_before_anything_is_sent() {
    let env = Env::new();
    env.write("plan.yaml", plan("threads: 5000, ramp_up: 100s, duration: 100ms", "[open: /echo]"));
    let target = "target=ws://127.0.0.1:9";
    let run = ["run", "plan.yaml", "-o", "results", "--no-progress", "-J", target];
    let refused = env.wsmeter_after("ulimit -n 500", &run).finish();
    refused.expect_exit(2);
    assert!(refused.stderr.contains("error: the run needs 5,0"), "{}", refused.stderr);
    assert!(refused.stderr.contains(" open files, limit 500\n"), "{}", refused.stderr);
    assert!(refused.stderr.contains("= help: `ulimit -n 50"), "{}", refused.stderr);
    assert!(!env.path("results").exists());
    // The soft limit alone is raised; and who insists has it run.
    env.wsmeter_after("ulimit -Sn 500", &run).finish().expect_exit(1);
    let forced = [&run[..], &["--force"]].concat();
    env.wsmeter_after("ulimit -n 500", &forced).finish().expect_exit(1);
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that tests nothing has to say why")]
fn a_generator_that_has_to_wait_for_its_core_says_so() {
    // What it does between two requests takes all that it can get of the core, however slow the server is.
    let plan = "defaults: { url: '${__P(target)}', path: /echo }
thresholds: { all: saturated == 0 }
thread_groups:
  threads: 20
  duration: 6s
  steps:
    - open: { if_open: keep }
    - request_response: x
    - loop: { times: 500, steps: [{ set: { text: '${__RandomString(200, abc)}' } }] }
";
    let env = Env::new();
    env.write("plan.yaml", plan);
    // Not in the same process: a server that waits for the core is no fault of the generator's.
    let server = Server::start(([127, 0, 0, 1], 0).into()).expect("it starts");
    let target = format!("target=ws://{}", server.address());
    let run = ["run", "plan.yaml", "-o", "results", "--no-progress", "-J", &target];
    // Others want the only core that it may use: they end with the shell that started them.
    let spin = "taskset -c 0 sh -c 'while kill -0 '$$' 2>/dev/null; do :; done' & ";
    let command = format!("taskset -cp 0 $$ >/dev/null || exit 99; {spin} {spin} true");
    let finished = env.wsmeter_after(&command, &run).finish();
    if finished.exit_code == Some(99) {
        eprintln!("not tested: there is no `taskset` here");
        return;
    }
    finished.expect_exit(1);
    assert!(
        finished.stderr.contains("\nwarning: this generator was saturated from "),
        "{finished:?}"
    );
    assert!(finished.stderr.contains("saturated == 0"), "{}", finished.stderr);
    let spans = finished.summary["generator"]["saturated"].as_array().expect("a list");
    assert!(!spans.is_empty());
    let last = finished.stderr.lines().last().unwrap_or_default();
    assert!(last.starts_with("FAILED: "), "{last}");
}

#[test]
fn a_generator_that_stood_still_once_says_so() {
    let server = Server::start(([127, 0, 0, 1], 0).into()).expect("it starts");
    let plan = "defaults: { url: '${__P(target)}', path: /echo }
thresholds: { all: saturated == 0 }
thread_groups:
  duration: 4s
  steps: [open: { if_open: keep }, request_response: x, pause: 20ms]
";
    let env = Env::new();
    let running = env.start(plan, &["-J", &format!("target=ws://{}", server.address())]);
    wait_until("messages flow", || server.counters().messages_received > 20);
    running.signal("STOP");
    idle(Duration::from_millis(1_200));
    running.signal("CONT");
    let finished = running.finish();
    finished.expect_exit(1);
    let spans = finished.summary["generator"]["saturated"].as_array().expect("a list");
    assert!(!spans.is_empty(), "{}", finished.summary["generator"]);
    assert!(finished.stderr.contains("\nwarning: this generator was saturated from "));
}

#[test]
fn what_tls_adds_to_a_connection_is_reckoned_with() {
    // 8 KiB, and 6 KiB more over TLS.
    for (scheme, bytes) in [("ws", "1,638,400,000,000"), ("wss", "2,867,200,000,000")] {
        let text = format!(
            "thread_groups:
- threads: 1000000
  ramp_up: 10h
  steps:
  - for_each:
      in: {{ from: 1, to: 200 }}
      as: n
      steps: [open: {{ url: '{scheme}://127.0.0.1:1', connection: 'c ${{n}}' }}]
"
        );
        let finished = Env::new().run(&text, &[]);
        finished.expect_exit(2);
        let wanted = format!("the run needs at least {bytes} bytes of memory, limit ");
        assert!(finished.stderr.contains(&wanted), "{}", finished.stderr);
    }
}

//! `setup` and `teardown` groups: when they run, and when they do not.

use crate::support::env::{Env, Finished, Running};
use crate::support::jtl::{self, Row};
use crate::support::time::wait_until;

/// `setup`, one group that asks, and `teardown`.
fn plan(setup: &str, main: &str, teardown: &str) -> String {
    format!(
        "
defaults: {{ url: '${{__P(target)}}', path: /echo }}
setup:
  - {{ threads: 3, steps: [open: {{ name: before }}, {setup}] }}
thread_groups:
  - {{ name: Off, enabled: false, steps: [open] }}
  - {{ name: Users, {main} }}
  - {{ threads: 2, steps: [open: {{ name: other }}] }}
teardown:
  - {{ name: Clean, steps: [open: {{ name: after }}, {teardown}] }}
  - {{ steps: [open: {{ name: after }}] }}
"
    )
}

fn start(env: &Env, plan: &str) -> Running {
    env.start(plan, &["--serve", "--no-progress"])
}

fn threads(finished: &Finished) -> Vec<&str> {
    let mut threads: Vec<&str> = finished.rows.iter().map(|row| row.thread.as_str()).collect();
    threads.sort_unstable();
    threads.dedup();
    threads
}

/// Waits until a row with this label is in the JTL.
fn wait_for_row(running: &Running, label: &str) {
    let is_there = |row: &Row| row.label == label;
    wait_until(label, || {
        let text = fs_err::read_to_string(running.jtl()).unwrap_or_default();
        text.ends_with('\n') && jtl::read_if_there(&running.jtl()).iter().any(is_there)
    });
}

#[test]
fn each_phase_begins_when_the_one_before_is_done() {
    let steps = "threads: 4, steps: [open: { name: during }, request_response: { send: x }]";
    let plan = plan("pause: 200ms", steps, "close");
    let finished = start(&Env::new(), &plan).finish();
    finished.expect_exit(0);
    assert_eq!(
        threads(&finished),
        [
            "Clean 1-1",
            "Thread Group 2-1",
            "Thread Group 2-2",
            "Users 1-1",
            "Users 1-2",
            "Users 1-3",
            "Users 1-4",
            "setUp Thread Group 1-1",
            "setUp Thread Group 1-2",
            "setUp Thread Group 1-3",
            "tearDown Thread Group 2-1",
        ]
    );
    let starts = |label| finished.rows(label).into_iter().map(|row| row.time_stamp);
    let (first, last) = (starts("during").min(), starts("before").max());
    assert!(first >= last.map(|last| last + 200), "{first:?} {last:?}");
    assert!(starts("after").min() >= starts("request_response").max(), "{finished:#?}");
    let phase = |group: usize| finished.summary["groups"][group]["phase"].as_str();
    let phases: Vec<_> = (0..5).filter_map(phase).collect();
    assert_eq!(phases, ["setup", "main", "main", "teardown", "teardown"]);
}

#[test]
fn a_setup_that_stops_the_test_leaves_only_the_teardown() {
    let fails = "request_response: { send: x, assert: { equals: y }, on_error: stop_test }";
    let plan = plan(fails, "steps: [open: { name: during }]", "close");
    let finished = start(&Env::new(), &plan).finish();
    finished.expect_exit(1);
    assert!(finished.rows("during").is_empty() && finished.rows("other").is_empty());
    assert_eq!((finished.rows("after").len(), finished.rows("close").len()), (2, 1));
    assert!(finished.stderr.contains("stopped the test"), "{}", finished.stderr);
}

#[test]
fn the_teardown_is_done_after_an_interrupt_too() {
    let steps = "loops: forever, steps: [open: { name: during }, pause: 10m]";
    let plan = plan("close", steps, "close");
    let env = Env::new();
    let running = start(&env, &plan);
    wait_for_row(&running, "during");
    running.signal("INT");
    let finished = running.finish();
    finished.expect_exit(130);
    assert_eq!(finished.rows("after").len(), 2);
    assert!(finished.rows.iter().all(|row| row.success), "{finished:#?}");
}

#[test]
fn a_second_signal_ends_the_teardown_at_once() {
    let plan = plan("close", "steps: [open: { name: during }, pause: 10m]", "pause: 10m, close");
    let env = Env::new();
    let running = start(&env, &plan);
    wait_for_row(&running, "during");
    running.signal("INT");
    wait_for_row(&running, "after");
    running.signal("INT");
    let finished = running.finish();
    finished.expect_exit(130);
    assert_eq!(finished.rows("close").len(), 3, "those of the setup: {finished:#?}");
}

#[test]
fn what_must_end_at_once_has_no_teardown() {
    let plan = plan("close", "steps: [open: { name: during }, stop_test_now]", "close");
    let finished = start(&Env::new(), &plan).finish();
    assert!(finished.rows("after").is_empty(), "{finished:#?}");
}

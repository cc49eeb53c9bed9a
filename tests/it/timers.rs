//! Pauses, timers, paces and rendezvous, by what a user sees: when samplers begin.

use std::collections::BTreeMap;

use crate::controllers::run;
use crate::support::env::{Env, Finished};

/// When each row of this label began, in ms since the first of them.
fn starts(finished: &Finished, label: &str) -> Vec<u64> {
    let mut starts: Vec<u64> = finished.rows(label).into_iter().map(|row| row.time_stamp).collect();
    starts.sort_unstable();
    let first = starts[0];
    starts.iter().map(|start| start - first).collect()
}

/// The time between each row of this label and the one before.
fn gaps(finished: &Finished, label: &str) -> Vec<u64> {
    starts(finished, label).windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn timers_of_all_scopes_add_up_before_each_sampler_and_are_not_its_time() {
    let group = "timers: 60ms";
    let steps = "
- open
- loop:
    times: 3
    timers: [20ms, { constant: 10ms }]
    defaults: { timers: { uniform: [5ms, 5ms] } }
    steps:
      - request_response: { name: timed, send: x, timers: 15ms }
- request_response: { name: less, send: x }
- close
";
    let finished = run(group, steps);
    finished.expect_exit(0);
    for gap in gaps(&finished, "timed") {
        assert!((109..5_000).contains(&gap), "{gap} for 60 + 20 + 10 + 5 + 15 ms");
    }
    let before = finished.rows("timed")[2];
    let gap = finished.row("less").time_stamp - before.time_stamp;
    assert!(gap >= 59, "{gap} for 60 ms");
    for row in &finished.rows {
        assert!(row.elapsed < 5_000 && row.idle == 0, "{row:?}");
    }
    let shortest = finished.rows("timed").iter().map(|row| row.elapsed).min();
    assert!(shortest < Some(60), "the timers are no part of the samples: {shortest:?}");
}

#[test]
fn timers_are_no_time_of_a_transaction_unless_pauses_are() {
    let steps = "
- open
- transaction: { name: without, timers: 300ms, steps: [request_response: x] }
- transaction: { name: with, include_pauses: true, timers: 300ms, steps: [request_response: x] }
";
    let finished = run("", steps);
    finished.expect_exit(0);
    let (without, with) = (finished.row("without"), finished.row("with"));
    assert!(with.elapsed >= 299, "{with:?}");
    assert!(without.elapsed < 299, "{without:?}");
}

#[test]
fn all_kinds_of_pauses_take_the_time_they_are_given_by_variables() {
    let steps = "
- set: { t: 80ms }
- request_response: { name: at, send: x }
- pause: '${t}'
- request_response: { name: at, send: x }
- pause: { gaussian: { mean: '${t}', deviation: 0 } }
- request_response: { name: at, send: x }
- pause: { poisson: 400ms }
- request_response: { name: at, send: x }
- pause: { exponential: 0 }
- request_response: { name: at, send: x }
";
    let finished = run("", &format!("- open\n{}", steps.trim_start()));
    finished.expect_exit(0);
    let gaps = gaps(&finished, "at");
    // The time of a row is in whole milliseconds. Seven standard deviations below 400 is 260.
    assert!(gaps[0] >= 79 && gaps[1] >= 79 && gaps[2] >= 260, "{gaps:?}");
}

#[test]
fn a_timer_that_is_no_time_fails_its_sampler() {
    let steps = "
- set: { t: soon }
- open
- request_response: { name: timed, send: x, timers: '${t}' }
- request_response: { name: after, send: x }
";
    let finished = run("", steps);
    finished.expect_exit(1);
    let row = finished.row("timed");
    assert_eq!((row.code.as_str(), row.sent_bytes), ("BAD_VALUE", 0));
    assert_eq!(row.failure, "`soon` is not a duration, from `${t}`");
    assert!(finished.row("after").success);
}

#[test]
fn a_duration_ends_timers_and_their_sampler_does_not_begin() {
    let steps = "
- open
- request_response: { name: never, send: x, timers: 10m }
";
    let finished = run("duration: 500ms", steps);
    finished.expect_exit(0);
    assert!(finished.rows("never").is_empty());
}

#[test]
fn a_pace_counts_what_the_steps_take() {
    let steps = "
- pace: 10/s
- request_response: { name: paced, send: x }
- pause: 60ms
";
    let finished = run("loops: 5", &format!("- open: {{ path: /echo }}\n{}", steps.trim_start()));
    finished.expect_exit(0);
    let all = starts(&finished, "paced");
    let last = all[4];
    assert!(last >= 398, "five paces of 100 ms: {all:?}");
    // Where pauses came on top it were 640 ms at least; the limit leaves a busy machine some room.
    let shortest = all.windows(2).map(|pair| pair[1] - pair[0]).min();
    assert!(shortest < Some(155), "{all:?}");
}

#[test]
fn the_pace_of_a_group_is_shared_by_its_threads() {
    let steps = "
- open
- pace: { rate: 20/s, share: group }
- request_response: { name: paced, send: x }
";
    let finished = run("threads: 4\nloops: 2", steps);
    finished.expect_exit(0);
    let all = starts(&finished, "paced");
    assert_eq!(all.len(), 8);
    assert!(all[7] >= 340, "eight passes, one every 50 ms: {all:?}");
}

#[test]
fn threads_that_meet_go_on_together() {
    let steps = "
- open
- rendezvous
- request_response: { name: together, send: x }
";
    let finished = run("threads: 4\nramp_up: 800ms", steps);
    finished.expect_exit(0);
    // The last thread opens 600 ms after the first; none begins before.
    let opened: Vec<u64> = finished.rows("open").iter().map(|row| row.time_stamp).collect();
    let last = opened.iter().max().expect("four rows");
    for row in finished.rows("together") {
        assert!(row.time_stamp >= *last, "{row:?} began before {last}");
    }
    assert_eq!(finished.rows("together").len(), 4);
    assert!(!finished.stderr.contains("rendezvous"), "{}", finished.stderr);
}

#[test]
fn who_meets_nobody_goes_on_after_the_timeout_and_the_summary_says_so() {
    let steps = "
- open
- if: { condition: thread == 1, then: [rendezvous: { threads: 2, timeout: 200ms }] }
- request_response: { name: alone, send: x }
";
    let finished = run("threads: 2", steps);
    finished.expect_exit(0);
    let by_thread: BTreeMap<&str, u64> = finished
        .rows("alone")
        .into_iter()
        .map(|row| (row.thread.as_str(), row.time_stamp))
        .collect();
    let opened = finished.rows("open").into_iter().find(|row| row.thread == "U 1-1");
    let waited = by_thread["U 1-1"] - opened.expect("both opened").time_stamp;
    assert!(waited >= 199, "{waited}");
    assert!((finished.summary_number("rendezvous_missed") - 1.0).abs() < f64::EPSILON);
    assert!(finished.stderr.contains("rendezvous      1 threads waited"), "{}", finished.stderr);
}

#[test]
fn a_trial_shows_what_it_waits_for_and_does_not_wait_for_threads_that_it_has_not() {
    let plan = "
defaults: { url: '${__P(target)}', path: /echo }
thread_groups:
  - threads: 3
    steps:
      - open
      - rendezvous: { timeout: 10m }
      - request_response: { name: timed, send: x, timers: [10ms, 20ms] }
      - loop: { times: 2, steps: [pace: 1/s] }
";
    let env = Env::new();
    env.write("plan.yaml", plan);
    let tried = env.wsmeter(&["try", "plan.yaml", "--serve"]).finish();
    tried.expect_exit(0);
    for wanted in ["pause 30ms, by `timers`", "ms, by `pace`"] {
        assert!(tried.stdout.contains(wanted), "{}", tried.stdout);
    }
}

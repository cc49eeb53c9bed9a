//! Rows of `transaction`: when there is one, what it says, and where it counts.

use crate::controllers::run;
use crate::support::env::{Env, Finished};
use crate::support::jtl::Row;

/// What JMeter's tools read from a transaction's message: its samples, and how many of them failed.
fn counts(row: &Row) -> (u64, u64) {
    let rest = row.message.strip_prefix("Number of samples in transaction : ");
    let rest = rest.unwrap_or_else(|| panic!("{row:?}"));
    let (samples, failed) =
        rest.split_once(", number of failing samples : ").expect("JMeter's text");
    (samples.parse().expect("a number"), failed.parse().expect("a number"))
}

fn labels(finished: &Finished) -> Vec<&str> {
    finished.rows.iter().map(|row| row.label.as_str()).collect()
}

#[test]
fn a_row_follows_its_samplers_and_sums_them_up() {
    let steps = "
- open
- transaction:
    name: checkout
    steps:
      - request_response: { name: a, send: hello }
      - transaction:
          name: inner
          steps: [request_response: { name: b, send: hello }]
      - pause: 200ms
      - single_write: { name: c, send: hello }
- pause: 10ms
- transaction: { name: slow, include_pauses: true, steps: [ping_pong, pause: 200ms] }
";
    let finished = run("loops: 1", steps);
    finished.expect_exit(0);
    let wanted = ["open", "a", "b", "inner", "c", "checkout", "ping_pong", "slow"];
    assert_eq!(labels(&finished), wanted);
    let row = finished.row("checkout");
    assert_eq!(counts(row), (3, 0), "the row of a transaction within it is none of its samples");
    assert_eq!((row.code.as_str(), row.success), ("200", true));
    assert_eq!((row.data_type.as_str(), row.url.as_str()), ("", "null"));
    assert!(row.idle >= 200 && row.elapsed < 200, "{row:?}");
    let sum = |figure: fn(&Row) -> u64| ["a", "b", "c"].map(|label| figure(finished.row(label)));
    assert_eq!(row.bytes, sum(|row| row.bytes).iter().sum::<u64>());
    assert_eq!(row.sent_bytes, sum(|row| row.sent_bytes).iter().sum::<u64>());
    assert!(row.time_stamp <= finished.row("a").time_stamp, "it begins before its samplers");
    assert_eq!(counts(finished.row("inner")), (1, 0));
    let slow = finished.row("slow");
    assert!(slow.elapsed >= 200 && slow.idle == 0, "{slow:?}");
}

#[test]
fn it_fails_with_a_failed_or_skipped_sampler_and_counts_under_its_own_label_only() {
    let plan = "
defaults: { url: '${__P(target)}' }
thresholds: { bad: failures == 3 }
thread_groups:
  - loops: 3
    steps:
      - open: /echo
      - transaction:
          name: fine
          steps: [request_response: { name: a, send: x }]
      - transaction:
          name: bad
          steps:
            - request_response: { name: b, send: x, assert: { equals: y } }
            - request_response: { name: a, send: x }
      - transaction: { name: none, steps: [pause: 1ms] }
";
    let finished = Env::new().run(plan, &["--serve"]);
    // The threshold accepts what failed in `bad`; `b` is not covered by it.
    finished.expect_exit(1);
    let bad = finished.rows("bad");
    assert_eq!(bad.len(), 3);
    assert_eq!(counts(bad[0]), (2, 1));
    assert_eq!((bad[0].success, bad[0].failure.as_str()), (false, "1 of 2 samples failed"));
    assert!(finished.rows("none").is_empty(), "nothing ran in it");
    assert!((finished.summary_number("labels/all/count") - 12.0).abs() < f64::EPSILON);
    assert!((finished.summary_number("labels/all/failed") - 3.0).abs() < f64::EPSILON);
    assert!((finished.summary_number("labels/bad/failed") - 3.0).abs() < f64::EPSILON);
    assert_eq!(finished.summary["labels"]["bad"]["transaction"], true);
    assert!(!finished.summary["causes"].to_string().contains("bad"), "{finished:#?}");
    assert!(finished.stderr.contains("FAILED: 3 of 3 samples of `b` failed"), "{finished:#?}");
    assert!(finished.stderr.contains("Err:     3 (25.00%)"), "{}", finished.stderr);
}

#[test]
fn a_skipped_sampler_fails_it_and_one_that_ran_nothing_has_no_row() {
    let steps = "
- transaction: { name: all of it, steps: [open: /reject?status=503, ping_pong] }
- transaction: { name: nothing, steps: [ping_pong] }
";
    let finished = run("loops: 1", steps);
    finished.expect_exit(1);
    assert_eq!(labels(&finished), ["open", "all of it"]);
    let row = finished.row("all of it");
    assert_eq!((counts(row), row.code.as_str()), ((1, 1), "503"));
    assert_eq!(row.failure, "1 of 1 samples failed, 1 more were skipped");
}

#[test]
fn it_alone_fails_no_run() {
    let steps = "
- open
- transaction:
    name: left
    steps: [request_response: { name: a, send: x }, next_iteration]
";
    let finished = run("loops: 2", steps);
    finished.expect_exit(0);
    let row = finished.rows("left")[1];
    assert_eq!((counts(row), row.success), ((1, 0), false));
    assert_eq!((row.code.as_str(), row.failure.as_str()), ("200", "it ended early"));
}

#[test]
fn one_that_an_error_leaves_is_written_as_failed() {
    for action in ["next_iteration", "stop_thread", "stop_test", "stop_test_now"] {
        let steps = format!(
            "
- open
- transaction:
    name: outer
    steps:
      - transaction:
          name: inner
          on_error: {action}
          steps:
            - request_response: {{ name: a, send: x, assert: {{ equals: y }} }}
            - request_response: {{ name: never, send: x }}
"
        );
        let finished = run("loops: 1", &steps);
        finished.expect_exit(1);
        assert_eq!(labels(&finished), ["open", "a", "inner", "outer"], "{action}");
        for label in ["inner", "outer"] {
            let row = finished.row(label);
            assert_eq!((counts(row), row.success), ((1, 1), false));
            assert_eq!(row.failure, "1 of 1 samples failed, it ended early");
        }
    }
}

#[test]
fn the_end_of_its_time_cuts_it_without_a_row() {
    let cut = "transaction: { name: cut, steps: [request_response: { name: a, send: x }, pause: 10m, \
               request_response: { name: b, send: x }] }";
    for (group, step) in [
        ("duration: 300ms", format!("- {cut}")),
        ("loops: 1", format!("- run_for: {{ duration: 300ms, steps: [{cut}] }}")),
    ] {
        let finished = run(group, &format!("- open\n{step}"));
        finished.expect_exit(0);
        assert_eq!(labels(&finished), ["open", "a"], "{step}");
        assert_eq!(finished.summary["labels"]["cut"]["cut"], 1);
        assert!(finished.stderr.contains("1 transactions ended with their time"), "{finished:#?}");
    }
}

#[test]
fn a_threshold_can_name_it() {
    let plan = "
defaults: { url: '${__P(target)}', path: /echo }
thresholds: { checkout: [count == 2, p95 < 5s] }
thread_groups:
  - loops: 2
    steps:
      - open
      - transaction: { name: checkout, steps: [ping_pong] }
";
    Env::new().run(plan, &["--serve", "--no-progress"]).expect_exit(0);
}

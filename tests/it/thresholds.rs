//! Thresholds by what a nightly job sees: the exit code.

use crate::support::env::{Env, Finished};

/// 2 threads with 1 open, 4 requests and 1 close each; the threshold is a property.
const HEALTHY: &str = "
defaults: { url: '${__P(target)}' }
thresholds:
  ${label}: ${condition}
thread_groups:
  - threads: 2
    steps:
      - open: /echo
      - loop: { times: 4, steps: [{ request_response: { name: say, send: hi } }] }
      - close
";

/// 4 threads, of which 2 are refused and skip their 3 requests and the close.
const REFUSED: &str = "
defaults: { url: '${__P(target)}' }
thresholds:
${thresholds}
thread_groups:
  - threads: 4
    steps:
      - open: /cap?max=2&hz=4
      - single_read: tick
      - single_read: tick
      - single_read: tick
      - close
";

fn healthy(label: &str, condition: &str) -> Finished {
    let plan = HEALTHY.replace("${label}", label).replace("${condition}", condition);
    Env::new().run(&plan, &["--serve", "--no-progress"])
}

fn refused(thresholds: &str) -> Finished {
    let plan = REFUSED
        .replace("${thresholds}", thresholds)
        .replace("single_read: tick", "single_read: { name: tick }");
    Env::new().run(&plan, &["--serve", "--no-progress"])
}

#[test]
fn each_statistic_can_pass_and_fail_a_run() {
    for (label, passes, fails) in [
        ("say", "count == 8", "count != 8"),
        ("all", "count >= 12", "count < 12"),
        ("say", "failures == 0", "failures > 0"),
        ("all", "error_rate <= 0%", "error_rate > 0%"),
        ("say", "rate > 1/s", "rate < 1/s"),
        ("say", "min < 5s", "min > 5s"),
        ("say", "mean < 5s", "mean >= 5s"),
        ("say", "p50 < 5s", "p50 > 5s"),
        ("say", "p99.99 <= 5s", "p99.99 > 5s"),
        ("all", "max < 9s", "max > 9s"),
        ("say", "first < 5s", "first > 5s"),
        ("say", "ok.p95 < 5s", "ok.p95 > 5s"),
        ("say", "ok.mean < 5s", "ok.mean > 5s"),
        ("say", "late == 0", "late > 0"),
        ("say", "early < 1", "early >= 1"),
        ("say", "unanswered == 0", "unanswered != 0"),
        ("say", "skipped == 0", "skipped > 0"),
        ("all", "skip_rate < 1%", "skip_rate > 1%"),
        ("all", "handshake.dns < 5s", "handshake.dns > 5s"),
        ("all", "handshake.tcp.p95 < 5s", "handshake.tcp.p95 > 5s"),
        ("all", "handshake.upgrade.max < 5s", "handshake.upgrade.max > 5s"),
        ("all", "connections.peak <= 2", "connections.peak > 2"),
    ] {
        let passed = healthy(label, passes);
        assert_eq!(passed.exit_code, Some(0), "{passes}: {}", passed.stderr);
        let failed = healthy(label, fails);
        assert_eq!(failed.exit_code, Some(1), "{fails}: {}", failed.stderr);
        assert!(failed.stderr.contains("1 of 1 thresholds failed"), "{}", failed.stderr);
    }
}

#[test]
fn the_results_say_what_was_measured() {
    let finished = healthy("say", "[count == 8, p95 > 5s]");
    let thresholds = &finished.summary["thresholds"];
    assert_eq!((&thresholds[0]["passed"], &thresholds[0]["measured"]), (&true.into(), &8.0.into()));
    assert_eq!((&thresholds[1]["label"], &thresholds[1]["passed"]), (&"say".into(), &false.into()));
    assert_eq!(thresholds[1]["condition"], "p95 > 5s");
    assert!(thresholds[1]["measured"].as_f64().is_some_and(|milliseconds| milliseconds < 5_000.0));
    let table = finished.stderr.split("thresholds\n").nth(1).unwrap_or_default();
    assert!(table.starts_with("  passed  say  count == 8"), "{}", finished.stderr);
}

#[test]
fn refusals_are_accepted_only_where_the_plan_says_so() {
    for (thresholds, exit_code, reason) in [
        ("  tick: p95 < 10s", 1, "2 of 12 samples failed"),
        ("  tick: error_rate < 50%", 1, "2 of 4 samples of `open` failed"),
        ("  open: error_rate <= 100%", 0, "2 of 12 samples failed"),
        ("  open: failures <= 2", 0, "2 of 12 samples failed"),
        ("  open: failures < 2", 1, "1 of 1 thresholds failed"),
        ("  all: error_rate < 30%", 1, "8 of 20 samples were never attempted"),
        ("  all: [error_rate < 30%, skip_rate <= 40%]", 0, "2 of 12 samples failed"),
    ] {
        let finished = refused(thresholds);
        let last = finished.stderr.lines().last().unwrap_or_default();
        assert_eq!(finished.exit_code, Some(exit_code), "{thresholds}: {}", finished.stderr);
        assert!(last.contains(reason), "{thresholds}: {last}");
    }
}

#[test]
fn figures_are_those_of_the_run() {
    let finished = refused(
        "  all: [failures == 2, skipped == 8, skip_rate == 40%, connections.peak == 2]
  tick: [count == 6, ok.min > 1ms, first > 1ms, rate < 100/s, handshake.tcp.max > 0]",
    );
    // The last one is a figure of the run: the plan is refused, and nothing else was wrong with it.
    assert_eq!(finished.exit_code, Some(2), "{}", finished.stderr);
    assert_eq!(finished.stderr.matches("error:").count(), 1, "{}", finished.stderr);
    let finished = refused(
        "  all: [failures == 2, skipped == 8, skip_rate == 40%, connections.peak == 2]
  tick: [count == 6, ok.min > 1ms, first > 1ms, rate < 100/s]
  open: [error_rate == 50%, max > 0]",
    );
    assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
    let early = Env::new().run(
        "
defaults: { url: '${__P(target)}', read_timeout: 300ms }
thresholds: { early: early > 0, silent: [unanswered == 1, failures == 1] }
thread_groups:
  - steps:
      - open: { name: pushed, path: /push?hz=50 }
      - pause: 200ms
      - request_response: { name: early, send: hi }
      - open: { name: mute, path: /silent }
      - request_response: { name: silent, send: hi }
",
        &["--serve", "--no-progress"],
    );
    assert_eq!(early.exit_code, Some(0), "{}", early.stderr);
}

/// Asks for a minute, unless something ends it.
const ABORTING: &str = "
defaults: { url: '${__P(target)}' }
thresholds:
  say: { condition: '${__P(condition)}', abort: true, after: '${__P(after, 0)}' }
thread_groups:
  - threads: 2
    duration: ${__P(duration, 1m)}
    steps:
      - open: { path: '/slow?ms=20', if_open: keep }
      - request_response: { name: say, send: hi }
";

#[test]
fn a_threshold_that_aborts_ends_the_run_and_keeps_its_results() {
    let finished =
        Env::new().run(ABORTING, &["--serve", "--no-progress", "-J", "condition=p50 < 1ms"]);
    assert_eq!(finished.exit_code, Some(1), "{}", finished.stderr);
    let last = finished.stderr.lines().last().unwrap_or_default();
    assert!(last.starts_with("FAILED: `say: p50 < 1ms` did not hold after "), "{last}");
    assert!(last.contains("and stopped the test"), "{last}");
    let [second, figure] = [" did not hold after ", " s (it was "].map(|text| last.find(text));
    let second: u64 =
        last[second.expect("a moment") + 20..figure.expect("a figure")].parse().expect("seconds");
    let begun = finished.rows.iter().map(|row| row.time_stamp).min().unwrap_or(0);
    let ended = finished.rows.iter().map(|row| row.time_stamp).max().unwrap_or(0);
    // It is found when it can be, and not a second later.
    assert!(ended - begun < second * 1_000 + 2_000, "{last}: {} ms", ended - begun);
    assert_eq!(finished.summary["verdict"], "failed");
    assert!(finished.rows("say").len() > 20, "{}", finished.rows.len());
    assert_eq!(finished.summary["labels"]["say"]["count"], finished.rows("say").len());
    let took = finished.rows.iter().map(|row| row.time_stamp).max().unwrap_or(0)
        - finished.rows.iter().map(|row| row.time_stamp).min().unwrap_or(0);
    assert!(took < 30_000, "{took} ms of a minute");
}

#[test]
fn one_that_holds_or_whose_time_has_not_come_ends_nothing() {
    for (condition, after, code) in [("p50 > 1ms", "0", 0), ("p50 < 1ms", "30s", 1)] {
        let (condition, after) = (format!("condition={condition}"), format!("after={after}"));
        let arguments = ["-J", &condition, "-J", &after, "-J", "duration=3s"];
        let finished =
            Env::new().run(ABORTING, &[&["--serve", "--no-progress"], &arguments[..]].concat());
        assert_eq!(finished.exit_code, Some(code), "{}", finished.stderr);
        assert!(!finished.stderr.contains("stopped the test"), "{}", finished.stderr);
        let times = || finished.rows.iter().map(|row| row.time_stamp);
        let took = times().max().unwrap_or(0) - times().min().unwrap_or(0);
        assert!(took >= 2_500, "{took} ms");
    }
}

#[test]
fn a_group_that_takes_no_sample_is_told_and_setup_alone_is_no_test() {
    let plan = "
defaults: { url: '${__P(target)}/echo' }
setup: [{ steps: [open] }]
thread_groups:
  - { name: First, steps: [{ loop: { times: '${__P(first)}', steps: [{ open: { name: one } }] } }] }
  - { name: Second, loops: 0, steps: [{ open: { name: two } }] }
";
    for (first, code) in [("1", 0), ("0", 1)] {
        let env = Env::new();
        let first = format!("first={first}");
        let finished = env.run(plan, &["--serve", "--no-progress", "-J", &first]);
        assert_eq!(finished.exit_code, Some(code), "{}", finished.stderr);
        let told = "was taken by thread group `Second`: nothing of it was tested";
        assert!(finished.stderr.contains(told), "{}", finished.stderr);
        let markdown = fs_err::read_to_string(env.path("results/summary.md")).expect("it is there");
        assert!(markdown.contains("Second"), "{markdown}");
        assert_eq!(finished.summary["groups"][2]["no_sample"], true);
        let again = env.wsmeter(&["report", "results"]).finish();
        assert!(again.stdout.contains(told), "{}", again.stdout);
    }
}

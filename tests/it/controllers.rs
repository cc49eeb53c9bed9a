//! Controllers and jumps by what a user sees: which samplers run, in which order and how often.

use crate::support::env::{Env, Finished};

/// A plan of one group with these settings and steps, run against the embedded server.
pub(crate) fn run(group: &str, steps: &str) -> Finished {
    let indented = |text: &str, by: &str| -> String {
        text.trim_matches('\n').lines().flat_map(|line| [by, line, "\n"]).collect()
    };
    let plan = format!(
        "defaults: {{ url: '${{__P(target)}}', path: /echo }}\nthread_groups:\n  - name: U\n{}    \
         steps:\n{}",
        indented(group, "    "),
        indented(steps, "      ")
    );
    Env::new().run(&plan, &["--serve", "--no-progress"])
}

/// A sampler with this label.
fn ask(label: &str) -> String {
    format!("request_response: {{ name: {label}, send: x }}")
}

/// The labels of all rows in order, without the `open` and `close` that frame them.
fn labels(finished: &Finished) -> String {
    let labels = finished.rows.iter().map(|row| row.label.as_str());
    let labels: Vec<&str> = labels.filter(|label| !["open", "close"].contains(label)).collect();
    labels.join(" ")
}

/// Runs the steps between `open` and `close` in each of `loops` iterations of one thread.
fn sequence(loops: u32, steps: &str) -> String {
    let finished = run(&format!("loops: {loops}"), &format!("- open\n{steps}\n- close"));
    finished.expect_exit(0);
    labels(&finished)
}

#[test]
fn while_asks_before_each_pass() {
    let steps = format!(
        "- set: {{ n: '0' }}\n- while:\n    condition: n < 3\n    steps:\n      - set: {{ n: \
         '${{__counter(TRUE)}}' }}\n      - {}\n- while: {{ condition: n < 3, steps: [{}] }}\n- {}",
        ask("'w${n}'"),
        ask("never"),
        ask("after"),
    );
    assert_eq!(sequence(1, &steps), "w1 w2 w3 after");
}

#[test]
fn if_does_one_of_both_and_conditions_know_thread_iteration_and_last_sample() {
    let steps = "
- if: { condition: 'iteration in [2, 3]', then: { request_response: { name: yes, send: x } }, else: { request_response: { name: no, send: x } } }
- if: { condition: thread == 1 and last_ok, then: [request_response: { name: ok, send: x, assert: { equals: y } }] }
- if: { condition: not last_ok, then: [request_response: { name: failed, send: x }] }
";
    let finished = run("loops: 3", &format!("- open\n{steps}"));
    finished.expect_exit(1);
    assert_eq!(labels(&finished), "no ok failed yes ok failed yes ok failed");
}

#[test]
fn once_is_done_in_the_first_iteration_only() {
    let steps = format!("- once: {{ steps: [{}] }}\n- {}", ask("first"), ask("each"));
    assert_eq!(sequence(3, &steps), "first each each each");
}

#[test]
fn interleave_does_the_next_one_each_time_and_a_block_is_one() {
    let steps = format!(
        "- interleave:\n    steps:\n      - {}\n      - block: {{ steps: [{}, {}] }}\n      - {}",
        ask("a"),
        ask("b1"),
        ask("b2"),
        ask("c")
    );
    assert_eq!(sequence(4, &steps), "a b1 b2 c a");
}

#[test]
fn random_does_one_of_them_each_time() {
    let steps = format!(
        "- loop: {{ times: 60, steps: [random: {{ steps: [{}, block: {{ steps: [{}, {}] }}] }}] }}",
        ask("a"),
        ask("b1"),
        ask("b2")
    );
    let labels = sequence(1, &steps);
    let count = |label| labels.split(' ').filter(|one| *one == label).count();
    assert_eq!((count("a") + count("b1"), count("b1")), (60, count("b2")));
    // The odds against either never coming are 1 to 2^60.
    assert!(count("a") > 0 && count("b1") > 0, "{labels}");
}

#[test]
fn chance_is_spread_evenly_over_all_threads() {
    let steps = format!("- open\n- chance: {{ percent: 10, steps: [{}] }}", ask("some"));
    let finished = run("threads: 30\nloops: 2", &steps);
    finished.expect_exit(0);
    assert_eq!(finished.rows("some").len(), 6);
    let steps = format!("- chance: {{ percent: 40, steps: [{}] }}\n- {}", ask("x"), ask("i"));
    assert_eq!(sequence(5, &steps), "i x i i x i i");
}

#[test]
fn for_each_goes_through_a_list_or_numbered_variables() {
    let listed = format!("- for_each: {{ in: [a, 7], as: v, steps: [{}] }}", ask("'l${v}'"));
    assert_eq!(sequence(1, &listed), "la l7");
    let steps = "
- open
- set: { colour_1: red, colour_2: green, colour_4: never }
- for_each: { in: colour, as: v, steps: [request_response: { name: '${v}', send: x }] }
- request_response:
    name: ask
    send: 'id=7 id=8 id=9'
    extract: { regex: { pattern: 'id=(\\d)', as: id, match: all } }
- for_each: { in: id, as: v, steps: [request_response: { name: 'id${v}', send: x }] }
- request_response:
    name: again
    send: 'id=5'
    extract: { regex: { pattern: 'id=(\\d)', as: id, match: all } }
- for_each: { in: id, as: v, steps: [request_response: { name: 'id${v}', send: x }] }
";
    let finished = run("loops: 1", steps);
    finished.expect_exit(0);
    assert_eq!(labels(&finished), "red green ask id7 id8 id9 again id5");
}

#[test]
fn what_was_not_extracted_is_not_gone_through() {
    let steps = "
- open
- request_response:
    name: ask
    send: nothing
    extract: { regex: { pattern: 'id=(\\d)', as: id, match: all } }
- for_each: { in: id, as: v, steps: [request_response: { name: 'id${v}', send: x }] }
";
    let finished = run("loops: 1", steps);
    finished.expect_exit(1);
    assert_eq!(labels(&finished), "ask");
    assert!(finished.summary["skipped"].to_string().contains("NOT_EXTRACTED"), "{finished:#?}");
}

#[test]
fn run_for_ends_between_steps_and_cuts_a_pause() {
    let steps = "
- open
- run_for:
    duration: 300ms
    steps:
      - request_response: { name: a, send: x }
      - pause: 50ms
- run_for:
    duration: 50ms
    steps:
      - request_response: { name: b, send: x }
      - loop: { times: forever, steps: [pause: 10m] }
- request_response: { name: after, send: x }
";
    let finished = run("loops: 1", steps);
    finished.expect_exit(0);
    let a = finished.rows("a").len();
    assert!((1..=7).contains(&a), "{a}");
    assert_eq!((finished.rows("b").len(), finished.rows("after").len()), (1, 1));
}

#[test]
fn jumps_end_the_pass_the_loop_the_iteration_and_the_thread() {
    let odd = "
- for_each:
    in: [1, 2, 3, 4]
    as: v
    steps:
      - block: { steps: [if: { condition: v == 2, then: next_pass }] }
      - loop: { times: forever, steps: [break] }
      - if: { condition: v == 4, then: break }
      - request_response: { name: 'v${v}', send: x }
- request_response: { name: after, send: x }
";
    assert_eq!(sequence(1, odd), "v1 v3 after");
    let steps = "
- open
- loop:
    times: 3
    steps:
      - request_response: { name: 'i', send: x }
      - if: { condition: iteration < 3, then: next_iteration }
- request_response: { name: last, send: x }
- stop_thread
";
    let finished = run("loops: 9", steps);
    finished.expect_exit(0);
    assert_eq!(labels(&finished), "i i i i i last");
    assert!(finished.stderr.contains("ended early"), "{}", finished.stderr);
}

#[test]
fn a_step_can_stop_the_test_and_the_samples_judge() {
    let steps = "
- open
- request_response: { name: a, send: x }
- if: { condition: iteration == 2 and thread == 1, then: stop_test }
- pause: 10ms
";
    let finished = run("threads: 3\nloops: forever", steps);
    finished.expect_exit(0);
    assert!(finished.rows("a").len() >= 3, "{finished:#?}");
    assert!(finished.stderr.contains("1 threads by `stop_test`"), "{}", finished.stderr);
    let finished = run("loops: forever", "- open\n- stop_test_now");
    finished.expect_exit(0);
    assert_eq!(finished.rows.len(), 1);
}

#[test]
fn a_condition_that_cannot_be_judged_fails_visibly_and_its_steps_are_not_done() {
    let steps = "
- open
- set: { answer: maybe }
- if: { condition: answer, then: [request_response: { name: yes, send: x }], else: [request_response: { name: no, send: x }] }
- if: { condition: answer == \"maybe\", then: [request_response: { name: text, send: x }] }
- if: { condition: later == 1, then: [request_response: { name: late, send: x }] }
- if: { condition: not defined(later), then: [set: { later: 1 }] }
- while: { condition: later, steps: [request_response: { name: loop, send: x }] }
";
    let finished = run("loops: 1", steps);
    finished.expect_exit(1);
    let rows: Vec<_> =
        finished.rows.iter().map(|row| (row.label.as_str(), row.code.as_str())).collect();
    assert_eq!(
        rows,
        [
            ("open", "101"),
            ("if", "BAD_VALUE"),
            ("text", "200"),
            ("if", "UNDEFINED_VARIABLE"),
            ("while", "BAD_VALUE")
        ]
    );
    assert!(finished.rows[1].failure.contains("`maybe` is neither `true` nor `false`"));
}

#[test]
fn loops_that_do_nothing_end() {
    for steps in [
        "- open\n- while: { condition: 'true', steps: [set: { x: 1 }] }",
        "- open\n- run_for: { duration: 10m, steps: [set: { x: 1 }] }",
        "- open\n- loop: { times: forever, steps: [loop: { times: forever, steps: [break] }] }",
        "- open\n- loop: { times: forever, steps: [next_pass] }",
    ] {
        let finished = run("loops: 1", steps);
        finished.expect_exit(1);
        assert_eq!(finished.row("loop").code, "EMPTY_LOOP", "{steps}");
    }
    // Everything is skipped in the first pass, which ends the loop.
    let steps = "- open: /reject?status=503\n- while: { condition: 'true', steps: [ping_pong] }";
    let finished = run("loops: 2", steps);
    finished.expect_exit(1);
    assert_eq!(finished.rows.len(), 2);
}

#[test]
fn log_shows_a_text_without_secrets() {
    let plan = "
variables: { room: lobby, pin: hush4711 }
secrets: [pin]
defaults: { url: '${__P(target)}', path: /echo }
thread_groups:
  - name: U
    steps: [open, log: 'in ${room} with ${pin}']
";
    let finished = Env::new().run(plan, &["--serve", "--no-progress"]);
    finished.expect_exit(0);
    assert!(finished.stderr.contains("U 1-1: in lobby with ***\n"), "{}", finished.stderr);
}

#[test]
fn what_set_could_not_give_skips_what_needs_it() {
    let steps = "
- open
- request_response: { name: ask, send: none, extract: { regex: { pattern: 'id=(.)', as: id } } }
- set: { twice: '${id}${id}' }
- request_response: { name: use, send: '${twice}' }
";
    let finished = run("loops: 1", steps);
    finished.expect_exit(1);
    assert_eq!(labels(&finished), "ask");
    assert_eq!(finished.summary["labels"]["use"]["skipped"], 1);
}

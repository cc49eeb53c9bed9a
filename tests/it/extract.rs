//! Extractors in whole runs: what they find goes out again and is seen by the echo server; what they
//! do not find fails once and is skipped from then on.

use serde_json::json;
use wsmeter::target::Server;

use crate::support::env::{Env, Finished};
use crate::support::target;

/// One thread with these steps, after an `open`; `loops` iterations.
fn plan(loops: u32, steps: &str) -> String {
    let steps: String = steps.trim().lines().flat_map(|line| ["      ", line, "\n"]).collect();
    format!(
        "variables:\n  seed: S\ndefaults:\n  url: ${{__P(target)}}\nthread_groups:\n  - name: Users\n    \
         loops: {loops}\n    steps:\n      - open\n{steps}"
    )
}

fn run(server: &Server, plan: &str) -> Finished {
    let target = format!("target=ws://{}/echo", server.address());
    Env::new().run(plan, &["-J", &target])
}

/// Sends `message`, extracts, and asserts that `template` then expands to `expected`.
fn extracted(message: &str, extract: &str, template: &str, expected: &str) {
    let steps = format!(
        "- request_response:\n    name: give\n    send: {}\n    extract: {extract}\n\
         - request_response:\n    name: take\n    send: {}\n    assert: {{ equals: {} }}",
        json!(message),
        json!(template),
        json!(expected)
    );
    let finished = run(&target(), &plan(1, &steps));
    finished.expect_exit(0);
    assert_eq!(finished.row("take").code, "200");
}

#[test]
fn json_gives_one_match_or_all_under_jmeters_names() {
    let message = r#"{"user":{"id":7},"items":[{"n":"a"},{"n":"b"}],"none":null}"#;
    extracted(message, "{ json: { path: $.user.id, as: x } }", "${x} ${x_matchNr}", "7 1");
    extracted(message, "{ json: { path: $.user, as: x } }", "${x}", r#"{"id":7}"#);
    extracted(message, "{ json: { path: '$.items[*].n', as: x, match: 2 } }", "${x}", "b");
    extracted(
        message,
        "{ json: { path: '$.items[*].n', as: x, match: all } }",
        "${x_matchNr} ${x_1} ${x_2}",
        "2 a b",
    );
    extracted(message, "{ json: { path: $.none, as: x, default: D } }", "${x}", "D");
    extracted(
        message,
        "{ json: { path: $.no, as: x, default: '${seed}!' } }",
        "${x} ${x_matchNr}",
        "S! 0",
    );
}

#[test]
fn regex_gives_groups_and_templates() {
    let message = "id=17;name=ann id=18;name=bob";
    let regex =
        |rest: &str| format!("{{ regex: {{ pattern: 'id=(\\d+);name=(\\w+)', as: x{rest} }} }}");
    extracted(message, &regex(""), "${x} ${x_g} ${x_g0} ${x_g2}", "17 2 id=17;name=ann ann");
    extracted(message, &regex(", group: 2, match: 2"), "${x}", "bob");
    extracted(message, &regex(", template: '$2$-$1$'"), "${x}", "ann-17");
    extracted(
        message,
        &regex(", match: all"),
        "${x_matchNr} ${x_1} ${x_2} ${x_2_g} ${x_2_g2}",
        "2 17 18 2 bob",
    );
}

#[test]
fn between_takes_what_stands_between_two_texts() {
    let between = |rest: &str| format!("{{ between: {{ left: '<', right: '>', as: x{rest} }} }}");
    extracted("a <b> <c>", &between(""), "${x}", "b");
    extracted("a <b> <c>", &between(", match: all"), "${x_matchNr} ${x_2}", "2 c");
    extracted("nothing", &between(", default: d"), "${x}", "d");
}

#[test]
fn open_gives_headers_of_the_answer() {
    let steps = "- open:\n    extract: { header: { name: UPGRADE, as: x } }\n\
                 - request_response:\n    send: '${x}'\n    assert: { equals: websocket }";
    let finished = run(&target(), &plan(1, steps));
    finished.expect_exit(0);
}

#[test]
fn a_header_that_is_not_there_fails_the_open_and_leaves_the_connection_open() {
    let steps = "- open:\n    name: again\n    extract: { header: { name: X-Room, as: x } }\n\
                 - request_response: { name: free, send: hello }\n\
                 - open: { name: needs, path: '/${x}' }\n\
                 - request_response: { name: without, send: hello }";
    let finished = run(&target(), &plan(1, steps));
    finished.expect_exit(1);
    let row = finished.row("again");
    assert_eq!(row.code, "101");
    let text = "extractor `header: X-Room as x` found nothing in the answer to the upgrade";
    assert_eq!((row.failure.as_str(), row.message.as_str()), (text, text));
    assert!(finished.row("free").success);
    // Not on the connection that was open before.
    let skipped = finished.summary["skipped"].as_array().map(Vec::len);
    assert_eq!((finished.rows.len(), skipped), (3, Some(2)), "{finished:#?}");
}

#[test]
fn what_is_not_found_is_one_failure_and_what_needs_it_is_skipped() {
    let steps = r"
- request_response: { name: give, send: 'no number here', extract: { regex: { pattern: '\d+', as: x } } }
- request_response: { name: 'take', send: '${x}' }
- request_response: { name: 'label ${x}', send: 'hello' }
- request_response: { name: judged, send: 'hello', assert: { contains: '${x}' } }
- request_response: { name: free, send: 'hello' }
";
    let server = target();
    let finished = run(&server, &plan(1, steps));
    finished.expect_exit(1);
    let row = finished.row("give");
    assert_eq!((row.code.as_str(), row.success), ("200", false));
    assert_eq!(row.failure, "extractor `regex: \\d+ as x` found nothing in: no number here");
    assert_eq!(finished.rows.len(), 3, "{finished:#?}");
    assert!(finished.row("free").success);
    assert_eq!(server.counters().messages_received, 2);
    let skipped = &finished.summary["skipped"];
    assert_eq!(skipped.as_array().map(Vec::len), Some(3), "{skipped}");
    assert!(
        skipped.as_array().is_some_and(|all| all.iter().all(|one| one["cause"] == "NOT_EXTRACTED")),
        "{skipped}"
    );
}

#[test]
fn a_value_of_an_earlier_iteration_is_never_used_again() {
    // Odd iterations send a number, even ones do not.
    let steps = r"
- request_response: { name: give, send: '${__counter(TRUE)}', extract: { regex: { pattern: '^[13]$', as: x } } }
- request_response: { name: take, send: '${x}' }
";
    let finished = run(&target(), &plan(3, steps));
    finished.expect_exit(1);
    let rows = finished.rows("give");
    assert_eq!(rows.iter().map(|row| row.success).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(finished.rows("take").len(), 2);
}

#[test]
fn optional_and_default_make_it_fine_to_find_nothing() {
    let steps = r"
- request_response: { name: give, send: hello, extract: [{ regex: { pattern: '\d', as: x, optional: true } }] }
- request_response: { name: take, send: '${x}' }
";
    let finished = run(&target(), &plan(1, steps));
    finished.expect_exit(1);
    assert!(finished.row("give").success);
    assert_eq!(finished.row("take").code, "UNDEFINED_VARIABLE");
}

#[test]
fn a_sampler_that_failed_extracts_nothing_and_passes_on_its_cause() {
    let server = target();
    let steps = r"
- request_response: { name: give, send: hello, read_timeout: 50ms, extract: { regex: { pattern: '.', as: x } } }
- open: { name: again }
- single_write: { name: take, send: '${x}' }
";
    let url = format!("target=ws://{}/silent", server.address());
    let finished = Env::new().run(&plan(1, steps), &["-J", &url]);
    finished.expect_exit(1);
    assert_eq!(finished.row("give").code, "READ_TIMEOUT");
    assert_eq!(finished.summary["skipped"][0]["label"], "take");
    assert_eq!(finished.summary["skipped"][0]["cause"], "READ_TIMEOUT");
}

#[test]
fn a_loop_whose_times_were_not_found_is_skipped_as_a_whole() {
    let steps = r"
- request_response: { name: give, send: hello, extract: { regex: { pattern: '\d', as: x } } }
- loop:
    times: '${x}'
    steps: [{ request_response: { name: within, send: hello } }]
- request_response: { name: after, send: hello }
";
    let finished = run(&target(), &plan(1, steps));
    finished.expect_exit(1);
    assert!(finished.rows("within").is_empty() && finished.row("after").success, "{finished:#?}");
    assert_eq!(finished.summary["skipped"][0]["label"], "loop");
}

#[test]
fn the_example_keeps_its_session_to_itself() {
    let example = fs_err::read_to_string("plans/session.yaml").expect("the example is there");
    let finished = Env::new().run(&example, &["--serve"]);
    finished.expect_exit(0);
    assert_eq!(finished.rows.len(), 5 * 8);
    let last = finished.rows("close");
    assert!(last.iter().all(|row| row.variables[1] == "5"), "{last:?}");
    assert_eq!(last.iter().filter(|row| row.variables[0] == "user-3").count(), 1);
}

#[test]
fn extractors_of_outer_scopes_reach_the_samplers_that_receive_a_message() {
    let plan = r"
defaults:
  url: ${__P(target)}
  extract:
    - regex: { pattern: 'a=(\d)', as: a }
thread_groups:
  - defaults: { extract: { regex: { pattern: 'b=(\d)', as: b } } }
    steps:
      - open
      - block:
          defaults: { extract: { json: { path: '$.c', as: c, optional: true } } }
          steps:
            - request_response: { send: 'a=1 b=2', extract: { between: { left: ' ', right: '=', as: d } } }
            - single_write: { send: ignored }
            - single_read
            - close
";
    let server = target();
    let plan = plan
        .replace("{ send: ignored }", "{ send: 'a=3 b=${a}${b}${d}' }")
        .replace("- single_read", "- single_read: { assert: { equals: 'a=3 b=12b' } }");
    run(&server, &plan).expect_exit(0);
}

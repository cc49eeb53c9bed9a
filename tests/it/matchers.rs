//! Matchers by what a user sees: which messages a sampler gets, and which assertions hold.

use crate::support::env::{Env, Finished};
use crate::support::jtl::Row;

fn run(plan: &str) -> Finished {
    Env::new().run(plan, &["--serve", "--no-progress"])
}

fn row<'f>(finished: &'f Finished, label: &str) -> &'f Row {
    let found = finished.rows.iter().find(|row| row.label == label);
    found.unwrap_or_else(|| panic!("no row `{label}`: {}", finished.stderr))
}

#[test]
fn filters_of_all_scopes_discard_messages_for_good_and_are_counted() {
    let finished = run("
defaults: { url: '${__P(target)}' }
filters: { json: { path: $.seq, equals: 1 } }
thread_groups:
  - filters: [binary, { text: { contains: nowhere } }, ping_pong]
    steps:
      - open: /push?hz=20
      - block:
          filters: { regex: '\"seq\":2,' }
          steps:
            - pause: 400ms
            - single_read:
                name: fourth
                filters: { all_of: [{ starts_with: '{' }, { json: { path: $.seq, less_than: 4 } }] }
                assert: { json: { path: $.seq, equals: 4 } }
      - close
");
    assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
    let filters = finished.summary["filters"].as_array().expect("a list");
    let counts: Vec<_> = filters.iter().map(|filter| filter["count"].as_u64()).collect();
    assert_eq!(counts, [Some(1); 3], "{filters:?}");
    assert_eq!(finished.summary["labels"]["fourth"]["filtered"], 3);
    // Its own message and the three discarded ones, each of the same length but for its number.
    assert!(row(&finished, "fourth").bytes > 3 * 25, "{:?}", row(&finished, "fourth"));
}

#[test]
fn a_request_gets_the_first_message_that_no_filter_discards() {
    let finished = run("
defaults: { url: '${__P(target)}' }
thread_groups:
  - steps:
      - open: /push?hz=20
      - pause: 300ms
      - request_response:
          name: ask
          send: '{\"answer\": 42}'
          filters: { json: { path: $.seq, exists: true } }
          assert: { equals: '{\"answer\": 42}' }
      - close
");
    assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
    assert_eq!(finished.summary["labels"]["ask"]["early"], 0);
}

#[test]
fn discarded_messages_do_not_extend_the_deadline() {
    let finished = run("
defaults: { url: '${__P(target)}' }
thread_groups:
  - steps:
      - open: /push?hz=50
      - single_read: { name: none, read_timeout: 400ms, filters: text }
");
    let row = row(&finished, "none");
    assert_eq!(row.code, "READ_TIMEOUT");
    assert!((400..1_400).contains(&row.elapsed), "{row:?}");
}

#[test]
fn each_matcher_holds_and_fails() {
    for (payload, holds, fails) in [
        ("send: hello world", "contains: lo w", "contains: low"),
        ("send: hello world", "equals: hello world", "equals: hello"),
        ("send: hello world", "starts_with: hello", "starts_with: world"),
        ("send: hello world", "ends_with: world", "ends_with: hello"),
        ("send: hello world", "regex: 'o\\b'", "regex: '^o'"),
        ("send: hello world", "full_match: 'hello \\w+'", "full_match: 'hello'"),
        ("send: hello world", "type: text", "type: binary"),
        ("send: hello world", "size: { equals: 11B }", "size: { at_most: 10B }"),
        ("send: hello world", "size: { at_least: 11B }", "size: { at_least: 1KiB }"),
        ("send: hello world", "not: { equals: x }", "not: { contains: hello }"),
        ("send: hello world", "any_of: [equals: x, contains: h]", "any_of: [equals: x]"),
        ("send: hello world", "all_of: [contains: h]", "all_of: [contains: h, equals: x]"),
        ("send_hex: ca fe ba", "hex: { contains: fe ba }", "hex: { contains: ff }"),
        ("send_hex: ca fe ba", "hex: { contains: fe, at: 1 }", "hex: { contains: fe, at: 0 }"),
        ("send_hex: ca fe ba", "hex: { starts_with: ca }", "hex: { equals: ca }"),
        ("send_hex: ca fe ba", "type: binary", "contains: x"),
        (
            "send: '{\"n\": 3}'",
            "json: { path: $.n, less_than: 4 }",
            "json: { path: $.n, count: 2 }",
        ),
    ] {
        let plan = format!(
            "
defaults: {{ url: '${{__P(target)}}' }}
thread_groups:
  - steps:
      - open: /echo
      - request_response: {{ name: holds, {payload}, assert: {{ {holds} }} }}
      - request_response: {{ name: fails, {payload}, assert: {{ {fails} }} }}
"
        );
        let finished = run(&plan);
        assert!(row(&finished, "holds").success, "{holds}: {}", finished.stderr);
        let failed = row(&finished, "fails");
        assert!(!failed.success && !failed.failure.is_empty(), "{fails}: {failed:?}");
        assert_eq!(failed.code, "200", "a failed assertion leaves the code");
    }
}

#[test]
fn an_upgrade_can_be_asserted_and_hides_nothing_from_the_dashboard() {
    let finished = run("
defaults: { url: '${__P(target)}', path: /echo }
thread_groups:
  - steps:
      - open: { name: good, assert: [status: 101, header: { name: upgrade, equals: websocket }] }
      - open: { name: bad, assert: [header: { name: Server, contains: nginx }] }
");
    assert!(row(&finished, "good").success);
    let bad = row(&finished, "bad");
    assert_eq!((bad.success, bad.code.as_str()), (false, "101"));
    assert_eq!(bad.message, bad.failure);
    assert!(bad.failure.contains("`Server` expected to contain /nginx/"), "{bad:?}");
}

#[test]
fn what_is_not_enabled_is_no_part_of_the_run() {
    let finished = run("
defaults: { url: '${__P(target)}', path: /echo }
thread_groups:
  - { name: Off, enabled: false, steps: [open, close] }
  - name: On
    steps:
      - open
      - loop: { enabled: false, times: 5, steps: [request_response: x] }
      - close: { enabled: '${__P(closing, true)}' }
");
    assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
    let labels: Vec<_> = finished.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["open", "close"]);
    assert_eq!(row(&finished, "open").thread, "On 1-1");
}

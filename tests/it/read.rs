//! `read`: many messages in one row, by what a user sees.

use std::time::Duration;

use crate::support::env::{Env, Finished};
use crate::support::peer::Peer;

/// Runs the steps against a server that sends three messages, some time apart, and then, if it says
/// so, closes.
fn run(texts: &'static [&'static str], closes: bool, steps: &str) -> Finished {
    let peer = Peer::spawn(move |client| {
        client.accept();
        for text in texts {
            client.send_text(text);
            client.listen(Duration::from_millis(40));
        }
        if closes {
            client.send_close(1001, "bye");
        }
        client.echo_nothing();
    });
    let plan = format!(
        "defaults: {{ url: '{}', read_timeout: 10s }}\nthread_groups:\n- steps:\n    - open\n{steps}",
        peer.url("/")
    );
    let finished = Env::new().run(&plan, &["--no-progress"]);
    peer.finish();
    finished
}

const TICKS: &[&str] = &["tick 1", "tick 2", "noise", "tick 3", "done"];

#[test]
fn a_count_of_messages_is_one_row_with_gaps_in_the_summary() {
    let steps = "    - read: { name: ticks, count: 3, filters: { equals: noise } }\n";
    let finished = run(TICKS, false, steps);
    finished.expect_exit(0);
    let row = finished.row("ticks");
    assert_eq!((row.code.as_str(), row.data_type.as_str()), ("200", "text"));
    assert_eq!(row.bytes, 3 * 8 + 7, "three ticks and the noise: {row:?}");
    assert!(row.latency <= row.elapsed && row.elapsed >= 100, "{row:?}");
    let label = &finished.summary["labels"]["ticks"];
    assert_eq!((label["messages"].as_u64(), label["filtered"].as_u64()), (Some(3), Some(1)));
    let longest = label["gaps"]["max_ms"].as_f64().expect("there are gaps");
    assert!(longest >= 75.0, "the noise was between: {longest}");
    assert!(finished.stderr.contains("3 messages by `read`, "), "{}", finished.stderr);
}

#[test]
fn reading_ends_with_the_message_that_fits_until() {
    let steps = "
    - read: { name: whole, until: [{ contains: done }, { type: text }], assert: { equals: done },
              extract: { regex: { pattern: '(.*)', as: last } } }
    - read: { name: none, until: { contains: more }, for: 100ms }
    - close: { reason: '${last}' }
";
    let finished = run(TICKS, false, steps);
    assert_eq!(finished.summary["labels"]["whole"]["messages"], 5);
    assert!(finished.row("whole").success);
    let none = finished.row("none");
    assert_eq!((none.code.as_str(), none.success), ("READ_TIMEOUT", false));
    assert_eq!(none.failure, "no message came within `for`");
}

#[test]
fn a_time_alone_passes_with_whatever_came_but_not_with_nothing() {
    let steps = "
    - read: { name: some, for: 400ms }
    - read: { name: nothing, for: 50ms }
    - read: { name: optional, for: 50ms, optional: true }
    - close
";
    let finished = run(TICKS, false, steps);
    let some = finished.row("some");
    assert!(some.success && (400..2_000).contains(&some.elapsed), "{some:?}");
    assert_eq!(finished.summary["labels"]["some"]["messages"], 5);
    assert_eq!(finished.row("nothing").code, "READ_TIMEOUT");
    let optional = finished.row("optional");
    assert!(optional.success && optional.code == "NO_MESSAGE", "{optional:?}");
}

#[test]
fn too_few_messages_a_wrong_type_and_a_loss_fail_the_row() {
    let steps = "
    - read: { name: few, count: 9, for: 500ms, reply: { starts_with: tick } }
    - close
";
    let few = run(TICKS, false, steps);
    let row = few.row("few");
    let text = "3 of 9 messages came within `for`; 2 messages were passed over, the last: /done/";
    assert_eq!((row.code.as_str(), row.failure.as_str()), ("READ_TIMEOUT", text));
    assert_eq!(few.summary["causes"][0]["text"], "too few messages came in time");
    let typed = run(TICKS, false, "    - read: { name: typed, count: 2, expect: binary }\n");
    assert_eq!(typed.row("typed").code, "UNEXPECTED_TYPE");
    let lost = run(TICKS, true, "    - read: { name: lost, count: 9 }\n    - read: { count: 1 }\n");
    let row = lost.row("lost");
    assert_eq!((row.code.as_str(), row.success), ("1001", false));
    assert_eq!(row.bytes, 3 * 8 + 7 + 6, "what came before is counted: {row:?}");
    assert_eq!(lost.summary["labels"]["read"]["skipped"], 1);
}

#[test]
fn the_end_of_the_run_cuts_a_read_without_a_row() {
    let finished = run(TICKS, false, "    - read: { for: 1m }\n  duration: 600ms\n");
    assert_eq!(finished.rows.len(), 1, "{:?}", finished.rows);
    assert_eq!(finished.summary["labels"]["read"]["cut"], 1);
}

#[test]
fn messages_that_wait_are_passed_over_once_each() {
    let steps = "
    - pause: 300ms
    - read: { name: ticks, count: 4, for: 100ms, reply: [{ starts_with: tick }], unmatched: keep }
";
    let failure = &run(TICKS, false, steps).row("ticks").failure.clone();
    assert_eq!(
        failure,
        "3 of 4 messages came within `for`; 2 messages were passed over, the last: /done/"
    );
}

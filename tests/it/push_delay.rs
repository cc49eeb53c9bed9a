//! How old pushed messages are, by what a user sees.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use wsmeter::clock::Clock;

use crate::support::env::{Env, Finished};
use crate::support::peer::Peer;

/// How old each push is when it is sent.
const AGE_MS: u64 = 150;

/// Runs the steps against a server that pushes each time after listening for this long; gives the
/// moments at which it pushed, in milliseconds since 1970.
fn run(waits_ms: &'static [u64], body: fn(u64) -> String, steps: &str) -> (Finished, Vec<u64>) {
    let clock = Clock::start();
    let pushed = Arc::new(Mutex::new(Vec::new()));
    let moments = Arc::clone(&pushed);
    let peer = Peer::spawn(move |client| {
        client.accept();
        for wait in waits_ms {
            client.listen(Duration::from_millis(*wait));
            let now = clock.epoch_ms(wsmeter::clock::now());
            pushed.lock().expect("no panic").push(now);
            client.send_text(&body(now));
        }
        client.echo_nothing();
    });
    let plan =
        format!("defaults: {{ url: '{}' }}\nthread_groups:\n- steps:\n{steps}", peer.url("/"));
    let finished = Env::new().run(&plan, &["--no-progress"]);
    peer.finish();
    let moments = moments.lock().expect("no panic").clone();
    (finished, moments)
}

fn old(now: u64) -> String {
    format!("{{\"t\":{}}}", now - AGE_MS)
}

const READ: &str = "single_read: { name: push, push_delay: { sent_at: $.t } }";

#[test]
fn the_time_of_a_push_is_its_age_however_long_it_was_waited_for() {
    let steps =
        format!("    - open\n    - {READ}\n    - pause: 600ms\n    - {READ}\n    - close\n");
    let (finished, pushed) = run(&[700, 300], old, &steps);
    finished.expect_exit(0);
    let rows = finished.rows("push");
    for (row, pushed) in rows.iter().zip(pushed) {
        let arrival = row.time_stamp + row.elapsed + row.idle;
        let lag = arrival.checked_sub(pushed - 2).expect("nothing arrives before it is sent");
        assert!(lag <= 200, "{row:?} pushed at {pushed}");
        assert!((AGE_MS - 1..=AGE_MS + lag).contains(&row.elapsed), "{row:?}");
        assert_eq!(row.latency, row.elapsed);
    }
    assert!(rows[0].idle >= 400, "it was waited for: {:?}", rows[0]);
    assert_eq!(rows[1].idle, 0, "it was there before");
}

#[test]
fn an_old_push_fails_and_one_from_the_future_is_counted() {
    let steps = "
    - open
    - single_read: { name: old, push_delay: { sent_at: $.t, unit: ms, at_most: 50ms } }
    - single_read: { name: future, push_delay: { regex: 't=(\\d+)', unit: us } }
    - single_read: { name: dated, push_delay: { sent_at: $.at, unit: rfc3339 } }
";
    let bodies = |now: u64| {
        // All three find their time in the same text.
        let future = (now + 60_000) * 1_000;
        let at = chrono::DateTime::from_timestamp_millis(i64::try_from(now).expect("a date"));
        let at = at.expect("a date").to_rfc3339();
        format!("{{\"t\":{},\"x\":\"t={future}\",\"at\":\"{at}\"}}", now - AGE_MS)
    };
    let (finished, _) = run(&[0, 0, 0], bodies, steps);
    finished.expect_exit(1);
    let old = finished.row("old");
    assert!(!old.success && old.code == "200", "{old:?}");
    assert!(old.failure.starts_with("the message was 1"), "{old:?}");
    assert!(old.failure.ends_with(" ms old, and `at_most` allows 50 ms"), "{old:?}");
    let future = finished.row("future");
    assert!(future.success && future.elapsed == 0, "{future:?}");
    assert_eq!(finished.summary["labels"]["future"]["clock_skew"], 1);
    assert!(finished.stderr.contains("its clock differs from ours"), "{}", finished.stderr);
    let dated = finished.row("dated");
    assert!(dated.success && dated.elapsed < 5_000, "{dated:?}");
}

#[test]
fn a_message_that_does_not_tell_its_time_is_a_bad_message() {
    let steps = "
    - open
    - single_read: { name: number, push_delay: { sent_at: $.no, unit: ms } }
    - single_read: { name: path, push_delay: { sent_at: $.nowhere, unit: ms } }
    - single_read: { name: date, push_delay: { sent_at: $.t, unit: rfc3339 } }
    - single_read: { name: json, push_delay: { sent_at: $.t } }
    - single_read: { name: regex, push_delay: { regex: 'at=(\\d+)' } }
";
    let body = |_| r#"{"no":"soon","t":17}"#.to_owned();
    let (finished, _) = run(&[0, 0, 0, 0, 0], body, steps);
    for (label, text) in [
        ("number", "/soon/ is no time in `ms`"),
        ("path", "`$.nowhere` finds nothing"),
        ("json", "/17/ in `ms` is more than a day away; is `unit` right?"),
        ("date", "/17/ is no time in `rfc3339`"),
        ("regex", "/at=(\\d+)/ finds nothing"),
    ] {
        let row = finished.row(label);
        assert_eq!(row.code, "BAD_MESSAGE", "{row:?}");
        assert_eq!(row.failure, format!("the message does not tell when it was sent: {text}"));
    }
}

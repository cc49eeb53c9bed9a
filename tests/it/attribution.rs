//! Whose reply is it: late, early, foreign and passed-over messages, by what a user sees.

use crate::support::env::{Env, Finished};
use crate::support::peer::Peer;
use crate::support::peer_connection::PeerConnection;

/// Runs the steps of one group of one thread against the script.
fn run(
    script: impl Fn(&mut PeerConnection) + Send + Sync + 'static,
    defaults: &str,
    steps: &str,
) -> Finished {
    let peer = Peer::spawn(move |client| {
        client.accept();
        script(client);
        client.echo_nothing();
    });
    let plan = format!(
        "defaults: {{ url: '{}', read_timeout: 10s, {defaults} }}\nthread_groups:\n- steps:\n{steps}",
        peer.url("/")
    );
    let finished = Env::new().run(&plan, &["--no-progress"]);
    peer.finish();
    finished
}

/// Labels with `true` or `false` for each row, in order.
fn rows(finished: &Finished) -> String {
    let row = |row: &crate::support::jtl::Row| format!("{} {}", row.label, row.success);
    finished.rows.iter().map(row).collect::<Vec<_>>().join(", ")
}

fn figure(finished: &Finished, label: &str, name: &str) -> u64 {
    let figure = &finished.summary["labels"][label][name];
    figure.as_u64().unwrap_or_else(|| panic!("{label}.{name} is {figure}: {finished:?}"))
}

/// Answers request `n` with `re:n` only when the next one has come; the last one at once.
fn answers_one_late(requests: usize) -> impl Fn(&mut PeerConnection) + Send + Sync + 'static {
    move |client| {
        let mut before = client.expect_text();
        for _ in 1..requests {
            let text = client.expect_text();
            client.send_text(&format!("re:{before}"));
            before = text;
        }
        client.send_text(&format!("re:{before}"));
    }
}

const THREE: &str = "
    - open
    - request_response: { name: one, send: '1', read_timeout: 50ms, assert: { equals: 're:1' } }
    - request_response: { name: two, send: '2', assert: { equals: 're:2' } }
    - request_response: { name: three, send: '3', assert: { equals: 're:3' } }
    - close
";

#[test]
fn after_a_timeout_later_samplers_are_skipped_unless_the_plan_says_otherwise() {
    let silent = |client: &mut PeerConnection| client.echo_nothing();
    let finished = run(silent, "", THREE);
    assert_eq!(rows(&finished), "open true, one false, close true");
    assert_eq!(finished.summary["skipped"][0]["cause"], "OUT_OF_SYNC", "{:?}", finished.summary);
    assert_eq!(finished.summary["labels"]["two"]["skipped"], 1);
    assert_eq!(figure(&finished, "one", "unanswered"), 1);
}

#[test]
fn discarded_late_replies_are_counted_with_their_round_trips() {
    let finished =
        run(answers_one_late(2), "late_replies: discard", &THREE.replace(THREE_LAST, ""));
    assert_eq!(rows(&finished), "open true, one false, two true, close true");
    assert_eq!(figure(&finished, "one", "late"), 1);
    assert_eq!(figure(&finished, "one", "unanswered"), 0);
    let round_trip = finished.summary["labels"]["one"]["late_times"]["max_ms"].as_f64();
    assert!(round_trip.is_some_and(|time| time >= 50.0), "{round_trip:?}");
    assert!(finished.stderr.contains("1 replies came after their request had failed"));
}

const THREE_LAST: &str =
    "    - request_response: { name: three, send: '3', assert: { equals: 're:3' } }\n";

#[test]
fn accepting_gives_the_rows_of_jmeter() {
    let plain = THREE.replace("assert: { equals: 're:2' }", "assert: { equals: 're:1' }");
    let plain = plain.replace("assert: { equals: 're:3' }", "assert: { equals: 're:2' }");
    let finished = run(answers_one_late(3), "late_replies: accept", &plain);
    assert_eq!(rows(&finished), "open true, one false, two true, three true, close true");
    assert_eq!(figure(&finished, "one", "late"), 0);
    assert_eq!(figure(&finished, "one", "unanswered"), 1, "three requests, two replies taken");
}

#[test]
fn a_static_matcher_is_never_green_after_its_timeout() {
    let matched = THREE.replace("assert:", "reply: [{ starts_with: 're:' }], assert:");
    let matched = matched.replace(
        "    - request_response: { name: two",
        "    - pause: 300ms\n    - request_response: { name: two",
    );
    let silent = |client: &mut PeerConnection| {
        if client.index() > 0 {
            return;
        }
        client.expect_text();
        client.listen(std::time::Duration::from_millis(100));
        client.send_text("re:1");
    };
    let finished = run(silent, "", &format!("{matched}    - open: {{ name: again }}\n"));
    assert_eq!(rows(&finished), "open true, one false, close true, again true");
    assert_eq!(finished.summary["labels"]["two"]["skipped"], 1);
    assert_eq!(finished.summary["labels"]["three"]["skipped"], 1);
}

const ASK: &str = "send_json: { id: ID }, correlate: $.id";

#[test]
fn a_late_reply_is_known_by_the_matcher_of_its_own_request() {
    let steps = "
    - open
    - request_response: { name: one, send_json: { id: 1 }, correlate: $.id, read_timeout: 50ms }
    - request_response: { name: two, send_json: { id: 2 }, correlate: $.id }
    - request_response: { name: any, send: anything }
    - close
";
    let script = |client: &mut PeerConnection| {
        client.expect_text();
        client.expect_text();
        client.send_text(r#"{"id":1}"#);
        client.send_text(r#"{"id":"2"}"#);
        client.send_text("not JSON");
        client.send_text(r#"{"id":2.0}"#);
        client.expect_text();
        client.send_text("something");
    };
    let finished = run(script, "", steps);
    assert_eq!(rows(&finished), "open true, one false, two true, any true, close true");
    assert_eq!(figure(&finished, "one", "late"), 1);
    assert_eq!(figure(&finished, "two", "unmatched"), 2, "no step reads what is passed over");
    assert_eq!(figure(&finished, "any", "early"), 0);
}

#[test]
fn replies_in_reverse_order_are_matched() {
    let steps = "
    - open
    - single_write: { send_json: { id: 1 } }
    - request_response: { name: second, ASK }
    - single_read: { name: first, reply: { json: { path: $.id, equals: 1 } } }
    - close
"
    .replace("ASK", &ASK.replace("ID", "2"));
    let script = |client: &mut PeerConnection| {
        client.expect_text();
        client.expect_text();
        client.send_text(r#"{"id":2,"n":"b"}"#);
        client.send_text(r#"{"id":1,"n":"a"}"#);
    };
    let finished = run(script, "", &steps);
    assert_eq!(
        rows(&finished),
        "open true, single_write true, second true, first true, close true"
    );
}

#[test]
fn what_is_passed_over_waits_for_another_reader_or_is_dropped() {
    let script = |client: &mut PeerConnection| {
        client.expect_text();
        client.send_text("push 1");
        client.send_text("push 2");
        client.send_text("reply");
    };
    let request = "request_response: { send: hi, reply: { equals: reply } UNMATCHED }";
    let steps = |unmatched: &str| {
        format!(
            "    - open\n    - {}\n    - single_read: {{ assert: {{ equals: push 1 }}, \
             read_timeout: 50ms }}\n",
            request.replace("UNMATCHED", unmatched)
        )
    };
    let kept = run(script, "", &steps(""));
    assert_eq!(rows(&kept), "open true, request_response true, single_read true");
    assert_eq!(figure(&kept, "request_response", "unmatched"), 0);
    let dropped = run(script, "", &steps(", unmatched: drop"));
    assert_eq!(rows(&dropped), "open true, request_response true, single_read false");
    assert_eq!(figure(&dropped, "request_response", "unmatched"), 2);
}

#[test]
fn a_timeout_tells_what_was_passed_over() {
    let script = |client: &mut PeerConnection| {
        client.expect_text();
        client.send_text("push 1");
        client.send_text("push\n2");
    };
    let steps = "
    - open
    - request_response: { send: hi, reply: { equals: reply }, read_timeout: 300ms }
";
    let finished = run(script, "", steps);
    let failure = &finished.row("request_response").failure;
    let wanted = "no reply came within `read_timeout`; 2 messages were passed over, the last: \
                  /push\\n2/";
    assert_eq!(failure, wanted);
    assert_eq!(finished.summary["causes"][0]["text"], "no reply came within `read_timeout`");
}

#[test]
fn a_greeting_that_waits_is_early_and_no_reply() {
    let script = |client: &mut PeerConnection| {
        client.send_text("welcome");
        client.expect_text();
        client.send_text("answer");
    };
    let steps = |reader: &str| {
        format!("    - open\n    - pause: 100ms\n    - request_response: hi\n{reader}")
    };
    let read = "    - single_read: { assert: { equals: welcome } }\n";
    for (reader, expected) in [
        (read, "open true, request_response true, single_read true"),
        ("", "open true, request_response true"),
    ] {
        let finished = run(script, "", &steps(reader));
        assert_eq!(rows(&finished), expected);
        assert_eq!(figure(&finished, "request_response", "early"), 1);
    }
}

#[test]
fn what_is_not_in_the_request_cannot_be_correlated_and_nothing_is_sent() {
    for (request, why) in [
        ("send_json: { x: 1 }, correlate: $.id", "`correlate: $.id` finds nothing in the request"),
        (
            "send: hello, correlate: $.id",
            "`correlate: $.id` finds nothing in the request, which is not JSON: expected value at line 1 column 1",
        ),
        (
            "send: text, correlate: { regex: 'id=(\\d+)' }",
            "`correlate: id=(\\d+)` finds nothing in the request",
        ),
    ] {
        let script = |client: &mut PeerConnection| client.echo_nothing();
        let steps = format!("    - open\n    - request_response: {{ {request} }}\n    - close\n");
        let finished = run(script, "", &steps);
        let row = finished.row("request_response");
        assert_eq!((row.code.as_str(), row.failure.as_str()), ("BAD_VALUE", why));
        assert_eq!(row.sent_bytes, 0);
        assert_eq!(rows(&finished), "open true, request_response false, close true");
    }
}

#[test]
fn requests_and_replies_may_name_the_value_differently() {
    let script = |client: &mut PeerConnection| {
        client.expect_text();
        client.send_text(r#"{"re":{"x":1},"is":"another"}"#);
        client.send_text(r#"{"re":{"x":[1,"a"]}}"#);
        client.expect_text();
        client.send_text("nr=8;");
        client.send_text("ok nr=07; nr=7;");
    };
    let steps = "
    - open
    - request_response:
        name: json
        send_json: { id: [1, a] }
        correlate: { request: $.id, reply: $.re.x }
        assert: { contains: '[1,' }
    - request_response:
        name: regex
        send: 'ask nr=7;'
        correlate: { regex: 'nr=(\\d+);' }
        assert: { starts_with: ok }
";
    assert_eq!(rows(&run(script, "", steps)), "open true, json true, regex true");
}

#[test]
fn opening_anew_ends_the_ambiguity() {
    let script = |client: &mut PeerConnection| {
        if client.index() > 0 {
            client.echo();
        }
    };
    let steps = "
    - open
    - request_response: { name: lost, send: a, read_timeout: 50ms }
    - request_response: { name: skipped, send: b }
    - open
    - request_response: { name: fine, send: c }
";
    assert_eq!(rows(&run(script, "", steps)), "open true, lost false, open true, fine true");
}

#[test]
fn any_number_of_unanswered_requests_is_counted_and_few_are_remembered() {
    let script = |client: &mut PeerConnection| {
        for _ in 0..601 {
            client.expect_text();
        }
        // The newest ones are known by their own matchers, the oldest are forgotten.
        for id in [1, 300, 299] {
            client.send_text(&format!("{{\"id\":{id}}}"));
        }
        client.expect_text();
        client.send_text(r#"{"id":301}"#);
    };
    let steps = "
    - open
    - loop:
        times: 300
        steps:
          # Something passes, so that no pause is due.
          - single_write: x
          - request_response: { name: lost, send_json: { id: '${__counter(FALSE)}' }, correlate: $.id, read_timeout: 1ms }
    - single_write: all sent
    - request_response: { name: fine, send_json: { id: 301 }, correlate: $.id }
    - close
";
    let finished = run(script, "", steps);
    assert_eq!(figure(&finished, "lost", "failed"), 300);
    assert_eq!(figure(&finished, "lost", "late"), 2);
    assert_eq!(figure(&finished, "lost", "unanswered"), 298);
    assert_eq!(figure(&finished, "fine", "failed"), 0);
    // The one that is forgotten comes before or while the next request waits.
    let rest = figure(&finished, "fine", "unmatched") + figure(&finished, "fine", "early");
    assert_eq!(rest, 1);
}

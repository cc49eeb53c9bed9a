//! The schema of `summary.json` accepts the summaries of real runs, and knows every key in them.

use serde_json::{Value, json};
use wsmeter::target::Server;

use crate::schema::COMMITTED_SUMMARY;
use crate::support::env::Env;
use crate::support::time::wait_until;

fn committed() -> Value {
    let text = fs_err::read_to_string(COMMITTED_SUMMARY).expect("the schema is committed");
    serde_json::from_str(&text).expect("it is JSON")
}

/// The schema, and no key but those that it names.
fn closed(schema: &mut Value) {
    if let Value::Object(map) = schema {
        if map.contains_key("properties") {
            map.insert("additionalProperties".to_owned(), json!(false));
        }
        map.values_mut().for_each(closed);
    }
}

/// What the schema says against a summary.
fn objections(summary: &Value) -> Vec<String> {
    let mut schema = committed();
    closed(&mut schema);
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let errors = validator.iter_errors(summary);
    errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
}

fn accept(summary: &Value, verdict: &str) {
    assert_eq!(summary["verdict"], verdict);
    assert_eq!(objections(summary), Vec::<String>::new());
}

const PASSING: &str = r"
defaults: { url: '${__P(target)}/echo' }
thread_groups: { threads: 2, steps: [open, request_response: hello, close] }
";

/// Something of everything that a summary has only if it happened.
const FAILING: &str = r"
thresholds: { say: 'p95 < 10s', open: count >= 100 }
compare: { p99: 50% }
filters: [{ starts_with: noise }]
defaults: { url: '${__P(target)}', read_timeout: 300ms }
thread_groups:
  - arrivals: [{ rate: 20/s, over: 500ms }]
    steps:
      - transaction:
          name: whole
          steps:
            - open: /echo
            - request_response: { name: say, send: hello, assert: { equals: goodbye } }
            - single_write: noise
            - single_write: music
            - read: { for: 50ms }
            - close
      - open: { name: closed, path: '/reject?status=403' }
      - request_response: { name: never, send: hello }
";

#[test]
fn summaries_of_all_kinds_of_runs_keep_to_the_schema() {
    let server = Server::start(([127, 0, 0, 1], 0).into()).expect("a free port");
    let url = format!("target=ws://{}", server.address());
    let env = Env::new();
    let finished = env.run(PASSING, &["-J", &url]);
    finished.expect_exit(0);
    accept(&finished.summary, "passed");

    fs_err::rename(env.path("results"), env.path("base")).expect("it can be moved");
    let finished = env.run(PASSING, &["-J", &url, "--baseline", "base"]);
    finished.expect_exit(0);
    accept(&finished.summary, "passed");
    let changes = finished.summary["comparison"]["labels"][0]["changes"].as_array();
    let few = changes.expect("changes").iter().any(|change| change["samples_needed"].is_u64());
    assert!(few, "{:#}", finished.summary);

    let finished = env.run(FAILING, &["-J", &url, "--force"]);
    finished.expect_exit(1);
    accept(&finished.summary, "failed");
    for there in
        ["/causes/0", "/skipped/0", "/filters/0", "/thresholds/0", "/labels/whole/transaction"]
    {
        assert!(finished.summary.pointer(there).is_some(), "{there} in {:#}", finished.summary);
    }
    for there in ["/labels/say/intended/p50_ms", "/labels/read/messages", "/plan/compare/p99"] {
        assert!(finished.summary.pointer(there).is_some(), "{there} in {:#}", finished.summary);
    }

    let endless = PASSING.replace("request_response: hello", "pause: 50s");
    let running = env.start(&endless, &["-J", &url, "--force"]);
    wait_until("something is open", || server.counters().open > 0);
    running.signal("INT");
    let finished = running.finish();
    finished.expect_exit(130);
    accept(&finished.summary, "interrupted");

    fs_err::create_dir(env.path("other")).expect("a folder");
    for name in ["samples.jtl", "summary.json"] {
        fs_err::copy(env.path("results").join(name), env.path("other").join(name)).expect("a copy");
    }
    env.wsmeter(&["report", "results", "other", "-o", "report"]).finish().expect_exit(0);
    let text = fs_err::read_to_string(env.path("report/summary.json")).expect("a summary");
    let summary: Value = serde_json::from_str(&text).expect("it is JSON");
    accept(&summary, "interrupted");
    assert_eq!(summary["sources"][1], "other");
}

#[test]
fn what_is_no_summary_is_refused_and_every_key_is_explained() {
    assert!(!objections(&json!({ "wsmeter": "1" })).is_empty());
    let schema = committed();
    let definitions = schema["definitions"].as_object().expect("definitions");
    let mut keys = 0;
    for (owner, definition) in definitions.iter().chain([(&"summary".to_owned(), &schema)]) {
        for (key, property) in definition["properties"].as_object().into_iter().flatten() {
            let description = property["description"].as_str().unwrap_or_default();
            assert!(description.ends_with('.'), "{owner}.{key}: {description}");
            keys += 1;
        }
    }
    assert!(keys > 80, "only {keys} keys");
}

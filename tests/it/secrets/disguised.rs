//! Secrets that come back in other forms, from elsewhere, or in pieces.

use super::{expect_none_of, outputs};
use crate::support::env::Env;
use crate::support::target;

/// What a run and a trial of a plan against the embedded target leave behind.
fn left_behind(plan: &str, properties: &[&str]) -> String {
    let (env, server) = (Env::new(), target());
    let target = format!("target=ws://{}", server.address());
    let mut arguments = vec!["-J", &target];
    for property in properties {
        arguments.extend(["-J", property]);
    }
    let finished = env.run(plan, &arguments);
    finished.expect_exit(1);
    let path = env.write("plan.yaml", plan);
    let path = path.to_str().expect("a path of ours");
    let tried = env.wsmeter(&[&["try", path], &arguments[..]].concat()).finish();
    tried.expect_exit(1);
    [&*outputs(&env, &finished), &tried.stdout, &tried.stderr].concat()
}

#[test]
fn a_secret_is_hidden_however_it_is_escaped_or_encoded() {
    let plan = r#"
secrets: [pw]
variables: { pw: 'hunter2-päss"word/1' }
defaults: { url: '${__P(target)}/echo' }
thread_groups:
  - on_error: continue
    steps:
      - open: {}
      - request_response: { name: query, send: 'a=hunter2-p%C3%A4ss%22word%2f1', assert: { equals: x } }
      - request_response: { name: json, send: '{"a": "hunter2-p\u00e4ss\"word\/1"}', assert: { equals: x } }
      - request_response: { name: json in json, send: '{"a": "{\"b\": \"hunter2-p\\u00e4ss\\\"word\\/1\"}"}', assert: { equals: x } }
      - request_response: { name: page, send: 'a hunter2-p&#228;ss&quot;word/1 b', assert: { equals: x } }
      - request_response: { name: loud, send: 'a HUNTER2-PäSS"WORD/1 b', assert: { equals: x } }
      - request_response: { name: basic, send: 'a Ym9iOmh1bnRlcjItcMOkc3Mid29yZC8x b', assert: { equals: x } }
      - request_response: { name: token, send: 'a aHVudGVyMi1ww6RzcyJ3b3JkLzE b', assert: { equals: x } }
      - request_response: { name: dump, send: 'a 68756e746572322d70c3a4737322776f72642f31 b', assert: { equals: x } }
"#;
    let everything = left_behind(plan, &[]);
    assert!(everything.contains("dump"), "{everything}");
    let parts = ["hunter2", "HUNTER2", "h1bnRlcjIt", "aHVudGVyMi1", "68756e74"];
    expect_none_of(&parts, &everything);
}

#[test]
fn what_one_thread_found_is_hidden_from_what_another_is_told() {
    let plan = r#"
defaults: { url: '${__P(target)}/echo' }
setup:
  - steps:
      - open: {}
      - request_response:
          name: log in
          send: '{"t": "hunter-${__P(part)}"}'
          extract: { json: { path: $.t, as: session_token } }
thread_groups:
  - on_error: continue
    steps:
      - open: {}
      - request_response: { name: broadcast, send: 'Bob has joined: hunter-${__P(part)}!', assert: { equals: x } }
"#;
    let everything = left_behind(plan, &["part=of-77"]);
    assert!(everything.contains("Bob has joined: ***!"), "{everything}");
    expect_none_of(&["hunter-of"], &everything);
}

#[test]
fn a_secret_in_fragments_or_bytes_is_hidden_in_a_trial() {
    let plan = r"
secrets: [pw]
variables: { pw: hunter-hunter-hunter }
defaults: { url: '${__P(target)}' }
thread_groups:
  - on_error: continue
    steps:
      - open: { path: /fragment?n=5 }
      - request_response: { name: pieces, send: 'so ${pw} so', assert: { equals: x } }
      - open: { connection: bytes, path: /echo }
      - request_response:
          name: bytes
          connection: bytes
          send_hex: 00ff68756e7465722d68756e7465722d68756e746572ff
          assert: { hex: { equals: ff } }
";
    let everything = left_behind(plan, &[]);
    assert!(everything.contains("pieces"), "{everything}");
    expect_none_of(&["hunt", "unter", "ter-hu", "68756e", "68 75 6e"], &everything);
}

#[test]
fn what_a_secret_is_made_from_is_one_too() {
    let plan = r#"
variables: { half: hunter-half, header: 'Bearer hunter-header' }
defaults: { url: '${__P(target)}/echo', headers: { Authorization: '${header}' } }
thread_groups:
  - on_error: continue
    steps:
      - open: {}
      - set: { api_token: '${__P(other_half)}:${half}' }
      - request_response: { name: half, send: 'so ${half}', assert: { equals: x } }
      - request_response: { name: other half, send: 'so ${__P(other_half)}', assert: { equals: x } }
      - request_response: { name: header, send: 'so ${header}', assert: { equals: x } }
      - request_response: { name: written, send: '{"password": "hunter-written"}', assert: { equals: x } }
      - request_response: { name: again, send: 'so hunter-written', assert: { equals: x } }
"#;
    let everything = left_behind(plan, &["other_half=hunter-other"]);
    assert!(everything.contains("so ***"), "{everything}");
    expect_none_of(&["hunter"], &everything);
}

#[test]
fn an_assertion_about_a_secret_shows_neither_what_it_wanted_nor_what_it_found() {
    let plan = r#"
defaults: { url: '${__P(target)}/echo' }
thread_groups:
  - on_error: continue
    steps:
      - open: {}
      - request_response:
          name: json
          send: '{"user": {"passcode": 4711, "token": "hunter-1"}}'
          assert:
            - json: { path: $.user.token, equals: hunter-2 }
            - json: { path: $.user.passcode, equals: 4712 }
            - regex: 'token":"hunter-3'
"#;
    let everything = left_behind(plan, &[]);
    assert!(everything.contains("$.user.token"), "{everything}");
    expect_none_of(&["hunter", "4711", "4712"], &everything);
}

#[test]
fn diagnostics_and_explained_plans_hide_what_they_are_about() {
    let plan = r"
secrets: [pw]
variables: { pw: hunter-0 }
defaults: { url: 'ws://bob:hunter-1@127.0.0.1:1/' }
thread_groups:
  - loops: '${__P(password)}'
    steps:
      - open: { url: 'bob:hunter-2@127.0.0.1/' }
      - log: 'my password=hunter-3 and hunter-0'
      - request_response: { send: a, assert: { json: { path: $.token, equals: hunter-4 } } }
";
    let env = Env::new();
    let path = env.write("plan.yaml", plan);
    let path = path.to_str().expect("a path of ours");
    let refused = env.wsmeter(&["check", path, "-J", "password=hunter-5"]).finish();
    refused.expect_exit(2);
    assert!(refused.stderr.contains("***"), "{}", refused.stderr);
    expect_none_of(&["hunter"], &refused.stderr);
    let whole = plan.replace("url: 'bob:hunter-2@127.0.0.1/'", "path: /?token=hunter-2");
    env.write("plan.yaml", &whole);
    let explained = env.wsmeter(&["check", path, "--explain", "-J", "password=3"]).finish();
    explained.expect_exit(0);
    assert!(explained.stdout.contains("password=***"), "{}", explained.stdout);
    expect_none_of(&["hunter"], &explained.stdout);
}

#[test]
fn a_label_keeps_what_it_is_told_apart_by() {
    let plan = r"
variables: { room: lobby, token: hunter7 }
defaults: { url: '${__P(target)}/echo', cookies: { session: '${room}' } }
thread_groups:
  - on_error: continue
    steps:
      - open: {}
      - set: { session: lobby }
      - request_response: { name: 'say ${room} ${token}', send: 'to lobby' }
thresholds: { 'say lobby ***': count > 0 }
";
    let (env, server) = (Env::new(), target());
    let finished = env.run(plan, &["-J", &format!("target=ws://{}", server.address())]);
    finished.expect_exit(0);
    assert_eq!(finished.row("say lobby ***").code, "200");
    expect_none_of(&["hunter"], &outputs(&env, &finished));
}

#[test]
fn a_message_that_an_assertion_refuses_hides_what_would_have_been_extracted() {
    let plan = r"
secrets: [got]
defaults: { url: '${__P(target)}/echo' }
thread_groups:
  - steps:
      - open: {}
      - request_response:
          name: log in
          send: 'OK hunter-${__P(part)} welcome'
          assert: { equals: x }
          extract: { between: { left: 'OK ', right: ' ', as: got } }
";
    let everything = left_behind(plan, &["part=77"]);
    assert!(everything.contains("OK *** welcome"), "{everything}");
    expect_none_of(&["hunter-77"], &everything);
}

#[test]
fn a_plan_that_is_no_yaml_is_quoted_without_its_password() {
    for line in [
        "password: @hunter",
        "password: 'a'hunter-2'",
        "password: hunter: x",
        "- { user: bob password: hunter }",
        "- json: { path: $.token, equals: hunter-2",
    ] {
        let env = Env::new();
        let path = env.write("plan.yaml", format!("variables:\n  {line}\nthread_groups: []\n"));
        let refused = env.wsmeter(&["check", path.to_str().expect("a path of ours")]).finish();
        refused.expect_exit(2);
        expect_none_of(&["hunter"], &refused.stderr);
    }
}

#[test]
fn plans_are_shown_without_what_secrets_are_made_from() {
    let plan = r"
variables: { c: hunter-1-c, pc: hunter7 }
defaults: { url: 'ws://127.0.0.1:1/' }
thread_groups:
  - steps:
      - open: { headers: { Authorization: 'Bearer ${c}' } }
      - http: { path: /, basic_auth: { user: bob, password: '${pc}' } }
      - for_each: { in: [hunter-each], as: token, steps: [request_response: 'a ${token}'] }
      - request_response: { send: b, extract: { regex: { pattern: a, as: token, default: hunter-default } } }
      - request_response: '${__P(db_password, hunter-property)}'
";
    let env = Env::new();
    let finished = env.run(plan, &[]);
    finished.expect_exit(1);
    let page = fs_err::read_to_string(env.path("results/report.html")).expect("it is written");
    let path = env.path("plan.yaml");
    let path = path.to_str().expect("a path of ours");
    let explained = env.wsmeter(&["check", path, "--explain"]).finish();
    explained.expect_exit(0);
    for text in [&page, &explained.stdout, &finished.stderr] {
        expect_none_of(&["hunter"], text);
    }
    assert!(page.contains("basic_auth"), "the plan is there");
}

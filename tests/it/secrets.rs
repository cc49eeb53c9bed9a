//! Secrets in whole runs: no output holds one, unless `--show-secrets` asks for them. And sample
//! variables, which are where they would show first.

use crate::support::env::{Env, Finished};
use crate::support::target;

/// What must not be seen; `%` and `"` have other forms in URLs and JSON.
const SECRET: &str = r#"hunter2"%é&hunter3"#;

/// Shows the secret wherever a plan can: label, URL, failure messages, causes, columns, stopping.
const PLAN: &str = r"
secrets: [token, got]
sample_variables: [room, token, got]
variables:
  room: lobby
  token: ${__P(credential)}
defaults:
  url: ${__P(target)}
thread_groups:
  - steps:
      - open: { name: 'open ${token}', path: '/echo?t=${token}&room=${room}&access_token=${token}' }
      - request_response:
          name: give
          send_json: { token: '${token}', session: 'abcdefgh${token}' }
          extract:
            - json: { path: $.session, as: got }
      - request_response: { name: 'say ${got}', send: 'secret ${got}', assert: { equals: other } }
      - request_response: { name: long, send: '${__RandomString(150,x)} ${got}', assert: { equals: '${got}' } }
      - request_response: { name: miss, send: 'secret ${token}', extract: { json: { path: $.a, as: a } } }
      - request_response: { name: 'skip ${token}', send: '${a}' }
      - close: { name: shut, reason: '${__RandomString(1,r)}' }
      - request_response: { name: 'last ${token}', send: hello, on_error: stop_test }
";

/// Everything that a run leaves behind, in one text.
fn outputs(env: &Env, finished: &Finished) -> String {
    let read = |name: &str| fs_err::read_to_string(env.path(name)).expect("the run has written it");
    let files = [read("results/samples.jtl"), read("results/summary.json")];
    [&*files.concat(), &finished.stdout, &finished.stderr].concat()
}

fn run(env: &Env, more: &[&str]) -> Finished {
    let server = target();
    let target = format!("target=ws://{}/", server.address());
    let credential = format!("credential={SECRET}");
    env.run(PLAN, &[&["-J", &target, "-J", &credential], more].concat())
}

#[test]
fn no_output_shows_a_secret_in_any_form() {
    let env = Env::new();
    let finished = run(&env, &[]);
    finished.expect_exit(1);
    let everything = outputs(&env, &finished);
    for part in ["hunter2", "hunter3", "abcdef"] {
        let line = everything.lines().find(|line| line.contains(part));
        assert_eq!(line, None, "{part} in {everything}");
    }
    let labels: Vec<&str> = finished.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["open ***", "give", "say ***", "long", "miss", "shut", "last ***"]);
    assert!(
        finished.row("give").url.ends_with("/echo?t=***&room=lobby&access_token=***"),
        "{finished:#?}"
    );
    assert!(finished.row("say ***").failure.contains("found /secret ***/"), "{finished:#?}");
    assert_eq!(finished.summary["skipped"][0]["label"], "skip ***");
    assert_eq!(finished.summary["plan"]["properties"]["credential"], "***");
    assert!(finished.stderr.contains("last ***"), "{}", finished.stderr);
}

#[test]
fn all_outputs_show_secrets_where_they_are_asked_for() {
    let env = Env::new();
    let finished = run(&env, &["--show-secrets"]);
    finished.expect_exit(1);
    assert!(!outputs(&env, &finished).contains("***"));
    let row = finished.row(&format!("open {SECRET}"));
    assert_eq!(row.variables, ["lobby", SECRET, "null"]);
    assert!(row.url.contains("t=hunter2"), "{row:?}");
    assert_eq!(finished.summary["plan"]["properties"]["credential"], SECRET);
}

#[test]
fn sample_variables_have_their_values_at_the_end_of_the_sample() {
    let plan = r"
sample_variables: [room, id]
variables: { room: 'a,b' }
thread_groups:
  - steps:
      - open: { url: '${__P(target)}' }
      - request_response: { send: '${__counter(TRUE, id)}' }
      - single_write: { send: '${__counter(TRUE, id)}' }
";
    let server = target();
    let url = format!("target=ws://{}/echo", server.address());
    let finished = Env::new().run(plan, &["-J", &url]);
    finished.expect_exit(0);
    let ids: Vec<&[String]> = finished.rows.iter().map(|row| row.variables.as_slice()).collect();
    assert_eq!(ids, [["a,b", "null"], ["a,b", "1"], ["a,b", "1"]]);
}

#[test]
fn names_of_query_values_and_headers_make_secrets_without_being_named() {
    let plan = r"
sample_variables: [cookie]
thread_groups:
  - steps:
      - open:
          url: ${__P(target)}
          headers: { Authorization: 'Basic hunter3-${__threadNum}' }
          extract: { header: { name: Set-Cookie, as: cookie, default: hunter2 } }
      - request_response: { send: '${cookie} hunter3-1 hunter4-4', assert: { equals: x } }
";
    let (server, env) = (target(), Env::new());
    let url = format!("target=ws://{}/echo?access_token=hunter4-4", server.address());
    let finished = env.run(plan, &["-J", &url, "-J", "api_key=hunter2"]);
    finished.expect_exit(1);
    let everything = outputs(&env, &finished);
    assert!(!everything.contains("hunter"), "{everything}");
    assert_eq!(finished.row("open").variables, ["***"]);
    assert!(finished.row("open").url.ends_with("?access_token=***"));
}

/// Passwords, tokens and cookies of a login, none of them named in `secrets`.
const LOGIN: &str = r"
variables: { password: 'pass word-1', token: none }
sample_variables: [token]
defaults: { url: '${__P(target)}' }
thread_groups:
  - steps:
      - http: { name: form, path: /login, body: { form: { user: bob, password: '${password}' } } }
      - http:
          name: json
          path: '/login?api_key=hunter-hunter'
          body: { json: { user: bob, password: '${password}' } }
          extract: { json: { path: $.token, as: token } }
      - http: { name: 'wrong ${token}', path: /login, body: { form: { password: 'x${password}' } } }
      - open: { path: '/private?token=${token}', headers: { Authorization: 'Bearer ${token}' } }
      - request_response: { send: '${password} ${token}', assert: { equals: '${token}' } }
      - open: { name: basic, basic_auth: { user: bob, password: '${password}' }, path: /echo }
      - open: { name: info, url: 'ws://bob:pass%20word-1@${__P(host)}/reject', cookies: { a: 'sugar-sugar' } }
      - open: { name: follow, path: '/redirect?to=/reject?token%3D${token}', follow_redirects: 1 }
";

#[test]
fn a_login_leaves_no_password_token_or_cookie_in_any_output() {
    for command in ["run", "try"] {
        let (server, env) = (target(), Env::new());
        let plan = env.write("plan.yaml", LOGIN);
        let address = server.address();
        let (url, host) = (format!("target=ws://{address}"), format!("host={address}"));
        let plan = plan.to_str().expect("a path of ours");
        let mut arguments = vec![command, plan, "-J", &url, "-J", &host];
        if command == "run" {
            arguments.extend(["-o", "results"]);
        }
        let shown = |more: &[&str]| {
            let finished = env.wsmeter(&[&arguments, more].concat()).finish();
            finished.expect_exit(1);
            let mut everything = [&*finished.stdout, &finished.stderr].concat();
            if command == "run" {
                everything = outputs(&env, &finished);
                let codes: Vec<&str> = finished.rows.iter().map(|row| row.code.as_str()).collect();
                let wanted = ["200", "200", "401", "101", "200", "101", "403", "403"];
                assert_eq!(codes, wanted, "{finished:#?}");
            }
            everything
        };
        let (hidden, open) = (
            shown(&[]),
            shown(&["--show-secrets", "--force"][..2 - usize::from(command == "try")]),
        );
        for part in ["word-1", "bob.", "hunter-h", "sugar", "Ym9iOnBhc3M"] {
            let line = hidden.lines().find(|line| line.contains(part));
            assert_eq!(line, None, "{part} in\n{hidden}");
            assert!(command == "run" || open.contains(part), "{part} is nowhere in\n{open}");
        }
    }
}

#[test]
fn diagnostics_hide_secrets_too() {
    let plan = "secrets: token\nvariables: { token: hunter2 }\nthread_groups:\n  - steps:\n      \
                - open: { url: 'http://h/?t=hunter2', read_timeout: hunter2 }\n";
    let finished = Env::new().run(plan, &[]);
    finished.expect_exit(2);
    assert!(!finished.stderr.contains("hunter2"), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("url: 'http://h/?t=***', read_timeout: ***"),
        "{}",
        finished.stderr
    );
}

#[test]
fn diagnostics_hide_secrets_also_where_a_plan_cannot_be_read_to_its_end() {
    let plan = "secrets: [token]\nvariables: { token: hunter2 }\nthread_groups:\n  - steps:\n      \
                - open: { url: 'ws://h/?t=hunter2', colour: hunter2 }\n";
    let finished = Env::new().run(plan, &[]);
    finished.expect_exit(2);
    assert!(!finished.stderr.contains("hunter2"), "{}", finished.stderr);
    assert!(finished.stderr.contains("url: 'ws://h/?t=***', colour: ***"), "{}", finished.stderr);
}

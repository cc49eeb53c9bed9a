//! `wsmeter try`, by what a user reads.

use crate::support::env::Env;
use crate::support::peer::Peer;

/// Tries a plan; gives the exit code, and what it showed with times as `T`.
fn try_plan(plan: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let env = Env::new();
    let path = env.write("plan.yaml", plan);
    let mut all = vec!["try", path.to_str().expect("a path of ours")];
    all.extend(arguments);
    let finished = env.wsmeter(&all).finish();
    let times = regex::Regex::new(r"\b\d+(\.\d+)?(µs|ms|s)\b|(?m)^ +\d+\.\d").expect("a pattern");
    let shown = times.replace_all(&finished.stdout, "T").into_owned();
    (finished.exit_code, shown, finished.stderr)
}

/// What is shown from the line that begins with `first`, so many lines.
fn from<'t>(shown: &'t str, first: &str, lines: usize) -> Vec<&'t str> {
    let at = shown.lines().position(|line| line.trim().starts_with(first));
    let at = at.unwrap_or_else(|| panic!("no line `{first}` in\n{shown}"));
    shown.lines().skip(at).take(lines).map(str::trim).collect()
}

#[test]
fn each_group_is_tried_with_one_thread_and_one_iteration_one_after_another() {
    let plan = "
defaults: { url: '${__P(target)}' }
thresholds: { all: p95 < 1us }
thread_groups:
  - { name: First, threads: 50, ramp_up: 1h, loops: 9, steps: [open: /echo, request_response: hi] }
  - { name: Second, delay: 1h, steps: [open: /echo] }
";
    let (code, shown, stderr) = try_plan(plan, &["--serve"]);
    assert_eq!(code, Some(0), "{shown}{stderr}");
    let threads: Vec<&str> = shown.lines().filter(|line| line.starts_with("thread")).collect();
    assert_eq!(threads, ["thread First 1-1", "thread Second 2-1"]);
    let request = from(&shown, "T request_response", 4);
    assert_eq!(request[1..3], ["T -> text, 2 B: hi", "T <- text, 2 B: hi"]);
    assert_eq!(request[3], "= passed: 200 OK in T, 4 B received, 8 B sent");
    assert!(stderr.contains("thresholds are not judged"), "{stderr}");
    assert!(stderr.ends_with("PASSED: 0 of 3 samples failed\n"), "{stderr}");
    let (_, shown, _) = try_plan(plan, &["--serve", "--group", "Second"]);
    assert!(!shown.contains("First") && shown.contains("thread Second 2-1"), "{shown}");
    let (code, _, stderr) = try_plan(plan, &["--serve", "--group", "Secund"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("a similar group exists: `Second`"), "{stderr}");
}

#[test]
fn what_becomes_of_every_message_is_told() {
    let peer = Peer::spawn(|client| {
        client.accept();
        client.send_text("greeting");
        client.expect_text();
        for text in ["noise 1", "another", "answer"] {
            client.send_text(text);
        }
        client.expect_text();
        client.listen(std::time::Duration::from_millis(150));
        client.send_text("late");
        client.send_text("end");
        client.echo_nothing();
    });
    let plan = format!(
        "
defaults: {{ url: '{}', filters: {{ starts_with: noise }} }}
thread_groups:
  - steps:
      - open
      - pause: 100ms
      - request_response: {{ name: ask, send: q, reply: {{ equals: answer }} }}
      - request_response: {{ name: lost, send: q, reply: {{ equals: late }}, read_timeout: 100ms }}
      - read: {{ until: {{ equals: end }}, reply: {{ equals: end }} }}
",
        peer.url("/")
    );
    let (code, shown, _) = try_plan(&plan, &[]);
    peer.finish();
    assert_eq!(code, Some(1));
    for line in [
        "dropped by the filter `starts_with: noise`: /noise 1/",
        "passed over, and kept for other readers: /another/",
        "= FAILED: READ_TIMEOUT Read timed out after T: no reply came within `read_timeout`",
        "a late reply to `lost`: /late/",
        "passed over, and dropped: nobody else reads it: /greeting/",
    ] {
        assert!(shown.lines().any(|shown| shown.trim() == line), "no `{line}` in\n{shown}");
    }
}

#[test]
fn assertions_and_variables_are_shown_with_what_was_found_and_secrets_are_not() {
    let plan = "
variables: { token: s3cr3t }
secrets: [token]
defaults: { url: '${__P(target)}' }
thread_groups:
  - steps:
      - open: { path: '/echo?token=${token}', headers: { Authorization: 'Bearer ${token}' } }
      - request_response:
          name: say
          send_json: { n: 7, token: '${token}' }
          assert: [{ json: { path: $.n, less_than: 9 } }, { json: { path: $.n, equals: 8 } }, { contains: n }]
          extract: { json: { path: $.n, as: n } }
      - single_write: { send: '${n}' }
";
    let (code, shown, stderr) = try_plan(plan, &["--serve"]);
    assert_eq!(code, Some(1), "{shown}{stderr}");
    let say = from(&shown, "T say (request_response)", 9);
    assert_eq!(say[1], "T -> text, 24 B: {\"n\":7,\"token\":\"***\"}");
    assert_eq!(say[3], "ok json: $.n less_than: 9, found 7");
    assert_eq!(say[5], "ok contains: n");
    assert!(say[4].starts_with("FAILS json: $.n equals: 8: Value in json path '$.n' expected"));
    assert_eq!(say[6], "n has no value");
    assert!(shown.contains("= `single_write` is skipped because of NOT_EXTRACTED"), "{shown}");
    assert!(!shown.contains("s3cr3t") && !stderr.contains("s3cr3t"), "{shown}");
    assert!(shown.contains("Authorization: ***"), "{shown}");
    let (_, shown, _) = try_plan(plan, &["--serve", "--show-secrets"]);
    assert!(shown.contains("Authorization: Bearer s3cr3t"), "{shown}");
}

#[test]
fn a_refusal_is_shown_with_its_body_and_a_wrong_plan_sends_nothing() {
    let plan = "
defaults: { url: '${__P(target)}' }
thread_groups: { steps: [{ open: /reject?status=403 }, single_read] }
";
    let (code, shown, _) = try_plan(plan, &["--serve"]);
    assert_eq!(code, Some(1));
    let answer = from(&shown, "T <- HTTP/1.1 403 Forbidden", 6);
    assert_eq!(answer[4], "refused, as asked");
    assert_eq!(
        answer[5],
        "= FAILED: 403 Upgrade refused after T: the server answered `403 Forbidden`:"
    );
    assert!(shown.contains("= `single_read` is skipped because of 403"), "{shown}");
    let (code, shown, stderr) = try_plan("thread_groups: { steps: [opne] }", &[]);
    assert_eq!((code, shown.as_str()), (Some(2), ""));
    assert!(stderr.contains("unknown step `opne`"), "{stderr}");
}

#[test]
fn the_answers_of_http_servers_are_shown() {
    let plan = "
defaults: { url: '${__P(target)}' }
thread_groups:
  - steps:
      - open: { name: refused, path: /reject?status=418 }
      - open: { name: followed, path: /redirect?to=/echo, follow_redirects: 1 }
      - http: { path: /login, body: { form: { user: bob, password: hunter2 } } }
";
    let (code, shown, stderr) = try_plan(plan, &["--serve"]);
    assert_eq!(code, Some(1), "{shown}{stderr}");
    let refused = from(&shown, "T refused", 20).join("\n");
    assert!(refused.contains("HTTP/1.1 418 I'm a teapot"), "{refused}");
    assert!(refused.contains("\nrefused, as asked\n"), "{refused}");
    let followed = from(&shown, "T followed", 40).join("\n");
    for part in ["GET /redirect?to=/echo", "302 Found", "GET /echo", "101 Switching Protocols"] {
        assert!(followed.contains(part), "{part} is not in {followed}");
    }
    let request = from(&shown, "T http", 18).join("\n");
    for part in ["POST /login", "user=bob&password=***", "set-cookie: ***", "\"user\":\"bob\""] {
        assert!(request.contains(part), "{part} is not in {request}");
    }
}

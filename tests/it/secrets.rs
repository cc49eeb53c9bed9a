//! Secrets in whole runs: no output holds one, unless `--show-secrets` asks for them. And sample
//! variables, which are where they would show first.

mod disguised;

use std::sync::{Arc, Mutex};

use crate::support::env::{Env, Finished};
use crate::support::peer::Peer;
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

/// A server whose answers are secrets, and which redirects: `/to?302=` leads on, `/cookies` and
/// `/tokens` give many, all else answers with what it was sent.
fn teller() -> (Peer, Arc<Mutex<Vec<String>>>) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&requests);
    let peer = Peer::spawn(move |client| {
        client.read_request();
        let request = client.request_with_body();
        received.lock().expect("no script panics here").push(request.clone());
        let target = request.split(' ').nth(1).unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let many = |one: &dyn Fn(u32) -> String, between| {
            (0..30).map(one).collect::<Vec<String>>().join(between)
        };
        let (status, headers, body) = match path {
            "/to" => (&query[..3], format!("Location: {}\r\n", &query[4..]), String::new()),
            "/cookies" => {
                let cookie = |n| format!("Set-Cookie: c{n}=crumb-{n:05}; Path=/x\r\n");
                ("200", many(&cookie, ""), String::new())
            }
            "/tokens" => {
                let token = |n| format!("\"token{n}\":\"tale-{n:05}\"");
                ("200", String::new(), format!("{{{}}}", many(&token, ",")))
            }
            "/fields" => ("200", String::new(), "aa=".repeat(20_000)),
            "/demand" => (
                "200",
                String::new(),
                "{\"password_age\":\"chat\",\"passwords\":\"no\"}".to_owned(),
            ),
            "/refuse" => ("403", String::new(), request.clone()),
            _ => ("200", String::new(), request.clone()),
        };
        let length = body.len();
        let head = format!("HTTP/1.1 {status} Told\r\n{headers}Content-Length: {length}\r\n\r\n");
        client.send((head + &body).as_bytes());
    });
    (peer, requests)
}

/// A run and a trial of a plan against such a server: what they left behind, and what they sent to
/// another server.
fn told(plan: &str) -> (String, String, Finished) {
    let ((peer, _), (other, there), env) = (teller(), teller(), Env::new());
    let target = format!("target={}", peer.address());
    let elsewhere = format!("other={}", other.address());
    let properties = ["-J", &target, "-J", &elsewhere];
    let finished = env.run(plan, &properties);
    finished.expect_exit(1);
    let path = env.write("plan.yaml", plan);
    let path = path.to_str().expect("a path of ours");
    let tried = env.wsmeter(&[&["try", path], &properties[..]].concat()).finish();
    tried.expect_exit(1);
    let everything = [&*outputs(&env, &finished), &tried.stdout, &tried.stderr].concat();
    let there = there.lock().expect("no script panics here").join("\n");
    (everything, there, finished)
}

fn expect_none_of(parts: &[&str], text: &str) {
    for part in parts {
        let line = text.lines().find(|line| line.contains(part));
        assert_eq!(line, None, "{part}");
    }
}

#[test]
fn no_flood_of_cookies_and_tokens_drives_out_a_secret() {
    let plan = r"
secrets: [pw, tok]
variables: { pw: hunter-password }
defaults: { url: 'ws://${__P(target)}' }
thread_groups:
  - loops: 20
    steps:
      - set: { tok: 'hunter-token-${__threadNum}' }
      - http: { path: /tokens, extract: { json: { path: $.token3, as: t3 } } }
      - loop: { times: 10, steps: [ http: { name: cookies, path: /cookies } ] }
      - http: { name: say, path: /refuse, body: 'a ${tok} ${pw} ${t3} crumb-00000 crumb-00029' }
";
    let (everything, _, finished) = told(plan);
    assert_eq!(finished.rows.iter().filter(|row| row.label == "say").count(), 20);
    expect_none_of(&["hunter", "tale-", "crumb-"], &everything);
}

#[test]
fn redirects_to_another_server_carry_no_secret() {
    let plan = r"
secrets: [pw]
variables: { pw: hunter-password }
defaults: { url: 'ws://${__P(target)}', follow_redirects: 3 }
thread_groups:
  - on_error: continue
    steps:
      - http: { name: form, path: '/to?307=http://${__P(other)}/', body: { form: { password: x-hunter } } }
      - http: { name: json, path: '/to?308=http://${__P(other)}/', body: { json: { a: '${pw}' } } }
      - http: { name: see other, path: '/to?303=http://${__P(other)}/', body: { json: { a: '${pw}' } } }
      - http: { name: plain, path: '/to?307=http://${__P(other)}/', body: 'nothing to hide' }
      - http: { name: header, path: '/to?302=http://${__P(other)}/', headers: { X-Api-Key: x-hunter, X-T: 'a${pw}' } }
      - open: { name: offer, url: 'ws://${__P(target)}', path: '/to?302=ws://${__P(other)}/', subprotocols: [fine, 't.${pw}'] }
";
    let (everything, there, finished) = told(plan);
    let codes: Vec<&str> = finished.rows.iter().map(|row| row.code.as_str()).collect();
    assert_eq!(codes, ["307", "308", "200", "200", "200", "200"], "{finished:#?}");
    assert!(finished.row("form").failure.contains("the body holds secrets"), "{finished:#?}");
    expect_none_of(&["hunter"], &there);
    assert!(there.contains("nothing to hide") && there.contains("Protocol: fine"), "{there}");
    expect_none_of(&["hunter"], &everything);
}

#[test]
fn secrets_are_hidden_however_short_and_wherever_a_redirect_leads() {
    let plan = r#"
defaults: { url: 'ws://${__P(target)}' }
thread_groups:
  - on_error: continue
    steps:
      - http: { name: short, path: '/refuse?token=abc1234' }
      - http: { name: number, path: /refuse, body: '{"token": 76543210, "pin_token": 4321}' }
      - http:
          name: lines
          path: /refuse
          body: |
            {"password":"line-1"}
            {"password":"line-2"}
      - http: { name: form, path: /refuse, body: 'user=bob&password=form-1' }
      - http: { name: headers, path: /refuse, cookies: { sid: ab12cd }, headers: { X-Api-Key: ke-1, Proxy-Authorization: Basic ba-1 } }
      - http: { name: location, path: '/to?302=/x?token=loc-1', assert: { status: 200 } }
      - open: { name: upgrade, url: 'ws://${__P(target)}', path: '/to?302=/x?access_token=loc-2' }
      - http: { name: between, path: '/to?302=/to?302=%2Frefuse&token=between-1', follow_redirects: 2 }
      - open: { name: stomp, url: 'ws://${__P(target)}/refuse', headers: { X-Auth-Token: au-1 } }
"#;
    let (everything, _, finished) = told(plan);
    assert_eq!(finished.rows.len(), 9, "{finished:#?}");
    let parts = [
        "abc1234",
        "76543210",
        "4321",
        "line-1",
        "line-2",
        "form-1",
        "ab12cd",
        "ke-1",
        "ba-1",
        "loc-1",
        "loc-2",
        "between-1",
        "au-1",
    ];
    expect_none_of(&parts, &everything);
}

#[test]
fn diagnostics_show_no_password_that_the_plan_holds() {
    let plan = r#"
defaults:
  cookies:
    crumb: "hunter1\n"
  headers:
    Authorization: "Bearer hunter2\n"
    Cookie: ["a=hunter3", "b=hunter4\n"]
thread_groups:
  - steps:
      - open: { url: 'ws://bob:hunter5/x@127.0.0.1:1', basic_auth: { user: 'a:b', password: hunter6 } }
      - http: { url: 'ftp://bob:hunter7@h/?token=hunter8', path: /, headers: { X-Api-Key: "hunter9\n" } }
"#;
    let finished = Env::new().run(plan, &[]);
    finished.expect_exit(2);
    expect_none_of(&["hunter"], &finished.stderr);
    assert!(finished.stderr.contains("write `%2F` for `/`"), "{}", finished.stderr);
}

#[test]
fn a_body_that_looks_like_many_fields_takes_no_time() {
    let plan = r"
defaults: { url: 'ws://${__P(target)}' }
time_limit: 20s
thread_groups:
  - steps:
      - http: { name: fields, path: /fields }
      - http: { name: own, path: /refuse, body: '${__P(fields)}' }
";
    let ((peer, _), env) = (teller(), Env::new());
    let target = format!("target={}", peer.address());
    let fields = format!("fields={}", "35=D|".repeat(8_000));
    let finished = env.run(plan, &["-J", &target, "-J", &fields]);
    finished.expect_exit(1);
    assert_eq!(finished.rows.len(), 2, "{finished:#?}");
}

#[test]
fn neither_a_short_secret_nor_a_server_changes_a_label_that_the_plan_has_written() {
    let plan = r"
secrets: [pw]
variables: { pw: demo }
defaults: { url: 'ws://${__P(target)}' }
thread_groups:
  - loops: 3
    steps:
      - http: { name: demo chat, path: /demand, basic_auth: { user: a, password: a } }
      - transaction: { name: a chat, steps: [ http: { name: chat, path: /say, body: '${pw}' } ] }
thresholds: { demo chat: count > 2, chat: error_rate < 1% }
";
    let ((peer, _), env) = (teller(), Env::new());
    let finished = env.run(plan, &["-J", &format!("target={}", peer.address())]);
    finished.expect_exit(0);
    let labels: Vec<&str> = finished.rows.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["demo chat", "chat", "a chat"].repeat(3), "{finished:#?}");
}

#[test]
fn what_a_variable_with_a_telling_name_holds_is_a_secret() {
    let plan = r#"
sample_variables: [token]
defaults: { url: 'ws://${__P(target)}' }
thread_groups:
  - steps:
      - open: { url: '${__P(other)}' }
      - request_response:
          name: log in
          send: '{"token":"hunter-token-1"}'
          extract: { json: { path: $.token, as: token } }
      - log: 'a Bearer ${token}, {"auth_key":"hunter-2"}'
      - request_response: { name: 'say ${token}', send: 'so ${token}', assert: { equals: x } }
      - http: { name: query, path: '/refuse?to=a;token=hunter-3' }
"#;
    let ((peer, _), server, env) = (teller(), target(), Env::new());
    let address = format!("target={}", peer.address());
    let other = format!("other=ws://{}/echo", server.address());
    let finished = env.run(plan, &["-J", &address, "-J", &other]);
    finished.expect_exit(1);
    assert_eq!(finished.rows.len(), 4, "{finished:#?}");
    expect_none_of(&["hunter"], &outputs(&env, &finished));
}

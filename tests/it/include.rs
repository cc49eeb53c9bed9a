//! `include`: steps of other files, with parameters, settings and places of their own.

use sha2::{Digest, Sha256};

use crate::support::env::{Env, Finished};
use crate::support::target;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> Env {
    let env = Env::new();
    for (name, content) in files {
        if let Some(folder) = env.path(name).parent() {
            fs_err::create_dir_all(folder).expect("the temporary folder can be written");
        }
        env.write(name, content);
    }
    env
}

fn plan(steps: &str) -> String {
    format!(
        "variables: {{ who: bob }}\n\
         defaults: {{ url: '${{__P(target, ws://127.0.0.1:1)}}', path: /echo }}\n\
         thread_groups:\n- steps:\n{steps}"
    )
}

/// A run against the embedded target.
fn run(env: &Env, plan: &str) -> Finished {
    let server = target();
    let url = format!("target=ws://{}", server.address());
    env.run(plan, &["-J", &url])
}

fn labels(finished: &Finished) -> Vec<&str> {
    finished.rows.iter().map(|row| row.label.as_str()).collect()
}

/// What `check --explain` prints.
fn explained(env: &Env, plan: &str, arguments: &[&str]) -> String {
    env.write("plan.yaml", plan);
    let checked = env.wsmeter(&[&["check", "--explain", "plan.yaml"], arguments].concat()).finish();
    checked.expect_exit(0);
    checked.stdout
}

#[test]
fn included_steps_run_in_place_with_their_parameters() {
    let login = "\
parameters: { room: lobby, user: , label: 'in ${room}' }
steps:
  - request_response:
      name: ${label}
      send_json: { user: '${user}', room: '${room}', n: '${who}' }
      assert: { json: { path: $.user, equals: '${user}' } }
      extract: { json: { path: $.room, as: echoed } }
  - if: { condition: user == 'eve', then: { request_response: { name: is eve, send: x } } }
  - if: { condition: user == who, then: { request_response: { name: is who, send: x } } }
  - if: { condition: defined(user), then: { request_response: { name: has a user, send: x } } }
";
    let steps = "
  - open
  - include: { file: parts/login.yaml, with: { user: eve } }
  - include: { file: parts/login.yaml, with: { user: '${who}', room: 'of ${echoed}' } }
  - request_response: { name: 'after ${echoed}', send: x }
";
    let env = folder(&[("parts/login.yaml", login)]);
    let finished = run(&env, &plan(steps));
    finished.expect_exit(0);
    let expected = [
        "open",
        "in lobby",
        "is eve",
        "has a user",
        "in of lobby",
        "is who",
        "has a user",
        "after of lobby",
    ];
    assert_eq!(labels(&finished), expected, "{}", finished.stderr);
}

#[test]
fn a_parameter_is_known_in_its_own_file_only() {
    let env = folder(&[
        (
            "outer.yaml",
            "{ parameters: { who: outer }, steps: [include: inner.yaml, log: '${who}'] }",
        ),
        ("inner.yaml", "- single_write: { name: w, send: 'hello ${who}' }"),
    ]);
    let text =
        explained(&env, &plan("  - open\n  - include: outer.yaml\n  - log: '${who}'\n"), &[]);
    assert!(text.contains("send: hello ${who}"), "{text}");
    assert!(text.contains("log: outer"), "{text}");
    assert!(text.contains("log: ${who}"), "{text}");
}

#[test]
fn settings_of_the_including_place_reach_the_included_steps() {
    let env = folder(&[("ask.yaml", "request_response: { send: hello }")]);
    let steps = "
  - open
  - include:
      file: ask.yaml
      defaults: { read_timeout: 77ms }
      assert: { contains: hel }
      filters: { contains: noise }
      extract: { regex: { pattern: 'h(.)', as: found } }
      on_error: stop_thread
  - log: ${found}
";
    let text = explained(&env, &plan(steps), &[]);
    for line in ["read_timeout: 77ms", "assert: contains: hel", "contains: noise", "stop_thread"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(text.contains("rows expected: 2 if nothing fails"), "{text}");
}

#[test]
fn a_property_may_choose_the_file_and_what_is_not_enabled_is_not_read() {
    let env = folder(&[("a.yaml", "- log: from a"), ("b.yaml", "- log: from b")]);
    let steps = "
  - include: ${__P(part, a)}.yaml
  - include: { file: missing.yaml, enabled: '${__P(all, false)}' }
  - block: { enabled: false, steps: [include: missing.yaml] }
  - open
";
    assert!(explained(&env, &plan(steps), &[]).contains("log: from a"));
    assert!(explained(&env, &plan(steps), &["-J", "part=b"]).contains("log: from b"));
    let all = env.wsmeter(&["check", "plan.yaml", "-J", "all=true"]).finish();
    all.expect_exit(2);
    assert!(all.stderr.contains("there is no file `missing.yaml`"), "{}", all.stderr);
}

#[test]
fn paths_in_an_included_file_begin_in_its_own_folder() {
    let env = folder(&[
        ("a/one.yaml", "- include: ../b/two.yaml\n"),
        ("b/two.yaml", "- request_response: { name: two, send_file: message.txt }\n"),
        ("b/message.txt", "from b"),
    ]);
    let text = explained(&env, &plan("  - open\n  - include: a/one.yaml\n"), &[]);
    assert!(text.contains("from b"), "{text}");
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let env = Env::new();
    env.write("plan.yaml", plan("  - include: /dev/null\n  - include: /dev/zero\n"));
    let checked = env.wsmeter(&["check", "plan.yaml"]).finish();
    checked.expect_exit(2);
    assert_eq!(checked.stderr.matches("is no ordinary file").count(), 2, "{}", checked.stderr);
}

#[test]
fn the_summary_names_the_plan_with_all_its_files() {
    let (one, two) = ("- include: two.yaml\n- include: two.yaml\n", "- request_response: hello\n");
    let env = folder(&[("one.yaml", one), ("two.yaml", two)]);
    let plan = plan("  - open\n  - include: two.yaml\n  - include: one.yaml\n");
    let finished = run(&env, &plan);
    finished.expect_exit(0);
    assert_eq!(finished.rows.len(), 4);
    let hash = finished.summary["plan"]["sha256"].as_str().expect("the hash");
    let pairs = hash.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("ASCII"));
    let bytes: Vec<u8> =
        pairs.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal")).collect();
    assert_eq!(bytes, Sha256::digest(format!("{plan}{two}{one}")).as_slice());
}

#[test]
fn what_would_never_end_or_fill_the_memory_is_refused() {
    let doubled = "- include: next.yaml\n- include: next.yaml\n";
    let nested = format!(
        "{}{{ include: next.yaml }}{}",
        "{ loop: { times: 1, steps: ".repeat(19),
        " } }".repeat(19)
    );
    for (file, deepest, told) in [
        ("- include: next.yaml\n", 40, "is more than 32 files deep"),
        (&nested, 30, "are nested more than 128 levels deep"),
        (doubled, 30, "includes more than 10,000 files"),
    ] {
        let env = Env::new();
        for depth in 0..deepest {
            let content = file.replace("next", &format!("f{}", depth + 1));
            env.write(&format!("f{depth}.yaml"), content);
        }
        env.write(&format!("f{deepest}.yaml"), "- open\n");
        env.write("plan.yaml", plan("  - include: f0.yaml\n"));
        let checked = env.wsmeter(&["check", "plan.yaml"]).finish();
        checked.expect_exit(2);
        assert!(checked.stderr.contains(told), "{}", checked.stderr);
        assert_eq!(checked.stderr.matches("error: ").count(), 1, "{}", checked.stderr);
    }
}

#[test]
fn a_mistake_in_a_file_that_is_included_often_is_told_once() {
    let env =
        folder(&[("wrong.yaml", "- ping_pong: { read_timeout: soon }\n- pause: ${nobody}\n")]);
    env.write("plan.yaml", plan(&format!("  - open\n{}", "  - include: wrong.yaml\n".repeat(100))));
    let checked = env.wsmeter(&["check", "plan.yaml"]).finish();
    checked.expect_exit(2);
    assert_eq!(checked.stderr.matches("error: ").count(), 2, "{}", checked.stderr);
    assert_eq!(checked.stderr.matches("= included from plan.yaml:6:5").count(), 2);
}

#[test]
fn a_secret_stays_one_in_the_place_of_a_parameter() {
    let env = folder(&[
        ("send.yaml", "{ parameters: { t: }, steps: [log: 'with ${t}'] }"),
        ("own.yaml", "{ parameters: { token: }, steps: [log: 'its own ${token}'] }"),
    ]);
    let plan = format!(
        "secrets: token\n{}",
        plan(
            "  - open\n  - include: { file: send.yaml, with: { t: '${token}' } }\n  \
             - include: { file: own.yaml, with: { token: swordfish } }\n"
        )
        .replace("who: bob", "token: hunter2")
    );
    let finished = run(&env, &plan);
    finished.expect_exit(0);
    for secret in ["hunter2", "swordfish"] {
        assert!(!finished.stderr.contains(secret), "{}", finished.stderr);
    }
    assert!(finished.stderr.contains("its own ***"), "{}", finished.stderr);
    assert!(finished.stderr.contains("with ***"), "{}", finished.stderr);
}

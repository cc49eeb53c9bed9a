//! Functions, by what a user sees: the list, and what each example of it gives.

use regex::Regex;
use wsmeter::compile::{FUNCTIONS, FunctionInfo};

use crate::support::env::Env;

/// What the example of a function gives: a pattern for the whole.
fn shape(name: &str) -> &'static str {
    match name {
        "__P" | "__property" => "10",
        "__env" => "test",
        "__threadNum" | "__counter" => "1",
        "__threadGroupName" => "Thread Group",
        "__time" => r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d",
        "__timeShift" => "2026-02-01",
        "__UUID" => "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
        "__Random" => "[1-6]",
        "__RandomString" => "[abc123]{8}",
        "__char" => "Hi",
        "__urlencode" => r"a\+b%26c",
        "__base64Encode" => "dXNlcjpwYXNz",
        "__base64Decode" => "hello",
        "__digest" => "5d41402abc4b2a76b9719d911017c592",
        "__FileToString" => r#"\{"id": 1\}"#,
        other => panic!("what does `{other}` give?"),
    }
}

#[test]
fn every_example_gives_what_the_list_says() {
    let env = Env::new();
    env.write("message.json", "{\"id\": 1}");
    let step = |one: &FunctionInfo| {
        format!(
            "      - request_response:\n          name: {}\n          send: '{}'\n          extract: {{ \
             regex: {{ pattern: '(?s)(.*)', as: result }} }}\n",
            one.name, one.example
        )
    };
    let steps: String = FUNCTIONS.iter().map(step).collect();
    let plan = format!(
        "defaults: {{ url: '${{__P(target)}}', path: /echo }}\nsample_variables: [result]\n\
         thread_groups:\n  - steps:\n      - open\n{steps}"
    );
    let finished = env.run(&plan, &["--serve", "--no-progress"]);
    finished.expect_exit(0);
    for one in FUNCTIONS {
        let found = &finished.row(one.name).variables[0];
        let pattern = Regex::new(&format!("^(?:{})$", shape(one.name))).expect("a pattern");
        assert!(pattern.is_match(found), "{} gave {found}", one.example);
        assert!(pattern.is_match(one.sample), "{} is said to give {}", one.example, one.sample);
    }
}

#[test]
fn the_list_has_every_function_with_its_example() {
    let listed = Env::new().wsmeter(&["functions"]).finish();
    listed.expect_exit(0);
    for one in FUNCTIONS {
        let entry = format!(
            "{}\n    {}\n    {} gives, for example, {}\n",
            one.usage, one.summary, one.example, one.sample
        );
        assert!(listed.stdout.contains(&entry), "{}", listed.stdout);
        assert!(one.usage.starts_with(one.name), "{}", one.usage);
        assert!(one.example.starts_with(&format!("${{{}(", one.name)), "{}", one.example);
    }
}

#[test]
fn arguments_may_be_variables_and_results_are_stored() {
    let env = Env::new();
    env.write("word.txt", "from a file");
    let plan = "
defaults: { url: '${__P(target)}', path: /echo }
sample_variables: [code, moved, hash, file, plain]
variables: { text: 'é b', day: 2024-02-28, by: P2D }
thread_groups:
  - steps:
      - open
      - request_response: '${__base64Encode(${text}, code)} ${__base64Decode(${code}, plain)} ${__urlencode(${text})}'
      - request_response: '${__timeShift(yyyy-MM-dd, ${day}, ${by}, , moved)} ${__digest(sha-1, ${text}, salt, TRUE, hash)}'
      - request_response: { name: file, send: '${__FileToString(word.txt, UTF-8, file)} ${__char(${__Random(65, 65)})}', assert: { equals: from a file A } }
      - request_response: { name: bad, send: '${__char(${text})}' }
      - request_response: { name: late, send: '${__timeShift(yyyy-MM-dd, ${text}, P1D)}' }
";
    let finished = env.run(plan, &["--serve", "--no-progress"]);
    finished.expect_exit(1);
    let values = &finished.row("late").variables;
    let hash = "B509F02087D72AC255AC2E9E69BE30D61DD396D9";
    assert_eq!(values[0], "w6kgYg==");
    assert_eq!((values[1].as_str(), values[2].as_str()), ("2024-03-01", hash));
    assert_eq!((values[3].as_str(), values[4].as_str()), ("from a file", "é b"));
    for (label, failure) in [
        ("bad", "`é b` is not the number of a Unicode character, from `${text}`"),
        ("late", "`é b` is not a date of this format, from `${text}`"),
    ] {
        let row = finished.row(label);
        assert_eq!((row.code.as_str(), row.failure.as_str()), ("BAD_VALUE", failure));
    }
}

#[test]
fn the_environment_is_known_before_the_run() {
    let plan = "
thread_groups:
  - threads: ${__env(WSMETER_TEST_UNSET, 2)}
    name: ${__env(HOME)}
    steps: [log: hello]
";
    let env = Env::new();
    env.write("plan.yaml", plan);
    let checked = env.wsmeter(&["check", "--explain", "plan.yaml"]).finish();
    checked.expect_exit(0);
    assert!(checked.stdout.contains("2 threads"), "{}", checked.stdout);
    let home = std::env::var("HOME").expect("tests have a home");
    assert!(checked.stdout.contains(&format!("group 1: {home}\n")), "{}", checked.stdout);
}

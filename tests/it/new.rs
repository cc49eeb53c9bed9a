//! `wsmeter new`, by what a user does with what it writes.

use crate::support::env::Env;
use crate::support::target;

#[test]
fn a_new_plan_is_right_and_runs_as_it_is() {
    let server = target();
    let env = Env::new();
    let url = format!("ws://{}/echo?room=a&token=s3cr3t", server.address());
    let written = env.wsmeter(&["new", &url]).finish();
    written.expect_exit(0);
    let file = "127-0-0-1.yaml";
    assert!(written.stdout.contains(&format!("wsmeter try {file}")), "{}", written.stdout);
    let plan = fs_err::read_to_string(env.path(file)).expect("it is there");
    assert!(plan.starts_with("# yaml-language-server: $schema=plan.schema.json\n"), "{plan}");
    assert!(!plan.contains("s3cr3t"), "a token does not belong in a file: {plan}");
    let schema = fs_err::read_to_string(env.path("plan.schema.json")).expect("it is there, too");
    assert_eq!(schema, fs_err::read_to_string("schemas/plan.schema.json").expect("a schema"));
    let unset = env.wsmeter(&["check", file]).finish();
    assert!(unset.stderr.contains("-J token="), "{}", unset.stderr);
    env.wsmeter(&["check", "--strict", "-J", "token=x", file]).finish().expect_exit(0);
    env.wsmeter(&["try", "-J", "token=x", file]).finish().expect_exit(0);
    let run = env.wsmeter(&["run", "-J", "token=x", file, "-o", "out", "-q"]).finish();
    run.expect_exit(0);
    assert_eq!(server.counters().rejected, 0);
}

#[test]
fn nothing_is_overwritten_and_a_wrong_address_is_told() {
    let env = Env::new();
    env.write("mine.yaml", "kept");
    let refused = env.wsmeter(&["new", "ws://h/", "-o", "mine.yaml"]).finish();
    refused.expect_exit(2);
    assert!(refused.stderr.contains("`mine.yaml` exists already"), "{}", refused.stderr);
    assert_eq!(fs_err::read_to_string(env.path("mine.yaml")).expect("a file"), "kept");
    env.wsmeter(&["new", "ws://h/", "-o", "mine.yaml", "--force"]).finish().expect_exit(0);
    let http = env.wsmeter(&["new", "http://h/"]).finish();
    http.expect_exit(2);
    assert!(http.stderr.contains("write `ws://h/`"), "{}", http.stderr);
    let folder = env.wsmeter(&["new", "ws://h/", "-o", "none/plan.yaml"]).finish();
    folder.expect_exit(2);
    assert!(folder.stderr.contains("none/plan.yaml"), "{}", folder.stderr);
}

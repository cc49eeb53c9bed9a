//! `wsmeter check`: warnings, `--strict` and `--explain`.

use crate::support::env::Env;

/// Can be run, and reads nothing from a variable that it sets.
const ODD: &str = "\
variables: { room: lobby }
thread_groups:
  - steps:
      - open: { url: 'ws://127.0.0.1:1' }
";

const WARNING: &str = ": the variable `room` is never used
 --> plan.yaml:1:14
  |
1 | variables: { room: lobby }
  |              ^^^^
  = help: write `${room}` where it belongs, or remove it
";

#[test]
fn a_warning_is_shown_and_the_plan_is_ok() {
    let env = Env::new();
    env.write("plan.yaml", ODD);
    let checked = env.wsmeter(&["check", "plan.yaml"]).finish();
    checked.expect_exit(0);
    assert_eq!(checked.stdout, "plan.yaml: ok\n");
    assert_eq!(checked.stderr.trim_end(), format!("warning{WARNING}").trim_end());
}

#[test]
fn a_warning_is_an_error_where_the_check_is_strict() {
    let env = Env::new();
    env.write("plan.yaml", ODD);
    let checked = env.wsmeter(&["check", "--strict", "plan.yaml"]).finish();
    checked.expect_exit(2);
    assert_eq!(checked.stdout, "");
    assert_eq!(checked.stderr.trim_end(), format!("error{WARNING}").trim_end());
    env.write("plan.yaml", ODD.lines().skip(1).collect::<Vec<_>>().join("\n"));
    env.wsmeter(&["check", "--strict", "plan.yaml"]).finish().expect_exit(0);
}

#[test]
fn a_run_shows_warnings_too() {
    let run = Env::new().run(ODD, &[]);
    run.expect_exit(1);
    assert!(run.stderr.starts_with(&format!("warning{WARNING}")), "{}", run.stderr);
}

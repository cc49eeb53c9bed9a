//! `wsmeter check`: warnings, `--strict` and `--explain`.

use crate::support::env::Env;

/// What the plan with most keys includes.
const STEPS: &str = "tests/fixtures/schema/steps.yaml";

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

/// `WSMETER_BLESS=1 cargo test explained` writes the texts anew; read them before they are
/// committed.
#[test]
fn plans_are_explained_as_understood_with_every_default() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for (plan, explained) in [
        ("tests/fixtures/schema/rich.yaml", "tests/fixtures/explain/rich.txt"),
        ("plans/quickstart.yaml", "tests/fixtures/explain/quickstart.txt"),
    ] {
        let env = Env::new();
        env.write("plan.yaml", fs_err::read(root.join(plan)).expect("a plan"));
        env.write("steps.yaml", fs_err::read(root.join(STEPS)).expect("steps"));
        for name in ["message.json", "users.csv", "ca.pem", "client.pem", "client.key"] {
            let file = root.join("tests/fixtures/schema").join(name);
            env.write(name, fs_err::read(file).expect("a file of the rich plan"));
        }
        let checked = env.wsmeter(&["check", "--explain", "plan.yaml"]).finish();
        checked.expect_exit(0);
        let file = root.join(explained);
        if std::env::var_os("WSMETER_BLESS").is_some() {
            fs_err::write(&file, &checked.stdout).expect("the text can be written");
        }
        let wanted = fs_err::read_to_string(&file).unwrap_or_default();
        assert!(checked.stdout == wanted, "{plan}:\n{}", checked.stdout);
    }
}

#[test]
fn secrets_are_not_explained() {
    let env = Env::new();
    env.write(
        "plan.yaml",
        "variables: { api_key: k1 }\n\
         thread_groups:\n\
         - steps:\n\
         \x20  - open:\n\
         \x20      url: 'ws://h/?token=t1&room=a'\n\
         \x20      headers: { Authorization: b1, X-Secret: s1, X-Key: '${api_key}', X-Room: r1 }\n\
         \x20  - open: { url: 'ws://h', path: '/?sid=s2${api_key}' }\n",
    );
    let checked = env.wsmeter(&["check", "--explain", "plan.yaml"]).finish();
    checked.expect_exit(0);
    for secret in ["k1", "t1", "b1", "s1", "s2"] {
        assert!(!checked.stdout.contains(secret), "{secret}: {}", checked.stdout);
    }
    for shown in ["room=a", "X-Room: r1", "token=***", "Authorization: ***", "/?sid=***"] {
        assert!(checked.stdout.contains(shown), "{shown}: {}", checked.stdout);
    }
}

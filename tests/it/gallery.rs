//! The example plans: each is read without a warning, and passes against the embedded server.

use std::path::PathBuf;

use crate::support::env::{Env, Finished};
use crate::support::target;
use crate::support::tls::{Authority, Front, TlsServer};

/// What makes the plans short enough for a test; those that a plan does not ask for mean nothing to it.
const SHORT: [&str; 6] = ["-J", "duration=2s", "-J", "think=100ms", "-J", "ramp_up=0s"];

/// All example plans, in the order of their names.
pub(crate) fn plans() -> Vec<PathBuf> {
    let entries = fs_err::read_dir("plans").expect("the examples are there");
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut plans: Vec<PathBuf> =
        paths.filter(|path| path.extension() == Some("yaml".as_ref())).collect();
    plans.sort();
    assert!(plans.len() >= 12, "only {} examples", plans.len());
    plans
}

#[test]
fn example_plans_are_read_without_a_warning() {
    let env = Env::new();
    for plan in plans() {
        let plan = plan.canonicalize().expect("it is there");
        let plan = plan.to_str().expect("it is UTF-8");
        let checked = env.wsmeter(&["check", "--strict", plan]).finish();
        assert_eq!(checked.exit_code, Some(0), "{}", checked.stderr);
    }
}

/// Each is proved against a real server by the plan that is checked here; see tests/servers.
#[test]
fn protocols_are_read_without_a_warning() {
    let env = Env::new();
    let entries = fs_err::read_dir("plans/protocols").expect("the protocols are there");
    let mut count = 0;
    for entry in entries {
        let protocol = entry.expect("the folder can be read").path();
        let stem = protocol.file_stem().and_then(|stem| stem.to_str()).expect("it is UTF-8");
        let plan = PathBuf::from(format!("tests/servers/{stem}/plan.yaml"));
        let text = fs_err::read_to_string(&plan).expect("each protocol has a plan");
        assert!(text.contains(&format!("plans/protocols/{stem}.yaml")), "{stem} is not included");
        let plan = plan.canonicalize().expect("it is there");
        let plan = plan.to_str().expect("it is UTF-8");
        let check = ["check", "--strict", plan, "-J", "target=ws://127.0.0.1:1"];
        let checked = env.wsmeter(&check).finish();
        assert_eq!(checked.exit_code, Some(0), "{stem}: {}", checked.stderr);
        count += 1;
    }
    assert!(count >= 5, "only {count} protocols");
}

#[test]
fn example_plans_pass_against_the_embedded_server() {
    for plan in plans() {
        let env = Env::new();
        let plan = plan.canonicalize().expect("it is there");
        let plan = plan.to_str().expect("it is UTF-8");
        let run = ["run", "--serve", plan, "-o", "results"];
        let finished = if plan.ends_with("/tls.yaml") {
            run_over_tls(&env, plan)
        } else {
            env.wsmeter(&[&run[..], &SHORT].concat()).finish()
        };
        assert_eq!(finished.exit_code, Some(0), "{plan}: {}", finished.stderr);
        assert!(finished.rows.len() >= 9, "{plan}: {} rows", finished.rows.len());
        let last = finished.stderr.lines().last().unwrap_or_default();
        assert!(last.starts_with("PASSED: "), "{plan}: {last}");
    }
}

/// The embedded server speaks no TLS: a relay of the tests does.
fn run_over_tls(env: &Env, plan: &str) -> Finished {
    let (authority, server) = (Authority::new("ours"), target());
    let tls = TlsServer::new(authority.issue(&["chat.example.com"]));
    let front = Front::tls(&tls, server.address());
    let ca = env.write("ca.pem", authority.pem());
    let (url, ca) = (format!("url={}", front.url("")), format!("ca={}", ca.display()));
    let run = ["run", plan, "-o", "results", "-J", &url, "-J", &ca];
    env.wsmeter(&[&run[..], &SHORT].concat()).finish()
}

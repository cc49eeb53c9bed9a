//! `plans/nightly/run`, night after night: what a schedule keeps, compares with, publishes and tells.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::support::env::{Env, Finished, Running};
use crate::support::target;
use crate::support::time::wait_until;

/// A short night with a server that takes 10 ms. Only a great change of the median counts: the machine may be busy.
const SHORT: [&str; 24] = [
    "--serve",
    "--no-progress",
    "--tolerance",
    "at_least=40ms",
    "--tolerance",
    "rate=95%",
    "--tolerance",
    "p90=5000%",
    "--tolerance",
    "p95=5000%",
    "--tolerance",
    "p99=5000%",
    "-J",
    "duration=1500ms",
    "-J",
    "ramp_up=0s",
    "-J",
    "threads=8",
    "-J",
    "rate=50/s",
    "-J",
    "p95=5s",
    "-J",
    "path=/slow?ms=10",
];
/// One in which it takes far longer.
const SLOW: [&str; 2] = ["-J", "path=/slow?ms=120"];

fn start(env: &Env, variables: &[(&str, &str)], arguments: &[&str]) -> Running {
    let files = Path::new("plans/nightly").canonicalize().expect("it is there");
    let plan = files.join("plan.yaml");
    let plan = plan.to_str().expect("it is UTF-8");
    env.script(&files.join("run"), variables, &[&[plan], arguments].concat())
}

fn night(env: &Env, variables: &[(&str, &str)], arguments: &[&str]) -> Finished {
    start(env, variables, &[&SHORT, arguments].concat()).finish()
}

/// The run folders in `results`, oldest first.
fn runs(env: &Env) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(env.path("results")) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("the folder can be read").path());
    let mut runs: Vec<_> = paths.filter(|path| path.is_dir() && !path.is_symlink()).collect();
    runs.sort();
    runs
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("it is UTF-8")
}

#[test]
fn the_plan_is_read_without_a_warning() {
    let plan = Path::new("plans/nightly/plan.yaml").canonicalize().expect("it is there");
    let plan = plan.to_str().expect("it is UTF-8");
    let checked = Env::new().wsmeter(&["check", "--strict", plan]).finish();
    checked.expect_exit(0);
}

#[test]
fn each_night_is_compared_with_the_last_one_that_passed() {
    let env = Env::new();
    let first = night(&env, &[], &[]);
    first.expect_exit(0);
    assert!(first.stderr.contains("the first one"), "{}", first.stderr);
    let good = runs(&env).pop().expect("a run");

    let second = night(&env, &[], &[]);
    second.expect_exit(0);
    let compared = format!("compared with results/{}", name(&good));
    assert!(second.stderr.contains(&compared), "{}", second.stderr);
    let good = runs(&env).pop().expect("a run");

    let compared = format!("compared with results/{}", name(&good));
    let slow = night(&env, &[], &SLOW);
    slow.expect_exit(1);
    assert!(slow.stderr.contains(&compared), "{}", slow.stderr);
    let last = slow.stderr.lines().last().expect("a verdict");
    assert!(last.starts_with("FAILED: compared with ") && last.contains("worse"), "{last}");

    // As slow as the night before, which is nothing to be compared with.
    let slow = night(&env, &[], &SLOW);
    slow.expect_exit(1);
    assert!(slow.stderr.contains(&compared), "{}", slow.stderr);

    // Unless a person says that this is how it shall be.
    let accepted = runs(&env).pop().expect("a run");
    fs_err::write(accepted.join("passed"), "").expect("it can be marked");
    let slow = night(&env, &[], &SLOW);
    slow.expect_exit(0);
    let pinned = good.to_str().expect("it is UTF-8");
    night(&env, &[("BASELINE", pinned)], &SLOW).expect_exit(1);
}

#[test]
fn old_runs_go_but_never_the_baseline_nor_anything_else() {
    let env = Env::new();
    fs_err::create_dir_all(env.path("results/20200101-by-hand")).expect("a folder can be made");
    night(&env, &[], &[]).expect_exit(0);
    night(&env, &[], &[]).expect_exit(0);
    let good = runs(&env).into_iter().rfind(|run| run.join("passed").exists());
    let good = good.expect("one has passed");
    for _ in 0..2 {
        night(&env, &[("KEEP", "1")], &SLOW).expect_exit(1);
    }
    let runs = runs(&env);
    let names: Vec<_> = runs.iter().map(|run| name(run)).collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert_eq!(names[..2], ["20200101-by-hand", name(&good)]);
    let latest = fs_err::read_link(env.path("results/latest")).expect("a link");
    assert_eq!(latest, Path::new(names[2]));
}

#[test]
fn reports_are_published_and_never_those_of_another_night() {
    let env = Env::new();
    let publish = [("PUBLISH", "public")];
    night(&env, &publish, &[]).expect_exit(0);
    let run = runs(&env).pop().expect("a run");
    for report in ["report.html", "junit.xml", "summary.md"] {
        // A run has them or not; what it has is what is published.
        let published = fs_err::read(env.path("public").join(report)).ok();
        assert_eq!(published, fs_err::read(run.join(report)).ok(), "{report}");
    }
    assert!(env.path("public/report.html").exists());

    let wrong = night(&env, &publish, &["-J", "path=${nobody}"]);
    wrong.expect_exit(2);
    assert!(!env.path("public/report.html").exists(), "{}", wrong.stderr);
}

#[test]
fn a_crash_leaves_no_baseline() {
    let env = Env::new();
    night(&env, &[], &[]).expect_exit(0);
    let good = runs(&env).pop().expect("a run");
    // wsmeter, killed as soon as it has written rows.
    let killed = format!(
        "#!/bin/sh\n'{}' \"$@\" &\nwhile [ \"$1\" != -o ]; do shift; done\nturn=0\n\
         until [ -s \"$2/samples.jtl\" ] || [ $turn = 200 ]; do turn=$((turn + 1)); sleep 0.05; done\n\
         kill -s KILL $!\nwait $!\n",
        env!("CARGO_BIN_EXE_wsmeter")
    );
    let killed = env.write("killed", killed);
    fs_err::set_permissions(&killed, Permissions::from_mode(0o755)).expect("it can be run");
    let killed = killed.to_str().expect("it is UTF-8");
    let crashed = night(&env, &[("WSMETER", killed)], &["-J", "duration=30s"]);
    crashed.expect_exit(128 + 9);
    let crash = runs(&env).pop().expect("a run");
    assert!(crash != good && crash.join("samples.jtl").exists(), "{}", crashed.stderr);

    let next = night(&env, &[], &[]);
    next.expect_exit(0);
    let compared = format!("compared with results/{}", name(&good));
    assert!(next.stderr.contains(&compared), "{}", next.stderr);
}

#[test]
fn no_two_run_at_once_and_a_signal_is_passed_on() {
    let env = Env::new();
    let server = target();
    let to = format!("target=ws://{}", server.address());
    let long = ["--no-progress", "-J", &to, "-J", "duration=30s", "-J", "ramp_up=0s"];
    let going = start(&env, &[], &long);
    wait_until("the first run has connected", || server.counters().open > 0);
    let second = night(&env, &[], &[]);
    second.expect_exit(75);
    assert!(second.stderr.contains("another run of results goes on"), "{}", second.stderr);
    assert_eq!(runs(&env).len(), 1);
    going.signal("TERM");
    let ended = going.finish();
    ended.expect_exit(130);
    let run = runs(&env).pop().expect("a run");
    assert!(run.join("summary.json").exists(), "its results are kept");
    assert!(!run.join("passed").exists());
    night(&env, &[], &[]).expect_exit(0);
}

#[test]
fn what_is_wrong_is_told_before_anything_is_done() {
    let env = Env::new();
    env.write("file", "");
    for (variables, text) in [
        (("RESULTS", "file"), "file: cannot be made"),
        (("PUBLISH", "file"), "file: cannot be made"),
        (("KEEP", "0"), "KEEP is `0`; write a whole number from 1"),
        (("KEEP", "many"), "KEEP is `many`"),
        (("WSMETER", "./nothing"), "`./nothing` is not there"),
    ] {
        let wrong = night(&env, &[variables], &[]);
        wrong.expect_exit(2);
        assert!(wrong.stderr.contains(text), "{}", wrong.stderr);
    }
    let script = Path::new("plans/nightly/run").canonicalize().expect("it is there");
    let wrong = env.script(&script, &[], &["gone.yaml"]).finish();
    wrong.expect_exit(2);
    assert!(wrong.stderr.contains("gone.yaml: there is no such plan"), "{}", wrong.stderr);
    let gone = night(&env, &[("BASELINE", "gone")], &[]);
    gone.expect_exit(2);
    assert!(gone.stderr.contains("gone"), "{}", gone.stderr);
    assert!(runs(&env).is_empty());
}

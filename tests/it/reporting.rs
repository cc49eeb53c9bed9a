//! What `report`, `merge` and `compare` print, where, and what becomes of what cannot be written.

use std::process::Command;

use crate::support::env::Env;

const PLAN: &str = "
defaults: { url: '${__P(target)}/echo' }
thread_groups:
  - steps: [open, { loop: { times: 4, steps: [{ request_response: { name: say, send: hi } }] } }]
";

/// A folder with two runs in `results`, to one of which `latest` leads.
fn two_runs() -> Env {
    let env = Env::new();
    env.write("plan.yaml", PLAN);
    for _ in 0..2 {
        env.wsmeter(&["run", "plan.yaml", "--serve", "--no-progress"]).finish().expect_exit(0);
    }
    assert!(env.path("results/latest").is_symlink());
    env
}

/// The paths in `results`, as a shell gives them.
fn paths(env: &Env) -> Vec<String> {
    let entries = fs_err::read_dir(env.path("results")).expect("there are results");
    let name = |entry: std::io::Result<fs_err::DirEntry>| {
        format!("results/{}", entry.expect("an entry").file_name().to_string_lossy())
    };
    let mut paths: Vec<String> = entries.map(name).collect();
    paths.sort();
    paths
}

#[test]
fn a_run_to_which_two_paths_lead_is_counted_once() {
    let env = two_runs();
    let paths = paths(&env);
    assert_eq!(paths.len(), 3, "{paths:?}");
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let finished = env.wsmeter(&[&["report"], &paths[..]].concat()).finish();
    finished.expect_exit(0);
    assert!(
        finished.stderr.ends_with("10 rows read; 0 of 10 samples failed\n"),
        "{}",
        finished.stderr
    );
    assert!(
        finished.stderr.contains("is the same as results/latest, and is counted once"),
        "{}",
        finished.stderr
    );
    let merged = env.wsmeter(&[&["merge", "-o", "all"], &paths[..]].concat()).finish();
    merged.expect_exit(0);
    assert!(merged.stderr.ends_with("10 rows of 2 results joined\n"), "{}", merged.stderr);
}

#[test]
fn tables_are_on_standard_output_and_one_that_cannot_be_printed_is_an_error() {
    let env = two_runs();
    for arguments in
        [&["report", "results/latest"][..], &["compare", "results/latest", "results/latest"]]
    {
        let finished = env.wsmeter(arguments).finish();
        finished.expect_exit(0);
        assert!(finished.stdout.contains("\nsay "), "{}", finished.stdout);
        assert!(!finished.stderr.contains("\nsay "), "{}", finished.stderr);
        let lost = env.wsmeter_after("exec 1>/dev/full", arguments).finish();
        lost.expect_exit(3);
        assert!(lost.stderr.contains("failed to write to standard output"), "{}", lost.stderr);
    }
    // Whoever reads no further has seen enough.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let piped = Command::new(env!("CARGO_BIN_EXE_wsmeter")).arg("schema").stdout(writer).output();
    let piped = piped.expect("it runs");
    assert_eq!((piped.status.code(), piped.stderr), (Some(0), Vec::new()));
}

#[test]
fn where_one_report_cannot_be_written_the_others_say_so() {
    let env = Env::new();
    env.write("plan.yaml", PLAN);
    fs_err::create_dir_all(env.path("night/junit.xml.part")).expect("a folder");
    let arguments = ["run", "plan.yaml", "--serve", "--no-progress", "-o", "night", "--force"];
    let finished = env.wsmeter(&arguments).finish();
    finished.expect_exit(3);
    let text =
        |name: &str| fs_err::read_to_string(env.path("night").join(name)).expect("it is there");
    assert!(text("samples.jtl").lines().count() > 4);
    assert!(text("summary.json").contains("\"exit_code\": 3"), "{}", finished.stderr);
    for name in ["summary.json", "summary.md", "report.html"] {
        assert!(text(name).contains("junit.xml"), "{name}");
    }
    assert!(!env.path("night/junit.xml").exists());
}

//! What reports of results that are read back say of the verdicts of their runs.

use super::{number, read};
use crate::support::env::{Env, Finished};

const MANY: &str = "
defaults: { url: '${__P(target)}/echo' }
thread_groups:
  threads: 4
  steps:
    - open: {}
    - loop: { times: 300, steps: [{ request_response: { name: 'say ${__counter(FALSE)}', send: a } }] }
thresholds: { all: 'count < 10' }
";

const FAILING: &str = "
defaults: { url: '${__P(target)}/echo' }
thread_groups:
  loops: 20
  steps:
    - open: { if_open: keep }
    - request_response: { name: say, send: a, assert: { equals: x }, on_error: continue }
thresholds: { all: 'error_rate < 99%' }
";

fn run(env: &Env, plan: &str, folder: &str) -> Finished {
    env.write("plan.yaml", plan);
    env.wsmeter(&["run", "plan.yaml", "--serve", "--no-progress", "-o", folder]).finish()
}

/// Reports or merges into `report`; gives what is on standard error.
fn told(env: &Env, arguments: &[&str]) -> String {
    let finished = env.wsmeter(&[arguments, &["-o", "report"]].concat()).finish();
    finished.expect_exit(0);
    finished.stderr
}

fn expect_failed(env: &Env) {
    let summary = read(&env.path("report/summary.json"));
    assert_eq!(summary["verdict"], "failed", "{summary:#}");
    let text = |name: &str| fs_err::read_to_string(env.path(name)).expect("it was written");
    assert!(text("report/junit.xml").contains("<failure"), "the JUnit report");
    assert!(text("report/summary.md").contains("failed\n"), "the Markdown summary");
    assert!(text("report/report.html").contains("<strong>Failed</strong>"), "the page");
}

#[test]
fn a_run_with_very_many_labels_keeps_its_summary() {
    let env = Env::new();
    run(&env, MANY, "results").expect_exit(1);
    let stderr = told(&env, &["report", "results"]);
    assert!(!stderr.contains("left aside"), "{stderr}");
    expect_failed(&env);
    run(&env, FAILING, "other").expect_exit(0);
    fs_err::remove_dir_all(env.path("report")).expect("it is there");
    let stderr = told(&env, &["merge", "results", "other"]);
    assert!(!stderr.contains("left aside"), "{stderr}");
}

#[test]
fn what_is_left_of_a_run_that_failed_does_not_pass() {
    let env = Env::new();
    run(&env, &FAILING.replace("equals: x", "equals: a").replace("99%", "0%"), "results")
        .expect_exit(1);
    let rows = fs_err::read_to_string(env.path("results/samples.jtl")).expect("rows");
    let cut: String = rows.split_inclusive('\n').take(11).collect();
    env.write("results/samples.jtl", cut);
    let stderr = told(&env, &["report", "results"]);
    assert!(stderr.contains("this summary is left aside: it is of other rows"), "{stderr}");
    expect_failed(&env);
}

#[test]
fn rows_with_other_times_than_their_summary_are_other_rows() {
    let env = Env::new();
    run(&env, &FAILING.replace("equals: x", "equals: a"), "results").expect_exit(0);
    let rows = fs_err::read_to_string(env.path("results/samples.jtl")).expect("rows");
    let slow = |line: &str| match line.split_once(',') {
        Some((time, rest)) if time.parse::<u64>().is_ok() => {
            let (elapsed, rest) = rest.split_once(',').expect("there are more columns");
            format!("{time},{},{rest}", elapsed.parse::<u64>().expect("milliseconds") + 50)
        }
        _ => line.to_owned(),
    };
    let slower: Vec<String> = rows.lines().map(slow).collect();
    env.write("results/samples.jtl", slower.join("\n") + "\n");
    let stderr = told(&env, &["report", "results"]);
    assert!(stderr.contains("left aside: it is of other rows: it tells of a mean of "), "{stderr}");
    let summary = read(&env.path("report/summary.json"));
    assert!(number(&summary, "/labels/all/p50_ms") >= 50.0, "{summary:#}");
}

#[test]
fn runs_whose_thresholds_allow_failures_are_merged_as_passed_everywhere() {
    let env = Env::new();
    let plan =
        FAILING.replace("loops: 20", "loops: 3").replace("error_rate < 99%", "error_rate < 100%");
    run(&env, &plan, "one").expect_exit(0);
    run(&env, &plan, "two").expect_exit(0);
    told(&env, &["merge", "one", "two"]);
    let summary = read(&env.path("report/summary.json"));
    assert_eq!(summary["reason"], "2 of 2 runs passed");
    let junit = fs_err::read_to_string(env.path("report/junit.xml")).expect("it was written");
    assert!(!junit.contains("<failure"), "{junit}");
}

#[test]
fn times_from_the_intended_start_are_as_many_as_the_run_counted() {
    // Starts that a delay left out count as well: there are more of them than rows.
    let plan = "
defaults: { url: '${__P(target)}/stall?every=600&ms=400' }
thread_groups:
  duration: 2s
  steps:
    - open: {}
    - loop: { times: 1000, steps: [{ pace: 100/s }, { request_response: { name: say, send: a } }] }
";
    let env = Env::new();
    run(&env, plan, "results").expect_exit(0);
    let label = |folder: &str| read(&env.path(folder))["labels"]["say"].clone();
    let own = label("results/summary.json");
    assert!(own["intended_count"].as_u64() > own["count"].as_u64(), "{own:#}");
    told(&env, &["report", "results"]);
    let page = |folder: &str| {
        let page = fs_err::read_to_string(env.path(folder)).expect("it was written");
        let at = page.find("From the intended start").expect("there is a table of them");
        page[at..].split("</table>").next().map(str::to_owned)
    };
    assert_eq!(page("results/report.html"), page("report/report.html"));
}

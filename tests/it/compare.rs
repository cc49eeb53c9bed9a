//! `compare` and `run --baseline`, by what a nightly job sees.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::support::env::{Env, Finished};
use crate::support::jtl::HEADER;

/// Of 8 seconds, a row every 4 ms.
const ROWS: u64 = 2_000;

/// A JTL whose times are spread over a quarter of `median_ms`; one row of `failing` fails.
fn jtl(label: &str, median_ms: u64, failing: u64) -> String {
    let mut text = format!("{HEADER}\n");
    for number in 0..ROWS {
        // A walk through all times, the same in every run.
        let elapsed = median_ms - median_ms / 8 + number * 37 % (median_ms / 4 + 1);
        let success = failing == 0 || !number.is_multiple_of(failing);
        let time = 1_700_000_000_000 + number * 4;
        let code = if success { "200" } else { "READ_TIMEOUT" };
        writeln!(
            text,
            "{time},{elapsed},{label},{code},m,G 1-1,text,{success},,1,1,1,1,null,1,0,0"
        )
        .expect("a text takes it");
    }
    text
}

fn compare(base: &str, new: &str, arguments: &[&str]) -> (Finished, Value) {
    let env = Env::new();
    env.write("base.jtl", base);
    env.write("new.jtl", new);
    let all = [&["compare", "base.jtl", "new.jtl", "--json", "found.json"], arguments].concat();
    let finished = env.wsmeter(&all).finish();
    let json = fs_err::read_to_string(env.path("found.json"));
    (finished, json.map_or(Value::Null, |text| serde_json::from_str(&text).expect("JSON")))
}

/// The finding of a figure of the first label.
fn finding<'a>(json: &'a Value, metric: &str) -> &'a str {
    let changes = json["labels"][0]["changes"].as_array().expect("changes");
    let change = changes.iter().find(|change| change["metric"] == metric).expect("the metric");
    change["finding"].as_str().expect("a finding")
}

#[test]
fn equal_runs_are_no_regression() {
    let (finished, json) = compare(&jtl("say", 20, 0), &jtl("say", 20, 0), &[]);
    assert_eq!(finished.exit_code, Some(0), "{}{}", finished.stdout, finished.stderr);
    let last = "NO REGRESSION: none of 6 figures is surely worse\n";
    assert_eq!(finished.stderr, last);
    assert_eq!(json["regression"], false);
    assert!(
        finished.stdout.contains("note: there is no summary of both runs"),
        "{}",
        finished.stdout
    );
}

#[test]
fn a_slower_run_is_one_and_says_by_how_much() {
    let (finished, json) = compare(&jtl("say", 20, 0), &jtl("say", 24, 0), &[]);
    assert_eq!(finished.exit_code, Some(1), "{}{}", finished.stdout, finished.stderr);
    assert!(
        finished.stderr.starts_with("REGRESSION: 3 of 6 figures are worse"),
        "{}",
        finished.stderr
    );
    let worse = finished.stdout.split("\nworse\n").nth(1).expect("what is worse");
    assert!(worse.starts_with("  say  p50         20."), "{}", finished.stdout);
    assert!(worse.contains("tolerated 10%"), "{worse}");
    assert_eq!((finding(&json, "p50"), finding(&json, "rate")), ("worse", "same"));
    assert_eq!(json["tolerances"]["p95"], "15%");
}

#[test]
fn tolerances_are_those_of_the_command_line() {
    let (base, new) = (jtl("say", 20, 0), jtl("say", 24, 0));
    let relaxed = ["p50", "p90", "p95", "p99"].map(|metric| format!("{metric}=50%"));
    let mut arguments = Vec::new();
    for relaxed in &relaxed {
        arguments.extend(["--tolerance", relaxed]);
    }
    assert_eq!(compare(&base, &new, &arguments).0.exit_code, Some(0));
    assert_eq!(compare(&base, &new, &["--tolerance", "at_least=10ms"]).0.exit_code, Some(0));
    let failing = jtl("say", 20, 100);
    assert_eq!(compare(&base, &failing, &["--tolerance", "error_rate=2%"]).0.exit_code, Some(0));
    assert_eq!(compare(&base, &failing, &["--tolerance", "error_rate=0.1%"]).0.exit_code, Some(1));
    for (bad, text) in [
        ("p95=fast", "`fast` is not a change"),
        ("p59=10%", "`p59` is nothing that is compared"),
        ("at_least=5", "`5` has no unit"),
        ("confidence=100%", "no confidence that would be of use"),
    ] {
        let (finished, _) = compare(&base, &new, &["--tolerance", bad]);
        assert_eq!(finished.exit_code, Some(2), "{bad}");
        assert!(finished.stderr.contains(text), "{}", finished.stderr);
    }
}

#[test]
fn few_samples_are_said_to_be_few() {
    let few = |median_ms| {
        let text = jtl("say", median_ms, 0);
        // The header and 50 rows of 2,000, over all the time.
        let rows = text.lines().enumerate().filter(|(line, _)| *line == 0 || line % 40 == 1);
        rows.flat_map(|(_, row)| [row, "\n"]).collect::<String>()
    };
    let (finished, json) = compare(&few(20), &few(60), &[]);
    assert_eq!(finished.exit_code, Some(1), "{}{}", finished.stdout, finished.stderr);
    assert_eq!((finding(&json, "p50"), finding(&json, "p90")), ("worse", "too few samples"));
    let text = "too few samples: say (its p90 takes 100 samples, and a run has 50)";
    assert!(finished.stdout.contains(text), "{}", finished.stdout);
    assert!(finished.stderr.contains("3 not known"), "{}", finished.stderr);
}

#[test]
fn labels_of_one_run_only_are_told_and_no_regression() {
    let both = jtl("say", 20, 0) + jtl("old", 20, 0).split_once('\n').expect("a header").1;
    let (finished, json) = compare(&both, &jtl("say", 20, 0), &["--tolerance", "rate=60%"]);
    assert_eq!(finished.exit_code, Some(0), "{}{}", finished.stdout, finished.stderr);
    assert!(finished.stdout.contains("\nonly in the base: old\n"), "{}", finished.stdout);
    assert_eq!(json["only_in_base"][0], "old");
    let (finished, _) = compare(&jtl("a", 20, 0), &jtl("b", 20, 0), &[]);
    assert_eq!(finished.exit_code, Some(2));
    assert!(
        finished.stderr.contains("no label is both in base.jtl and in new.jtl"),
        "{}",
        finished.stderr
    );
}

#[test]
fn what_cannot_be_read_is_exit_code_2() {
    let env = Env::new();
    env.write("base.jtl", jtl("say", 20, 0));
    env.write("empty.jtl", "");
    for (base, new) in [("gone", "base.jtl"), ("base.jtl", "gone"), ("base.jtl", "empty.jtl")] {
        let finished = env.wsmeter(&["compare", base, new]).finish();
        assert_eq!(finished.exit_code, Some(2), "{}", finished.stderr);
        assert!(
            finished.stderr.contains("gone")
                || finished.stderr.contains("empty.jtl: the file is empty")
        );
    }
}

/// The folder of a run that was found to be slower than its baseline: whoever reads but one of the
/// reports learns which figure of which label is worse, and by how much.
fn every_report_tells_the_regression(folder: &Path, summary: &Value) {
    let read = |name: &str| fs_err::read_to_string(folder.join(name)).expect("it was written");
    let comparison = &summary["comparison"];
    assert_eq!(comparison["regression"], true, "{summary:#}");
    let labels = comparison["labels"].as_array().expect("labels");
    let say = labels.iter().find(|label| label["label"] == "say").expect("the label");
    let p50 = &say["changes"][2];
    assert_eq!((&p50["metric"], &p50["finding"]), (&"p50".into(), &"worse".into()), "{say:#}");
    assert_eq!(p50["tolerance"], 0.1);
    let [base, new] = ["base", "new"].map(|run| p50[run].as_f64().expect("a time"));
    assert!((5.0..60.0).contains(&base) && new >= 95.0, "{base} {new}");

    let junit = read("junit.xml");
    let case = junit.split("<testcase ").find(|case| case.contains("name=\"say: p50\""));
    let case = case.expect("a test case of its own");
    let message = case.split("message=\"").nth(1).expect("a message");
    assert!(case.contains("<failure type=\"regression\""), "{case}");
    assert!(message.contains("ms -&gt; 1") && message.contains("tolerated 10%"), "{case}");
    let verdict = junit.split("</testcase>").next().expect("the verdict");
    assert!(verdict.contains("say p50: "), "{verdict}");

    let markdown = read("summary.md");
    let row = markdown.lines().find(|line| line.starts_with("| <code>say</code> | p50 |"));
    let row = row.expect("a row");
    assert!(row.contains("❌ **worse**") && row.ends_with(" | 10% | ❌ **worse** |"), "{row}");

    let page = read("report.html");
    let section = page.split("<section id=\"comparison\">").nth(1).expect("a section");
    let section = section.split("</section>").next().expect("its end");
    assert!(section.contains("✗ regression") && section.contains("are worse"), "{section}");
    let first = section.split("<tr>").find(|row| row.contains(">say<") && row.contains(">p50<"));
    assert!(first.expect("a row").contains("✗ worse"), "{section}");
}

/// 4 threads that ask for 1.2 seconds.
const PLAN: &str = "
compare: { p99: 400%, p95: 200%, rate: 40%, at_least: 5ms }
defaults: { url: '${__P(target)}' }
thread_groups:
  - threads: 4
    duration: 1200ms
    steps:
      - open: { path: '/slow?ms=${__P(ms)}', if_open: keep }
      - request_response: { name: say, send: hi }
";

#[test]
fn a_run_is_compared_with_its_baseline_at_its_end() {
    let env = Env::new();
    env.write("plan.yaml", PLAN);
    let run = |ms: &str, arguments: &[&str]| {
        let ms = format!("ms={ms}");
        let run = ["run", "plan.yaml", "--serve", "--no-progress", "-J", &ms];
        env.wsmeter(&[&run, arguments].concat()).finish()
    };
    let gone = run("10", &["--baseline", "results/latest"]);
    assert_eq!(gone.exit_code, Some(2), "{}", gone.stderr);
    assert!(gone.stderr.contains("results/latest: no such file or folder"), "{}", gone.stderr);
    assert!(!env.path("results").exists(), "nothing was sent");

    assert_eq!(run("10", &[]).exit_code, Some(0));
    let latest = env.path("results/latest");
    let first = fs_err::read_link(&latest).expect("a link");
    let slow = run("100", &["--baseline", "results/latest"]);
    assert_eq!(slow.exit_code, Some(1), "{}", slow.stderr);
    assert!(slow.stderr.contains("note: properties differ: `ms`"), "{}", slow.stderr);
    let last = slow.stderr.lines().last().expect("a verdict");
    assert!(last.starts_with("FAILED: compared with ") && last.contains("are worse"), "{last}");

    let second = fs_err::read_link(&latest).expect("a link");
    assert_ne!(first, second, "it leads to the last run");
    let summary = fs_err::read_to_string(latest.join("summary.json")).expect("a summary");
    let summary: Value = serde_json::from_str(&summary).expect("JSON");
    assert_eq!((&summary["verdict"], &summary["exit_code"]), (&"failed".into(), &1.into()));
    assert_eq!(summary["plan"]["compare"]["p99"], "400%");

    every_report_tells_the_regression(&latest, &summary);
    env.wsmeter(&["report", "results/latest", "-o", "again"]).finish().expect_exit(0);
    every_report_tells_the_regression(&env.path("again"), &summary);

    // The tolerances are in the summary, and so are known to `compare`.
    let (first, second) = (env.path("results").join(first), env.path("results").join(second));
    let paths = [&first, &second].map(|path| path.to_string_lossy().into_owned());
    let compared = env.wsmeter(&["compare", &paths[0], &paths[1], "--json", "c.json"]).finish();
    assert_eq!(compared.exit_code, Some(1), "{}", compared.stderr);
    let json = fs_err::read_to_string(env.path("c.json")).expect("JSON");
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["tolerances"]["at_least"], "5ms");
}

//! `report` and `merge`: results of ours, of JMeter and of nobody, read back.

mod verdicts;

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::support::env::{Env, Finished};
use crate::support::jtl;

const HEADER: &str = jtl::HEADER;

/// Two samples of `say`, one of which failed.
const ROWS: &str = "\
1700000000000,12,say,200,OK,G 1-1,text,true,,30,40,1,1,ws://h/,11,0,0
1700000001000,20,say,READ_TIMEOUT,Read timed out,G 1-1,,false,\"no reply, 3 passed over\",0,40,1,1,ws://h/,0,0,0
";

const PLAN: &str = "
defaults: { url: '${__P(target)}' }
filters: [{ contains: never }]
sample_variables: [room]
variables: { room: 'a, \"b\"' }
thread_groups:
  - threads: 3
    steps:
      - open: /echo
      - transaction:
          name: talk
          steps: [{ loop: { times: 5, steps: [{ request_response: { name: say, send: hi } }] } }]
      - close
";

fn report(env: &Env, arguments: &[&str]) -> Finished {
    env.wsmeter(&[&["report"], arguments].concat()).finish()
}

/// The summary that `report FILE -o report` writes.
fn reported(content: impl AsRef<[u8]>) -> (Value, String) {
    let env = Env::new();
    env.write("some.jtl", content);
    let finished = report(&env, &["some.jtl", "-o", "report"]);
    assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
    (read(&env.path("report/summary.json")), all_output(&finished))
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs_err::read_to_string(path).expect("it was written")).expect("JSON")
}

fn number(summary: &Value, place: &str) -> f64 {
    let found = summary.pointer(place).and_then(Value::as_f64);
    found.unwrap_or_else(|| panic!("no number at {place}: {summary:#}"))
}

fn count(summary: &Value, place: &str) -> u64 {
    let found = summary.pointer(place).and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("no count at {place}: {summary:#}"))
}

#[test]
fn a_run_is_reported_as_it_was_counted() {
    let env = Env::new();
    let run = env.run(PLAN, &["--serve", "--no-progress"]);
    assert_eq!(run.exit_code, Some(0), "{}", run.stderr);
    let finished = report(&env, &["results", "-o", "report"]);
    assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
    assert!(
        finished.stderr.ends_with("24 rows read; 0 of 21 samples failed\n"),
        "{}",
        finished.stderr
    );
    assert!(finished.stdout.contains("connections     3 opened"), "{}", finished.stdout);
    let kept = fs_err::read_to_string(env.path("report/summary.json")).expect("a summary");
    assert_eq!(kept, fs_err::read_to_string(env.path("results/summary.json")).expect("a summary"));

    let page = fs_err::read_to_string(env.path("report/report.html")).expect("a page");
    assert!(page.contains("0 of 21 samples failed"), "the verdict of the run is on the page");
    assert!(page.contains("plan.yaml"), "and its plan");

    // Without the summary, from the rows alone.
    fs_err::copy(env.path("results/samples.jtl"), env.path("rows.jtl")).expect("a copy");
    let alone = report(&env, &["rows.jtl", "-o", "alone"]);
    assert_eq!(alone.exit_code, Some(0), "{}", alone.stderr);
    let (own, read) = (run.summary, read(&env.path("alone/summary.json")));
    for label in ["open", "say", "close", "all", "talk"] {
        for figure in ["count", "failed"] {
            let place = format!("/labels/{label}/{figure}");
            assert_eq!(count(&own, &place), count(&read, &place), "{place}");
        }
        let place = format!("/labels/{label}/mean_ms");
        assert!((number(&own, &place) - number(&read, &place)).abs() <= 0.5, "{place}");
    }
    assert_eq!(read.pointer("/labels/talk/transaction"), Some(&true.into()));
}

/// The lines of the table of labels in what was printed.
fn table(text: &str) -> Vec<&str> {
    let lines = text.lines().skip_while(|line| !line.starts_with("label "));
    lines.take_while(|line| !line.is_empty()).collect()
}

#[test]
fn all_reports_of_a_run_folder_have_the_figures_of_its_summary() {
    let env = Env::new();
    let run = env.run(PLAN, &["--serve", "--no-progress"]);
    let finished = report(&env, &["results", "-o", "report"]);
    assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
    assert_eq!(table(&all_output(&finished)), table(&run.stderr));
    let text = |path: &str| fs_err::read_to_string(env.path(path)).expect("it was written");
    let rows = |path: &str| -> Vec<String> {
        text(path).lines().filter(|line| line.starts_with("| <code>")).map(str::to_owned).collect()
    };
    assert_eq!(rows("report/summary.md"), rows("results/summary.md"));
    let sums = |path: &str| -> Vec<String> {
        let text = text(path);
        let sums = text.lines().filter(|line| line.starts_with("wsmeter_elapsed_seconds_sum"));
        sums.map(|line| {
            format!(
                "{:.5}",
                line.rsplit_once(' ').expect("a value").1.parse::<f64>().expect("a number")
            )
        })
        .collect()
    };
    assert_eq!(sums("report/metrics.txt").len(), 3);
    for (read, own) in sums("report/metrics.txt").iter().zip(sums("results/metrics.txt")) {
        let [read, own] = [read, &own].map(|sum| sum.parse::<f64>().expect("a number"));
        // The summary has means to the microsecond.
        assert!((read - own).abs() < 20e-6, "{read} {own}");
    }
    assert_eq!(text("report/latency.hlog"), text("results/latency.hlog"));
    let compared =
        env.wsmeter(&["compare", "results", "results", "--json", "compared.json"]).finish();
    assert_eq!(compared.exit_code, Some(0), "{}", compared.stderr);
}

#[test]
fn times_of_rows_alone_are_told_in_whole_milliseconds() {
    let rows = [0, 0, 0, 1, 109].map(|ms| format!("1700000000000,{ms},say,200,OK,true\n"));
    let rows =
        format!("timeStamp,elapsed,label,responseCode,responseMessage,success\n{}", rows.concat());
    let env = Env::new();
    env.write("some.jtl", rows);
    let finished = report(&env, &["some.jtl", "-o", "report"]);
    let text = all_output(&finished);
    assert!(text.contains("in whole milliseconds, as the rows have them"), "{text}");
    let summary = read(&env.path("report/summary.json"));
    assert_eq!(summary["times_in_whole_ms"], true);
    let figures = ["min_ms", "p50_ms", "p99_ms", "max_ms"]
        .map(|name| number(&summary, &format!("/labels/say/{name}")));
    assert_eq!(figures.map(|ms| ms.to_string()), ["0", "0", "109", "109"]);
    let markdown = fs_err::read_to_string(env.path("report/summary.md")).expect("it was written");
    assert!(markdown.contains("| 0ms | 109ms | 109ms | 109ms |"), "{markdown}");
    assert!(!format!("{text}{markdown}").contains("µs"), "{text}{markdown}");
}

#[test]
fn a_summary_of_other_rows_is_told_and_no_report_has_its_figures() {
    let env = Env::new();
    env.run(PLAN, &["--serve", "--no-progress"]);
    let rows = fs_err::read_to_string(env.path("results/samples.jtl")).expect("rows");
    let cut: String = rows.split_inclusive('\n').take(11).collect();
    env.write("results/samples.jtl", cut);
    let finished = report(&env, &["results", "-o", "report"]);
    assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
    let told = "summary.json: this summary is left aside: it is of other rows: it tells of 21 samples, the rows are ";
    assert!(finished.stderr.contains(told), "{}", finished.stderr);
    let summary = read(&env.path("report/summary.json"));
    assert!(count(&summary, "/labels/all/count") < 11, "{summary:#}");
    let markdown = fs_err::read_to_string(env.path("report/summary.md")).expect("it was written");
    assert!(markdown.contains("left aside"), "{markdown}");
    // Nor of one that tells nothing.
    env.write("results/summary.json", "{}");
    let finished = report(&env, &["results"]);
    assert!(
        finished.stderr.contains("it tells of 0 samples, the rows are "),
        "{}",
        finished.stderr
    );
}

/// Both streams.
fn all_output(finished: &Finished) -> String {
    format!("{}{}", finished.stdout, finished.stderr)
}

#[test]
fn jtls_of_every_shape_come_to_the_same() {
    let whole = format!("{HEADER}\n{ROWS}");
    let (expected, _) = reported(&whole);
    assert_eq!(count(&expected, "/labels/say/count"), 2);
    assert_eq!(count(&expected, "/labels/say/failed"), 1);
    assert_eq!(expected.pointer("/labels/say/max_ms"), Some(&20.0.into()));
    assert_eq!(expected.pointer("/causes/0/code"), Some(&"READ_TIMEOUT".into()));
    assert_eq!(expected.pointer("/causes/0/example"), Some(&"no reply, 3 passed over".into()));

    let mut compressed = GzEncoder::new(Vec::new(), Compression::fast());
    compressed.write_all(whole.as_bytes()).expect("memory takes it");
    let shapes: [(&str, Vec<u8>); 13] = [
        ("a BOM", format!("\u{feff}{whole}").into()),
        ("CR LF", whole.replace('\n', "\r\n").into()),
        ("empty lines", format!("\n{}\n\n", whole.replace('\n', "\n\n")).into()),
        ("no last line break", whole.trim_end().into()),
        ("joined by hand", ROWS.split_inclusive('\n').flat_map(|row| [HEADER, "\n", row]).collect::<String>().into()),
        ("no header", ROWS.into()),
        ("no URL and no header", ROWS.replace("ws://h/,", "").into()),
        ("semicolons", whole.replace(", 3", "; 3").replace(',', ";").replace("; 3", ", 3").into()),
        ("tabs", whole.replace(", 3", "\u{1}").replace(',', "\t").replace('\u{1}', ", 3").into()),
        ("decimals", whole.replace(",12,", ",12.0,").replace(",20,", ", 20.0 ,").into()),
        (
            "dates",
            whole
                .replace("1700000000000", "2023/11/14 22:13:20")
                .replace("1700000001000", "2023/11/14 22:13:21.000")
                .into(),
        ),
        ("gzip", compressed.finish().expect("memory takes it")),
        (
            "a subset in another order, with variables",
            "\"room\",label,success,failureMessage,elapsed,responseMessage,responseCode,timeStamp\n\
             \"a\nb\",say,true,,12,OK,200,1700000000000\n\
             x,say,false,\"no reply, 3 passed over\",20,Read timed out,READ_TIMEOUT,1700000001000\n"
                .into(),
        ),
    ];
    for (shape, text) in shapes {
        let ((mut summary, stderr), mut expected) = (reported(text), expected.clone());
        assert!(!stderr.contains("left out"), "{shape}: {stderr}");
        for summary in [&mut summary, &mut expected] {
            summary["generator"] = Value::Null;
        }
        assert_eq!(summary, expected, "{shape}");
    }
}

#[test]
fn what_cannot_be_read_is_told_with_its_line_and_the_rest_is_counted() {
    let whole = format!("{HEADER}\n{ROWS}");
    let bad = |line: &str| format!("{whole}{line}\n{ROWS}");
    for (text, warning) in [
        (bad("1700000000000,12,say,200"), "some.jtl:4: 4 fields, and the file has 17 columns"),
        (
            bad("x,12,say,200,OK,G 1-1,text,true,,30,40,1,1,u,11,0,0"),
            "some.jtl:4: `x` is no `timeStamp`",
        ),
        (
            bad("1700000000000,-3,say,200,OK,G 1-1,text,true,,3,4,1,1,u,1,0,0"),
            ":4: `-3` is no `elapsed`",
        ),
        (bad("1700000000000,12,\"say,200,OK"), "some.jtl:4: text follows a closing quote"),
        (format!("{whole}{ROWS}1700000000000,12,\"say"), "some.jtl:6: a quote is never closed"),
        (
            format!("{whole}{ROWS}1700000000000,12,say,20"),
            ":6: the file ends in the middle of the row",
        ),
    ] {
        let (summary, stderr) = reported(&text);
        assert!(stderr.contains(warning), "{warning}: {stderr}");
        assert!(stderr.contains("the row is left out"), "{stderr}");
        assert_eq!(count(&summary, "/labels/say/count"), 4, "{text}");
    }
    let env = Env::new();
    env.write("some.jtl", bad("1,<b>2"));
    assert_eq!(report(&env, &["some.jtl", "-o", "report"]).exit_code, Some(0));
    let page = fs_err::read_to_string(env.path("report/report.html")).expect("a page");
    assert!(
        page.contains("some.jtl:4: 2 fields, and the file has 17 columns"),
        "it is on the page too"
    );
    let many = format!("{HEADER}\n{}{ROWS}", "1,2\n".repeat(9));
    let (_, stderr) = reported(many);
    assert_eq!(stderr.matches("the row is left out").count(), 5, "{stderr}");
    assert!(stderr.contains("some.jtl: 4 more rows are left out"), "{stderr}");
    let (_, stderr) = reported(format!("{HEADER}\n{}", ROWS.replace("1700000", "1")));
    assert!(stderr.contains("some.jtl:2: the time stamp 1000000 is no time of a run"), "{stderr}");
    let (_, stderr) = reported(ROWS);
    assert!(stderr.contains("there is no header: JMeter's default 17 columns"), "{stderr}");
}

#[test]
fn what_is_no_jtl_is_refused_with_advice() {
    for (text, error) in [
        ("", "some.jtl: the file is empty"),
        ("\n\n", "some.jtl: the file is empty"),
        (HEADER, "some.jtl: there is no row"),
        ("<?xml version=\"1.0\"?>\n<testResults/>", "output_format=csv"),
        ("\u{feff}<testResults/>", "this is a JTL in XML"),
        ("\n<!DOCTYPE html>\n<html>", "some.jtl: this is an HTML page, and no JTL"),
        ("timeStamp,elapsed,label\r1,2,say\r", "some.jtl: its lines end in CR alone"),
        ("label,elapsed\na,1\n", "some.jtl:1: there is no column `timeStamp`"),
        ("1,2,3\n", "some.jtl:1: there is no header, and 3 columns"),
        ("timeStamp,elapsed,label\n1,2\n3\n", "some.jtl:2: none of 2 rows can be read: 2 fields"),
        ("\0\0\0", "this is no text file"),
    ] {
        let env = Env::new();
        env.write("some.jtl", text);
        let finished = report(&env, &["some.jtl", "-o", "report"]);
        assert_eq!(finished.exit_code, Some(2), "{text:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(error), "{text:?}: {}", finished.stderr);
        assert!(!env.path("report").exists(), "{text:?}");
    }
    let env = Env::new();
    env.write("some.jtl", b"\xff\xfet\0i\0");
    assert!(report(&env, &["some.jtl"]).stderr.contains("is UTF-16"));
    let gone = report(&env, &["gone"]);
    assert_eq!(gone.exit_code, Some(2));
    assert!(gone.stderr.contains("error: gone: no such file or folder\n"), "{}", gone.stderr);
}

#[test]
fn a_damaged_archive_is_read_as_far_as_it_goes() {
    let mut compressed = GzEncoder::new(Vec::new(), Compression::none());
    let rows = ROWS.repeat(2_000);
    compressed.write_all(format!("{HEADER}\n{rows}").as_bytes()).expect("memory takes it");
    let whole = compressed.finish().expect("memory takes it");
    let (summary, stderr) = reported(&whole[..whole.len() - 70_000]);
    assert!(stderr.contains("the compressed file ends too early"), "{stderr}");
    let count = count(&summary, "/labels/say/count");
    assert!((2_000..4_000).contains(&count), "{count}");
}

#[test]
fn transactions_and_sub_results_are_no_samples() {
    let row = |time: u32, elapsed: u32, label: &str, message: &str| {
        format!(
            "170000000{time:04},{elapsed},{label},200,\"{message}\",G 1-1,text,true,,1,1,1,1,null,1,0,0\n"
        )
    };
    let of = |samples: u32| {
        format!("Number of samples in transaction : {samples}, number of failing samples : 0")
    };
    let text = [
        HEADER.to_owned() + "\n",
        row(0, 100, "page", "OK"),
        row(0, 40, "page-0", "OK"),
        row(40, 60, "page-1", "OK"),
        row(50, 10, "page-1-0", "OK"),
        row(100, 10, "next", "OK"),
        // Named like a sub-result, and none: it began after its namesake had ended.
        row(300, 10, "next-0", "OK"),
        row(0, 110, "both", &of(2)),
        row(0, 0, "none", &of(0)),
    ];
    let (summary, _) = reported(text.concat());
    assert_eq!(count(&summary, "/labels/all/count"), 3);
    for label in ["page-0", "page-1", "page-1-0", "both"] {
        let place = format!("/labels/{label}/transaction");
        assert_eq!(summary.pointer(&place), Some(&true.into()), "{label}");
    }
    assert_eq!(summary.pointer("/labels/next-0/transaction"), None);
    assert_eq!(summary.pointer("/labels/none"), None);
}

#[test]
fn codes_of_java_are_shown_as_they_are() {
    let row = "1700000000000,12,say,Non HTTP response code: java.net.ConnectException,refused,G 1-1,text,false,,0,0,1,1,null,0,0,0\n";
    let (summary, output) = reported(format!("{HEADER}\n{row}{row}"));
    let code = "Non HTTP response code: java.net.ConnectException";
    assert_eq!(summary.pointer("/causes/0/code"), Some(&code.into()));
    assert_eq!(summary.pointer("/causes/0/example"), Some(&"refused".into()));
    assert_eq!(count(&summary, "/causes/0/count"), 2);
    assert!(output.contains(&format!("2 x say {code}: refused\n")), "{output}");
    assert!(!output.contains("OTHER"), "{output}");
    // One without a word of its own ends with its code.
    let row = row.replace(",refused,", ",,");
    let (_, output) = reported(format!("{HEADER}\n{row}"));
    assert!(output.contains(&format!("1 x say {code}\n")), "{output}");
}

#[test]
fn an_earlier_report_is_not_overwritten_unasked() {
    let env = Env::new();
    env.write("some.jtl", format!("{HEADER}\n{ROWS}"));
    let arguments = ["some.jtl", "-o", "report"];
    assert_eq!(report(&env, &arguments).exit_code, Some(0));
    let again = report(&env, &arguments);
    assert_eq!(again.exit_code, Some(2));
    assert!(again.stderr.contains("--force"), "{}", again.stderr);
    assert_eq!(report(&env, &[&arguments[..], &["--force"]].concat()).exit_code, Some(0));
}

#[test]
fn merged_runs_lose_nothing() {
    let env = Env::new();
    let plan = "
defaults: { url: '${__P(target)}' }
thread_groups:
  - threads: 2
    steps: [{ open: /echo }, { request_response: { name: say, send: hi } }]
";
    let run = |plan: &str, folder: &str| {
        env.write("plan.yaml", plan);
        let arguments = ["run", "plan.yaml", "-o", folder, "--serve", "--no-progress"];
        let finished = env.wsmeter(&arguments).finish();
        assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
    };
    run(PLAN, "one");
    run(plan, "two");
    let finished = env.wsmeter(&["merge", "two", "one", "-o", "results"]).finish();
    assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
    assert!(finished.stderr.ends_with("28 rows of 2 results joined\n"), "{}", finished.stderr);
    assert!(finished.stderr.contains("are of different plans"), "{}", finished.stderr);
    let missing =
        "missing, for no row has them: percentiles of several runs' first exchanges, handshakes";
    assert!(finished.stderr.contains(missing), "{}", finished.stderr);
    // Every row of each is there, those without the variable with what JMeter writes for it.
    let mut expected = jtl::read(&env.path("one/samples.jtl"));
    let two = jtl::read(&env.path("two/samples.jtl"));
    expected.extend(two.into_iter().map(|row| jtl::Row { variables: vec!["null".into()], ..row }));
    expected.sort_by_key(|row| row.time_stamp);
    let mut merged = finished.rows.clone();
    // The run that was named first began last.
    let times: Vec<_> = merged.iter().map(|row| row.time_stamp).collect();
    assert!(times[..24].iter().max() <= times[24..].iter().min(), "{times:?}");
    merged.sort_by_key(|row| row.time_stamp);
    for row in &expected {
        let place = merged.iter().position(|found| found == row);
        merged.remove(place.unwrap_or_else(|| panic!("{row:?} is lost")));
    }
    assert_eq!(merged, []);
    assert_eq!(count(&finished.summary, "/connections/opened"), 5);
    assert_eq!(count(&finished.summary, "/labels/say/count"), 17);
    assert_eq!(finished.summary["verdict"], "passed");
    assert_eq!(finished.summary["reason"], "2 of 2 runs passed");

    let onto_itself =
        env.wsmeter(&["merge", "two", "results", "-o", "results", "--force"]).finish();
    assert_eq!(onto_itself.exit_code, Some(2), "{}", onto_itself.stderr);
    assert_eq!(onto_itself.rows.len(), 28, "nothing was overwritten");
}

#[test]
fn files_with_other_columns_are_merged_in_order_of_time() {
    let env = Env::new();
    env.write(
        "a.jtl",
        "timeStamp,elapsed,label,success\n1700000000002,5,a,true\n1700000000004,5,a,false\n",
    );
    env.write(
        "b.jtl",
        "elapsed;timeStamp;label;\"x,y\";responseCode\n7;1700000000001;\"b;b\";1;200\n7;1700000000003;b;\"q\"\"q\";500\n",
    );
    let finished = env.wsmeter(&["merge", "a.jtl", "b.jtl", "-l", "all.jtl"]).finish();
    assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
    let expected = "timeStamp,elapsed,label,responseCode,success,\"x,y\"\n\
        1700000000001,7,b;b,200,true,1\n\
        1700000000002,5,a,,true,null\n\
        1700000000003,7,b,500,false,\"q\"\"q\"\n\
        1700000000004,5,a,,false,null\n";
    assert_eq!(fs_err::read_to_string(env.path("all.jtl")).expect("rows"), expected);
    assert_eq!(count(&read(&env.path("all.summary.json")), "/labels/all/failed"), 2);
}

#[test]
fn a_full_disk_leaves_no_half_of_a_merge() {
    let env = Env::new();
    env.write("a.jtl", format!("{HEADER}\n{}", ROWS.repeat(500)));
    let arguments = ["merge", "a.jtl", "a.jtl", "-l", "all.jtl"];
    let finished = env.wsmeter_on_a_small_disk(8, &arguments).finish();
    assert_eq!(finished.exit_code, Some(3), "{}", finished.stderr);
    assert!(finished.stderr.contains("failed to write the joined rows"), "{}", finished.stderr);
    assert!(!env.path("all.jtl").exists());
}

#[test]
fn a_file_that_is_larger_than_the_memory_is_read() {
    const ROWS: usize = 700_000;
    let env = Env::new();
    let row = "1700000000000,12,say,200,OK,Chatters 1-17,text,true,,30,40,9,9,ws://127.0.0.1:9000/rooms/lobby,11,0,0\n";
    env.write("large.jtl", format!("{HEADER}\n{}", row.repeat(ROWS)));
    let size = fs_err::metadata(env.path("large.jtl")).expect("it was written").len();
    let limit_kib = 60_000;
    assert!(size > limit_kib * 1024, "{size} bytes would fit");
    let limit = format!("ulimit -v {limit_kib}");
    let finished = env.wsmeter_after(&limit, &["report", "large.jtl"]).finish();
    assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
    assert!(finished.stderr.ends_with("700,000 rows read; 0 of 700,000 samples failed\n"));
}

//! The outputs beside rows, summary and page, as other programs read them: `junit.xml`, `summary.md`,
//! `latency.hlog`, `metrics.txt`.

use std::path::Path;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use quick_xml::Reader;
use quick_xml::events::Event;
use wsmeter::target::Server;

use crate::support::env::Env;

/// What stands in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs_err::read_dir(folder).expect("the folder can be read");
    let name = |entry: std::io::Result<fs_err::DirEntry>| {
        entry.expect("the folder can be read").file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

fn target() -> Server {
    Server::start(([127, 0, 0, 1], 0).into()).expect("a free port")
}

/// A text as XML has it in an attribute.
fn unescaped(value: &str) -> String {
    quick_xml::escape::unescape(value).expect("it is escaped").into_owned()
}

/// The test cases of a file, each with what is in it: nothing, `failure`, `error`, `skipped`, `system-out`.
fn cases(path: &Path) -> Vec<(String, String)> {
    let text = fs_err::read_to_string(path).expect("there is a file");
    let mut reader = Reader::from_str(&text);
    let mut cases: Vec<(String, String)> = Vec::new();
    loop {
        match reader.read_event().expect("it is XML") {
            Event::Start(start) | Event::Empty(start) => {
                let name = start.name().as_ref().to_owned();
                let attribute = start.try_get_attribute("name").expect("attributes are sound");
                match (name.as_str(), attribute) {
                    ("testcase", Some(name)) => cases.push((unescaped(&name.value), String::new())),
                    ("failure" | "error" | "skipped" | "system-out", _) => {
                        cases.last_mut().expect("it is in a test case").1 = name;
                    }
                    _ => {}
                }
            }
            Event::Eof => return cases,
            _ => {}
        }
    }
}

const PLAN: &str = r"
name: night | <b>watch</b>
thresholds: { say: failures == 0, late: [count > 0, 'p95 < 10s'] }
defaults: { url: '${__P(target)}', read_timeout: 200ms }
thread_groups:
  - steps:
      - open: /echo
      - request_response: { name: say, send: hello, assert: { equals: goodbye } }
      - request_response: { name: late, send: hello }
      - close
      - open: { name: quiet | open, path: /silent }
      - request_response: { name: silence, send: hello }
      - request_response: { name: silence, send: hello }
";

#[test]
fn a_run_leaves_test_cases_a_markdown_page_and_histograms() {
    let (server, env) = (target(), Env::new());
    let url = format!("target=ws://{}", server.address());
    let finished = env.run(PLAN, &["-J", &url]);
    finished.expect_exit(1);
    let expected = [
        "junit.xml",
        "latency.hlog",
        "metrics.txt",
        "report.html",
        "samples.jtl",
        "summary.json",
        "summary.md",
    ];
    assert_eq!(names(&env.path("results")), expected);
    let cases = cases(&env.path("results/junit.xml"));
    let case =
        |name: &str| cases.iter().find(|(own, _)| own == name).map(|(_, what)| what.as_str());
    assert_eq!(case("verdict"), Some("failure"));
    assert_eq!(case("say: failures == 0"), Some("failure"));
    assert_eq!(case("late: p95 < 10s"), Some("system-out"));
    assert_eq!(case("silence"), Some("failure"));
    assert_eq!(case("late"), Some("system-out"));
    assert_eq!(case("say"), None, "a threshold bounds its failures");
    let markdown = fs_err::read_to_string(env.path("results/summary.md")).expect("a page");
    assert!(
        markdown
            .starts_with("## ❌ <code>night &#124; &#60;b&#62;watch&#60;/b&#62;</code> failed\n")
    );
    assert!(markdown.contains("| <code>quiet &#124; open</code> | 1 | 0 |"), "{markdown}");
    assert!(
        finished.stderr.contains("junit.xml, summary.md, latency.hlog, metrics.txt"),
        "{}",
        finished.stderr
    );
    let log = fs_err::read(env.path("results/latency.hlog")).expect("a log");
    for label in ["all", "say", "silence", "quiet | open"] {
        let tag = (label != "all").then(|| label.replace(' ', "%20"));
        let times = histogram(&log, tag.as_deref());
        let figures = &finished.summary["labels"][label];
        assert_eq!(figures["count"], times.len(), "{label}");
        #[expect(clippy::cast_precision_loss, reason = "a time of a test")]
        let max_ms = times.max() as f64 / 1e3;
        let known = figures["max_ms"].as_f64().expect("a time");
        assert!((max_ms / known - 1.0).abs() < 0.02, "{label}: {max_ms} and {known}");
    }
}

/// All intervals of a tag together.
fn histogram(log: &[u8], tag: Option<&str>) -> Histogram<u64> {
    let mut all = Histogram::new(2).expect("two digits are valid");
    for entry in IntervalLogIterator::new(log) {
        let Ok(LogEntry::Interval(line)) = entry else { continue };
        if line.tag().map(|tag| tag.as_str().to_owned()).as_deref() == tag {
            let bytes = data_encoding::BASE64.decode(line.encoded_histogram().as_bytes());
            let bytes = bytes.expect("it is Base64");
            let one: Histogram<u64> =
                Deserializer::new().deserialize(&mut &*bytes).expect("it is a histogram");
            all.add(&one).expect("it grows");
        }
    }
    all
}

#[test]
fn a_report_of_results_has_the_same_outputs() {
    let env = Env::new();
    let header = "timeStamp,elapsed,label,responseCode,success";
    let rows = "1700000000000,120,login,200,true\n1700000001000,80,login,500,false\n";
    env.write("other.jtl", format!("{header}\n{rows}"));
    let finished = env.wsmeter(&["report", "other.jtl", "-o", "report"]).finish();
    finished.expect_exit(0);
    let expected =
        ["junit.xml", "latency.hlog", "metrics.txt", "report.html", "summary.json", "summary.md"];
    assert_eq!(names(&env.path("report")), expected);
    let cases = cases(&env.path("report/junit.xml"));
    assert!(cases.contains(&("login".to_owned(), "failure".to_owned())), "{cases:?}");
    let markdown = fs_err::read_to_string(env.path("report/summary.md")).expect("a page");
    assert!(markdown.starts_with("## Results of <code>other</code>\n"), "{markdown}");
    let log = fs_err::read(env.path("report/latency.hlog")).expect("a log");
    assert_eq!(histogram(&log, Some("login")).len(), 2);
    let start = String::from_utf8_lossy(&log);
    assert!(start.contains("#[StartTime: 1700000000.000"), "{start}");
    let metrics = fs_err::read_to_string(env.path("report/metrics.txt")).expect("metrics");
    for line in [
        r#"wsmeter_samples_total{label="login"} 2"#,
        r#"wsmeter_failures_total{label="login",code="500"} 1"#,
        "# EOF",
    ] {
        assert!(metrics.lines().any(|own| own == line), "{metrics}");
    }
    for name in &expected {
        fs_err::write(env.path("report/mine.txt"), "mine").expect("it can be written");
        let own = env.path("again").join(name);
        fs_err::create_dir_all(env.path("again")).expect("a folder");
        fs_err::write(&own, "mine").expect("it can be written");
        let refused = env.wsmeter(&["report", "other.jtl", "-o", "again"]).finish();
        refused.expect_exit(2);
        assert!(refused.stderr.contains(name), "{}", refused.stderr);
        assert_eq!(fs_err::read_to_string(&own).expect("it is there"), "mine");
        fs_err::remove_file(&own).expect("it is there");
    }
    env.wsmeter(&["report", "other.jtl", "-o", "report", "--force"]).finish().expect_exit(0);
    assert_eq!(fs_err::read_to_string(env.path("report/mine.txt")).expect("it is kept"), "mine");
}

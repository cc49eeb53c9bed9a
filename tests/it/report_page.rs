//! `report.html`: what is in it, that nothing in it is obeyed, and how large it gets. The pages stay in
//! the folder for temporary files, where the browser's test (`tests/browser`) opens them.

mod charts;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Map, Value};
use wsmeter::clock;
use wsmeter::report::html::{self, Page, PlanText};
use wsmeter::report::json::{Generator, Group, Plan, WorkerCpu};
use wsmeter::sample::{Code, DataType, Delay, Note, Phases, Sample, Second, TlsHandshake};
use wsmeter::stats::Stats;
use wsmeter::verdict::{
    Conclusion, Condition, Figure, Judged, Judgement, Operator, Statistic, Threshold, Verdict,
};

use crate::support::env::Env;
use crate::support::target;

/// What a label, a cause or a plan may hold and a page may not obey.
const EVIL: &str = "</script><script>window.evil=1</script><img src=x onerror=window.evil=2>\u{202e}\u{0}&amp;\"'`${x}{{ 7*7 }}{% raw %}";

/// A row that ended so long after `origin`.
fn row(origin: Instant, label: &str, end: Duration, elapsed: Duration) -> Sample<'_> {
    Sample {
        label,
        start: origin + end.saturating_sub(elapsed),
        elapsed: elapsed.min(end),
        connect: Duration::ZERO,
        latency: Duration::ZERO,
        idle: Duration::ZERO,
        code: Code::OK,
        message: "OK",
        failure_message: "",
        cause: "",
        success: true,
        data_type: DataType::Text,
        bytes: 10,
        sent_bytes: 10,
        thread: "Users 1-1",
        group_threads: 1,
        all_threads: 1,
        url: "ws://127.0.0.1/",
        variables: &[],
        first_exchange: false,
        delay: None,
        transaction: false,
    }
}

/// Numbers that look like chance and are the same each time.
struct Numbers(u64);

impl Numbers {
    /// From 0 to below 1.
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.0 >> 32).expect("it has 32 bits")) / 4_294_967_296.0
    }

    /// A whole number below another.
    fn below(&mut self, most: usize) -> usize {
        self.next();
        usize::try_from(self.0 >> 40).expect("it has 24 bits") % most
    }

    /// Times of a server that is mostly quick and sometimes not.
    fn time(&mut self, typical_ms: f64) -> Duration {
        let tail = (1.0 - self.next()).powf(-0.45);
        Duration::from_secs_f64(typical_ms * (0.6 + 0.4 * self.next()) * tail / 1e3)
    }
}

/// A run of so many labels, seconds and samples, of which `kinds` are kinds of failure.
fn stats(labels: usize, seconds: u32, samples: u32, kinds: usize) -> Stats {
    let origin = clock::now();
    let mut stats = Stats::default();
    stats.begin(origin);
    let names: Vec<String> = (0..labels)
        .map(|label| match label {
            0 => "open".to_owned(),
            1 => "say".to_owned(),
            2 => "close".to_owned(),
            other => format!("room {} / message {other}", other % 7),
        })
        .collect();
    let mut numbers = Numbers(7);
    for number in 0..samples {
        let share = f64::from(number) / f64::from(samples);
        // It gets slower in the middle.
        let slow = 1.0 + 6.0 * (-((share - 0.6) / 0.08).powi(2)).exp();
        let label = if number % 3 == 0 { (number / 3) as usize % labels } else { 1 };
        let typical = (2.0 + f64::from(number % 3 * 2)) * slow;
        let end = Duration::from_secs_f64(1.0 + share.sqrt() * f64::from(seconds - 1));
        let mut sample = row(origin, &names[label], end, numbers.time(typical));
        sample.all_threads = 1 + number / (samples / 199 + 1);
        sample.first_exchange = number % 50 == 0;
        let (cause, message);
        if kinds > 0 && numbers.next() < 0.004 * slow {
            let kind = numbers.below(kinds);
            cause =
                format!("Test failed: text expected to contain /answer ${{id}} of kind {kind}/");
            message = cause.replace("${id}", &number.to_string());
            let codes = [Code::ReadTimeout, Code::OK, Code::Number(1_011), Code::Disconnected];
            sample = Sample {
                success: false,
                code: codes[kind % codes.len()],
                message: "failed",
                cause: &cause,
                failure_message: &message,
                ..sample
            };
        }
        stats.sample(&sample);
        if number % (samples / 200) == 0 {
            let tls = TlsHandshake { time: numbers.time(4.0), resumed: number % 3 == 0 };
            let (dns, tcp, upgrade) = (numbers.time(0.01), numbers.time(0.3), numbers.time(1.0));
            stats.connections.open(&Phases { dns, tcp, tls: Some(tls), upgrade });
            stats.opened(origin + end);
            if number > samples / 3 * 2 {
                (0..2).for_each(|_| stats.ended(origin + end));
            }
        }
    }
    for transaction in ["room 3 / journey", "visit"].iter().take(labels / 10) {
        let whole = row(origin, transaction, Duration::from_secs(5), Duration::from_secs(2));
        stats.sample(&Sample { transaction: true, ..whole });
    }
    for code in [1_000, 1_001, 1_005, 1_011, 4_001] {
        stats.note(&Note::CloseReceived { code });
    }
    stats
}

fn judged(label: &str, text: &str, statistic: Statistic, measured: f64, holds: bool) -> Judged {
    let condition =
        Condition { statistic, operator: Operator::Below, bound: 0.05, text: text.to_owned() };
    let threshold = Threshold { label: label.to_owned(), condition, abort: None };
    Judged { threshold, measured: Some(measured), holds }
}

/// What a run knows beside its figures.
struct Known {
    judgement: Judgement,
    generator: Generator,
    plan: Plan,
    groups: Vec<Group>,
    texts: Vec<PlanText>,
    started: DateTime<Utc>,
}

fn known(passed: bool, text: &str) -> Known {
    let (conclusion, reason) = if passed {
        (Conclusion::Passed, "0 of 1,000 samples failed")
    } else {
        (Conclusion::Failed, "1 of 3 thresholds failed; 6,310 of 1,000,000 samples failed")
    };
    let time = Statistic::Time(Figure::Percentile(95.0));
    let thresholds = vec![
        judged("all", "error_rate < 1%", Statistic::ErrorRate, 0.0063, true),
        judged("say", "p95 < 50ms", time, 0.0317, true),
        judged("open", "p95 < 50ms", time, if passed { 0.041 } else { 0.0712 }, passed),
    ];
    let mut properties = Map::new();
    properties.insert("target".to_owned(), Value::from("ws://127.0.0.1:9000"));
    Known {
        judgement: Judgement { verdict: Verdict::new(conclusion, reason), thresholds },
        generator: Generator {
            peak_memory_bytes: Some(31_500_000),
            lag_p99_ms: Some(1.42),
            timers_p99_ms: Some(2.1),
            saturated: if passed { Vec::new() } else { vec![[300, 340], [700, 704]] },
            workers: [(0.82, 0.03), (0.79, 0.02)]
                .map(|(cpu, waited)| WorkerCpu { cpu, waited })
                .to_vec(),
            cpu: Some(1.61),
        },
        plan: Plan {
            path: "plans/chat.yaml".to_owned(),
            sha256: "ab".repeat(32),
            properties,
            ..Plan::default()
        },
        groups: vec![Group {
            name: "Chatters".to_owned(),
            phase: "main",
            model: "closed",
            threads: 200,
            no_sample: false,
        }],
        texts: vec![PlanText { path: "plans/chat.yaml".to_owned(), text: text.to_owned() }],
        started: DateTime::from_timestamp(1_793_823_300, 0).expect("it is a time"),
    }
}

fn page<'a>(title: &'a str, stats: &'a Stats, known: &'a Known, seconds: i64) -> Page<'a> {
    Page {
        judgement: Some(&known.judgement),
        started: Some(known.started),
        ended: Some(known.started + TimeDelta::seconds(seconds)),
        peak_connections: Some(200),
        generator: Some(&known.generator),
        plan: Some(&known.plan),
        groups: &known.groups,
        texts: &known.texts,
        command: Some("wsmeter run plans/chat.yaml -o results/night"),
        host: Some("load-1"),
        cores: Some(2),
        wsmeter: Some("0.1.0"),
        ..Page::of(title, stats)
    }
}

/// Writes the page to its place and gives its text.
fn written(name: &str, page: &Page<'_>) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pages");
    fs_err::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join(name);
    html::write(&path, page).expect("the page can be written");
    fs_err::read_to_string(path).expect("the page is there")
}

const PLAN: &str = include_str!("../../plans/chat.yaml");

#[test]
fn a_short_run_without_failures_has_a_page() {
    let (stats, known) = (stats(3, 90, 20_000, 0), known(true, PLAN));
    let html = written("few.html", &page("chat room, evening peak", &stats, &known, 90));
    for part in [
        "<strong>Passed</strong>",
        "0 of 1,000 samples failed",
        "20,000",
        "<code>error_rate &lt; 1%</code>",
        "normal closure",
        "going away",
        "upgrade",
        "plans&#x2f;chat.yaml",
        "wsmeter run plans&#x2f;chat.yaml",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("Causes of failure"));
}

#[test]
fn a_million_samples_of_sixty_labels_with_forty_kinds_of_failure_fit_in_a_page() {
    let (stats, known) = (stats(60, 1_500, 1_000_000, 40), known(false, PLAN));
    let began = clock::now();
    let html = written("many.html", &page("chat room, evening peak", &stats, &known, 1_500));
    let took = clock::now() - began;
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    assert!(took < Duration::from_secs(20), "{took:?}");
    assert!(html.contains("<strong>Failed</strong>") && html.contains("saturated"));
    let kinds = (0..40).filter(|kind| html.contains(&format!("of kind {kind}&#x2f;")));
    assert_eq!(kinds.count(), 40, "the most frequent causes are of all kinds");
}

#[test]
fn nothing_in_a_page_is_obeyed() {
    let origin = clock::now();
    let mut stats = Stats::default();
    let long = "ä".repeat(10_000);
    for label in [EVIL, "ok", &long, "שלום", "{{ 7*7 }}"] {
        let failed = Sample {
            success: false,
            message: EVIL,
            failure_message: EVIL,
            cause: EVIL,
            ..row(origin, label, Duration::from_secs(3), Duration::from_millis(5))
        };
        stats.sample(&failed);
        stats.sample(&row(origin, label, Duration::from_secs(4), Duration::from_millis(7)));
        stats.note(&Note::Skipped { label, cause: Code::NoConnection });
        stats.note(&Note::Filtered { label, filter: EVIL, count: 3 });
        stats.note(&Note::Answer { label, code: Code::OK, cause: EVIL, answer: EVIL });
    }
    let mut known = known(false, EVIL);
    known.judgement.verdict.reason = EVIL.to_owned();
    known.judgement.thresholds[0].threshold.label = EVIL.to_owned();
    known.groups[0].name = EVIL.to_owned();
    known.plan.properties.insert(EVIL.to_owned(), Value::from(EVIL));
    let sources = [EVIL.to_owned()];
    let page = Page {
        command: Some(EVIL),
        host: Some(EVIL),
        sources: &sources,
        remarks: &sources,
        ..page(EVIL, &stats, &known, 5)
    };
    let html = written("evil.html", &page);
    assert_eq!(html.matches("<script").count(), 4, "the page has four of its own");
    assert_eq!(html.matches("</script>").count(), 4);
    assert!(!html.contains("<img") && !html.contains("onerror=window.evil=2>"));
    assert!(!html.contains(['\u{202e}', '\u{0}']));
    assert!(html.contains("{{ 7*7 }}"), "a text is no template");
    assert!(html.contains("שלום"));
    let json = data(&html);
    let names: Vec<&str> = json["curves"]["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"{{ 7*7 }}") && names[1].starts_with("</script>"), "{names:?}");
}

/// The numbers of the charts.
fn data(html: &str) -> Value {
    let (_, rest) = html
        .split_once("<script type=\"application/json\" id=\"data\">")
        .expect("the page has numbers");
    let (json, _) = rest.split_once("</script>").expect("the numbers end");
    serde_json::from_str(json).expect("they are JSON")
}

#[test]
fn a_page_can_be_made_of_figures_alone() {
    let (stats, origin) = (stats(3, 60, 3_000, 0), clock::now());
    let html = written("bare.html", &Page::of("night.jtl", &stats));
    assert!(html.contains("night.jtl") && !html.contains("class=\"verdict"));
    assert_eq!(data(&html)["start"], Value::Null);
    // What can be missing: samples, times, connections, a schedule.
    let mut stats = Stats::default();
    let html = written("empty.html", &Page::of("nothing", &stats));
    assert!(html.contains("<b>0</b>"));
    stats.note(&Note::Skipped { label: "say", cause: Code::NoConnection });
    stats.sample(&Sample {
        code: Code::NoMessage,
        ..row(origin, "tick", Duration::ZERO, Duration::ZERO)
    });
    let transaction = row(origin, "journey", Duration::from_secs(2), Duration::from_secs(2));
    stats.sample(&Sample { transaction: true, ..transaction.clone() });
    let delay = Some(Delay { by: Duration::from_secs(1), interval: None });
    stats.sample(&Sample { delay, label: "paced", ..transaction });
    let second = Second {
        number: 1,
        late: Duration::ZERO,
        stalled: None,
        cpu_permille: None,
        waited_permille: None,
    };
    stats.note(&Note::Second(second));
    let html = written("little.html", &Page::of("little", &stats));
    assert!(html.contains("journey") && html.contains("From the intended start"));
}

#[test]
fn what_the_charts_show_is_what_happened() {
    let origin = clock::now();
    let mut stats = Stats::default();
    stats.begin(origin);
    for number in 0..40 {
        let end = Duration::from_millis(250 * number);
        stats.sample(&row(origin, "say", end, Duration::from_millis(20)));
    }
    stats.connections.open(&Phases::default());
    stats.opened(origin + Duration::from_secs(2));
    stats.ended(origin + Duration::from_secs(5));
    let data = data(&written("steady.html", &Page::of("steady", &stats)));
    let numbers = |name: &str| -> Vec<f64> {
        let data = data.get(name).unwrap_or_else(|| &data["all"][name]);
        data.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    assert_eq!(numbers("t"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    // The last second is over after three quarters, in which four samples ended.
    assert_eq!(numbers("rate"), [4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 4.0, 5.333]);
    assert_eq!(numbers("connections"), [0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(numbers("opened")[1..4], [0.0, 1.0, 0.0]);
    assert!(numbers("p99")[2..].iter().all(|ms| (19.8..20.3).contains(ms)), "{data}");
    let cells: u64 = data["heat"]["columns"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|column| column[1].as_array().unwrap())
        .map(|cell| cell[1].as_u64().unwrap())
        .sum();
    assert_eq!(cells, 40);
    let line = &data["curves"]["lines"][0];
    assert_eq!(line["name"], "say");
    assert_eq!(line["times"].as_array().unwrap().last().unwrap().as_f64(), Some(20.0));
}

/// A plan that shows secrets wherever one can stand.
const SECRETS: &str = r#"
secrets: [word]
variables:
  word: hunter2-hunter   # hunter2-hunter is what the server wants
  api_key: "hunter3-hunter"
thread_groups:
  - steps:
      - open:
          url: ${__P(target)}?access_token=hunter4-hunter
          headers:
            Authorization: >-
              Bearer hunter5-hunter
              hunter6-hunter
            Cookie: 'sid=hunter''7'
      - request_response: { send: '{"password":"hunter9"}' }
      - open: { name: again, url: '${__P(target)}', basic_auth: { user: bob, password: hu8 } }
      - close
"#;

#[test]
fn a_run_leaves_a_page_with_its_plan_and_its_command_and_no_secret() {
    let (server, env) = (target(), Env::new());
    let url = format!("target=ws://{}/echo", server.address());
    let finished = env.run(SECRETS, &["-J", &url, "-J", "my_token=hunter10", "--no-progress"]);
    finished.expect_exit(0);
    let html = fs_err::read_to_string(env.path("results/report.html")).unwrap();
    assert!(!html.contains("hunter") && !html.contains("hu8"), "{html}");
    for part in [
        "<strong>Passed</strong>",
        "wsmeter run plan.yaml -J target=ws:&#x2f;&#x2f;127.0.0.1",
        "&#x27;my_token=***&#x27; -o results",
        "secrets: [word]",
        "user: bob, password: *** }",
        "# *** is what the server wants",
        "request_response",
    ] {
        assert!(html.contains(part), "{part} is not in {html}");
    }
    assert!(finished.stderr.contains("results/report.html"), "{}", finished.stderr);
    let data = data(&html);
    assert_eq!(
        data["all"]["t"].as_array().unwrap().len(),
        data["threads"].as_array().unwrap().len()
    );
    let again = env.run(SECRETS, &["-J", &url, "--force", "--show-secrets"]);
    again.expect_exit(0);
    let html = fs_err::read_to_string(env.path("results/report.html")).unwrap();
    assert!(html.contains("hunter2-hunter") && html.contains("hu8"), "{html}");
}

#[test]
fn a_jtl_of_ones_choice_has_its_page_beside_it() {
    let env = Env::new();
    env.write("plan.yaml", "thread_groups: { steps: [pause: 1ms] }\n");
    env.wsmeter(&["run", "plan.yaml", "-l", "night.jtl"]).finish();
    assert!(env.path("night.report.html").exists());
    let refused = env.wsmeter(&["run", "plan.yaml", "-l", "night.report.html"]).finish();
    refused.expect_exit(2);
}

#[test]
fn a_page_that_cannot_be_written_costs_neither_rows_nor_summary() {
    let env = Env::new();
    let server = target();
    let url = format!("target=ws://{}/echo", server.address());
    env.write("plan.yaml", crate::run::plan("", "- open\n- request_response: hello\n- close\n"));
    let arguments = ["run", "plan.yaml", "-o", "results", "-J", &url];
    // 40 KiB: enough for all but the page.
    let finished = env.wsmeter_on_a_small_disk(80, &arguments).finish();
    finished.expect_exit(3);
    assert!(finished.stderr.contains("failed to write `results/report.html`"), "{finished:#?}");
    let last = finished.stderr.lines().last().unwrap();
    assert_eq!(last, "BROKE OFF: failed to write `results/report.html`");
    assert_eq!(finished.rows.len(), 3);
    assert_eq!(finished.summary["exit_code"], 3);
    assert_eq!(finished.summary["labels"]["all"]["count"], 3);
    let names = crate::outputs::names(&env.path("results"));
    let expected =
        ["junit.xml", "latency.hlog", "metrics.txt", "samples.jtl", "summary.json", "summary.md"];
    assert_eq!(names, expected, "no half page is left, and the others are there");
    let junit = fs_err::read_to_string(env.path("results/junit.xml")).unwrap();
    assert!(junit.contains("<error "), "it does not say that all went well: {junit}");
}

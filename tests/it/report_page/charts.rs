//! What charts draw, and how labels and causes are called on a page.

use std::time::Duration;

use serde_json::{Value, json};
use wsmeter::clock;
use wsmeter::report::html::Page;
use wsmeter::sample::{Delay, Note, Sample};
use wsmeter::stats::Stats;

use super::{data, row, stats, written};

/// Rows at a steady pace until a run ends: one each tenth of a second.
fn steady(end_ms: u64) -> Stats {
    let origin = clock::now();
    let mut stats = Stats::default();
    stats.begin(origin);
    for number in 1..=end_ms / 100 {
        let end = Duration::from_millis(100 * number - 1);
        let label = if number <= 12 { "open" } else { "say" };
        stats.sample(&row(origin, label, end, Duration::from_millis(20)));
    }
    stats
}

#[test]
fn the_end_of_a_run_does_not_look_like_a_collapse() {
    let rates = |data: &Value, lane: &str| data.pointer(lane).unwrap()["rate"].clone();
    // Two tenths of the last second are left: two rows, of which one is very slow.
    let mut stats = steady(5_200);
    let origin = stats.course().origin.unwrap();
    let slow = row(origin, "say", Duration::from_millis(5_150), Duration::from_secs(5));
    stats.sample(&Sample { success: false, ..slow });
    let data = data_of("cut-end.html", &stats);
    assert_eq!(rates(&data, "/all"), json!([10.0, 10.0, 10.0, 10.0, 10.0]));
    assert_eq!(data["left_out"], json!([3, 1]), "and it says so");
    assert_eq!(data["threads"].as_array().unwrap().len(), 5);
    // A label that is over before is not: it has whole intervals, and then nothing.
    assert_eq!(data["labels"][0]["t"], json!([0, 1, 2, 4]));
    assert_eq!(rates(&data, "/labels/0"), json!([10.0, 2.0, 0.0, 0.0]));
    assert_eq!(data["labels"][1]["t"], json!([0, 1, 2, 3, 4]));
    assert_eq!(rates(&data, "/labels/1"), json!([0.0, 8.0, 10.0, 10.0, 10.0]));
    // What is more than half an interval is told by its length.
    let data = data_of("long-end.html", &steady(5_700));
    assert_eq!(data["left_out"], Value::Null);
    let last = rates(&data, "/all")[5].as_f64().unwrap();
    assert!((9.9..10.2).contains(&last), "{data}");
    // Connections that end after the last sample make no interval without samples.
    let mut stats = steady(5_900);
    let origin = stats.course().origin.unwrap();
    stats.opened(origin);
    stats.ended(origin + Duration::from_millis(6_050));
    let last = rates(&data_of("late-close.html", &stats), "/all");
    let last = last.as_array().unwrap().last().unwrap().as_f64().unwrap();
    assert!((9.9..10.2).contains(&last), "{last}");
    // Nor does that of a run of a second; of a shorter one all is drawn.
    let data = data_of("short.html", &steady(1_200));
    assert_eq!((&data["left_out"], &data["all"]["t"]), (&json!([2, 0]), &json!([0])));
    let data = data_of("shortest.html", &steady(700));
    assert_eq!((&data["left_out"], &data["all"]["t"]), (&Value::Null, &json!([0])));
}

fn data_of(name: &str, stats: &Stats) -> Value {
    data(&written(name, &Page::of(name, stats)))
}

#[test]
fn each_of_many_labels_has_a_curve_to_choose() {
    let stats = stats(60, 60, 30_000, 0);
    let curves = &data_of("sixty.html", &stats)["curves"];
    assert_eq!(curves["lines"].as_array().unwrap().len(), 61);
    assert_eq!(curves["labels"], 60);
    let first = curves["first"].as_array().unwrap();
    assert_eq!(first.len(), 11);
    assert_eq!((&first[0], &curves["lines"][0]["name"]), (&json!(0), &json!("all")));
    assert!(first.contains(&json!(2)), "`say` has most samples: {first:?}");
    let few = data_of("three.html", &super::stats(3, 60, 3_000, 0));
    assert_eq!(few["curves"]["first"], json!([0, 1, 2, 3]));
}

#[test]
fn labels_are_told_apart_from_the_sum_and_from_nothing_and_long_ones_are_short() {
    let (mut stats, origin) = (Stats::default(), clock::now());
    let long = format!("GET /{}/end", "x".repeat(300));
    for label in ["all", "", "(other labels)", &long] {
        stats.sample(&row(origin, label, Duration::from_secs(1), Duration::from_millis(5)));
    }
    let html = written("names.html", &Page::of("names", &stats));
    let names: Vec<Value> = data(&html)["curves"]["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["name"].clone())
        .collect();
    assert_eq!(names[..4], ["all", "all (a label)", "(empty label)", "(other labels)"]);
    assert_eq!(names[4].as_str().unwrap().chars().count(), 61);
    assert!(html.contains(">all (a label)<") && html.contains(">(empty label)<"));
    assert!(
        html.contains("<details class=\"label\">") && html.contains("xxx&#x2f;end</bdi></details>")
    );
    assert!(!html.contains("more than 1,000"), "a label of that name is no rest");
}

#[test]
fn times_from_the_intended_start_are_told_once() {
    let (mut stats, origin) = (Stats::default(), clock::now());
    let delay = Some(Delay { by: Duration::from_secs(1), interval: None });
    let paced = row(origin, "paced", Duration::from_secs(2), Duration::from_millis(5));
    stats.sample(&Sample { delay, ..paced });
    stats.note(&Note::Filtered { label: "paced", filter: "presence", count: 3 });
    let html = written("intended.html", &Page::of("intended", &stats));
    assert!(html.contains("From the intended start"));
    assert!(!html.contains("paced: p50") && !html.contains("not from when it could begin"));
    assert!(html.contains("threads started late by") && html.contains("3 messages, by"));
}

#[test]
fn the_text_of_rows_that_were_read_is_not_a_plans() {
    let (mut stats, origin) = (Stats::default(), clock::now());
    stats.sample(&Sample {
        success: false,
        cause: "failed",
        failure_message: "no reply",
        ..row(origin, "say", Duration::from_secs(2), Duration::from_millis(5))
    });
    let of_a_run = written("run.html", &Page::of("run", &stats));
    assert!(of_a_run.contains("as written: <bdi>failed"));
    let sources = ["night.jtl".to_owned()];
    let read = written("read.html", &Page { sources: &sources, ..Page::of("read", &stats) });
    assert!(read.contains("response message: <bdi>failed") && !read.contains("as written"));
}

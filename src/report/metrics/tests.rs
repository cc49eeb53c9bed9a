use std::time::Duration;

use super::*;
use crate::sample::{Code, Note, Sample};

fn text(stats: Stats) -> String {
    let about = About { plan: "a \"b\".yaml".to_owned(), started: Some(1_800_000_000.5) };
    render(stats, about, Now { connections: 2, peak_connections: 5, threads: 3 }).unwrap()
}

#[test]
fn rows_failures_and_times_are_told_by_label() {
    let mut stats = Stats::default();
    for ms in [1, 20, 300] {
        stats.sample(&Sample { elapsed: Duration::from_millis(ms), ..Sample::plain() });
    }
    let failed = Sample { success: false, code: Code::ReadTimeout, ..Sample::plain() };
    stats.sample(&Sample { cause: "no reply", elapsed: Duration::from_secs(1), ..failed });
    stats.note(&Note::Skipped { label: "say", cause: Code::ReadTimeout });
    let text = text(stats);
    for line in [
        r#"wsmeter_info{version="0.1.0",plan="a \"b\".yaml"} 1"#,
        "wsmeter_start_time_seconds 1800000000.5",
        r#"wsmeter_samples_total{label="say"} 4"#,
        r#"wsmeter_failures_total{label="say",code="READ_TIMEOUT"} 1"#,
        r#"wsmeter_skipped_total{label="say",cause="READ_TIMEOUT"} 1"#,
        "# TYPE wsmeter_elapsed_seconds histogram",
        "# UNIT wsmeter_elapsed_seconds seconds",
        r#"wsmeter_elapsed_seconds_count{label="say"} 4"#,
        r#"wsmeter_elapsed_seconds_sum{label="say"} 1.321"#,
        r#"wsmeter_elapsed_seconds_bucket{le="0.001",label="say"} 1"#,
        r#"wsmeter_elapsed_seconds_bucket{le="0.5",label="say"} 3"#,
        r#"wsmeter_elapsed_seconds_bucket{le="+Inf",label="say"} 4"#,
        "wsmeter_connections_open 2",
        "wsmeter_connections_peak 5",
        "wsmeter_threads 3",
    ] {
        assert!(text.lines().any(|own| own == line), "{line} is not in\n{text}");
    }
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn a_label_breaks_no_line_and_many_do_not_flood() {
    let mut stats = Stats::default();
    stats.sample(&Sample { label: "a \"b\" \\ c\nd} 7", ..Sample::plain() });
    for number in 0..500 {
        stats.sample(&Sample { label: &number.to_string(), ..Sample::plain() });
    }
    let text = text(stats);
    // A new line is two characters in a label, as it is in the rows.
    let first = r#"wsmeter_samples_total{label="a \"b\" \\ c\\nd} 7"} 1"#;
    assert!(text.lines().any(|line| line == first), "{text}");
    let samples: Vec<&str> =
        text.lines().filter(|line| line.starts_with("wsmeter_samples_total{")).collect();
    assert_eq!(samples.len(), 101);
    assert_eq!(samples[100], r#"wsmeter_samples_total{label="(other labels)"} 401"#);
}

#[test]
fn times_of_which_only_a_sum_is_known_are_in_the_last_bucket() {
    let mut stats = Stats::default();
    let [ms_1, ms_2, ms_4] = [1, 2, 4].map(Duration::from_millis);
    stats.connections.upgrade = crate::stats::Times::told(
        3,
        &crate::stats::ToldTimes {
            min: Some(ms_1),
            mean: Some(ms_2),
            max: Some(ms_4),
            percentiles: Vec::new(),
        },
    );
    let text = text(stats);
    for line in [
        r#"wsmeter_handshake_seconds_bucket{le="300.0",phase="upgrade"} 0"#,
        r#"wsmeter_handshake_seconds_bucket{le="+Inf",phase="upgrade"} 3"#,
    ] {
        assert!(text.lines().any(|own| own == line), "{line} is not in\n{text}");
    }
}

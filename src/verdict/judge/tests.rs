//! Judgements of made-up runs.

use super::*;
use crate::sample::{Code, Note, Sample};
use crate::verdict::{Condition, Figure, Operator};

fn row(stats: &mut Stats, label: &str, success: bool) {
    stats.sample(&Sample { label, success, ..Sample::plain() });
}

/// 8 passing and 2 failing rows of `say`, 1 passing one of `open`, and so many skips.
fn stats(skips: u32) -> Stats {
    let mut stats = Stats::default();
    (0..10).for_each(|index| row(&mut stats, "say", index < 8));
    row(&mut stats, "open", true);
    (0..skips).for_each(|_| stats.note(&Note::Skipped { label: "say", cause: Code::ReadTimeout }));
    stats
}

fn threshold(label: &str, statistic: Statistic, operator: Operator, bound: f64) -> Threshold {
    let condition = Condition { statistic, operator, bound, text: String::new() };
    Threshold { label: label.to_owned(), condition, abort: None }
}

fn reason(stats: &Stats, thresholds: &[Threshold]) -> String {
    let verdict = judge(&Evidence { stats, peak_connections: 3 }, thresholds).verdict;
    format!("{} {}", verdict.conclusion.exit_code(), verdict.reason)
}

#[test]
fn without_thresholds_only_a_run_without_failures_passes() {
    let mut passing = Stats::default();
    row(&mut passing, "say", true);
    assert_eq!(reason(&passing, &[]), "0 0 of 1 samples failed");
    assert_eq!(reason(&stats(0), &[]), "1 2 of 11 samples failed");
    assert_eq!(reason(&Stats::default(), &[]), "1 no sample was taken");
}

#[test]
fn a_threshold_on_time_accepts_no_failure() {
    let p95 = threshold("say", Statistic::Time(Figure::Percentile(95.0)), Operator::Below, 1.0);
    assert_eq!(reason(&stats(0), &[p95]), "1 2 of 11 samples failed");
}

#[test]
fn failures_are_accepted_where_a_threshold_bounds_them() {
    let of = |label| threshold(label, Statistic::ErrorRate, Operator::AtMost, 0.2);
    assert_eq!(reason(&stats(0), &[of("say")]), "0 2 of 11 samples failed");
    assert_eq!(reason(&stats(0), &[of("all")]), "0 2 of 11 samples failed");
    assert_eq!(
        reason(&stats(0), &[of("open")]),
        "1 2 of 10 samples of `say` failed, and no threshold accepts that"
    );
    let strict = threshold("say", Statistic::Failures, Operator::Below, 2.0);
    assert_eq!(reason(&stats(0), &[strict]), "1 1 of 1 thresholds failed; 2 of 11 samples failed");
}

#[test]
fn a_threshold_on_a_label_without_samples_fails() {
    let gone = threshold("gone", Statistic::Count, Operator::AtLeast, 0.0);
    let judgement =
        judge(&Evidence { stats: &stats(0), peak_connections: 0 }, std::slice::from_ref(&gone));
    assert_eq!(judgement.thresholds, [Judged { threshold: gone, measured: None, holds: false }]);
}

#[test]
fn skips_must_keep_the_limit_of_the_error_rate() {
    let lenient = threshold("all", Statistic::ErrorRate, Operator::AtMost, 0.5);
    assert_eq!(
        reason(&stats(11), std::slice::from_ref(&lenient)),
        "0 2 of 11 samples failed, 11 more were skipped"
    );
    assert_eq!(
        reason(&stats(12), std::slice::from_ref(&lenient)),
        "1 12 of 23 samples were never attempted"
    );
    let skips = threshold("say", Statistic::Skipped, Operator::Below, 100.0);
    let both = reason(&stats(12), &[lenient, skips]);
    assert_eq!(both, "0 2 of 11 samples failed, 12 more were skipped");
}

#[test]
fn a_lower_limit_accepts_no_failure_and_sets_no_limit_to_skips() {
    let some = threshold("all", Statistic::Failures, Operator::AtLeast, 0.0);
    assert_eq!(reason(&stats(0), &[some]), "1 2 of 11 samples failed");
    let wanted = threshold("all", Statistic::ErrorRate, Operator::Above, 0.1);
    let accepted = threshold("all", Statistic::Failures, Operator::AtMost, 9.0);
    assert_eq!(reason(&stats(0), &[wanted, accepted]), "0 2 of 11 samples failed");
}

#[test]
fn a_run_in_which_nothing_passed_may_not_have_skipped_anything() {
    let mut refused = Stats::default();
    row(&mut refused, "open", false);
    let accepted = [threshold("open", Statistic::ErrorRate, Operator::AtMost, 1.0)];
    assert_eq!(reason(&refused, &accepted), "0 1 of 1 samples failed");
    refused.note(&Note::Skipped { label: "say", cause: Code::ConnectRefused });
    assert_eq!(reason(&refused, &accepted), "1 1 of 2 samples were never attempted");
}

#[test]
fn figures_of_the_run_can_be_bounded() {
    let peak = |bound| threshold("all", Statistic::PeakConnections, Operator::Equal, bound);
    let accept = threshold("all", Statistic::Failures, Operator::AtMost, 9.0);
    assert_eq!(reason(&stats(0), &[accept.clone(), peak(3.0)]), "0 2 of 11 samples failed");
    assert!(reason(&stats(0), &[accept, peak(4.0)]).starts_with("1 1 of 2 thresholds failed"));
}

#[test]
fn a_threshold_ends_a_run_only_when_it_may_and_something_speaks_against_it() {
    let aborting = |label: &str, bound: f64, after: Option<u64>| Threshold {
        abort: after.map(Duration::from_secs),
        ..threshold(label, Statistic::Failures, Operator::Below, bound)
    };
    let broken = |threshold: Threshold, seconds: u64| {
        let stats = stats(0);
        let evidence = Evidence { stats: &stats, peak_connections: 3 };
        first_broken(&evidence, &[threshold], Duration::from_secs(seconds))
    };
    let found = broken(aborting("say", 1.0, Some(5)), 5).expect("2 are not below 1");
    assert_eq!(found.measured, Some(2.0));
    assert_eq!(broken(aborting("say", 1.0, Some(5)), 4), None, "its time has not come");
    assert_eq!(broken(aborting("say", 3.0, Some(0)), 9), None, "it holds");
    assert_eq!(broken(aborting("say", 1.0, None), 9), None, "it may not");
    assert_eq!(broken(aborting("later", 1.0, Some(0)), 9), None, "nothing is known yet");
}

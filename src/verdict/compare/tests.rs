//! Runs that are made up, with what real ones have: times that depend on each other, and few distinct ones.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, LogNormal};

use super::*;
use crate::sample::Sample;

/// A server whose times follow each other's: what slows it down lasts for some hundred samples.
struct Server {
    median_ms: f64,
    failures: f64,
    samples: u64,
    every_ms: u64,
}

const PLAIN: Server = Server { median_ms: 20.0, failures: 0.0, samples: 4_000, every_ms: 5 };

fn run(server: &Server, seed: u64) -> Blocks {
    let mut random = StdRng::seed_from_u64(seed);
    let (noise, slow) = (LogNormal::new(0.0, 0.1).unwrap(), LogNormal::new(0.0, 0.015).unwrap());
    let mut blocks = Blocks::default();
    let mut load: f64 = 1.0;
    for number in 0..server.samples {
        load = load.powf(0.99) * slow.sample(&mut random);
        let elapsed_ms = server.median_ms * load * noise.sample(&mut random);
        let success = random.random::<f64>() >= server.failures;
        let elapsed = Duration::from_secs_f64(elapsed_ms.round() / 1e3);
        let sample = Sample { elapsed, success, ..Sample::plain() };
        blocks.record(&sample, 1_000_000 + number * server.every_ms);
    }
    blocks
}

fn findings(base: &Blocks, new: &Blocks) -> Vec<Finding> {
    let comparison = compare(base, new, &Tolerances::default());
    let [say] = &comparison.labels[..] else { unreachable!("there is one label") };
    say.changes.iter().map(|change| change.finding).collect()
}

#[test]
fn the_same_server_is_not_worse_than_itself() {
    let worse = (0..40).filter(|seed| {
        let (base, new) = (run(&PLAIN, *seed), run(&PLAIN, seed + 1_000));
        findings(&base, &new).contains(&Finding::Worse)
    });
    // One in 40 would be what the tolerance and the confidence allow.
    assert!(worse.count() <= 1);
}

#[test]
fn a_fifth_more_delay_is_found() {
    let slower = Server { median_ms: 24.0, ..PLAIN };
    let found = (0..40).filter(|seed| {
        let findings = findings(&run(&PLAIN, *seed), &run(&slower, seed + 1_000));
        // The median's is the third.
        findings[2] == Finding::Worse
    });
    let found = found.count();
    assert!(found >= 38, "{found}");
}

#[test]
fn a_server_that_got_better_is_not_worse() {
    let faster = Server { median_ms: 14.0, ..PLAIN };
    let findings = findings(&run(&PLAIN, 1), &run(&faster, 2));
    assert_eq!(findings[2..4], [Finding::Better; 2], "{findings:?}");
    assert!(!findings.contains(&Finding::Worse), "{findings:?}");
}

#[test]
fn failures_and_a_lower_rate_are_found() {
    let failing = Server { failures: 0.05, ..PLAIN };
    assert_eq!(findings(&run(&PLAIN, 1), &run(&failing, 2))[1], Finding::Worse);
    let few = Server { failures: 0.004, ..PLAIN };
    assert_eq!(findings(&run(&PLAIN, 1), &run(&few, 2))[1], Finding::Same);
    let slow = Server { every_ms: 7, ..PLAIN };
    assert_eq!(findings(&run(&PLAIN, 1), &run(&slow, 2))[0], Finding::Worse);
    assert_eq!(findings(&run(&slow, 1), &run(&PLAIN, 2))[0], Finding::Better);
}

#[test]
fn a_change_of_less_than_a_millisecond_is_none() {
    let fast = Server { median_ms: 2.0, ..PLAIN };
    let slower = Server { median_ms: 2.6, ..PLAIN };
    let findings = findings(&run(&fast, 1), &run(&slower, 2));
    assert!(findings[2..].iter().all(|finding| *finding == Finding::Same), "{findings:?}");
}

#[test]
fn what_few_samples_cannot_tell_is_not_known() {
    let short = Server { samples: 150, every_ms: 40, ..PLAIN };
    let slow = Server { median_ms: 40.0, ..short };
    let findings = findings(&run(&short, 1), &run(&slow, 2));
    assert_eq!(findings[2..4], [Finding::Worse; 2], "{findings:?}");
    let unknown = |needed| Finding::Unknown(Unknown::Samples { there: 150, needed });
    assert_eq!(findings[4..], [unknown(200), unknown(1_000)]);
}

#[test]
fn one_moment_of_many_samples_tells_nothing() {
    let burst = Server { samples: 4_000, every_ms: 0, ..PLAIN };
    let slow = Server { median_ms: 40.0, ..burst };
    let findings = findings(&run(&burst, 1), &run(&slow, 2));
    assert!(findings.iter().all(|finding| *finding == Finding::Unknown(Unknown::Spans)));
}

#[test]
fn one_slow_second_is_not_a_slow_server() {
    let base = run(&PLAIN, 1);
    let mut new = run(&Server { samples: 3_800, ..PLAIN }, 2);
    for number in 0..200 {
        let sample = Sample { elapsed: Duration::from_millis(300), ..Sample::plain() };
        new.record(&sample, 1_000_000 + 19_000 + number * 5);
    }
    // It makes the p99 many times what it was; once in twenty seconds proves nothing.
    let findings = findings(&base, &new);
    assert_eq!(findings[5], Finding::MaybeWorse, "{findings:?}");
}

#[test]
fn labels_of_one_run_only_are_told() {
    let (base, mut new) = (run(&PLAIN, 1), run(&PLAIN, 2));
    new.record(&Sample { label: "added", ..Sample::plain() }, 1_000_000);
    let comparison = compare(&base, &new, &Tolerances::default());
    assert_eq!(comparison.only_in_new, ["added"]);
    assert_eq!(comparison.only_in_base, Vec::<String>::new());
    let labels: Vec<_> = comparison.labels.iter().map(|label| label.label.as_str()).collect();
    assert_eq!(labels, ["say", ALL]);
}

#[test]
fn the_same_results_give_the_same_findings() {
    let (base, new) = (run(&PLAIN, 1), run(&PLAIN, 2));
    let tolerances = Tolerances::default();
    assert_eq!(compare(&base, &new, &tolerances), compare(&base, &new, &tolerances));
}

#[test]
fn no_interval_promises_what_cannot_be() {
    // Failures in bursts: seconds differ by so much that hardly anything is sure.
    let mut new = run(&Server { samples: 400, every_ms: 50, ..PLAIN }, 2);
    for number in 0..3_000 {
        let sample = Sample { success: number % 10 == 0, ..Sample::plain() };
        new.record(&sample, 1_000_000 + 19_000 + number / 10);
    }
    for (base, new) in [(&run(&PLAIN, 1), &new), (&new, &run(&PLAIN, 1))] {
        let comparison = compare(base, new, &Tolerances::default());
        for change in comparison.labels.iter().flat_map(|label| &label.changes) {
            let (Some(base), Some((low, high))) = (change.base, change.interval) else { continue };
            assert!(base + low >= 0.0, "{change:?}");
            assert!(low <= high, "{change:?}");
            assert!(change.metric != Metric::ErrorRate || base + high <= 1.0, "{change:?}");
        }
    }
}

#[test]
fn percentiles_that_are_better_known_are_those_that_are_shown() {
    let (mut base, new) = (run(&PLAIN, 1), run(&PLAIN, 2));
    let told = Duration::from_micros(20_345);
    base.refine(|label, _| (label == "say").then(|| vec![(0.5, told)]));
    let comparison = compare(&base, &new, &Tolerances::default());
    let [.., p50, p90, _, _] = &comparison.labels[0].changes[..] else { unreachable!("six") };
    assert_eq!(p50.base, Some(told.as_secs_f64()));
    assert_ne!(p90.base, Some(told.as_secs_f64()));
}

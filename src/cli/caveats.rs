//! What makes two runs hard to compare, as far as their summaries tell.

use std::collections::BTreeSet;

use crate::results::{Results, RunInfo};
use crate::verdict::Conclusion;

/// Runs of which one lasted so much longer are not alike: caches warm up, connections pile up.
const LONGER: f64 = 1.25;

/// What is to be said before anyone trusts the comparison.
pub(crate) fn caveats(base: &Results, new: &Results) -> Vec<String> {
    let mut caveats = Vec::new();
    let seconds = |results: &Results| {
        std::time::Duration::from_millis(results.ended_ms.saturating_sub(results.started_ms))
            .as_secs_f64()
    };
    let (old, young) = (seconds(base), seconds(new));
    if old.max(young) > LONGER * old.min(young) && old.max(young) - old.min(young) > 1.0 {
        caveats.push(format!("the base lasted {old:.1} s and the new run {young:.1} s"));
    }
    match (known(base), known(new)) {
        (Some(base), Some(new)) => {
            if base.plan.sha256 != new.plan.sha256 {
                caveats.push(format!(
                    "the plan is another one, or was changed: {} and {}",
                    base.plan.path, new.plan.path
                ));
            }
            caveats.extend(properties(base, new));
            if (&base.host, base.cores) != (&new.host, new.cores) {
                caveats.push(format!(
                    "the machine is another one: {} with {} cores, and {} with {}",
                    base.host, base.cores, new.host, new.cores
                ));
            }
            if base.wsmeter != new.wsmeter {
                caveats.push(format!("wsmeter was {} and is {}", base.wsmeter, new.wsmeter));
            }
        }
        _ => caveats.push(
            "there is no summary of both runs: nothing is known of plan, properties and machine"
                .to_owned(),
        ),
    }
    for (name, results) in [("base", base), ("new run", new)] {
        if let Some(run) = known(results) {
            caveats.extend(of_run(name, run));
        }
        if let Some(oddity) = results.oddities.first() {
            let more = match results.oddities.len() - 1 {
                0 => String::new(),
                1 => "; and in one more way".to_owned(),
                more => format!("; and in {more} more ways"),
            };
            caveats.push(format!("the {name} is odd: {oddity}{more}"));
        }
    }
    caveats
}

fn known(results: &Results) -> Option<&RunInfo> {
    results.runs.first()?.as_ref()
}

/// What of one run alone makes it a bad witness.
fn of_run(name: &str, run: &RunInfo) -> Vec<String> {
    let mut caveats = Vec::new();
    let saturated = run.generator.saturated_seconds();
    if saturated > 0 {
        caveats.push(format!(
            "the generator of the {name} was saturated for {saturated} s: those times are its own"
        ));
    }
    let word = run.verdict.as_str();
    if [Conclusion::BrokeOff, Conclusion::Interrupted].iter().any(|one| one.word() == word) {
        caveats.push(format!("the {name} did not go to its end: {}", run.reason));
    }
    caveats
}

/// Properties that differ; that of the target may, if it is the embedded one on a free port.
fn properties(base: &RunInfo, new: &RunInfo) -> Option<String> {
    let (old, young) = (&base.plan.properties, &new.plan.properties);
    let names: BTreeSet<&String> = old.keys().chain(young.keys()).collect();
    let is_local = |value: Option<&serde_json::Value>| {
        value.and_then(|value| value.as_str()).is_some_and(|url| url.starts_with("ws://127.0.0.1:"))
    };
    let differ = names.into_iter().filter(|name| {
        let (one, other) = (old.get(*name), young.get(*name));
        one != other && !(*name == "target" && is_local(one) && is_local(other))
    });
    let differ: Vec<String> = differ.map(|name| format!("`{name}`")).collect();
    (!differ.is_empty()).then(|| format!("properties differ: {}", differ.join(", ")))
}

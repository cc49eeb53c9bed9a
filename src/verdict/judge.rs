//! The judgement of a run that went to its end.

use std::time::Duration;

use crate::stats::{LabelStats, Stats, thousands};
use crate::verdict::{ALL, Conclusion, Operator, Statistic, Threshold, Verdict};

/// What is judged.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// All figures of the run.
    pub stats: &'a Stats,
    /// Connections that were open at once, at most.
    pub peak_connections: u64,
}

/// A threshold and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The threshold.
    pub threshold: Threshold,
    /// What was measured, in the statistic's unit; `None` where there was nothing to measure.
    pub measured: Option<f64>,
    /// Whether the condition holds. One on a label without samples does not.
    pub holds: bool,
}

/// A verdict and what led to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// What the run came to.
    pub verdict: Verdict,
    /// All thresholds, in the order of the plan.
    pub thresholds: Vec<Judged>,
}

/// Judges a run that went to its end: it passes if at least one sample was taken, every threshold
/// holds, no label has failures that no threshold bounds, and skips did not empty it.
pub fn judge(evidence: &Evidence<'_>, thresholds: &[Threshold]) -> Judgement {
    let all = evidence.stats.all();
    let judged: Vec<Judged> =
        thresholds.iter().map(|threshold| weigh(threshold, &all, evidence)).collect();
    let verdict = match objection(evidence.stats, &all, &judged) {
        Some(reason) => Verdict::new(Conclusion::Failed, reason),
        None => Verdict::new(Conclusion::Passed, failures(evidence.stats)),
    };
    Judgement { verdict, thresholds: judged }
}

/// How many samples failed, as a reason says it.
pub fn failures(stats: &Stats) -> String {
    let all = stats.all();
    let failed = format!("{} of {} samples failed", thousands(all.failed), thousands(all.count));
    match all.skips() {
        0 => failed,
        skips => format!("{failed}, {} more were skipped", thousands(skips)),
    }
}

/// The first threshold that may end a run which goes on for `elapsed`, and should: there is something to
/// measure, and the condition does not hold.
pub fn first_broken(
    evidence: &Evidence<'_>,
    thresholds: &[Threshold],
    elapsed: Duration,
) -> Option<Judged> {
    let all = evidence.stats.all();
    thresholds
        .iter()
        .filter(|threshold| threshold.abort.is_some_and(|after| elapsed >= after))
        .map(|threshold| weigh(threshold, &all, evidence))
        .find(|judged| judged.measured.is_some() && !judged.holds)
}

fn weigh(threshold: &Threshold, all: &LabelStats, evidence: &Evidence<'_>) -> Judged {
    let condition = &threshold.condition;
    let label = match threshold.label.as_str() {
        ALL => Some(all),
        name => {
            let mut labels = evidence.stats.labels().chain(evidence.stats.transactions());
            labels.find(|(label, _)| *label == name).map(|(_, label)| label)
        }
    };
    let measured = label
        .filter(|label| label.count > 0)
        .and_then(|label| condition.statistic.measure(label, evidence));
    let holds = measured.is_some_and(|value| condition.operator.holds(value, condition.bound));
    Judged { threshold: threshold.clone(), measured, holds }
}

/// What speaks against a run; `None` if it passes.
fn objection(stats: &Stats, all: &LabelStats, judged: &[Judged]) -> Option<String> {
    if all.count == 0 {
        return Some("no sample was taken".to_owned());
    }
    // What setup and teardown did is not what was to be tested.
    if stats.groups_begun.is_empty() && !stats.idle_groups.is_empty() {
        return Some("no sample was taken but by `setup` and `teardown`".to_owned());
    }
    let broken = judged.iter().filter(|one| !one.holds).count();
    if broken > 0 {
        let many = judged.len();
        return Some(format!("{broken} of {many} thresholds failed; {}", failures(stats)));
    }
    unbounded_failures(stats, judged).or_else(|| emptied_by_skips(all, judged))
}

/// Failures of a label of which no threshold says how many are acceptable. One on time, count or
/// rate accepts none.
fn unbounded_failures(stats: &Stats, judged: &[Judged]) -> Option<String> {
    let bounded = |label: &str| judged.iter().any(|one| one.threshold.covers_failures_of(label));
    let (label, figures) =
        stats.labels().find(|(label, figures)| figures.failed > 0 && !bounded(label))?;
    if !judged.iter().any(|one| one.threshold.condition.limits_failures()) {
        return Some(failures(stats));
    }
    Some(format!(
        "{} of {} samples of `{label}` failed, and no threshold accepts that",
        thousands(figures.failed),
        thousands(figures.count)
    ))
}

/// Where `all: error_rate` accepts failures and nothing is said of skips, these must keep the same
/// limit, and where nothing passed at all, nothing may have been skipped: else a run could be emptied
/// by skips and be green.
fn emptied_by_skips(all: &LabelStats, judged: &[Judged]) -> Option<String> {
    let conditions = || judged.iter().map(|one| &one.threshold.condition);
    if conditions().any(|condition| condition.statistic.bounds_skips()) {
        return None;
    }
    let skip_rate = all.skip_rate()?;
    let nothing_passed = all.failed == all.count && all.skips() > 0;
    let exceeded = nothing_passed
        || judged.iter().any(|one| {
            let condition = &one.threshold.condition;
            one.threshold.label == ALL
            && condition.statistic == Statistic::ErrorRate
            // Only an upper limit can be kept by skips.
            && matches!(condition.operator, Operator::Below | Operator::AtMost)
            && condition.bound > 0.0
            && !condition.operator.holds(skip_rate, condition.bound)
        });
    exceeded.then(|| {
        let skips = all.skips();
        let intended = thousands(all.count + skips);
        format!("{} of {intended} samples were never attempted", thousands(skips))
    })
}

#[cfg(test)]
mod tests;

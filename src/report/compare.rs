//! A comparison of two runs: for people, and for machines.

mod document;

use std::fmt::Write as _;
use std::time::Duration;

use crate::report::units::{printable, rate, time};
use crate::stats::thousands;
use crate::verdict::compare::{
    Change, Comparison, Finding, LabelComparison, Metric, Tolerances, Unknown,
};

pub(crate) use document::{Document, document};
pub use document::{tolerances, write};

/// A label is cut to this many characters in the table.
const MAX_LABEL: usize = 24;

/// Changes that are told one by one; the rest are in the JSON.
const MAX_TOLD: usize = 40;

/// The table and what is worse.
pub fn render(comparison: &Comparison) -> String {
    let mut out = String::new();
    table(&mut out, comparison);
    told(&mut out, "worse", comparison, |finding| *finding == Finding::Worse);
    told(&mut out, "perhaps worse", comparison, |finding| *finding == Finding::MaybeWorse);
    told(&mut out, "better", comparison, |finding| *finding == Finding::Better);
    not_known(&mut out, comparison);
    for (title, labels) in [
        ("only in the base", &comparison.only_in_base),
        ("only in the new run", &comparison.only_in_new),
    ] {
        if !labels.is_empty() {
            let labels: Vec<_> = labels.iter().map(|label| printable(label)).collect();
            writeln!(out, "\n{title}: {}", labels.join(", ")).ok();
        }
    }
    out
}

/// What the comparison comes to, in one line.
pub fn conclusion(comparison: &Comparison) -> String {
    let count = |holds: fn(&Finding) -> bool| comparison.count(holds);
    let all = count(|_| true);
    let unknown = count(|finding| matches!(finding, Finding::Unknown(_)));
    let worse = count(|finding| *finding == Finding::Worse);
    let maybe = count(|finding| *finding == Finding::MaybeWorse);
    let mut rest = String::new();
    if maybe > 0 {
        write!(rest, ", {} may be chance", thousands(maybe as u64)).ok();
    }
    if unknown > 0 {
        write!(rest, ", {} not known", thousands(unknown as u64)).ok();
    }
    let (all, known) = (thousands(all as u64), all - unknown);
    match (worse, known) {
        (0, 0) => {
            format!("nothing is known: none of {all} figures can be told from so short a run")
        }
        (0, _) => format!("none of {all} figures is surely worse{rest}"),
        (1, _) => format!("1 of {all} figures is worse{rest}"),
        (_, _) => format!("{} of {all} figures are worse{rest}", thousands(worse as u64)),
    }
}

fn table(out: &mut String, comparison: &Comparison) {
    let mut rows = vec![["label".to_owned()].into_iter().chain(Metric::ALL.map(title)).collect()];
    rows.extend(comparison.labels.iter().map(cells));
    let columns = Metric::ALL.len() + 1;
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row: &Vec<String>| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in &rows {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            write!(line, "  {cell:>width$}").ok();
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out.push_str("! worse   ? perhaps worse   * better   - not known\n");
    if comparison.labels.iter().any(|label| label.changes.len() < Metric::ALL.len()) {
        out.push_str("all: without percentiles, which of a mixture jump from one label's times to another's\n");
    }
}

fn title(metric: Metric) -> String {
    metric.name().replace('_', " ")
}

fn cells(label: &LabelComparison) -> Vec<String> {
    let mut cells = vec![cut(&label.label)];
    cells.extend(label.changes.iter().map(|change| {
        let sign = match change.finding {
            Finding::Worse => '!',
            Finding::MaybeWorse => '?',
            Finding::Better => '*',
            Finding::Same => ' ',
            Finding::Unknown(_) => return "- ".to_owned(),
        };
        format!("{}{sign}", shown_change(change))
    }));
    cells
}

/// `+12.3%`; of error rates in percentage points, `+0.20pp`.
fn shown_change(change: &Change) -> String {
    match (change.metric, change.relative(), change.difference()) {
        (Metric::ErrorRate, _, Some(difference)) => points(difference),
        (_, Some(relative), _) => percent(relative),
        (_, None, Some(0.0)) => percent(0.0),
        (_, None, _) => "new".to_owned(),
    }
}

/// Without a sign where there is nothing to it.
fn percent(share: f64) -> String {
    let percent = (share * 1e3).round() / 10.0;
    if percent == 0.0 { "0.0%".to_owned() } else { format!("{percent:+.1}%") }
}

fn points(share: f64) -> String {
    let points = (share * 1e4).round() / 100.0;
    if points == 0.0 { "0".to_owned() } else { format!("{points:+.2}pp") }
}

/// The changes of which something holds, each with its confidence interval.
fn told(out: &mut String, title: &str, comparison: &Comparison, holds: fn(&Finding) -> bool) {
    let changes: Vec<(&LabelComparison, &Change)> = comparison
        .labels
        .iter()
        .flat_map(|label| label.changes.iter().map(move |change| (label, change)))
        .filter(|(_, change)| holds(&change.finding))
        .collect();
    if changes.is_empty() {
        return;
    }
    writeln!(out, "\n{title}").ok();
    let width = |label: &LabelComparison| cut(&label.label).chars().count();
    let widest = changes.iter().map(|(label, _)| width(label)).max().unwrap_or(0);
    for (label, change) in changes.iter().take(MAX_TOLD) {
        let name = cut(&label.label);
        let metric = self::title(change.metric);
        let sentence = sentence(change, &comparison.tolerances);
        writeln!(out, "  {name:<widest$}  {metric:<10}  {sentence}").ok();
    }
    if let Some(more) = changes.len().checked_sub(MAX_TOLD).filter(|more| *more > 0) {
        writeln!(out, "  … and {more} more").ok();
    }
}

/// `20.5ms -> 24.6ms, +20.1% (95%: +18.9% to +21.3%, tolerated 10%)`
fn sentence(change: &Change, tolerances: &Tolerances) -> String {
    let metric = change.metric;
    let [base, new] = [change.base, change.new].map(|figure| value(metric, figure));
    let mut text = format!("{base} -> {new}, {}", shown_change(change));
    if let Some([low, high]) = interval(change) {
        let confidence = plain_percent(tolerances.confidence);
        write!(text, " ({confidence}: {low} to {high}, ").ok();
        write!(text, "tolerated {})", plain_percent(tolerances.of(metric))).ok();
    }
    text
}

/// The ends of the confidence interval.
fn interval(change: &Change) -> Option<[String; 2]> {
    let end = |end: f64| match (change.metric, change.base.filter(|base| *base > 0.0)) {
        (Metric::ErrorRate, _) => points(end),
        (_, Some(base)) => percent(end / base),
        (metric, None) => shown(metric, end.max(0.0)),
    };
    change.interval.map(|(low, high)| [low, high].map(end))
}

fn value(metric: Metric, value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| shown(metric, value))
}

/// Why a figure is not known; empty if it is.
fn why(finding: Finding) -> String {
    match finding {
        Finding::Unknown(Unknown::Samples { there, needed }) => {
            let [there, needed] = [there, needed].map(thousands);
            format!("too few samples: it takes {needed}, and a run has {there}")
        }
        Finding::Unknown(Unknown::Spans) => "too short a time to tell what is chance".to_owned(),
        _ => String::new(),
    }
}

fn shown(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Rate => rate(Some(value)),
        Metric::ErrorRate => format!("{:.2}%", value * 100.0),
        _ => time(Duration::try_from_secs_f64(value).ok()),
    }
}

fn plain_percent(share: f64) -> String {
    format!("{}%", (share * 1e6).round() / 1e4)
}

/// Why figures are not known, each reason once.
fn not_known(out: &mut String, comparison: &Comparison) {
    let (mut samples, mut spans) = (Vec::new(), Vec::new());
    for label in &comparison.labels {
        let unknown = label.changes.iter().filter_map(|change| match change.finding {
            Finding::Unknown(unknown) => Some((change.metric, unknown)),
            _ => None,
        });
        let unknown: Vec<_> = unknown.collect();
        let few = unknown.iter().find_map(|(metric, unknown)| match unknown {
            Unknown::Samples { there, needed } => Some((metric, there, needed)),
            Unknown::Spans => None,
        });
        if let Some((metric, there, needed)) = few {
            samples.push(format!(
                "{} (its {} takes {} samples, and a run has {})",
                cut(&label.label),
                metric.name(),
                thousands(*needed),
                thousands(*there)
            ));
        }
        if unknown.iter().any(|(_, unknown)| *unknown == Unknown::Spans) {
            spans.push(cut(&label.label));
        }
    }
    for (title, labels) in
        [("too few samples", samples), ("too short a time to tell what is chance", spans)]
    {
        if let [first, rest @ ..] = &labels[..] {
            let more = match rest.len() {
                0 => String::new(),
                more => format!(" and {more} more labels"),
            };
            writeln!(out, "\n{title}: {first}{more}").ok();
        }
    }
}

fn cut(label: &str) -> String {
    let label = printable(label);
    match label.char_indices().nth(MAX_LABEL) {
        None => label.into_owned(),
        Some(_) => label.chars().take(MAX_LABEL - 1).chain(['…']).collect(),
    }
}

/// A comparison, and what belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// The base: a path.
    pub base: String,
    /// The new run, where it is not the one whose report this is in.
    pub new: Option<String>,
    /// What makes the runs hard to compare, each a sentence.
    pub caveats: Vec<String>,
    /// What the comparison found.
    pub found: Comparison,
}

/// A change as tables show it: texts that are ready, but not yet escaped.
#[derive(Debug)]
pub(crate) struct Shown<'a> {
    pub(crate) label: &'a str,
    /// `error rate`
    pub(crate) figure: String,
    pub(crate) base: String,
    pub(crate) new: String,
    /// `+20.1%`; empty where it is not known.
    pub(crate) change: String,
    /// `+18.9% to +21.3%`; empty where it is not known.
    pub(crate) interval: String,
    pub(crate) tolerance: String,
    pub(crate) finding: Finding,
    /// `20.5ms -> 24.6ms, +20.1% (95%: +18.9% to +21.3%, tolerated 10%)`, or why it is not known.
    pub(crate) sentence: String,
}

/// How sure the intervals are: `95%`.
pub(crate) fn confidence(comparison: &Comparison) -> String {
    plain_percent(comparison.tolerances.confidence)
}

/// All changes, the gravest first, else in the order of labels and figures.
pub(crate) fn gravest_first(comparison: &Comparison) -> Vec<Shown<'_>> {
    let mut changes = in_order(comparison);
    changes.sort_by_key(|change| match change.finding {
        Finding::Worse => 0,
        Finding::MaybeWorse => 1,
        Finding::Better => 2,
        Finding::Same => 3,
        Finding::Unknown(_) => 4,
    });
    changes
}

/// All changes in the order of labels and figures.
pub(crate) fn in_order(comparison: &Comparison) -> Vec<Shown<'_>> {
    let tolerances = &comparison.tolerances;
    let labels = comparison.labels.iter();
    let changes = labels.flat_map(|label| label.changes.iter().map(move |change| (label, change)));
    let shown = changes.map(|(label, change)| {
        let is_known = !matches!(change.finding, Finding::Unknown(_));
        Shown {
            label: &label.label,
            figure: title(change.metric),
            base: value(change.metric, change.base),
            new: value(change.metric, change.new),
            change: if is_known { shown_change(change) } else { String::new() },
            interval: interval(change)
                .map(|[low, high]| format!("{low} to {high}"))
                .unwrap_or_default(),
            tolerance: plain_percent(tolerances.of(change.metric)),
            finding: change.finding,
            sentence: if is_known { sentence(change, tolerances) } else { why(change.finding) },
        }
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(metric: Metric, base: f64, new: f64, finding: Finding) -> Change {
        let interval = Some((0.9 * (new - base), 1.1 * (new - base)));
        Change { metric, base: Some(base), new: Some(new), interval, finding }
    }

    fn unknown(metric: Metric) -> Change {
        let finding = Finding::Unknown(Unknown::Samples { there: 300, needed: 1_000 });
        Change { metric, base: None, new: None, interval: None, finding }
    }

    fn comparison() -> Comparison {
        Comparison {
            tolerances: Tolerances::default(),
            labels: vec![LabelComparison {
                label: "say\u{7}".to_owned(),
                transaction: false,
                changes: vec![
                    change(Metric::Rate, 200.0, 210.0, Finding::Same),
                    change(Metric::ErrorRate, 0.0, 0.05, Finding::Worse),
                    change(Metric::P50, 0.020, 0.024, Finding::Worse),
                    change(Metric::P90, 0.030, 0.036, Finding::MaybeWorse),
                    change(Metric::P95, 0.040, 0.030, Finding::Better),
                    unknown(Metric::P99),
                ],
            }],
            only_in_base: vec!["gone".to_owned()],
            only_in_new: Vec::new(),
        }
    }

    #[test]
    fn the_table_is_followed_by_what_is_worse_and_by_how_much() {
        let expected = "\
label       rate  error rate      p50      p90      p95  p99
say\\u{7}  +5.0%     +5.00pp!  +20.0%!  +20.0%?  -25.0%*   -
! worse   ? perhaps worse   * better   - not known

worse
  say\\u{7}  error rate  0.00% -> 5.00%, +5.00pp (95%: +4.50pp to +5.50pp, tolerated 1%)
  say\\u{7}  p50         20.0ms -> 24.0ms, +20.0% (95%: +18.0% to +22.0%, tolerated 10%)

perhaps worse
  say\\u{7}  p90         30.0ms -> 36.0ms, +20.0% (95%: +18.0% to +22.0%, tolerated 10%)

better
  say\\u{7}  p95         40.0ms -> 30.0ms, -25.0% (95%: -22.5% to -27.5%, tolerated 15%)

too few samples: say\\u{7} (its p99 takes 1,000 samples, and a run has 300)

only in the base: gone
";
        assert_eq!(render(&comparison()), expected);
        let conclusion = conclusion(&comparison());
        assert_eq!(conclusion, "2 of 6 figures are worse, 1 may be chance, 1 not known");
    }

    #[test]
    fn of_runs_that_are_too_short_nothing_is_said_to_be_known() {
        let mut short = comparison();
        short.labels[0].changes = vec![unknown(Metric::P50), unknown(Metric::P99)];
        assert!(conclusion(&short).starts_with("nothing is known: none of 2 figures"));
    }
}

//! `junit.xml`: what a run came to as test cases, which the pages of CI servers show.
//!
//! There is one for the verdict, so that a run that fails has a red one whatever the reason; one for each
//! threshold; one for each figure that was compared with an earlier run; and one for each label whose
//! failures no threshold bounds.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::time::Duration;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use crate::report::compare::{self, Compared, Shown};
use crate::report::html::Page;
use crate::report::texts::{causes_of, shortened};
use crate::report::thresholds::measured;
use crate::report::units::printable;
use crate::report::whole_file;
use crate::stats::{LabelStats, thousands};
use crate::verdict::compare::Finding;
use crate::verdict::{ALL, Conclusion, Judged, Judgement, Unit};

/// Causes that a test case tells; all are in the summary.
const MOST_CAUSES: usize = 10;

/// What stands in place of a character that XML 1.0 does not allow, not even escaped.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

type Attributes<'a> = Vec<(&'a str, String)>;

/// Test cases that belong together.
struct Suite {
    name: &'static str,
    cases: Vec<Case>,
}

struct Case {
    name: String,
    time: Duration,
    outcome: Outcome,
    /// More to know about one that passed.
    output: String,
}

enum Outcome {
    Passed,
    /// The server did not do what it should.
    Failed {
        kind: &'static str,
        message: String,
        text: String,
    },
    /// The run did not come to its end.
    Broken {
        message: String,
    },
    /// There was nothing to judge.
    Skipped {
        message: String,
    },
}

/// Writes the file under a temporary name and renames it. The error names the path.
pub(crate) fn write(path: &Path, judgement: &Judgement, page: &Page<'_>) -> io::Result<()> {
    whole_file::write(path, &render(judgement, page)?)
}

fn render(judgement: &Judgement, page: &Page<'_>) -> io::Result<Vec<u8>> {
    let suites = [
        Suite { name: "verdict", cases: vec![verdict(judgement, page)] },
        Suite { name: "thresholds", cases: thresholds(judgement, page) },
        Suite { name: "comparison", cases: page.comparison.map(comparison).unwrap_or_default() },
        Suite { name: "labels", cases: labels(judgement, page) },
    ];
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let all = suites.iter().flat_map(|suite| &suite.cases);
    let mut attributes = counts(all);
    attributes.insert(0, ("name", page.title.to_owned()));
    attributes.push(("time", seconds(took(page))));
    xml.write_event(Event::Start(element("testsuites", attributes)))?;
    for suite in suites.iter().filter(|suite| !suite.cases.is_empty()) {
        write_suite(&mut xml, suite, page)?;
    }
    xml.write_event(Event::End(BytesEnd::new("testsuites")))?;
    let mut bytes = xml.into_inner();
    bytes.push(b'\n');
    Ok(bytes)
}

fn write_suite(xml: &mut Writer<Vec<u8>>, suite: &Suite, page: &Page<'_>) -> io::Result<()> {
    let mut attributes = vec![("name", suite.name.to_owned())];
    attributes.extend(counts(suite.cases.iter()));
    attributes.push(("time", seconds(took(page))));
    if let Some(started) = page.started {
        // Without a zone: the format has none.
        attributes.push(("timestamp", started.format("%Y-%m-%dT%H:%M:%S").to_string()));
    }
    if let Some(host) = page.host.filter(|host| !host.is_empty()) {
        attributes.push(("hostname", host.to_owned()));
    }
    xml.write_event(Event::Start(element("testsuite", attributes)))?;
    let properties = properties(page);
    if suite.name == "verdict" && !properties.is_empty() {
        xml.write_event(Event::Start(BytesStart::new("properties")))?;
        for (name, value) in properties {
            let attributes = vec![("name", name), ("value", value)];
            xml.write_event(Event::Empty(element("property", attributes)))?;
        }
        xml.write_event(Event::End(BytesEnd::new("properties")))?;
    }
    // Jenkins takes what is before the last dot for a package.
    let class = format!("{}.{}", page.title.replace('.', "_"), suite.name);
    for case in &suite.cases {
        write_case(xml, case, &class)?;
    }
    xml.write_event(Event::End(BytesEnd::new("testsuite")))
}

fn write_case(xml: &mut Writer<Vec<u8>>, case: &Case, class: &str) -> io::Result<()> {
    let time = seconds(case.time);
    let attributes =
        vec![("classname", class.to_owned()), ("name", case.name.clone()), ("time", time)];
    let start = element("testcase", attributes);
    let (name, attributes, text) = match &case.outcome {
        Outcome::Passed if case.output.is_empty() => return xml.write_event(Event::Empty(start)),
        Outcome::Passed => ("system-out", Vec::new(), case.output.as_str()),
        Outcome::Failed { kind, message, text } => {
            let attributes = vec![("type", (*kind).to_owned()), ("message", message.clone())];
            ("failure", attributes, text.as_str())
        }
        Outcome::Broken { message } => {
            let attributes = vec![("type", "run".to_owned()), ("message", message.clone())];
            ("error", attributes, "")
        }
        Outcome::Skipped { message } => ("skipped", vec![("message", message.clone())], ""),
    };
    xml.write_event(Event::Start(start))?;
    let inner = element(name, attributes);
    if text.is_empty() {
        xml.write_event(Event::Empty(inner))?;
    } else {
        xml.write_event(Event::Start(inner))?;
        xml.write_event(Event::Text(BytesText::new(&allowed(text))))?;
        xml.write_event(Event::End(BytesEnd::new(name)))?;
    }
    xml.write_event(Event::End(BytesEnd::new("testcase")))
}

fn element<'a>(name: &'a str, attributes: Attributes<'_>) -> BytesStart<'a> {
    let mut element = BytesStart::new(name);
    for (name, value) in attributes {
        // An attribute has no lines: a reader makes them blanks.
        element.push_attribute((name, &*allowed(&printable(&value))));
    }
    element
}

/// A text with nothing in it that no document may hold (XML 1.0, 2.2).
fn allowed(text: &str) -> Cow<'_, str> {
    let is_allowed = |one: char| matches!(one, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{1_0000}'..);
    if text.chars().all(is_allowed) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|one| if is_allowed(one) { one } else { REPLACEMENT }).collect()
}

fn counts<'a>(cases: impl Iterator<Item = &'a Case>) -> Attributes<'static> {
    let [mut tests, mut failures, mut errors, mut skipped] = [0; 4];
    for case in cases {
        tests += 1;
        match case.outcome {
            Outcome::Passed => {}
            Outcome::Failed { .. } => failures += 1,
            Outcome::Broken { .. } => errors += 1,
            Outcome::Skipped { .. } => skipped += 1,
        }
    }
    [("tests", tests), ("failures", failures), ("errors", errors), ("skipped", skipped)]
        .map(|(name, count): (_, usize)| (name, count.to_string()))
        .into()
}

fn took(page: &Page<'_>) -> Duration {
    let took = page.started.zip(page.ended).map(|(started, ended)| ended - started);
    took.and_then(|took| took.to_std().ok()).unwrap_or_default()
}

fn seconds(time: Duration) -> String {
    format!("{:.6}", time.as_secs_f64())
}

fn properties(page: &Page<'_>) -> Vec<(String, String)> {
    let mut properties = Vec::new();
    let mut add = |name: &str, value: &str| {
        if !value.is_empty() {
            properties.push((name.to_owned(), value.to_owned()));
        }
    };
    add("wsmeter", page.wsmeter.unwrap_or_default());
    if let Some(plan) = page.plan {
        add("plan", &plan.path);
        add("plan.sha256", &plan.sha256);
        for (name, value) in &plan.properties {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            add(&format!("property.{name}"), &value);
        }
    }
    add("command", page.command.unwrap_or_default());
    for source in page.sources {
        add("results", source);
    }
    properties
}

fn verdict(judgement: &Judgement, page: &Page<'_>) -> Case {
    let message = judgement.verdict.reason.clone();
    let outcome = match judgement.verdict.conclusion {
        Conclusion::Passed => Outcome::Passed,
        Conclusion::Failed => {
            let worse = page.comparison.map(worse).unwrap_or_default();
            let causes = causes_of(page.stats.labels(), MOST_CAUSES);
            let text = if worse.is_empty() { causes } else { format!("{worse}\n{causes}") };
            Outcome::Failed { kind: "verdict", message, text: text.trim_end().to_owned() }
        }
        Conclusion::BrokeOff | Conclusion::Interrupted => Outcome::Broken { message },
    };
    Case {
        name: "verdict".to_owned(),
        time: took(page),
        outcome,
        output: judgement.verdict.reason.clone(),
    }
}

fn thresholds(judgement: &Judgement, page: &Page<'_>) -> Vec<Case> {
    judgement.thresholds.iter().map(|judged| threshold(judged, page)).collect()
}

fn threshold(judged: &Judged, page: &Page<'_>) -> Case {
    let condition = &judged.threshold.condition;
    let label = judged.threshold.label.as_str();
    let time = match condition.statistic.unit() {
        Unit::Time => judged.measured.and_then(|time| Duration::try_from_secs_f64(time).ok()),
        Unit::Count | Unit::Share | Unit::PerSecond => None,
    };
    let name = format!("{label}: {}", condition.text);
    let measured = measured(judged);
    let outcome = if judged.holds {
        Outcome::Passed
    } else {
        let labels = page.stats.labels().chain(page.stats.transactions());
        let concerned = labels.filter(|(name, _)| label == ALL || *name == label);
        let text = causes_of(concerned, MOST_CAUSES);
        Outcome::Failed { kind: "threshold", message: format!("measured: {measured}"), text }
    };
    Case { name, time: time.unwrap_or_default(), outcome, output: format!("measured: {measured}") }
}

/// Figures that are worse than in an earlier run, one a line.
fn worse(compared: &Compared) -> String {
    let changes = compare::in_order(&compared.found).into_iter();
    let worse = changes.filter(|change| change.finding == Finding::Worse);
    let line = |change: Shown<'_>| {
        format!("{} {}: {}", printable(change.label), change.figure, change.sentence)
    };
    worse.map(line).collect::<Vec<_>>().join("\n")
}

/// One for each figure, so that a CI server shows the course of each.
fn comparison(compared: &Compared) -> Vec<Case> {
    let case = |change: Shown<'_>| {
        let message = format!("compared with {}: {}", compared.base, change.sentence);
        let outcome = match change.finding {
            Finding::Worse => Outcome::Failed {
                kind: "regression",
                message: change.sentence,
                text: printable(&message).into_owned(),
            },
            Finding::Unknown(_) => Outcome::Skipped { message: change.sentence },
            Finding::Same | Finding::Better | Finding::MaybeWorse => Outcome::Passed,
        };
        Case {
            name: format!("{}: {}", change.label, change.figure),
            time: Duration::ZERO,
            outcome,
            output: printable(&message).into_owned(),
        }
    };
    compare::in_order(&compared.found).into_iter().map(case).collect()
}

/// Labels whose failures no threshold bounds must have none. Where all runs of a merge have passed, their
/// own thresholds have bounded them.
fn labels(judgement: &Judgement, page: &Page<'_>) -> Vec<Case> {
    let is_bounded = |label: &str| {
        judgement.thresholds.iter().any(|one| one.threshold.covers_failures_of(label))
    };
    let labels = page.stats.labels().filter(|(label, _)| !is_bounded(label));
    let has_passed = judgement.verdict.conclusion == Conclusion::Passed;
    let labels = labels.filter(|(_, figures)| !(has_passed && figures.failed > 0));
    let labels = labels.filter(|(_, figures)| figures.count + figures.skips() > 0);
    labels.map(|(label, figures)| of_label(label, figures)).collect()
}

fn of_label(label: &str, figures: &LabelStats) -> Case {
    let skips = match figures.skips() {
        0 => String::new(),
        skips => {
            let mut codes: Vec<String> = figures.skipped.keys().map(ToString::to_string).collect();
            codes.sort();
            format!("{} samples could not run, because of {}", thousands(skips), codes.join(", "))
        }
    };
    let count = thousands(figures.count);
    let outcome = if figures.failed > 0 {
        let text = causes_of([(label, figures)], MOST_CAUSES);
        let first = text.lines().next().unwrap_or_default();
        let failed = thousands(figures.failed);
        let message = format!("{failed} of {count} samples failed: {}", shortened(first, 300));
        Outcome::Failed { kind: "failures", message, text }
    } else if figures.count == 0 {
        Outcome::Skipped { message: skips.clone() }
    } else {
        Outcome::Passed
    };
    let output = [format!("{count} samples"), skips];
    let output = output.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
    Case { name: label.to_owned(), time: figures.all.mean().unwrap_or_default(), outcome, output }
}

#[cfg(test)]
mod tests;

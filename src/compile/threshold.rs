//! `thresholds`: conditions on labels, parsed before anything is sent.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::compile::compiler::Compiler;
use crate::compile::warning::Warning;
use crate::diag::{Severity, nearest};
use crate::plan::{self, At, Entries, List, Path, Problem, Setting, Text, TextOr};
use crate::program::{BadValue, Controller, FromText, Group, Step, Template};
use crate::verdict::{ALL, Condition, Operator, Statistic, Threshold, Unit};

/// What is wrong with a condition, and which bytes of it.
struct Wrong {
    bad: BadValue,
    start: usize,
    length: usize,
}

impl Compiler<'_> {
    /// All thresholds in the order of the plan. `groups` tell which labels there can be.
    pub(super) fn thresholds(
        &mut self,
        entries: &Entries<List<TextOr<plan::Threshold>>>,
        groups: &[Group],
    ) -> Vec<Threshold> {
        let top = Path::root().key("thresholds");
        // Steps that were wrong have no labels, and would be missed for the wrong reason.
        let whole = !self.problems.iter().any(|problem| problem.severity == Severity::Error);
        let labels = whole.then(|| Labels::of(groups));
        if let Some(labels) = &labels {
            self.transaction_labels(labels);
        }
        let mut thresholds = Vec::new();
        for (label, conditions) in &entries.0 {
            let path = top.key(label.clone());
            if let Some(labels) = &labels {
                self.known_label(label, labels, &path);
            }
            for (index, condition) in conditions.0.iter().enumerate() {
                let path = path.index(index);
                thresholds.extend(self.threshold(condition, label, &path));
            }
        }
        thresholds
    }

    fn threshold(
        &mut self,
        written: &TextOr<plan::Threshold>,
        label: &str,
        path: &Path,
    ) -> Option<Threshold> {
        let (condition, abort) = match written {
            TextOr::Text(text) => (self.condition(text, label, path), None),
            TextOr::Settings(settings) => {
                let abort = self.abort(settings, path);
                let Some(condition) = &settings.condition else {
                    let title = "a threshold without `condition`";
                    self.note(Problem::error(path, title).help("write `condition: p95 < 50ms`"));
                    return None;
                };
                (self.condition(condition, label, &path.key("condition")), abort)
            }
        };
        Some(Threshold { label: label.to_owned(), condition: condition?, abort })
    }

    /// After which time a threshold may end the run; `None` for one that never does.
    fn abort(&mut self, settings: &plan::Threshold, path: &Path) -> Option<Duration> {
        let aborts = settings.abort.as_ref().map(|abort| self.fixed(abort, &path.key("abort")));
        let aborts = aborts.flatten().unwrap_or(false);
        let Some(after) = &settings.after else { return aborts.then_some(Duration::ZERO) };
        let path = path.key("after");
        if settings.abort.is_none() {
            let title = "`after` without `abort`";
            let help = "it says when the condition may end the run: write `abort: true` beside it";
            self.note(Problem::error(&path, title).help(help));
        }
        let after = self.fixed(after, &path);
        aborts.then_some(after?)
    }

    /// Warns of transactions with the label of a sampler.
    fn transaction_labels(&mut self, labels: &Labels) {
        for (name, path) in std::mem::take(&mut self.transactions) {
            if labels.names.contains(&name) {
                self.note(Warning::TransactionLabel { name }.at(&path, At::Value));
            }
        }
    }

    fn known_label(&mut self, label: &str, labels: &Labels, path: &Path) {
        let Labels { names, transactions, open } = labels;
        if label == ALL || *open || names.contains(label) || transactions.contains(label) {
            return;
        }
        let title = format!("no sampler has the label `{label}`");
        let problem = Problem::error(path, title).at(At::Key);
        let all = || names.union(transactions).map(String::as_str);
        let help = nearest(label, all()).map_or_else(
            || {
                let list: Vec<String> =
                    all().chain([ALL]).map(|name| format!("`{name}`")).collect();
                format!("the labels are {}", list.join(", "))
            },
            |similar| format!("a similar label exists: `{similar}`"),
        );
        self.note(problem.help(help));
    }

    fn condition(
        &mut self,
        setting: &Setting<Text>,
        label: &str,
        path: &Path,
    ) -> Option<Condition> {
        let text = self.fixed_text(setting, path)?;
        match parse(&text, label) {
            Ok(condition) => Some(condition),
            Err(Wrong { bad, start, length }) => {
                let mut problem = Problem::error(path, bad.what);
                problem.help = bad.help;
                self.note(if text == setting.text {
                    problem.at(At::Within { start, length: length.max(1) })
                } else {
                    problem.label(format!("this is `{text}`"))
                });
                None
            }
        }
    }
}

/// The labels that a plan's rows have.
struct Labels {
    /// Of samplers.
    names: BTreeSet<String>,
    transactions: BTreeSet<String>,
    /// Some label is only known in the run.
    open: bool,
}

impl Labels {
    fn of(groups: &[Group]) -> Self {
        let mut labels =
            Self { names: BTreeSet::new(), transactions: BTreeSet::new(), open: false };
        for group in groups {
            labels.add(&group.steps);
        }
        labels
    }

    fn add(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Sampler(sampler) => {
                    let name = self.known(&sampler.name);
                    self.names.extend(name);
                }
                Step::Controller(controller) => {
                    if let Controller::Transaction(transaction) = &**controller {
                        let name = self.known(&transaction.name);
                        self.transactions.extend(name);
                    }
                    controller.parts().into_iter().for_each(|part| self.add(part));
                }
                Step::Pause(_)
                | Step::Pace(_)
                | Step::Rendezvous(_)
                | Step::Set(_)
                | Step::Log(_)
                | Step::Jump(_) => {}
            }
        }
    }
}

impl Labels {
    /// The label, unless only the run knows it.
    fn known(&mut self, name: &Template) -> Option<String> {
        let name = name.as_constant().map(str::to_owned);
        self.open |= name.is_none();
        name
    }
}

/// Reads the condition of a threshold on `label`, as a summary has it; `None` if it is none.
pub fn threshold(label: &str, condition: &str) -> Option<Threshold> {
    let condition = parse(condition, label).ok()?;
    Some(Threshold { label: label.to_owned(), condition, abort: None })
}

/// Reads `p95 < 50ms`.
fn parse(text: &str, label: &str) -> Result<Condition, Wrong> {
    let wrong = |bad: BadValue, start: usize, length: usize| Wrong { bad, start, length };
    if let Some(at) = ["=<", "=>"].into_iter().find_map(|sign| text.find(sign)) {
        let bad = BadValue::new(format!("`{}` is no operator", &text[at..at + 2]))
            .with_help("write `<=` or `>=`");
        return Err(wrong(bad, at, 2));
    }
    if let Some(at) = text.find(',') {
        let bad = BadValue::new("one text holds one condition")
            .with_help("write a list: `[p95 < 50ms, p99 < 200ms]`");
        return Err(wrong(bad, at, 1));
    }
    let Some((at, sign, operator)) = operator(text) else {
        let bad = BadValue::new(format!("`{text}` is not a condition"))
            .with_help("write a statistic, an operator and a value: `p95 < 50ms`");
        return Err(wrong(bad, 0, text.len()));
    };
    let name = text[..at].trim_end();
    if name.trim().is_empty() || text[at + sign.len()..].trim().is_empty() {
        let bad = BadValue::new(format!("`{text}` is not a condition"))
            .with_help("write a statistic, an operator and a value: `p95 < 50ms`");
        return Err(wrong(bad, 0, text.len()));
    }
    let statistic = statistic(name, label).map_err(|bad| wrong(bad, 0, name.len()))?;
    let rest = &text[at + sign.len()..];
    let value = rest.trim();
    let start = text.len() - rest.trim_start().len();
    let bound = bound(value, statistic.unit()).map_err(|bad| wrong(bad, start, value.len()))?;
    let text = format!("{} {sign} {value}", name.trim_start());
    Ok(Condition { statistic, operator, bound, text })
}

/// The first operator in the text, and where it stands.
fn operator(text: &str) -> Option<(usize, &'static str, Operator)> {
    Operator::ALL
        .into_iter()
        .filter_map(|(sign, operator)| Some((text.find(sign)?, sign, operator)))
        // `<=` and `<` stand at the same place: the longer one is meant.
        .min_by_key(|(at, sign, _)| (*at, usize::MAX - sign.len()))
}

fn statistic(name: &str, label: &str) -> Result<Statistic, BadValue> {
    let name = name.trim_start();
    let Some(statistic) = Statistic::from_name(name) else {
        let bad = BadValue::new(format!("unknown statistic `{name}`"));
        return Err(match nearest(name, Statistic::NAMES) {
            Some(similar) => bad.with_help(format!("a similar one exists: `{similar}`")),
            None => bad.with_help(format!("the statistics are {}", Statistic::NAMES.join(", "))),
        });
    };
    if statistic.is_of_the_run() && label != ALL {
        return Err(BadValue::new(format!(
            "`{name}` is a figure of the whole run, not of a label"
        ))
        .with_help(format!("put it under `{ALL}`")));
    }
    Ok(statistic)
}

/// A bound in the unit that statistics are measured in.
fn bound(text: &str, unit: Unit) -> Result<f64, BadValue> {
    match unit {
        Unit::Time => Duration::from_text(text).map(|time| time.as_secs_f64()),
        Unit::Count => f64::from_text(text).map_err(|bad| match Duration::from_text(text) {
            // Such as the seconds of `saturated`.
            Ok(time) => bad.with_help(format!(
                "this figure is a number without a unit; seconds are such too: write `{}`",
                time.as_secs_f64()
            )),
            Err(_) => bad.with_help("this figure is a number without a unit, as in `failures < 5`"),
        }),
        Unit::Share => share(text),
        Unit::PerSecond => per_second(text),
    }
}

pub(super) fn share(text: &str) -> Result<f64, BadValue> {
    // Read as a power of ten, not divided: `0.7 / 100.0` is less than 7 of 1,000.
    let number = match text.strip_suffix('%') {
        Some(percent) => format!("{}e-2", percent.trim_end()),
        None => text.to_owned(),
    };
    let bad = || {
        BadValue::new(format!("`{text}` is not a share"))
            .with_help("write a percentage from `0%` to `100%`, or a number from 0 to 1")
    };
    let share = f64::from_text(&number).map_err(|_| bad())?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(bad()) }
}

fn per_second(text: &str) -> Result<f64, BadValue> {
    let bad = || {
        BadValue::new(format!("`{text}` is not a rate"))
            .with_help("write a number for each second or minute: `50/s`, `600/m`")
    };
    let (number, unit) = text.split_once('/').ok_or_else(bad)?;
    let seconds = match unit {
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        _ => return Err(bad()),
    };
    Ok(f64::from_text(number.trim_end()).map_err(|_| bad())? / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound_of(text: &str) -> f64 {
        parse(text, ALL).map_or(f64::NAN, |condition| condition.bound)
    }

    #[test]
    fn a_count_with_a_unit_is_told_how_to_be_written() {
        let help =
            |text| parse(text, ALL).err().and_then(|wrong| wrong.bad.help).unwrap_or_default();
        assert!(help("saturated < 1s").ends_with("write `1`"));
        assert!(help("failures < few").contains("`failures < 5`"));
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "the same arithmetic gives the same number")]
    fn bounds_are_read_in_the_unit_of_their_statistic() {
        for (text, bound) in [
            ("p95 < 50ms", 0.05),
            ("error_rate<=1%", 0.01),
            ("error_rate < 0.25", 0.25),
            ("error_rate <= 0.7%", 7.0 / 1_000.0),
            ("rate >= 600/m", 10.0),
            ("failures == 0", 0.0),
            ("ok.p99.9 < 1m30s", 90.0),
            ("connections.peak > 3", 3.0),
        ] {
            assert_eq!(bound_of(text), bound, "{text}");
        }
    }

    #[test]
    fn the_wrong_part_is_pointed_at() {
        for (text, part) in [
            ("p95", "p95"),
            ("p59x < 1s", "p59x"),
            ("p95 <= 50", "50"),
            ("error_rate < 200%", "200%"),
            ("rate > 5", "5"),
            ("p95 < ", "p95 < "),
            ("p95 =< 5ms", "=<"),
            ("p95 < 5ms, p99 < 1s", ","),
        ] {
            let wrong = parse(text, ALL).err().unwrap();
            assert_eq!(&text[wrong.start..wrong.start + wrong.length], part, "{text}");
        }
    }

    #[test]
    fn operators_of_two_characters_are_not_cut_in_two() {
        for (sign, operator) in Operator::ALL {
            let condition = parse(&format!("count {sign} 1"), ALL).ok().unwrap();
            assert_eq!(condition.operator, operator, "{sign}");
        }
    }

    #[test]
    fn figures_of_the_run_belong_to_all() {
        assert!(parse("handshake.upgrade.p95 < 1s", "say").is_err());
        assert!(parse("handshake.upgrade.p95 < 1s", ALL).is_ok());
    }
}

//! `summary.md`: what a CI server shows of a run on its own page, in the Markdown of GitHub and GitLab.
//!
//! Nothing that a plan or a server says is Markdown or HTML in it: texts stand in `<code>`, where no
//! mention is one, and each character that could mean something is written as a reference.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use crate::report::asides::asides;
use crate::report::compare::{self, Compared, Shown};
use crate::report::html::Page;
use crate::report::texts::{shortened, sorted_causes};
use crate::report::thresholds::measured;
use crate::report::units::{printable, rate, time};
use crate::report::whole_file;
use crate::stats::{LabelStats, Stats, thousands};
use crate::verdict::compare::Finding;
use crate::verdict::{Conclusion, Judgement};

/// Labels shown: GitHub takes a megabyte a step.
const MOST_LABELS: usize = 100;
/// Thresholds shown, those that failed first.
const MOST_THRESHOLDS: usize = 200;
/// Figures of a comparison shown, the gravest first.
const MOST_CHANGES: usize = 100;
/// Causes shown.
const MOST_CAUSES: usize = 20;
/// Characters of a label, a condition or an example.
const MOST_TEXT: usize = 200;

/// Writes the file under a temporary name and renames it. The error names the path.
pub(crate) fn write(path: &Path, page: &Page<'_>) -> io::Result<()> {
    whole_file::write(path, render(page).as_bytes())
}

fn render(page: &Page<'_>) -> String {
    let mut out = String::new();
    heading(&mut out, page);
    if let Some(judgement) = page.judgement {
        thresholds(&mut out, judgement);
    }
    if let Some(compared) = page.comparison {
        comparison(&mut out, compared);
    }
    labels(&mut out, page.stats);
    causes(&mut out, page.stats);
    let asides = asides(page.stats);
    if !asides.is_empty() || !page.remarks.is_empty() {
        out.push('\n');
    }
    for remark in page.remarks {
        writeln!(out, "- {}", plain(remark)).ok();
    }
    for aside in asides {
        // What goes on about the same is a part of its point.
        let point = match aside.name {
            "" => "  - ".to_owned(),
            name => format!("- {name}: "),
        };
        writeln!(out, "{point}{}", plain(&aside.text)).ok();
    }
    out
}

fn heading(out: &mut String, page: &Page<'_>) {
    let title = code(page.title);
    let Some(Judgement { verdict, .. }) = page.judgement else {
        writeln!(out, "## Results of {title}").ok();
        return;
    };
    // A word beside each sign: a sign alone says nothing to those who do not see it.
    let (sign, word) = match verdict.conclusion {
        Conclusion::Passed => ("✅", "passed"),
        Conclusion::Failed => ("❌", "failed"),
        Conclusion::BrokeOff => ("❌", "broke off"),
        Conclusion::Interrupted => ("⚠️", "was interrupted"),
    };
    writeln!(out, "## {sign} {title} {word}\n\n{}", plain(&verdict.reason)).ok();
    let facts = [
        page.started.map(|started| started.format("%Y-%m-%d %H:%M:%S UTC").to_string()),
        page.started
            .zip(page.ended)
            .map(|(started, ended)| format!("took {}", time((ended - started).to_std().ok()))),
        page.host.filter(|host| !host.is_empty()).map(|host| format!("on {}", plain(host))),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    if !facts.is_empty() {
        writeln!(out, "\n{}", facts.join(" · ")).ok();
    }
}

fn thresholds(out: &mut String, judgement: &Judgement) {
    if judgement.thresholds.is_empty() {
        return;
    }
    out.push_str("\n| threshold | | measured |\n|:--|:--|--:|\n");
    let mut judged: Vec<_> = judgement.thresholds.iter().collect();
    judged.sort_by_key(|one| one.holds);
    for one in judged.iter().take(MOST_THRESHOLDS) {
        let threshold = format!("{}: {}", one.threshold.label, one.threshold.condition.text);
        let sign = if one.holds { "✅ passed" } else { "❌ **failed**" };
        writeln!(out, "| {} | {sign} | {} |", code(&threshold), measured(one)).ok();
    }
    more(out, judged.len(), MOST_THRESHOLDS, "thresholds");
}

/// What changed since the run that this one was compared with.
fn comparison(out: &mut String, compared: &Compared) {
    let Compared { base, caveats, found, .. } = compared;
    let conclusion = compare::conclusion(found);
    writeln!(out, "\n### Compared with {}\n\n{}", code(base), plain(&conclusion)).ok();
    let changes = compare::gravest_first(found);
    if !changes.is_empty() {
        out.push_str("\n| label | figure | base | this run | change | tolerated | |\n");
        out.push_str("|:--|:--|--:|--:|--:|--:|:--|\n");
    }
    for change in changes.iter().take(MOST_CHANGES) {
        let Shown { figure, base, new, change: by, tolerance, .. } = change;
        let finding = match change.finding {
            Finding::Worse => "❌ **worse**".to_owned(),
            Finding::MaybeWorse => "⚠️ perhaps worse".to_owned(),
            Finding::Better => "✅ better".to_owned(),
            Finding::Same => "same".to_owned(),
            Finding::Unknown(_) => plain(&change.sentence),
        };
        let label = code(change.label);
        writeln!(out, "| {label} | {figure} | {base} | {new} | {by} | {tolerance} | {finding} |")
            .ok();
    }
    more(out, changes.len(), MOST_CHANGES, "figures");
    for (run, labels) in [("the base", &found.only_in_base), ("this run", &found.only_in_new)] {
        if !labels.is_empty() {
            writeln!(out, "\nOnly in {run}: {}", code(&labels.join(", "))).ok();
        }
    }
    for caveat in caveats {
        writeln!(out, "\nNote: {}", plain(caveat)).ok();
    }
}

fn labels(out: &mut String, stats: &Stats) {
    let named = stats.named().into_iter().filter(|one| one.figures.count > 0);
    let (transactions, labels): (Vec<_>, Vec<_>) = named.partition(|one| one.transaction);
    if labels.is_empty() {
        out.push_str("\nNo sample was taken.\n");
        return;
    }
    out.push_str("\n| label | samples | failed | rate | p50 | p95 | p99 | max |\n");
    out.push_str("|:--|--:|--:|--:|--:|--:|--:|--:|\n");
    for one in labels.iter().take(MOST_LABELS) {
        row(out, &code(&one.name), one.figures);
    }
    if labels.len() > 1 {
        row(out, "**all**", &stats.all());
    }
    for one in transactions.iter().take(MOST_LABELS) {
        row(out, &format!("{} (transaction)", code(one.label)), one.figures);
    }
    more(out, labels.len(), MOST_LABELS, "labels");
    more(out, transactions.len(), MOST_LABELS, "transactions");
}

fn row(out: &mut String, name: &str, label: &LabelStats) {
    let count = thousands(label.count);
    let failed = match (label.failed, label.error_rate()) {
        (failed @ 1.., Some(share)) => format!("**{}** ({:.2}%)", thousands(failed), share * 100.0),
        _ => "0".to_owned(),
    };
    let rate = rate(label.rate());
    let [p50, p95, p99] = [50.0, 95.0, 99.0].map(|percent| time(label.all.percentile(percent)));
    let max = time(label.all.max());
    writeln!(out, "| {name} | {count} | {failed} | {rate} | {p50} | {p95} | {p99} | {max} |").ok();
}

fn causes(out: &mut String, stats: &Stats) {
    let causes = sorted_causes(stats.labels());
    if !causes.is_empty() {
        out.push_str("\n| failures | label | code | for example |\n|--:|:--|:--|:--|\n");
        for (label, key, cause) in causes.iter().take(MOST_CAUSES) {
            let (count, key) = (thousands(cause.count), key.shown_code());
            let example = code(&cause.example);
            writeln!(out, "| {count} | {} | {} | {example} |", code(label), code(&key)).ok();
        }
        more(out, causes.len(), MOST_CAUSES, "causes");
    }
    let skips = stats.all().skips();
    if skips > 0 {
        writeln!(out, "\n{} more samples could not run.", thousands(skips)).ok();
    }
}

fn more(out: &mut String, there: usize, shown: usize, what: &str) {
    if there > shown {
        let count = there - shown;
        writeln!(out, "\n… and {count} more {what}: see `report.html` or `summary.json`.").ok();
    }
}

/// A text as it is, in a fixed-width font.
fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(text))
}

/// A sentence as it is; what stands between backticks in it in a fixed-width font.
fn plain(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escaped(text);
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => escaped(part),
        _ => code(part),
    };
    parts.iter().enumerate().map(part).collect()
}

/// A text in one line in which nothing means anything.
fn escaped(text: &str) -> String {
    let printable: Cow<'_, str> = printable(text);
    let text = shortened(&printable, MOST_TEXT);
    let mut escaped = String::with_capacity(text.len() + 16);
    for (at, character) in text.char_indices() {
        let is_active = match character {
            '&' | '<' | '>' | '"' | '\'' | '|' | '`' | '*' | '_' | '~' | '[' | ']' | '\\' | '@'
            | '#' | '$' | ':' => true,
            // `www.` makes a link.
            '.' => text[..at].to_ascii_lowercase().ends_with("www"),
            _ => false,
        };
        if is_active {
            write!(escaped, "&#{};", u32::from(character)).ok();
        } else {
            escaped.push(character);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::sample::{Code, Sample};
    use crate::verdict::{Condition, Judged, Operator, Statistic, Threshold, Verdict};

    fn judgement(label: &str) -> Judgement {
        let condition = Condition {
            statistic: Statistic::Failures,
            operator: Operator::Equal,
            bound: 0.0,
            text: "failures == 0".to_owned(),
        };
        let threshold = Threshold { label: label.to_owned(), condition, abort: None };
        let judged = Judged { threshold, measured: Some(1.0), holds: false };
        let verdict = Verdict::new(Conclusion::Failed, "1 of 2 samples of `a|b` failed");
        Judgement { verdict, thresholds: vec![judged] }
    }

    #[test]
    fn a_run_is_a_heading_and_tables() {
        let mut stats = Stats::default();
        stats.sample(&Sample::plain());
        let failed = Sample { success: false, code: Code::ReadTimeout, ..Sample::plain() };
        stats.sample(&Sample { failure_message: "no reply", cause: "no reply", ..failed });
        let judgement = judgement("say");
        let text = render(&Page { judgement: Some(&judgement), ..Page::of("plan", &stats) });
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "## ❌ <code>plan</code> failed");
        assert_eq!(lines[2], "1 of 2 samples of <code>a&#124;b</code> failed");
        assert!(
            lines.contains(&"| <code>say&#58; failures == 0</code> | ❌ **failed** | 1 |"),
            "{text}"
        );
        let row = "| <code>say</code> | 2 | **1** (50.00%) |";
        assert!(lines.iter().any(|line| line.starts_with(row)), "{text}");
        let cause =
            "| 1 | <code>say</code> | <code>READ&#95;TIMEOUT</code> | <code>no reply</code> |";
        assert!(lines.contains(&cause), "{text}");
    }

    #[test]
    fn what_goes_on_about_the_same_is_no_point_of_its_own() {
        let mut stats = Stats::default();
        let delay = Some(crate::sample::Delay { by: Duration::from_millis(1), interval: None });
        for label in ["say", "ask"] {
            stats.sample(&Sample { label, delay, ..Sample::plain() });
        }
        let text = render(&Page::of("plan", &stats));
        assert!(text.contains("\n- intended: say&#58; p50 "), "{text}");
        assert!(text.contains("\n  - ask&#58; p50 ") && text.contains("\n  - from "), "{text}");
    }

    #[test]
    fn nothing_that_a_server_says_is_obeyed() {
        let evil = "x | y `z` <script>alert(1)</script>\n# [a](http://b) ![i](j) @all www.x *b* _i_ ~~s~~ &amp; \u{1b}[2J";
        let mut stats = Stats::default();
        let failed = Sample { success: false, failure_message: evil, ..Sample::plain() };
        stats.sample(&Sample { label: evil, cause: evil, ..failed });
        let judgement = judgement(evil);
        let remarks = [evil.to_owned()];
        let page =
            Page { judgement: Some(&judgement), remarks: &remarks, ..Page::of(evil, &stats) };
        let text = render(&page);
        for line in text.lines() {
            let own = line.replace("<code>", "").replace("</code>", "").replace("**", "");
            assert!(!own.contains(['<', '>', '`', '@', '*', '~', '[', '\\', '\u{1b}']), "{line}");
            assert!(!own.contains("www.") && !own.contains("http:"), "{line}");
            let cells = line.matches('|').count();
            assert!([0, 4, 5, 9].contains(&cells), "{line}");
        }
        assert!(!text.contains("\n# "), "{text}");
    }

    #[test]
    fn a_file_never_gets_larger_than_a_page_takes() {
        let mut stats = Stats::default();
        for number in 0..900 {
            let label = format!("{number} {}", "|".repeat(1_000));
            let message = "<".repeat(5_000);
            let failed = Sample { success: false, failure_message: &message, ..Sample::plain() };
            stats.sample(&Sample { label: &label, cause: &message, ..failed });
        }
        let text = render(&Page::of("plan", &stats));
        assert!(text.contains("… and 800 more labels"), "{text}");
        assert!(text.len() < 500_000, "{} bytes", text.len());
    }
}

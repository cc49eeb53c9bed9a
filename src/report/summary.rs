//! The summary for people: a table of labels, and under it only what happened.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use chrono::{DateTime, TimeDelta, Utc};

use crate::report::asides::asides;
use crate::report::texts::{failure, sorted_causes};
use crate::report::units::{mean, printable, rate, size, time};
use crate::sample::{Beats, Code};
use crate::stats::{ConnectionStats, Health, LabelStats, Stats, Times, thousands};
use crate::verdict::{Conclusion, Verdict};

/// A label is cut to this many characters in the table.
const MAX_LABEL: usize = 20;

/// The table's columns stand closer together rather than go beyond this many characters.
const MAX_WIDTH: usize = 100;

/// Spans of saturation that are shown; the rest are in the JSON.
const MAX_SPANS: usize = 5;

/// Causes shown; the rest are in the JSON.
const MAX_CAUSES: usize = 10;

/// Everything but the verdict, which is the last line of a run.
pub fn render(stats: &Stats, peak_connections: u64) -> String {
    let mut out = String::new();
    table(&mut out, stats);
    connections(&mut out, &stats.connections, peak_connections);
    if stats.health.is_busy() && stats.health.saturated().is_empty() {
        line(&mut out, "client", "a core had nothing to spare: it was the limit of the rate");
    }
    causes(&mut out, stats);
    skipped(&mut out, stats);
    for aside in asides(stats) {
        line(&mut out, aside.name, &aside.text);
    }
    out
}

/// What is to be said where the generator did not keep up: its times are its own then, and not the
/// server's. Empty where it did.
pub fn saturation(health: &Health, started: DateTime<Utc>) -> String {
    let time = |second: u64| {
        let after = TimeDelta::try_seconds(i64::try_from(second).unwrap_or(i64::MAX));
        let moment = after.and_then(|after| started.checked_add_signed(after));
        moment.map_or_else(String::new, |moment| moment.format("%H:%M:%S").to_string())
    };
    let spans = health.saturated();
    let shown: Vec<String> = spans
        .iter()
        .take(MAX_SPANS)
        .map(|span| format!("from {} to {}", time(span.from), time(span.to)))
        .collect();
    match (shown.is_empty(), spans.len().saturating_sub(MAX_SPANS)) {
        (true, _) => String::new(),
        (false, more) => {
            let more = if more > 0 { format!(" and {more} more times") } else { String::new() };
            format!(
                "warning: this generator was saturated {}{more} UTC: latencies in that time are ours, not \
                 the server's\n\n",
                shown.join(", ")
            )
        }
    }
}

/// The last line of a run.
pub fn verdict_line(verdict: &Verdict) -> String {
    let word = match verdict.conclusion {
        Conclusion::Passed => "PASSED",
        Conclusion::Failed => "FAILED",
        Conclusion::BrokeOff => "BROKE OFF",
        Conclusion::Interrupted => "INTERRUPTED",
    };
    format!("{word}: {}\n", printable(&verdict.reason))
}

fn table(out: &mut String, stats: &Stats) {
    let mut rows = vec![
        [
            "label", "count", "failed", "rate", "min", "mean", "p50", "p90", "p95", "p99", "max",
            "first",
        ]
        .map(str::to_owned),
    ];
    let named = stats.named().into_iter().filter(|one| one.figures.count > 0);
    let (transactions, labels): (Vec<_>, Vec<_>) = named.partition(|one| one.transaction);
    rows.extend(labels.iter().map(|one| cells(&one.name, one.figures)));
    if labels.len() > 1 {
        rows.push(cells("all", &stats.all()));
    }
    // Below the total, because they are not part of it.
    rows.extend(transactions.iter().map(|one| cells(&one.name, one.figures)));
    let mut widths = [0; 12];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let gaps = widths.len() - 1;
    let gap = if widths.iter().sum::<usize>() + 2 * gaps > MAX_WIDTH { " " } else { "  " };
    for row in &rows {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(widths).skip(1) {
            write!(line, "{gap}{cell:>width$}").ok();
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

fn cells(name: &str, label: &LabelStats) -> [String; 12] {
    let all = &label.all;
    let percentile = |percent| time(all.percentile(percent));
    [
        cut(name),
        thousands(label.count),
        thousands(label.failed),
        rate(label.rate()),
        time(all.min()),
        mean(all),
        percentile(50.0),
        percentile(90.0),
        percentile(95.0),
        percentile(99.0),
        time(all.max()),
        time(label.first()),
    ]
}

pub(crate) fn cut(name: &str) -> String {
    let name = printable(name);
    match name.char_indices().nth(MAX_LABEL) {
        None => name.into_owned(),
        Some(_) => name.chars().take(MAX_LABEL - 1).chain(['…']).collect(),
    }
}

fn connections(out: &mut String, connections: &ConnectionStats, peak: u64) {
    if connections.opened + connections.refused == 0 {
        return;
    }
    out.push('\n');
    line(
        out,
        "connections",
        &format!(
            "{} opened, {} refused, at most {} open at once",
            thousands(connections.opened),
            thousands(connections.refused),
            thousands(peak),
        ),
    );
    let phase = |times: &Times| {
        format!("{} (p95 {})", time(times.percentile(50.0)), time(times.percentile(95.0)))
    };
    let handshakes = connections.tls.count();
    // Results that were read back may know no more than means.
    if connections.upgrade.percentile(50.0).is_some() {
        let tls = match handshakes {
            0 => String::new(),
            _ => format!("TLS {}, ", phase(&connections.tls)),
        };
        line(
            out,
            "handshake p50",
            &format!(
                "lookup {}, connect {}, {}upgrade {}",
                phase(&connections.dns),
                phase(&connections.tcp),
                tls,
                phase(&connections.upgrade),
            ),
        );
    }
    if handshakes > 0 {
        let resumed = thousands(connections.tls_resumed);
        line(out, "TLS", &format!("{} handshakes, {resumed} resumed", thousands(handshakes)));
    }
    line(
        out,
        "traffic",
        &format!(
            "{} received, {} sent",
            size(connections.received_bytes),
            size(connections.sent_bytes)
        ),
    );
    heartbeats(out, connections.beats);
    let codes = &connections.close_codes;
    line(out, "close codes", &list(codes.iter().map(|(code, times)| (close_code(*code), *times))));
    let lost = &connections.lost_while_idle;
    line(
        out,
        "lost while idle",
        &list(lost.iter().map(|(code, times)| (code.to_string(), *times))),
    );
    if connections.inbox_dropped > 0 {
        line(
            out,
            "inbox full",
            &format!(
                "{} messages dropped unread: a larger `inbox`, `filters` or `when_full: wait` keep them",
                thousands(connections.inbox_dropped)
            ),
        );
    }
}

/// Only for plans that have some.
fn heartbeats(out: &mut String, beats: Beats) {
    let Beats { pings, sent, answered } = beats;
    if pings + sent + answered > 0 {
        line(
            out,
            "heartbeats",
            &format!(
                "{} pings, {} messages sent, {} answered",
                thousands(pings),
                thousands(sent),
                thousands(answered)
            ),
        );
    }
}

fn close_code(code: u16) -> String {
    if code == 1005 { "1005 (none)".to_owned() } else { code.to_string() }
}

fn causes(out: &mut String, stats: &Stats) {
    let causes = sorted_causes(stats.labels());
    if causes.is_empty() {
        return;
    }
    out.push_str("\nfailures\n");
    for (label, key, cause) in causes.iter().take(MAX_CAUSES) {
        let times = thousands(cause.count);
        let failure = failure(key, cause);
        writeln!(out, "  {times:>7} x {} {}", cut(label), printable(&failure)).ok();
    }
    if causes.len() > MAX_CAUSES {
        writeln!(
            out,
            "          … and {} other causes in the summary file",
            causes.len() - MAX_CAUSES
        )
        .ok();
    }
}

fn skipped(out: &mut String, stats: &Stats) {
    let mut by_cause: BTreeMap<Code, u64> = BTreeMap::new();
    for (_, label) in stats.labels() {
        for (code, times) in &label.skipped {
            *by_cause.entry(*code).or_default() += times;
        }
    }
    let total: u64 = by_cause.values().sum();
    if total > 0 {
        let causes = list(by_cause.iter().map(|(code, times)| (code.to_string(), *times)));
        out.push('\n');
        line(
            out,
            "skipped",
            &format!("{} samplers could not run, because of {causes}", thousands(total)),
        );
    }
}

/// `name  text`, or nothing for an empty text.
fn line(out: &mut String, name: &str, text: &str) {
    if !text.is_empty() {
        writeln!(out, "{name:<16}{text}").ok();
    }
}

pub(crate) fn list(counts: impl Iterator<Item = (String, u64)>) -> String {
    counts
        .map(|(name, times)| format!("{name} x {}", thousands(times)))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::sample::{Note, Sample};

    #[test]
    fn what_did_not_happen_is_not_mentioned() {
        let mut stats = Stats::default();
        stats.sample(&Sample::plain());
        let text = render(&stats, 0);
        assert_eq!(text.lines().count(), 2, "{text}");
    }

    #[test]
    fn columns_are_aligned_and_causes_come_with_an_example() {
        let mut stats = Stats::default();
        stats.sample(&Sample::plain());
        stats.sample(&Sample {
            label: "a label that is much too long for a table",
            elapsed: Duration::from_mins(5),
            success: false,
            code: Code::ReadTimeout,
            cause: "no reply",
            failure_message: "no reply within 1s",
            ..Sample::plain()
        });
        stats.note(&Note::Skipped { label: "say", cause: Code::ReadTimeout });
        let text = render(&stats, 0);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[2].starts_with("a label that is muc…"), "{text}");
        assert!(lines[3].starts_with("all "), "{text}");
        assert!(
            text.contains("1 x a label that is muc… READ_TIMEOUT: no reply within 1s"),
            "{text}"
        );
        assert!(text.contains("1 samplers could not run, because of READ_TIMEOUT x 1"), "{text}");
        let width = |line: &str| line.chars().count();
        assert!(width(lines[1]) <= 100, "{text}");
        assert!(lines[..4].iter().all(|line| width(line) <= width(lines[2])), "{text}");
    }

    #[test]
    fn what_a_server_sends_does_not_steer_the_terminal() {
        let mut stats = Stats::default();
        stats.sample(&Sample {
            label: "say \u{1b}[2J",
            success: false,
            failure_message: "closed: \u{1b}]0;title\u{7} ü",
            ..Sample::plain()
        });
        let text = render(&stats, 0);
        assert!(text.chars().all(|one| one == '\n' || !one.is_control()), "{text:?}");
        assert!(text.contains(r"say \u{1b}[2J 200: closed: \u{1b}]0;title\u{7} ü"), "{text}");
    }
}

//! What is worth a word in a summary and has no row.

use std::collections::BTreeMap;

use crate::report::summary::{cut, list};
use crate::report::units::{printable, time};
use crate::sample::EndCause;
use crate::stats::{LABELS, LabelStats, OTHER_LABELS, Stats, Times, thousands};

/// The name of what tells of times from the intended start, which some reports have a table of.
pub(crate) const INTENDED: &str = "intended";

/// One such word.
#[derive(Debug)]
pub(crate) struct Aside {
    /// What it is about; empty where it goes on about the same.
    pub(crate) name: &'static str,
    /// What there is to say.
    pub(crate) text: String,
}

/// What is worth a word and has no row.
pub(crate) fn asides(stats: &Stats) -> Vec<Aside> {
    let mut asides = Vec::new();
    let out = &mut asides;
    let sum = |figure: fn(&LabelStats) -> u64| stats.labels().map(|(_, label)| figure(label)).sum();
    if stats.are_in_whole_ms() {
        line(out, "times", "in whole milliseconds, as the rows have them");
    }
    for group in &stats.idle_groups {
        let group = printable(group);
        line(
            out,
            "no sample",
            &format!("was taken by thread group `{group}`: nothing of it was tested"),
        );
    }
    late(out, stats);
    read(out, stats);
    schedule(out, stats);
    let figures: [(&str, u64, &str); 8] = [
        (
            "early",
            sum(|label| label.early),
            "messages came before their request was sent, and were not taken for replies",
        ),
        (
            "clock skew",
            sum(|label| label.clock_skew),
            "messages were sent after they arrived, says the server: its clock differs from ours",
        ),
        ("unanswered", sum(|label| label.unanswered), "requests got no reply"),
        (
            "unmatched",
            sum(|label| label.unmatched),
            "messages fitted no `reply` or `correlate`, and no step reads them",
        ),
        (
            "write stalls",
            stats.connections.write_stalls,
            "frames were not taken by the kernel at once: the server did not keep up with reading",
        ),
        ("cut", sum(|label| label.cut), "reads ended with the run, without a row"),
        (
            "cut",
            stats.transactions().map(|(_, label)| label.cut).sum(),
            "transactions ended with their time, without a row",
        ),
        (
            "rendezvous",
            stats.rendezvous_missed,
            "threads waited for others until their `timeout`, and went on without them",
        ),
    ];
    for (name, figure, meaning) in figures {
        if figure > 0 {
            line(out, name, &format!("{} {meaning}", thousands(figure)));
        }
    }
    filtered(out, stats);
    ended_early(out, stats);
    // A label of one's own may have that name.
    let is_full = stats.labels().count() > LABELS;
    if is_full && stats.labels().any(|(label, _)| label == OTHER_LABELS) {
        line(
            out,
            "labels",
            &format!("more than 1,000; the further ones are counted as `{OTHER_LABELS}`"),
        );
    }
    asides
}

/// Late replies with their true round trips.
fn late(out: &mut Vec<Aside>, stats: &Stats) {
    let mut all = Times::default();
    stats.labels().filter_map(|(_, label)| label.late.as_deref()).for_each(|late| all.merge(late));
    if all.count() > 0 {
        let text = format!(
            "{} replies came after their request had failed: p50 {}, max {}",
            thousands(all.count()),
            time(all.percentile(50.0)),
            time(all.max()),
        );
        line(out, "late", &text);
    }
}

/// What `read` steps took.
fn read(out: &mut Vec<Aside>, stats: &Stats) {
    let mut gaps = Times::default();
    stats.labels().filter_map(|(_, label)| label.gaps.as_deref()).for_each(|one| gaps.merge(one));
    let messages: u64 = stats.labels().map(|(_, label)| label.messages).sum();
    if messages == 0 {
        return;
    }
    let between = match gaps.count() {
        0 => String::new(),
        _ => {
            format!(", {} apart at p50, {} at most", time(gaps.percentile(50.0)), time(gaps.max()))
        }
    };
    line(out, "read", &format!("{} messages by `read`{between}", thousands(messages)));
}

/// What came of a schedule: arrivals that were missed, times from the intended start. They are beside the
/// table, never in it.
fn schedule(out: &mut Vec<Aside>, stats: &Stats) {
    if stats.missed > 0 {
        let text = "arrivals did nothing: as many threads were there as `max_threads` allows";
        line(out, "missed", &format!("{} {text}", thousands(stats.missed)));
    }
    let all = stats.all();
    let labels = stats.labels().chain([("all", &all)]);
    let mut name = INTENDED;
    for (label, figures) in labels {
        let Some(times) = &figures.intended else { continue };
        let [p50, p95, p99] = [50.0, 95.0, 99.0].map(|percent| time(times.percentile(percent)));
        let max = time(times.max());
        let text = format!("{}: p50 {p50}, p95 {p95}, p99 {p99}, max {max}", cut(label));
        line(out, name, &text);
        name = "";
    }
    if name.is_empty() {
        line(out, "", "from the intended start of each sample, not from when it could begin");
        let [p50, p99] = [50.0, 99.0].map(|percent| time(stats.lag.percentile(percent)));
        let max = time(stats.lag.max());
        line(out, "lag", &format!("threads started late by p50 {p50}, p99 {p99}, max {max}"));
    }
}

/// Threads that ended before their loops or time were used up.
fn ended_early(out: &mut Vec<Aside>, stats: &Stats) {
    for (cause, (threads, example)) in &stats.ended_early {
        let why = match cause {
            EndCause::StopThread => "by `stop_thread`".to_owned(),
            EndCause::StopTest => "by `stop_test`, and the run with them".to_owned(),
            EndCause::AllSkipped(code) => {
                format!("after three iterations in which all was skipped ({code})")
            }
            EndCause::DataUsedUp => "when a data set had no more lines".to_owned(),
            EndCause::EmptyLoop => {
                "in a loop that reached no sampler and waited for nothing".to_owned()
            }
        };
        line(
            out,
            "ended early",
            &format!("{} threads {why}, such as `{}`", thousands(*threads), printable(example)),
        );
    }
}

fn filtered(out: &mut Vec<Aside>, stats: &Stats) {
    let mut by_filter: BTreeMap<&str, u64> = BTreeMap::new();
    for (filter, count) in stats.labels().flat_map(|(_, label)| &label.filtered) {
        *by_filter.entry(filter).or_default() += count;
    }
    let total: u64 = by_filter.values().sum();
    if total > 0 {
        let filters = list(by_filter.iter().map(|(filter, count)| (cut(filter), *count)));
        line(out, "filtered", &format!("{} messages, by {filters}", thousands(total)));
    }
}

fn line(out: &mut Vec<Aside>, name: &'static str, text: &str) {
    if !text.is_empty() {
        out.push(Aside { name, text: text.to_owned() });
    }
}

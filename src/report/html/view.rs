//! What the template shows: texts that are ready, in the order of the page.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use crate::report::asides::{INTENDED, asides};
use crate::report::html::comparison::Comparison;
use crate::report::html::connections::Connections;
use crate::report::html::failures::{Cause, Filter, Skip, causes, filters, skips};
use crate::report::html::figures::percent;
use crate::report::html::generator::Health;
use crate::report::html::labels::Labels;
use crate::report::html::name::Name;
use crate::report::html::text::{cut, shown, shown_lines};
use crate::report::html::{Page, PlanText};
use crate::report::thresholds::measured;
use crate::report::units::{rate, time};
use crate::stats::thousands;
use crate::verdict::{Conclusion, Judgement};

/// Characters of a plan's files that a page shows.
const MOST_TEXT: usize = 200_000;

#[derive(Debug, Serialize)]
pub(super) struct View {
    title: String,
    verdict: Option<Verdict>,
    /// `12 Nov 2026, 20:15:00 UTC`, and how long it took.
    when: Option<String>,
    took: Option<String>,
    subtitle: Vec<String>,
    tiles: Vec<Tile>,
    remarks: Vec<String>,
    thresholds: Vec<Threshold>,
    comparison: Option<Comparison>,
    labels: Labels,
    has_samples: bool,
    has_series: bool,
    connections: Option<Connections>,
    causes: Vec<Cause>,
    more_causes: Option<String>,
    /// What a cause is called that is not its example: the text of the plan, or of rows that were read.
    cause_origin: &'static str,
    skips: Vec<Skip>,
    filters: Vec<Filter>,
    asides: Vec<Fact>,
    health: Option<Health>,
    groups: Vec<GroupRow>,
    plan: Vec<Fact>,
    properties: Vec<Fact>,
    texts: Vec<Text>,
    command: Option<String>,
    sources: Vec<String>,
    machine: Vec<Fact>,
}

#[derive(Debug, Serialize)]
struct Verdict {
    /// `passed` or `failed`, for the style.
    class: &'static str,
    word: &'static str,
    reason: String,
}

/// A figure of the first glance.
#[derive(Debug, Serialize)]
struct Tile {
    name: &'static str,
    value: String,
    aside: String,
    is_bad: bool,
}

/// A name and what there is to say about it.
#[derive(Debug, Serialize)]
pub(super) struct Fact {
    pub(super) name: String,
    pub(super) value: String,
}

impl Fact {
    pub(super) fn new(name: &str, value: impl Into<String>) -> Self {
        Self { name: name.to_owned(), value: value.into() }
    }
}

#[derive(Debug, Serialize)]
struct Threshold {
    passed: bool,
    label: Name,
    condition: String,
    measured: String,
}

#[derive(Debug, Serialize)]
struct GroupRow {
    name: String,
    phase: &'static str,
    model: &'static str,
    threads: String,
}

#[derive(Debug, Serialize)]
struct Text {
    path: String,
    content: String,
    is_cut: bool,
}

impl View {
    pub(super) fn of(page: &Page<'_>) -> Self {
        let stats = page.stats;
        let (causes, more_causes) = causes(stats);
        let took = page.started.zip(page.ended).map(|(started, ended)| duration(ended - started));
        Self {
            title: shown(&cut(page.title, 200)),
            verdict: page.judgement.map(verdict),
            when: page.started.map(|started| started.format("%-d %b %Y, %H:%M:%S UTC").to_string()),
            took,
            subtitle: subtitle(page),
            tiles: tiles(page),
            remarks: remarks(page),
            thresholds: page.judgement.map(thresholds).unwrap_or_default(),
            comparison: page.comparison.map(Comparison::of),
            labels: Labels::of(stats),
            has_samples: stats.labels().any(|(_, label)| label.all.count() > 0),
            has_series: stats.all().count > 0,
            connections: Connections::of(&stats.connections, page.peak_connections),
            causes,
            more_causes: (more_causes > 0).then(|| thousands(more_causes)),
            cause_origin: if page.sources.is_empty() { "as written" } else { "response message" },
            skips: skips(stats),
            filters: filters(stats),
            asides: aside_facts(page),
            health: page.generator.map(|generator| Health::of(generator, stats, page.started)),
            groups: groups(page),
            plan: plan(page),
            properties: properties(page),
            texts: texts(page.texts),
            command: page.command.map(shown_lines),
            sources: page.sources.iter().map(|source| shown(source)).collect(),
            machine: machine(page),
        }
    }
}

fn verdict(judgement: &Judgement) -> Verdict {
    let (class, word) = match judgement.verdict.conclusion {
        Conclusion::Passed => ("passed", "Passed"),
        Conclusion::Failed => ("failed", "Failed"),
        Conclusion::BrokeOff => ("failed", "Broke off"),
        Conclusion::Interrupted => ("stopped", "Interrupted"),
    };
    Verdict { class, word, reason: shown(&judgement.verdict.reason) }
}

fn thresholds(judgement: &Judgement) -> Vec<Threshold> {
    let thresholds = judgement.thresholds.iter();
    thresholds
        .map(|judged| Threshold {
            passed: judged.holds,
            label: Name::of_label_or_all(&judged.threshold.label),
            condition: shown(&judged.threshold.condition.text),
            measured: measured(judged),
        })
        .collect()
}

/// What was run where, beside the time.
fn subtitle(page: &Page<'_>) -> Vec<String> {
    let host = page.host.filter(|host| !host.is_empty()).map(|host| format!("on {}", shown(host)));
    let version = page.wsmeter.map(|version| format!("wsmeter {version}"));
    host.into_iter().chain(version).collect()
}

fn tiles(page: &Page<'_>) -> Vec<Tile> {
    let all = page.stats.all();
    let tile = |name, value: String, aside: String| Tile { name, value, aside, is_bad: false };
    let percentile = |percent| time(all.all.percentile(percent));
    let skipped = match all.skips() {
        0 => String::new(),
        skips => format!("{} skipped", thousands(skips)),
    };
    let mut tiles = vec![
        tile("samples", thousands(all.count), skipped),
        Tile {
            is_bad: all.failed > 0,
            ..tile("failed", thousands(all.failed), percent(all.error_rate()))
        },
        tile("samples a second", rate(all.rate()).replace("/s", ""), String::new()),
        tile("median", percentile(50.0), String::new()),
        tile("p95", percentile(95.0), format!("p99 {}", percentile(99.0))),
        tile("slowest", time(all.all.max()), String::new()),
    ];
    let connections = &page.stats.connections;
    if connections.opened + connections.refused > 0 {
        let peak = page.peak_connections.map(|peak| format!("at most {} at once", thousands(peak)));
        let opened = thousands(connections.opened);
        tiles.push(tile("connections", opened, peak.unwrap_or_default()));
    }
    tiles
}

fn remarks(page: &Page<'_>) -> Vec<String> {
    page.remarks.iter().map(|remark| shown(remark)).collect()
}

fn aside_facts(page: &Page<'_>) -> Vec<Fact> {
    // Times from the intended start have a table of their own; what follows without a name goes on
    // about them.
    let mut is_told = false;
    let asides = asides(page.stats).into_iter().filter(|aside| {
        if !aside.name.is_empty() {
            is_told = aside.name == INTENDED;
        }
        !is_told
    });
    asides.map(|aside| Fact::new(aside.name, shown(&aside.text))).collect()
}

fn groups(page: &Page<'_>) -> Vec<GroupRow> {
    let groups = page.groups.iter();
    groups
        .map(|group| GroupRow {
            name: shown(&group.name),
            phase: group.phase,
            model: group.model,
            threads: thousands(u64::from(group.threads)),
        })
        .collect()
}

fn plan(page: &Page<'_>) -> Vec<Fact> {
    let Some(plan) = page.plan else { return Vec::new() };
    vec![Fact::new("file", shown(&plan.path)), Fact::new("SHA-256", plan.sha256.clone())]
}

fn properties(page: &Page<'_>) -> Vec<Fact> {
    let properties = page.plan.into_iter().flat_map(|plan| &plan.properties);
    properties
        .map(|(name, value)| {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Fact::new(&shown(name), shown(&cut(&value, 1_000)))
        })
        .collect()
}

/// The texts, as far as a page can show them.
fn texts(texts: &[PlanText]) -> Vec<Text> {
    let mut left = MOST_TEXT;
    let text = |one: &PlanText| {
        let text = cut(&one.text, left);
        left -= text.chars().count().min(left);
        let is_cut = text.len() < one.text.len();
        Text { path: shown(&one.path), content: shown_lines(&text), is_cut }
    };
    texts.iter().map(text).collect()
}

fn machine(page: &Page<'_>) -> Vec<Fact> {
    let iso = |time: DateTime<Utc>| time.format("%Y-%m-%d %H:%M:%S UTC").to_string();
    let facts = [
        ("host", page.host.filter(|host| !host.is_empty()).map(shown)),
        ("cores", page.cores.map(|cores| cores.to_string())),
        ("wsmeter", page.wsmeter.map(str::to_owned)),
        ("started", page.started.map(iso)),
        ("ended", page.ended.map(iso)),
    ];
    facts.into_iter().filter_map(|(name, value)| Some(Fact::new(name, value?))).collect()
}

fn duration(delta: TimeDelta) -> String {
    let duration = delta.to_std().unwrap_or(Duration::ZERO);
    time(Some(duration))
}

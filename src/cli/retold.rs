//! Results that were read back, as reports want them: what their summaries say, put together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chrono::{DateTime, SecondsFormat, Utc};

use crate::cli::told_comparison;
use crate::compile;
use crate::report::compare::Compared;
use crate::report::html::Page;
use crate::report::json::{self, About, Contents, Generator, Group, WorkerCpu};
use crate::results::{GeneratorInfo, GroupInfo, Results, RunInfo, Source, ThresholdInfo};
use crate::verdict::{self, Conclusion, Evidence, Judged, Judgement, Unit, Verdict};

/// Results and all that is known beside them.
pub(crate) struct Retold<'a> {
    results: &'a Results,
    title: String,
    about: About,
    groups: Vec<Group>,
    judgement: Judgement,
    comparison: Option<Compared>,
    generator: Generator,
    /// What is said in the page.
    remarks: Vec<String>,
}

/// Of what a summary has no figures of.
const WHOLE_MS: &str = "curves, the course of the run and the heat map are drawn from the rows, whose times are whole \
                        milliseconds: there 0 ms stands for all below 1 ms. The tables have the run's own figures";

impl<'a> Retold<'a> {
    /// Puts together what is known of results.
    pub(crate) fn of(sources: &[Source], results: &'a Results, mut remarks: Vec<String>) -> Self {
        let runs = || results.runs.iter().flatten();
        if results.rows_in_whole_ms && only_run(results).is_some_and(|run| !run.times_in_whole_ms) {
            remarks.push(WHOLE_MS.to_owned());
        }
        Self {
            results,
            title: title(sources, results),
            about: about(sources, results),
            groups: runs().flat_map(|run| &run.groups).map(group).collect(),
            judgement: judge(results),
            comparison: only_run(results)
                .and_then(|run| run.comparison.as_ref())
                .map(told_comparison::compared),
            generator: only_run(results).map(|run| generator(&run.generator)).unwrap_or_default(),
            remarks,
        }
    }

    /// The run, if there is only one and its summary was read.
    pub(crate) fn only_run(&self) -> Option<&RunInfo> {
        only_run(self.results)
    }

    /// Connections that were open at once, at most, as far as summaries tell: runs that are reported
    /// together may have been one after the other.
    pub(crate) fn peak_connections(&self) -> u64 {
        peak_connections(self.results)
    }

    /// What a summary of them holds.
    pub(crate) fn contents(&self) -> Contents<'_> {
        Contents {
            about: self.about.clone(),
            groups: self.groups.clone(),
            stats: &self.results.stats,
            peak_connections: self.peak_connections(),
            judgement: &self.judgement,
            comparison: self.comparison.as_ref(),
            generator: self.generator.clone(),
        }
    }

    /// The page of the same. Of what nothing is known it does not speak.
    pub(crate) fn page<'p>(&'p self, contents: &'p Contents<'p>) -> Page<'p> {
        let is_known = self.results.runs.iter().any(Option::is_some);
        let page = Page {
            started: time(self.results.origin_ms),
            ended: time(self.results.ended_ms),
            sources: &self.about.sources,
            remarks: &self.remarks,
            ..contents.page(&self.title)
        };
        if is_known {
            let generator = page.generator.filter(|_| self.only_run().is_some());
            let plan = page.plan.filter(|plan| !plan.sha256.is_empty());
            Page { generator, plan, ..page }
        } else {
            Page {
                judgement: page.judgement.filter(|_| !self.results.left_aside.is_empty()),
                peak_connections: None,
                generator: None,
                plan: None,
                host: None,
                cores: None,
                wsmeter: None,
                ..page
            }
        }
    }
}

/// What the reader should know before he believes the figures.
pub(crate) fn remarks(sources: &[Source], results: &Results) -> Vec<String> {
    let mut remarks: Vec<String> = results.oddities.iter().map(ToString::to_string).collect();
    let plans: Vec<(&Path, &RunInfo)> = sources
        .iter()
        .zip(&results.runs)
        .filter_map(|(source, run)| Some((source.path.as_path(), run.as_ref()?)))
        .filter(|(_, run)| !run.plan.sha256.is_empty())
        .collect();
    if results.runs.len() > 1 {
        let runs = results.runs.iter().flatten();
        let parts: BTreeSet<&str> = runs.flat_map(RunInfo::unjoinable).collect();
        if !parts.is_empty() {
            let parts = parts.into_iter().collect::<Vec<_>>().join(", ");
            remarks.push(format!(
                "missing, for no row has them: percentiles of several runs' {parts}"
            ));
        }
    }
    if let [(first, run), rest @ ..] = plans.as_slice() {
        let other = rest.iter().filter(|(_, other)| other.plan.sha256 != run.plan.sha256);
        remarks.extend(other.map(|(path, other)| {
            format!(
                "{} and {} are of different plans, {} and {} (or of versions of one)",
                first.display(),
                path.display(),
                run.plan.path,
                other.plan.path
            )
        }));
    }
    remarks
}

fn only_run(results: &Results) -> Option<&RunInfo> {
    match &results.runs[..] {
        [Some(run)] => Some(run),
        _ => None,
    }
}

fn peak_connections(results: &Results) -> u64 {
    results.runs.iter().flatten().map(RunInfo::peak_connections).max().unwrap_or(0)
}

/// The plan's name as far as it is known, else that of the results.
fn title(sources: &[Source], results: &Results) -> String {
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let plan = one_plan(results).and_then(|run| stem(Path::new(&run.plan.path)));
    let own = || match sources {
        [only] => stem(&only.path),
        many => Some(format!("{} results", many.len())),
    };
    plan.or_else(own).unwrap_or_else(|| "results".to_owned())
}

/// A run, if all of them are of one plan.
fn one_plan(results: &Results) -> Option<&RunInfo> {
    let runs = || results.runs.iter().flatten();
    let plans: BTreeSet<&str> = runs().map(|run| run.plan.sha256.as_str()).collect();
    runs().next().filter(|_| plans.len() == 1)
}

fn time(ms: u64) -> Option<DateTime<Utc>> {
    DateTime::from_timestamp_millis(i64::try_from(ms).ok()?)
}

fn about(sources: &[Source], results: &Results) -> About {
    let iso = |ms: u64| {
        time(ms).map_or_else(String::new, |time| time.to_rfc3339_opts(SecondsFormat::Millis, true))
    };
    let runs = || results.runs.iter().flatten();
    let hosts: BTreeSet<&str> = runs().map(|run| run.host.as_str()).collect();
    About {
        wsmeter: env!("CARGO_PKG_VERSION"),
        plan: one_plan(results).map_or_else(json::Plan::default, |run| json::Plan {
            path: run.plan.path.clone(),
            sha256: run.plan.sha256.clone(),
            properties: run.plan.properties.clone(),
            compare: run.plan.compare.clone(),
        }),
        host: hosts.into_iter().collect::<Vec<_>>().join(", "),
        cores: cores(results),
        started: iso(results.started_ms),
        ended: iso(results.ended_ms),
        sources: sources.iter().map(|source| source.path.display().to_string()).collect(),
    }
}

/// Those of all machines; one may have made several runs.
fn cores(results: &Results) -> usize {
    let mut machines: BTreeMap<&str, u64> = BTreeMap::new();
    for run in results.runs.iter().flatten() {
        let cores = machines.entry(&run.host).or_default();
        *cores = run.cores.max(*cores);
    }
    machines.values().map(|cores| usize::try_from(*cores).unwrap_or(0)).sum()
}

fn group(group: &GroupInfo) -> Group {
    Group {
        name: group.name.clone(),
        phase: match group.phase.as_str() {
            "setup" => "setup",
            "teardown" => "teardown",
            _ => "main",
        },
        model: if group.model == "open" { "open" } else { "closed" },
        threads: group.threads,
        no_sample: group.no_sample,
    }
}

fn generator(generator: &GeneratorInfo) -> Generator {
    let workers = generator.workers.iter();
    Generator {
        peak_memory_bytes: generator.peak_memory_bytes,
        lag_p99_ms: generator.lag_p99_ms,
        timers_p99_ms: generator.timers_p99_ms,
        saturated: generator.saturated.clone(),
        workers: workers
            .map(|worker| WorkerCpu { cpu: worker.cpu, waited: worker.waited })
            .collect(),
        cpu: generator.cpu,
    }
}

/// Results are judged as a run without thresholds is, but where their runs were judged already: a single
/// run keeps its verdict, and of several the worst counts.
fn judge(results: &Results) -> Judgement {
    let peak_connections = peak_connections(results);
    let evidence = Evidence { stats: &results.stats, peak_connections };
    let mut judgement = verdict::judge(&evidence, &[]);
    let known = results.runs.iter().map(|run| {
        let run = run.as_ref()?;
        Some((run, Conclusion::from_word(&run.verdict)?))
    });
    match known.collect::<Option<Vec<_>>>().as_deref() {
        Some([(run, conclusion)]) => {
            judgement.verdict = Verdict::new(*conclusion, run.reason.clone());
            judgement.thresholds = run.thresholds.iter().filter_map(judged).collect();
        }
        Some(runs @ [_, ..]) => {
            let passed = runs.iter().filter(|(_, one)| *one == Conclusion::Passed).count();
            let worst = runs.iter().map(|(_, one)| *one).max_by_key(|one| one.exit_code());
            let reason = format!("{passed} of {} runs passed", runs.len());
            judgement.verdict = Verdict::new(worst.unwrap_or(Conclusion::Failed), reason);
        }
        _ => {}
    }
    // What is left of a run that has failed does not pass.
    let aside = results
        .left_aside
        .iter()
        .filter_map(|run| Some((Conclusion::from_word(&run.verdict)?, &run.reason)));
    if let Some((conclusion, reason)) = aside.max_by_key(|(one, _)| one.exit_code())
        && conclusion.exit_code() > judgement.verdict.conclusion.exit_code()
    {
        let reason =
            format!("the summary that was left aside says `{}`: {reason}", conclusion.word());
        judgement.verdict = Verdict::new(conclusion, reason);
    }
    judgement
}

/// A threshold as it was judged; `None` for one that another version knows.
fn judged(info: &ThresholdInfo) -> Option<Judged> {
    let threshold = compile::threshold(&info.label, &info.condition)?;
    let measured = info.measured.map(|value| match threshold.condition.statistic.unit() {
        Unit::Time => value / 1e3,
        Unit::Count | Unit::Share | Unit::PerSecond => value,
    });
    Some(Judged { threshold, measured, holds: info.passed })
}

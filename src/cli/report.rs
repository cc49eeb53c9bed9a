//! `wsmeter report`: results in, a table and a summary out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chrono::{DateTime, SecondsFormat};

use crate::cli::args::ReportArguments;
use crate::cli::error::CliError;
use crate::clock;
use crate::console::Console;
use crate::report::json::{self, About, Contents, Generator, Group};
use crate::report::{OutputError, summary};
use crate::results::{self, GroupInfo, Results, RunInfo, Source};
use crate::stats::thousands;
use crate::verdict::{self, Conclusion, Evidence, Judgement, Verdict};

/// The summary's name in the folder.
const SUMMARY: &str = "summary.json";

/// Reads results and reports them together.
pub(crate) fn report(console: Console, arguments: &ReportArguments) -> Result<u8, CliError> {
    let sources = find(&arguments.results)?;
    let results = results::read(&sources, clock::now())?;
    warn(console, &sources, &results);
    let peak = peak_connections(&results);
    console.info(&format!("{}\n", summary::render(&results.stats, peak)));
    if let Some(folder) = &arguments.output {
        let path = folder.join(SUMMARY);
        take(&path, arguments.force)?;
        write_summary(&path, &sources, &results)?;
        console.info(&format!("{:<16}{}\n\n", "report", path.display()));
    }
    let rows = thousands(results.rows);
    console.important(&format!("{rows} rows read; {}\n", verdict::failures(&results.stats)));
    Ok(0)
}

/// What the paths of a command line stand for.
pub(crate) fn find(paths: &[PathBuf]) -> Result<Vec<Source>, CliError> {
    paths.iter().map(|path| Ok(Source::find(path)?)).collect()
}

/// Makes room for a file that must not overwrite another without leave.
pub(crate) fn take(path: &Path, force: bool) -> Result<(), CliError> {
    if path.exists() && !force {
        return Err(OutputError::Exists { path: path.to_owned() }.into());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs_err::create_dir_all(parent).map_err(OutputError::Io)?;
    }
    Ok(())
}

/// Tells what was odd, and where results do not belong together.
pub(crate) fn warn(console: Console, sources: &[Source], results: &Results) {
    for oddity in &results.oddities {
        console.info(&format!("warning: {oddity}\n"));
    }
    let plans: Vec<(&Path, &RunInfo)> = sources
        .iter()
        .zip(&results.runs)
        .filter_map(|(source, run)| Some((source.path.as_path(), run.as_ref()?)))
        .filter(|(_, run)| !run.plan.sha256.is_empty())
        .collect();
    if let [(first, run), rest @ ..] = plans.as_slice() {
        for (other, theirs) in rest {
            if theirs.plan.sha256 != run.plan.sha256 {
                console.info(&format!(
                    "warning: {} and {} are of different plans, {} and {} (or of versions of one)\n",
                    first.display(),
                    other.display(),
                    run.plan.path,
                    theirs.plan.path
                ));
            }
        }
    }
}

/// Connections that were open at once, at most, as far as summaries tell: runs that are reported
/// together may have been one after the other.
fn peak_connections(results: &Results) -> u64 {
    results.runs.iter().flatten().map(RunInfo::peak_connections).max().unwrap_or(0)
}

/// Writes the summary. That of a single run stays as the run wrote it: it knows times to the microsecond
/// where rows have milliseconds.
pub(crate) fn write_summary(
    path: &Path,
    sources: &[Source],
    results: &Results,
) -> Result<(), CliError> {
    if let ([Source { summary: Some(summary), .. }], [Some(_)]) = (sources, &results.runs[..]) {
        let text = fs_err::read(summary).map_err(CliError::Summary)?;
        return fs_err::write(path, text).map_err(CliError::Summary);
    }
    let peak_connections = peak_connections(results);
    let judgement = judge(results, peak_connections);
    let runs = || results.runs.iter().flatten();
    let contents = Contents {
        about: about(sources, results),
        groups: runs().flat_map(|run| &run.groups).map(group).collect(),
        stats: &results.stats,
        peak_connections,
        judgement: &judgement,
        generator: Generator::default(),
    };
    json::write(path, &contents).map_err(CliError::Summary)
}

/// Results are judged as a run without thresholds is, but where their runs were judged already: then the
/// worst of their verdicts counts.
fn judge(results: &Results, peak_connections: u64) -> Judgement {
    let evidence = Evidence { stats: &results.stats, peak_connections };
    let mut judgement = verdict::judge(&evidence, &[]);
    let conclusions: Option<Vec<Conclusion>> =
        results.runs.iter().map(|run| Conclusion::from_word(&run.as_ref()?.verdict)).collect();
    if let Some(conclusions) = conclusions
        && let Some(worst) = conclusions.iter().max_by_key(|one| one.exit_code())
    {
        let passed = conclusions.iter().filter(|one| **one == Conclusion::Passed).count();
        let reason = format!("{passed} of {} runs passed", conclusions.len());
        judgement.verdict = Verdict::new(*worst, reason);
    }
    judgement
}

fn about(sources: &[Source], results: &Results) -> About {
    let iso = |ms: u64| {
        let time = i64::try_from(ms).ok().and_then(DateTime::from_timestamp_millis);
        time.map_or_else(String::new, |time| time.to_rfc3339_opts(SecondsFormat::Millis, true))
    };
    let runs = || results.runs.iter().flatten();
    let hosts: BTreeSet<&str> = runs().map(|run| run.host.as_str()).collect();
    let plans: BTreeSet<&str> = runs().map(|run| run.plan.sha256.as_str()).collect();
    let one_plan = runs().next().filter(|_| plans.len() == 1);
    About {
        wsmeter: env!("CARGO_PKG_VERSION"),
        plan: one_plan.map_or_else(json::Plan::default, |run| json::Plan {
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
    }
}

//! `wsmeter run`: plan in, results and a verdict out.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use sha2::{Digest, Sha256};

use crate::cli::args::RunArguments;
use crate::cli::compare::Baseline;
use crate::cli::drive::{Event, Prepared, drive, prepare};
use crate::cli::ending::conclude;
use crate::cli::error::CliError;
use crate::cli::host;
use crate::cli::leaving::Leaving;
use crate::cli::preflight::Needs;
use crate::cli::progress::Progress;
use crate::cli::shown_plan;
use crate::cli::watch::Watch;
use crate::clock::{self, Clock};
use crate::compile::Properties;
use crate::console::Console;
use crate::plan::Loaded;
use crate::program::{Phase, Program, Schedule, Step, VariableId};
use crate::report::compare as comparison;
use crate::report::json::{self, About, Contents, Group};
use crate::report::metrics::{self, Listening, Serving};
use crate::report::{Live, Outputs, Recorder, Wanted, summary};
use crate::sample::RunEnd;
use crate::stats::Stats;

/// How often the run is looked at while it goes on: for progress, and for a full disk.
const TICK: Duration = Duration::from_millis(250);

/// Runs a plan; gives the verdict's exit code.
pub(crate) fn run(console: Console, arguments: &RunArguments) -> Result<u8, CliError> {
    let prepared = prepare(console, &arguments.plan, &arguments.properties, arguments.serve)?;
    let Prepared { loaded, properties, mut program, _target } = prepared;
    check_machine(console, &program, arguments)?;
    let tolerances = &arguments.tolerances;
    let baseline = arguments.baseline.as_ref();
    let baseline = baseline
        .map(|path| Baseline::read(path, program.compare.as_ref(), tolerances))
        .transpose()?;
    let metrics = arguments.metrics_addr.map(listen).transpose()?;
    let clock = Clock::start();
    let included = loaded.included_paths();
    let wanted = Wanted {
        folder: arguments.output.as_deref(),
        jtl: arguments.jtl.as_deref(),
        force: arguments.force,
        plan: &arguments.plan,
        included: &included,
    };
    let outputs = Outputs::open(wanted, clock.wall(clock.started()).into())?;
    let Outputs { jtl, jtl_path, reports } = outputs;
    program.show_secrets = arguments.show_secrets;
    program.time_limit = arguments.time_limit.or(program.time_limit);
    let recorder = Recorder::start(jtl, &jtl_path, clock, &sample_variables(&program))
        .map_err(CliError::Runtime)?;
    let live = recorder.live();
    let _serving =
        metrics.map(|metrics| serve(console, metrics, &live, arguments, clock)).transpose()?;
    let program = Arc::new(program);
    let mut progress = Progress::new(console, arguments.no_progress, &live);
    let mut watch = Watch::new(&program.thresholds, &live);
    let cores = host::cores();
    let end = drive(&program, &recorder, cores, TICK, |event| match event {
        Event::Say(text) => progress.say(text),
        Event::Tick(stop) | Event::End(stop) => {
            if live.has_write_failed() {
                stop.now(RunEnd::BrokeOff("results could not be written".to_owned()));
            }
            if let Event::Tick(stop) = event
                && let Some(text) = watch.tick(stop)
            {
                progress.say(&text);
            }
            progress.say_all(&live.take_log());
            progress.tick(&live);
        }
    })?;
    progress.finish(&live);
    let ended = clock::now();
    let mut finished = recorder.finish();
    finished.stats.idle_groups = idle_groups(&program, &finished.stats);
    let peak_connections = live.connections.peak();
    let judgement = conclude(&finished, end, peak_connections, &program.thresholds);
    let [started, ended_at] = [clock.started(), ended].map(|moment| clock.wall(moment).into());
    let contents = Contents {
        about: about(&loaded, &properties, &program, cores, started, ended_at),
        groups: groups(&program, &finished.stats),
        stats: &finished.stats,
        peak_connections,
        judgement: &judgement,
        comparison: None,
        generator: host::generator(ended - clock.started(), &finished.stats),
    };
    let leaving = Leaving {
        console,
        jtl: &jtl_path,
        reports: &reports,
        title: &program.name,
        started,
        ended: ended_at,
        texts: &shown_plan::texts(&loaded, &program),
        command: &shown_plan::command(arguments, &program),
    };
    let judgement = leaving.leave(&contents, baseline.as_ref());
    console.info(&summary::saturation(&finished.stats.health, started));
    console.important(&summary::verdict_line(&judgement.verdict));
    Ok(judgement.verdict.conclusion.exit_code())
}

/// Takes the address for metrics before anything is sent or written.
fn listen(address: SocketAddr) -> Result<Listening, CliError> {
    Listening::on(address).map_err(|source| CliError::Metrics { address, source })
}

/// Serves the metrics of the run that begins.
fn serve(
    console: Console,
    metrics: Listening,
    live: &Arc<Live>,
    arguments: &RunArguments,
    clock: Clock,
) -> Result<Serving, CliError> {
    let started = clock.wall(clock.started()).duration_since(SystemTime::UNIX_EPOCH);
    let about = metrics::About {
        plan: arguments.plan.display().to_string(),
        started: started.ok().map(|started| started.as_secs_f64()),
    };
    console.info(&format!("{:<16}{}\n", "metrics", metrics.url()));
    metrics.serve(Arc::clone(live), about).map_err(CliError::Runtime)
}

/// The names of the columns that the plan adds to the rows.
fn sample_variables(program: &Program) -> Vec<&str> {
    let name = |id: &VariableId| program.variable_names[id.0 as usize].as_str();
    program.sample_variables.iter().map(name).collect()
}

fn about(
    loaded: &Loaded,
    properties: &Properties,
    program: &Program,
    cores: usize,
    started: DateTime<Utc>,
    ended: DateTime<Utc>,
) -> About {
    let iso = |time: DateTime<Utc>| time.to_rfc3339_opts(SecondsFormat::Millis, true);
    let sha256 = sha256(loaded);
    About {
        wsmeter: env!("CARGO_PKG_VERSION"),
        plan: json::Plan {
            path: loaded.path.display().to_string(),
            sha256,
            properties: properties
                .iter()
                .map(|(name, value)| {
                    (name.to_owned(), shown_plan::property(program, name, value).into())
                })
                .collect(),
            compare: program.compare.as_ref().map(comparison::tolerances).unwrap_or_default(),
        },
        host: host::name(),
        cores,
        started: iso(started),
        ended: iso(ended),
        sources: Vec::new(),
    }
}

/// The SHA-256 of the plan: of the text of its file, followed by the texts of the files that it
/// includes, each once, in the order in which they are first included (`cat plan.yaml login.yaml |
/// sha256sum`). What is not enabled is not included.
fn sha256(loaded: &Loaded) -> String {
    let mut hash = Sha256::new();
    loaded.each_text(|text| hash.update(text.as_bytes()));
    hexadecimal(&hash.finalize())
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Its result is that of the writer, and writing to a `String` does not fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}

/// Refuses a run that the machine has too little for, unless it is forced.
fn check_machine(
    console: Console,
    program: &Program,
    arguments: &RunArguments,
) -> Result<(), CliError> {
    let mut needs = Needs::of(program, host::cores(), arguments.serve);
    if arguments.metrics_addr.is_some() {
        needs = needs.with_metrics();
    }
    if let Some(warning) = needs.too_few_ports() {
        console.info(&format!("warning: {warning}\n"));
    }
    match needs.check() {
        shortages if shortages.is_empty() || arguments.force => Ok(()),
        shortages => Err(CliError::Preflight(shortages)),
    }
}

/// Main groups that have samplers and have taken no sample.
fn idle_groups(program: &Program, stats: &Stats) -> Vec<String> {
    let groups = program
        .groups
        .iter()
        .filter(|group| group.phase == Phase::Main && group.steps.iter().any(Step::has_sampler));
    let idle = groups.filter(|group| !stats.groups_begun.contains(&group.name));
    idle.map(|group| group.name.clone()).collect()
}

fn groups(program: &Program, stats: &Stats) -> Vec<Group> {
    let groups = program.groups.iter();
    groups
        .map(|group| Group {
            name: group.name.clone(),
            phase: match group.phase {
                Phase::Setup => "setup",
                Phase::Main => "main",
                Phase::Teardown => "teardown",
            },
            model: match group.schedule {
                Schedule::Ramp(_) | Schedule::Stages(_) => "closed",
                Schedule::Arrivals(_) => "open",
            },
            threads: group.threads,
            no_sample: group.phase == Phase::Main && stats.idle_groups.contains(&group.name),
        })
        .collect()
}

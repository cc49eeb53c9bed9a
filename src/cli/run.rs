//! `wsmeter run`: plan in, results and a verdict out.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use indicatif::ProgressDrawTarget;
use sha2::{Digest, Sha256};

use crate::cli::args::RunArguments;
use crate::cli::ending::conclude;
use crate::cli::error::CliError;
use crate::cli::host;
use crate::cli::signals::Signals;
use crate::clock::{self, Clock};
use crate::compile::{self, Compiled, Properties};
use crate::console::Console;
use crate::exec::{self, Running};
use crate::net;
use crate::plan::{self, Loaded};
use crate::program::{Phase, Program, VariableId};
use crate::report::json::{self, About, Contents, Group};
use crate::report::progress::{Bar, Lines};
use crate::report::{Finished, Live, Outputs, Recorder, Wanted};
use crate::report::{summary, thresholds};
use crate::sample::RunEnd;
use crate::target::Server;
use crate::verdict::{Conclusion, Judgement, Verdict};

/// How often the run is looked at while it goes on: for progress, and for a full disk.
const TICK: Duration = Duration::from_millis(250);

/// What the first signal is answered with: samplers at work may take a while.
pub(crate) const FIRST_SIGNAL: &str =
    "ending: samplers at work may finish, for 30 s at most; a second signal ends the run at once";

/// How often the bar is redrawn.
const REDRAW: Duration = Duration::from_secs(1);

/// Runs a plan; gives the verdict's exit code.
pub(crate) fn run(console: Console, arguments: &RunArguments) -> Result<u8, CliError> {
    let loaded = plan::load(&arguments.plan).map_err(CliError::Plan)?;
    let mut properties = properties(&arguments.properties);
    let _target = arguments.serve.then(|| serve(&mut properties)).transpose()?;
    let Compiled { mut program, warnings } =
        compile::compile(&loaded, &properties).map_err(CliError::Plan)?;
    console.warnings(&warnings);
    let clock = Clock::start();
    let wanted = Wanted {
        folder: arguments.output.as_deref(),
        jtl: arguments.jtl.as_deref(),
        force: arguments.force,
        plan: &arguments.plan,
    };
    let outputs = Outputs::open(wanted, clock.wall(clock.started()).into())?;
    let Outputs { jtl, jtl_path, summary_path } = outputs;
    program.show_secrets = arguments.show_secrets;
    let recorder = Recorder::start(jtl, &jtl_path, clock, &sample_variables(&program))
        .map_err(CliError::Runtime)?;
    let live = recorder.live();
    let program = Arc::new(program);
    let progress = Progress::new(console, arguments.no_progress);
    let cores = host::cores();
    let end = drive(&program, &recorder, cores, &live, progress)?;
    let ended = clock::now();
    let finished = recorder.finish();
    let peak_connections = live.connections.peak();
    let mut judgement = conclude(&finished, end, peak_connections, &program.thresholds);
    let contents = Contents {
        about: about(
            &loaded,
            &properties,
            &program,
            cores,
            clock.wall(clock.started()).into(),
            clock.wall(ended).into(),
        ),
        groups: groups(&program),
        stats: &finished.stats,
        peak_connections,
        judgement: &judgement,
        generator: host::generator(ended - clock.started()),
    };
    if let Err(error) = json::write(&summary_path, &contents) {
        // The last line is the verdict, and a run without its results has not passed.
        let error = CliError::Summary(error);
        judgement.verdict = Verdict::new(Conclusion::BrokeOff, error.to_string());
        console.error(&error, None);
    }
    show(console, &finished, peak_connections, &judgement, &[&jtl_path, &summary_path]);
    Ok(judgement.verdict.conclusion.exit_code())
}

/// The properties that the command line sets; the last one of a name counts.
pub(crate) fn properties(pairs: &[(String, String)]) -> Properties {
    let mut properties = Properties::default();
    for (name, value) in pairs {
        properties.insert(name.clone(), value.clone());
    }
    properties
}

/// The names of the columns that the plan adds to the rows.
fn sample_variables(program: &Program) -> Vec<&str> {
    let name = |id: &VariableId| program.variable_names[id.0 as usize].as_str();
    program.sample_variables.iter().map(name).collect()
}

/// A property's value without secrets: those of the plan, and what the name or a URL tells to be one.
fn shown_property(program: &Program, name: &str, value: &str) -> String {
    let is_named = |id: &VariableId| program.variable_names[id.0 as usize] == name;
    if program.show_secrets {
        value.to_owned()
    } else if net::is_secret(name) || program.secret_variables.iter().any(is_named) {
        "***".to_owned()
    } else {
        net::shown(&program.secrets.mask(value))
    }
}

/// Starts the embedded target and tells the plan where it is.
pub(crate) fn serve(properties: &mut Properties) -> Result<Server, CliError> {
    let server = Server::start(([127, 0, 0, 1], 0).into())?;
    properties.insert("target".to_owned(), format!("ws://{}", server.address()));
    Ok(server)
}

/// Starts the engine and stays with it to its end.
fn drive(
    program: &Arc<Program>,
    recorder: &Recorder,
    cores: usize,
    live: &Live,
    mut progress: Progress,
) -> Result<RunEnd, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    runtime.block_on(async {
        // Before the first connection, so that no signal can catch the run unprepared.
        let signals = Signals::new().map_err(CliError::Runtime)?;
        let mut running = exec::start(program, recorder, cores)?;
        watch(&mut running, signals, live, &mut progress).await;
        Ok(running.join())
    })
}

/// Waits for the engine; meanwhile shows progress and passes on signals and a full disk.
async fn watch(running: &mut Running, mut signals: Signals, live: &Live, progress: &mut Progress) {
    let stop = running.stop();
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut signalled = false;
    loop {
        tokio::select! {
            () = running.finished() => break,
            () = signals.next() => {
                if std::mem::replace(&mut signalled, true) {
                    stop.now(RunEnd::Interrupted);
                } else {
                    stop.graceful(RunEnd::Interrupted);
                    progress.say(FIRST_SIGNAL);
                }
            }
            _ = ticks.tick() => {
                if live.has_write_failed() {
                    stop.now(RunEnd::BrokeOff("results could not be written".to_owned()));
                }
                progress.say_all(&live.take_log());
                progress.tick(live);
            }
        }
    }
    progress.say_all(&live.take_log());
    progress.finish(live);
}

fn show(
    console: Console,
    finished: &Finished,
    peak_connections: u64,
    judgement: &Judgement,
    paths: &[&Path],
) {
    let summary = summary::render(&finished.stats, peak_connections);
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    console.info(&format!("\n{summary}{:<16}{}\n\n", "results", paths.join(", ")));
    let thresholds = thresholds::render(&judgement.thresholds);
    if !thresholds.is_empty() {
        console.info(&format!("{thresholds}\n"));
    }
    console.important(&summary::verdict_line(&judgement.verdict));
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
    let sha256 = Sha256::digest(loaded.source.as_bytes());
    About {
        wsmeter: env!("CARGO_PKG_VERSION"),
        plan: json::Plan {
            path: loaded.path.display().to_string(),
            sha256: hexadecimal(&sha256),
            properties: properties
                .iter()
                .map(|(name, value)| (name.to_owned(), shown_property(program, name, value).into()))
                .collect(),
        },
        host: host::name(),
        cores,
        started: iso(started),
        ended: iso(ended),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Its result is that of the writer, and writing to a `String` does not fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}

fn groups(program: &Program) -> Vec<Group> {
    let groups = program.groups.iter();
    groups
        .map(|group| Group {
            name: group.name.clone(),
            phase: match group.phase {
                Phase::Setup => "setup",
                Phase::Main => "main",
                Phase::Teardown => "teardown",
            },
            model: "closed",
            threads: group.threads,
        })
        .collect()
}

/// How progress is shown.
enum Progress {
    Bar { bar: Bar, drawn: std::time::Instant },
    Lines { console: Console, lines: Lines, started: std::time::Instant },
    None(Console),
}

impl Progress {
    fn new(console: Console, off: bool) -> Self {
        let now = clock::now();
        if off {
            Self::None(console)
        } else if console.is_live() {
            Self::Bar { bar: Bar::new(ProgressDrawTarget::stderr()), drawn: now }
        } else {
            Self::Lines { console, lines: Lines::default(), started: now }
        }
    }

    fn tick(&mut self, live: &Live) {
        let now = clock::now();
        match self {
            Self::Bar { bar, drawn } if now - *drawn >= REDRAW => {
                bar.tick(live, now - *drawn);
                *drawn = now;
            }
            Self::Lines { console, lines, started } => {
                if let Some(text) = lines.tick(live, now - *started) {
                    console.info(&text);
                }
            }
            _ => {}
        }
    }

    /// Shows a line beside the progress.
    fn say(&self, line: &str) {
        match self {
            Self::Bar { bar, .. } => bar.say(line),
            Self::Lines { console, .. } | Self::None(console) => console.info(&format!("{line}\n")),
        }
    }

    fn say_all(&self, lines: &[String]) {
        for line in lines {
            self.say(line);
        }
    }

    fn finish(&mut self, live: &Live) {
        match self {
            Self::Bar { bar, .. } => bar.finish(),
            Self::Lines { console, lines, started } => {
                console.info(&lines.finish(live, clock::now() - *started));
            }
            Self::None(_) => {}
        }
    }
}

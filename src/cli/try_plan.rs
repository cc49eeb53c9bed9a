//! `wsmeter try`: each group with one thread and one iteration, and everything that happens shown.

use std::sync::Arc;
use std::time::Duration;

use crate::cli::args::TryArguments;
use crate::cli::ending::conclude;
use crate::cli::error::CliError;
use crate::cli::run::{FIRST_SIGNAL, properties, serve};
use crate::cli::signals::Signals;
use crate::clock;
use crate::compile::{self, Compiled};
use crate::console::Console;
use crate::diag::nearest;
use crate::exec::{self, Running};
use crate::plan;
use crate::program::{Phase, Program, Times};
use crate::report::summary::verdict_line;
use crate::report::{Finished, Trial};
use crate::sample::RunEnd;

/// How often what has happened is shown.
const TICK: Duration = Duration::from_millis(50);

/// Tries a plan; gives the verdict's exit code.
pub(crate) fn try_plan(console: Console, arguments: &TryArguments) -> Result<u8, CliError> {
    let loaded = plan::load(&arguments.plan).map_err(CliError::Plan)?;
    let mut properties = properties(&arguments.properties);
    let _target = arguments.serve.then(|| serve(&mut properties)).transpose()?;
    let Compiled { mut program, warnings } =
        compile::compile(&loaded, &properties).map_err(CliError::Plan)?;
    console.warnings(&warnings);
    reduce(&mut program, &arguments.groups)?;
    program.show_secrets = arguments.show_secrets;
    let has_thresholds = !program.thresholds.is_empty();
    let trial = Trial::new(clock::now(), console.paints_data());
    let end = drive(console, &Arc::new(program), &trial)?;
    console.data(&trial.take_text());
    let (stats, peak_connections) = trial.take_stats();
    let judgement = conclude(&Finished { stats, written: Ok(()) }, end, peak_connections, &[]);
    if has_thresholds {
        console.info("\nthresholds are not judged: one iteration says nothing about them");
    }
    console.info("\n");
    console.important(&verdict_line(&judgement.verdict));
    Ok(judgement.verdict.conclusion.exit_code())
}

/// Leaves one thread and one iteration of each group, or of those that are named.
fn reduce(program: &mut Program, groups: &[String]) -> Result<(), CliError> {
    let names = |program: &Program| -> Vec<String> {
        let main = program.groups.iter().filter(|group| group.phase == Phase::Main);
        main.map(|group| group.name.clone()).collect()
    };
    let known = names(program);
    if let Some(name) = groups.iter().find(|name| !known.contains(*name)) {
        let similar = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
        return Err(CliError::NoGroup { name: name.clone(), similar, known });
    }
    let is_wanted = |name: &String| groups.is_empty() || groups.contains(name);
    program.groups.retain(|group| group.phase != Phase::Main || is_wanted(&group.name));
    for group in &mut program.groups {
        group.threads = 1;
        group.loops = Times::Count(1);
        (group.delay, group.ramp_up) = (Duration::ZERO, Duration::ZERO);
    }
    program.in_turn = true;
    Ok(())
}

/// Runs the program to its end, and shows meanwhile what happens.
fn drive(console: Console, program: &Arc<Program>, trial: &Trial) -> Result<RunEnd, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    runtime.block_on(async {
        let signals = Signals::new().map_err(CliError::Runtime)?;
        let mut running = exec::start(program, trial, 1)?;
        watch(console, &mut running, signals, trial).await;
        Ok(running.join())
    })
}

async fn watch(console: Console, running: &mut Running, mut signals: Signals, trial: &Trial) {
    let stop = running.stop();
    let mut ticks = tokio::time::interval(TICK);
    let mut signalled = false;
    loop {
        tokio::select! {
            () = running.finished() => return,
            () = signals.next() => {
                if std::mem::replace(&mut signalled, true) {
                    stop.now(RunEnd::Interrupted);
                } else {
                    stop.graceful(RunEnd::Interrupted);
                    console.info(&format!("{FIRST_SIGNAL}\n"));
                }
            }
            _ = ticks.tick() => console.data(&trial.take_text()),
        }
    }
}

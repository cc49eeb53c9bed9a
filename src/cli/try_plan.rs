//! `wsmeter try`: each group with one thread and one iteration, and everything that happens shown.

use std::sync::Arc;
use std::time::Duration;

use crate::cli::args::TryArguments;
use crate::cli::drive::{Event, Prepared, drive, prepare};
use crate::cli::ending::conclude;
use crate::cli::error::CliError;
use crate::clock;
use crate::console::Console;
use crate::diag::nearest;
use crate::program::{Phase, Program, Schedule, Times};
use crate::report::summary::verdict_line;
use crate::report::{Finished, Trial};

/// How often what has happened is shown.
const TICK: Duration = Duration::from_millis(50);

/// Tries a plan; gives the verdict's exit code.
pub(crate) fn try_plan(console: Console, arguments: &TryArguments) -> Result<u8, CliError> {
    let prepared = prepare(console, &arguments.plan, &arguments.properties, arguments.serve)?;
    let Prepared { mut program, _target, .. } = prepared;
    reduce(&mut program, &arguments.groups)?;
    program.show_secrets = arguments.show_secrets;
    let has_thresholds = !program.thresholds.is_empty();
    let trial = Trial::new(clock::now(), console.paints_data());
    let mut unshown = None;
    let end = drive(&Arc::new(program), &trial, 1, TICK, |event| match event {
        Event::Say(text) => console.info(&format!("{text}\n")),
        Event::Tick(_) | Event::End(_) => {
            if let Err(error) = console.data(&trial.take_text()) {
                unshown.get_or_insert(error);
            }
        }
    })?;
    if let Some(error) = unshown {
        return Err(CliError::Print(error));
    }
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
        group.delay = Duration::ZERO;
        group.schedule = Schedule::Ramp(Duration::ZERO);
    }
    program.in_turn = true;
    Ok(())
}

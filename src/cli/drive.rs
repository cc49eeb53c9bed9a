//! What `run` and `try` have in common: reading the plan, and staying with the engine to its end.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::cli::error::CliError;
use crate::cli::signals::Signals;
use crate::compile::{self, Compiled, Properties};
use crate::console::Console;
use crate::exec::{self, Stop};
use crate::plan::{self, Loaded};
use crate::program::Program;
use crate::sample::{RunEnd, Sink};
use crate::target::Server;

/// A plan that can be run.
pub(crate) struct Prepared {
    pub(crate) loaded: Loaded,
    pub(crate) properties: Properties,
    pub(crate) program: Program,
    /// The embedded target, if it was asked for; it serves while this is kept.
    pub(crate) _target: Option<Server>,
}

/// Reads a plan and shows what is odd about it; with `serve` starts the embedded target first.
pub(crate) fn prepare(
    console: Console,
    plan: &Path,
    pairs: &[(String, String)],
    serve: bool,
) -> Result<Prepared, CliError> {
    let loaded = plan::load(plan).map_err(CliError::Plan)?;
    let mut properties = properties(pairs);
    let target = if serve { Some(start_target(&mut properties)?) } else { None };
    let Compiled { program, warnings } =
        compile::compile(&loaded, &properties).map_err(CliError::Plan)?;
    console.warnings(&warnings);
    Ok(Prepared { loaded, properties, program, _target: target })
}

/// The properties that the command line sets; the last one of a name counts.
pub(crate) fn properties(pairs: &[(String, String)]) -> Properties {
    let mut properties = Properties::default();
    for (name, value) in pairs {
        properties.insert(name.clone(), value.clone());
    }
    properties
}

/// Starts the embedded target and tells the plan where it is.
fn start_target(properties: &mut Properties) -> Result<Server, CliError> {
    let server = Server::start(([127, 0, 0, 1], 0).into())?;
    properties.insert("target".to_owned(), format!("ws://{}", server.address()));
    Ok(server)
}

/// What happens while a run goes on.
pub(crate) enum Event<'a> {
    /// It is time to look at the run.
    Tick(&'a Stop),
    /// The run is over; comes once, after every tick.
    End(&'a Stop),
    /// Something to say.
    Say(&'a str),
}

/// Starts the engine on so many workers and stays with it to its end; tells `on_event` every `tick`
/// and once more at the end. The first signal ends the run gracefully, a second one at once.
pub(crate) fn drive(
    program: &Arc<Program>,
    sink: &dyn Sink,
    workers: usize,
    tick: Duration,
    mut on_event: impl FnMut(Event<'_>),
) -> Result<RunEnd, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    runtime.block_on(async {
        // Before the first connection, so that no signal can catch the run unprepared.
        let mut signals = Signals::new().map_err(CliError::Runtime)?;
        let mut running = exec::start(program, sink, workers)?;
        let stop = running.stop();
        let mut ticks = interval(tick);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut signalled = false;
        let mut limit = program.time_limit.map(|limit| Box::pin(sleep(limit)));
        loop {
            tokio::select! {
                () = running.finished() => break,
                () = async { limit.as_mut().expect("there is one").await }, if limit.is_some() => {
                    limit = None;
                    let limit = program.time_limit.unwrap_or_default();
                    stop.graceful(RunEnd::BrokeOff(format!("the time limit of {limit:?} was reached")));
                }
                () = signals.next() => {
                    if std::mem::replace(&mut signalled, true) {
                        stop.now(RunEnd::Interrupted);
                    } else {
                        stop.graceful(RunEnd::Interrupted);
                        // Samplers at work may take a while.
                        let most = program.graceful_stop;
                        on_event(Event::Say(&format!(
                            "ending: samplers at work may finish, for {most:?} at most; a second signal ends the run at once"
                        )));
                    }
                }
                _ = ticks.tick() => on_event(Event::Tick(&stop)),
            }
        }
        on_event(Event::End(&stop));
        Ok(running.join())
    })
}

//! Starting a run and waiting for its end.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::sync::mpsc;

use crate::exec::shared::Shared;
use crate::exec::stop::Stop;
use crate::exec::worker::{self, Share};
use crate::program::{Program, Schedule};
use crate::sample::{RunEnd, Sink};

/// The workers could not be started; nothing was sent.
#[derive(Debug, thiserror::Error)]
#[error("failed to start worker {worker}")]
pub struct StartError {
    /// Which, from 0.
    worker: usize,
    source: io::Error,
}

/// A run under way.
#[derive(Debug)]
pub struct Running {
    stop: Stop,
    workers: Vec<JoinHandle<()>>,
    /// Closed when the last worker is done.
    done: mpsc::Receiver<()>,
}

/// Starts the program on `workers` OS threads. Each gets its own end of `sink`.
pub fn start(
    program: &Arc<Program>,
    sink: &dyn Sink,
    workers: usize,
) -> Result<Running, StartError> {
    let stop = Stop::new();
    let (sender, done) = mpsc::channel(1);
    let shared = Arc::new(Shared::new(Arc::clone(program), stop.clone(), workers));
    let mut handles = Vec::with_capacity(workers);
    for (index, shares) in deal(program, workers).into_iter().enumerate() {
        let shared = Arc::clone(&shared);
        let failed = |source| StartError { worker: index, source };
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (sink, sender) = (sink.worker(), sender.clone());
        let body = move || {
            worker::run(&runtime, shared, sink, shares);
            // A name lookup that nobody waits for any more must not hold up the end of the run.
            runtime.shutdown_background();
            drop(sender);
        };
        let name = format!("worker-{index}");
        handles.push(thread::Builder::new().name(name).spawn(body).map_err(failed)?);
    }
    Ok(Running { stop, workers: handles, done })
}

/// Deals the threads of all groups to the workers in turn.
fn deal(program: &Program, workers: usize) -> Vec<Vec<Share>> {
    let step = u32::try_from(workers).unwrap_or(u32::MAX);
    let mut shares: Vec<Vec<Share>> = (0..workers).map(|_| Vec::new()).collect();
    let mut dealt = 0;
    for (group, own) in program.groups.iter().enumerate() {
        // Arrivals are dealt, however many of them may be there at once.
        let arrives = matches!(own.schedule, Schedule::Arrivals(_));
        let threads = if arrives { u32::MAX } else { own.threads };
        for first in 0..step.min(threads) {
            let worker = (dealt + first as usize) % workers;
            shares[worker].push(Share { group, first, step });
        }
        dealt += own.threads as usize;
    }
    shares
}

impl Running {
    /// Ends the run early, from any thread.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Resolves when all workers are done.
    pub async fn finished(&mut self) {
        while self.done.recv().await.is_some() {}
    }

    /// Waits for all workers and says why the run ended.
    pub fn join(self) -> RunEnd {
        let mut broken = 0;
        for worker in self.workers {
            broken += usize::from(worker.join().is_err());
        }
        if broken > 0 {
            return RunEnd::BrokeOff("a worker ended by an internal error".to_owned());
        }
        self.stop.end()
    }
}

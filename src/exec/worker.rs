//! A worker: one OS thread with its own runtime, on which its share of the virtual threads runs.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{MissedTickBehavior, interval};

use crate::clock;
use crate::exec::alarm::Alarm;
use crate::exec::evaluate::Scope;
use crate::exec::health;
use crate::exec::outcome::Outcome;
use crate::exec::schedule::start_threads;
use crate::exec::shared::Shared;
use crate::exec::stop::Level;
use crate::exec::trace::Tracer;
use crate::program::Phase;
use crate::sample::{Note, Sample, WorkerSink};

/// Size of the read buffer that all connections of a worker share, in bytes.
const READ_BUFFER: usize = 64 * 1024;

/// How often the sink hands on what it collected.
const FLUSH_EVERY: Duration = Duration::from_millis(500);

/// What the virtual threads of one worker share.
pub(crate) struct Worker {
    pub(crate) shared: Arc<Shared>,
    /// Filled and emptied within one pump.
    pub(crate) read_buffer: RefCell<Box<[u8]>>,
    /// Memory of a payload that nobody needs any more, for the next one.
    pub(crate) spare_payload: RefCell<Vec<u8>>,
    /// Memory of an outcome that is over.
    spare_outcome: Cell<Option<Outcome>>,
    /// For one outgoing frame at a time.
    pub(crate) write_buffer: RefCell<Vec<u8>>,
    sink: RefCell<Box<dyn WorkerSink>>,
    /// What happens, if the sink wants to see it.
    pub(crate) tracer: Option<Rc<Tracer>>,
    last_text: RefCell<Rc<str>>,
    level: Cell<Level>,
    phase: Cell<Phase>,
    /// The tasks to wake when the run is told to end, by thread.
    wakers: RefCell<Vec<Option<Waker>>>,
    /// The places of threads that are gone: there may be a fresh thread for each arrival.
    free_wakers: RefCell<Vec<usize>>,
}

impl Worker {
    /// How far the run has been told to end, as it is meant for the phase at hand.
    pub(crate) fn level(&self) -> Level {
        self.level.get().in_phase(self.phase.get())
    }

    /// When samplers at work are interrupted, if the run has been told to end.
    pub(crate) fn interrupt_at(&self) -> Option<Instant> {
        match self.level() {
            Level::Run => None,
            Level::Graceful(since) => Some(since + self.shared.program.graceful_stop),
            Level::Now => Some(self.shared.started),
        }
    }

    pub(crate) fn sample(&self, sample: &Sample<'_>) {
        self.sink.borrow_mut().sample(sample);
    }

    pub(crate) fn note(&self, note: &Note<'_>) {
        self.sink.borrow_mut().note(note);
    }

    /// Hands on what has happened, if someone wants to see it.
    pub(crate) fn show_traces(&self, scope: &Scope) {
        let Some(tracer) = &self.tracer else { return };
        let mut sink = self.sink.borrow_mut();
        for (at, trace) in tracer.take(scope) {
            sink.trace(at, &trace);
        }
    }

    /// The text in memory that all threads share which ask for it one after another, as they do for
    /// the address that they open.
    pub(crate) fn shared_text(&self, text: &str) -> Rc<str> {
        let mut last = self.last_text.borrow_mut();
        if **last != *text {
            *last = text.into();
        }
        Rc::clone(&last)
    }

    /// A new outcome.
    pub(crate) fn outcome(&self, start: Instant) -> Outcome {
        match self.spare_outcome.take() {
            Some(spare) => spare.begin_again(start),
            None => Outcome::begun(start),
        }
    }

    /// Keeps the memory of an outcome that is over for the next one, and that of its payload, unless
    /// that is very much.
    pub(crate) fn recycle(&self, mut outcome: Outcome) {
        if let Some(message) = outcome.message.take()
            && message.payload.capacity() <= READ_BUFFER
        {
            self.spare_payload.replace(message.payload);
        }
        self.spare_outcome.set(Some(outcome));
    }

    /// Lets `parting` go on beside the threads, until the run is to end at once: whoever wants that
    /// waits for no server.
    pub(crate) fn leave_behind(&self, parting: impl Future<Output = ()> + 'static) {
        let mut level = self.shared.stop.subscribe();
        // Boxed, or the task would hold it twice: once as it was handed over, and once as it is polled.
        let mut parting = Box::pin(parting);
        spawn_local(async move {
            tokio::select! {
                biased;
                () = &mut parting => {}
                _ = level.wait_for(|level| *level == Level::Now) => {}
            }
        });
    }

    /// A place for one task's waker.
    pub(crate) fn register(&self) -> WakerSlot {
        if let Some(free) = self.free_wakers.borrow_mut().pop() {
            return WakerSlot(free);
        }
        let mut wakers = self.wakers.borrow_mut();
        wakers.push(None);
        WakerSlot(wakers.len() - 1)
    }

    /// Remembers whom to wake when the run is told to end; a task's waker never changes.
    pub(crate) fn remember(&self, slot: &WakerSlot, waker: &Waker) {
        let mut wakers = self.wakers.borrow_mut();
        if wakers[slot.0].is_none() {
            wakers[slot.0] = Some(waker.clone());
        }
    }

    pub(crate) fn forget(&self, slot: &WakerSlot) {
        self.wakers.borrow_mut()[slot.0] = None;
        self.free_wakers.borrow_mut().push(slot.0);
    }

    async fn follow(&self, mut level: watch::Receiver<Level>) {
        loop {
            self.level.set(*level.borrow_and_update());
            if self.level.get() != Level::Run {
                self.wakers.borrow().iter().flatten().for_each(Waker::wake_by_ref);
            }
            if level.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    async fn flush_regularly(&self) {
        let mut ticks = interval(FLUSH_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.sink.borrow_mut().flush();
        }
    }

    /// Waits until `moment`; false if the run was told to end before.
    pub(crate) async fn wait_until(&self, moment: Instant, alarm: &Alarm) -> bool {
        if moment <= clock::now() {
            return true;
        }
        let mut level = self.shared.stop.subscribe();
        let is_end = |level: &Level| level.in_phase(self.phase.get()) != Level::Run;
        let ended = async { level.wait_for(is_end).await.is_ok() };
        tokio::select! {
            biased;
            _ = ended => false,
            () = alarm.wait_until(moment) => true,
        }
    }
}

/// A task's place among the wakers of its worker.
#[derive(Debug)]
pub(crate) struct WakerSlot(usize);

/// The threads of one group that one worker runs.
pub(crate) struct Share {
    pub(crate) group: usize,
    /// The first of them, from 0 within the group.
    pub(crate) first: u32,
    /// From each to the next.
    pub(crate) step: u32,
}

/// Runs a worker's share of all groups to its end, on the calling OS thread.
pub(crate) fn run(
    runtime: &tokio::runtime::Runtime,
    shared: Arc<Shared>,
    sink: Box<dyn WorkerSink>,
    shares: Vec<Share>,
) {
    let level = shared.stop.subscribe();
    let worker = Rc::new(Worker {
        shared,
        read_buffer: RefCell::new(vec![0; READ_BUFFER].into_boxed_slice()),
        spare_payload: RefCell::default(),
        spare_outcome: Cell::default(),
        write_buffer: RefCell::default(),
        tracer: sink.wants_traces().then(Rc::default),
        sink: RefCell::new(sink),
        last_text: RefCell::new("".into()),
        level: Cell::new(Level::Run),
        phase: Cell::new(Phase::Setup),
        wakers: RefCell::default(),
        free_wakers: RefCell::default(),
    });
    runtime.block_on(async {
        tokio::select! {
            () = go_through(&worker, shares) => {}
            () = worker.follow(level) => {}
            () = worker.flush_regularly() => {}
            () = health::watch(&worker) => {}
        }
    });
    worker.sink.borrow_mut().flush();
}

/// Runs the worker's shares phase by phase, in step with the other workers.
async fn go_through(worker: &Rc<Worker>, mut shares: Vec<Share>) {
    let mut tasks = LocalSet::new();
    let mut walk = worker.shared.phases.walk();
    while let Some((phase, began)) = walk.phase() {
        worker.phase.set(phase);
        // `follow` may not have run since another worker told the run to end.
        worker.level.set(*worker.shared.stop.subscribe().borrow());
        let is_due = |share: &mut Share| worker.shared.program.groups[share.group].phase == phase;
        for share in shares.extract_if(.., is_due) {
            tasks.spawn_local(start_threads(Rc::clone(worker), share, began));
            if worker.shared.program.in_turn {
                (&mut tasks).await;
            }
        }
        (&mut tasks).await;
        walk.end().await;
    }
}

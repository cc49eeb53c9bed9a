//! What all workers of a run share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use crate::clock;
use crate::exec::data::Taken;
use crate::exec::phases::Phases;
use crate::exec::rendezvous::Meeting;
use crate::exec::stop::Stop;
use crate::program::{CounterId, Group, Phase, Program};
use crate::secrets::Known;

/// State of a run that is not one thread's own.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) program: Arc<Program>,
    /// What no output shows.
    pub(crate) secrets: Known,
    pub(crate) stop: Stop,
    /// When the run began.
    pub(crate) started: Instant,
    pub(crate) phases: Phases,
    active: AtomicU32,
    active_of_group: Vec<AtomicU32>,
    /// By group, whether it has taken a sample, or nobody asks.
    sampled: Vec<AtomicBool>,
    counters: Vec<AtomicU64>,
    pub(crate) taken: Taken,
    /// Decides what arrivals at random times have in common on all workers.
    pub(crate) seed: u64,
    /// By the index of their `rendezvous`.
    pub(crate) meetings: Vec<Meeting>,
}

impl Shared {
    pub(crate) fn new(program: Arc<Program>, stop: Stop, workers: usize) -> Self {
        let (started, phases) = (clock::now(), Phases::of(&program, workers));
        let active_of_group = program.groups.iter().map(|_| AtomicU32::new(0)).collect();
        // Of setup and teardown nobody asks.
        let is_asked = |group: &Group| group.phase == Phase::Main;
        let sampled =
            program.groups.iter().map(|group| AtomicBool::new(!is_asked(group))).collect();
        let counters = (0..program.counters).map(|_| AtomicU64::new(0)).collect();
        let active = AtomicU32::new(0);
        let taken = Taken::of(&program);
        let meetings = (0..program.rendezvous).map(|_| Meeting::default()).collect();
        let secrets = Known::new(program.secrets.clone());
        Self {
            program,
            secrets,
            stop,
            started,
            phases,
            active,
            active_of_group,
            sampled,
            counters,
            taken,
            seed: rand::random(),
            meetings,
        }
    }

    pub(crate) fn thread_started(&self, group: usize) {
        self.active.fetch_add(1, Ordering::Relaxed);
        self.active_of_group[group].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn thread_finished(&self, group: usize) {
        self.active.fetch_sub(1, Ordering::Relaxed);
        self.active_of_group[group].fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether this is the first sample of a main group.
    pub(crate) fn is_first_sample(&self, group: usize) -> bool {
        let sampled = &self.sampled[group];
        // Nearly always it is not, and a cache line that is only read is nobody's bottleneck.
        !sampled.load(Ordering::Relaxed) && !sampled.swap(true, Ordering::Relaxed)
    }

    /// Threads active in the group and in all groups.
    pub(crate) fn active(&self, group: usize) -> (u32, u32) {
        let all = self.active.load(Ordering::Relaxed);
        (self.active_of_group[group].load(Ordering::Relaxed), all)
    }

    /// A number that all threads share.
    pub(crate) fn counter(&self, counter: CounterId) -> &AtomicU64 {
        &self.counters[counter.0 as usize]
    }

    /// The next value of a counter that all threads share: 1 first.
    pub(crate) fn count(&self, counter: CounterId) -> u64 {
        self.counter(counter).fetch_add(1, Ordering::Relaxed) + 1
    }
}

//! Starting a group's threads when they are due.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::{JoinHandle, spawn_local, unconstrained};

use crate::clock;
use crate::exec::alarm::Alarm;
use crate::exec::stop::Level;
use crate::exec::thread::{self, Entry};
use crate::exec::worker::{Share, Worker};
use crate::program::{Arrivals, Group, Schedule, Stages};
use crate::sample::Note;

/// Starts the threads of a share, and ends with the last start. `began`: when its phase did.
pub(crate) async fn start_threads(worker: Rc<Worker>, share: Share, began: Instant) {
    let program = Arc::clone(&worker.shared.program);
    let group = &program.groups[share.group];
    let mut starter = Starter {
        start: began + group.delay,
        end: group.duration.map(|duration| began + group.delay + duration),
        alarm: Alarm::new(),
        worker,
        share,
    };
    match &group.schedule {
        Schedule::Ramp(ramp_up) => starter.ramp(group, *ramp_up).await,
        Schedule::Stages(stages) => starter.stages(group, stages).await,
        Schedule::Arrivals(arrivals) => starter.arrivals(group, arrivals).await,
    }
}

struct Starter {
    worker: Rc<Worker>,
    share: Share,
    /// When the group began.
    start: Instant,
    /// When no new step starts.
    end: Option<Instant>,
    alarm: Alarm,
}

impl Starter {
    /// Thread i of n starts at `i * ramp_up / n`.
    async fn ramp(&mut self, group: &Group, ramp_up: Duration) {
        let Share { first, step, .. } = self.share;
        for index in (first..group.threads).step_by(step as usize) {
            let after = ramp_up.mul_f64(f64::from(index) / f64::from(group.threads));
            if !self.start_at(index, after).await {
                return;
            }
        }
    }

    async fn stages(&mut self, group: &Group, stages: &Stages) {
        let Share { first, step, .. } = self.share;
        let own = (first..group.threads).step_by(step as usize);
        let mut stays: Vec<_> = own
            .flat_map(|index| stages.stays(index).into_iter().map(move |stay| (stay, index)))
            .collect();
        stays.sort_by_key(|(stay, index)| (stay.from, *index));
        let mut before: HashMap<u32, JoinHandle<()>> = HashMap::new();
        for (stay, index) in stays {
            if !self.wait(stay.from).await {
                break;
            }
            let entry = self.entry(stay.from, stay.to);
            let still_there = before.remove(&index).filter(|thread| !thread.is_finished());
            let thread = match still_there {
                Some(thread) => self.spawn_after(thread, index, entry),
                None => self.spawn(index, entry),
            };
            before.insert(index, thread);
        }
        // Who waits for itself is not there yet, and the phase must not end without it.
        for thread in before.into_values() {
            thread.await.ok();
        }
    }

    /// Arrivals are dealt in turn, as threads are. All workers go through the same times.
    async fn arrivals(&mut self, group: &Group, arrivals: &Arrivals) {
        let Share { group: number, first, step } = self.share;
        let own = arrivals.times(self.worker.shared.seed).zip(0_u32..);
        for (after, index) in own.skip(first as usize).step_by(step as usize) {
            if !self.wait(after).await {
                return;
            }
            if self.worker.shared.active(number).0 >= group.threads {
                self.worker.note(&Note::Missed);
            } else {
                self.spawn(index, self.entry(after, None));
            }
        }
    }

    /// Starts a thread when it is due; false if the run was told to end before.
    async fn start_at(&mut self, index: u32, after: Duration) -> bool {
        let goes_on = self.wait(after).await;
        if goes_on {
            self.spawn(index, self.entry(after, None));
        }
        goes_on
    }

    /// Waits for this time of the group; false if none will start any more.
    async fn wait(&mut self, after: Duration) -> bool {
        let due = self.start + after;
        if self.end.is_some_and(|end| due >= end) {
            return false;
        }
        self.worker.wait_until(due, &self.alarm).await && self.worker.level() == Level::Run
    }

    fn entry(&self, after: Duration, leave: Option<Duration>) -> Entry {
        Entry {
            due: self.start + after,
            leave: leave.map(|leave| self.start + leave),
            end: self.end,
        }
    }

    fn spawn(&self, index: u32, entry: Entry) -> JoinHandle<()> {
        let worker = Rc::clone(&self.worker);
        // A thread takes turns by itself, and must not take a socket for empty because the runtime
        // wants it to.
        spawn_local(unconstrained(thread::run(worker, self.share.group, index, entry)))
    }

    /// A thread that comes again while it is still at its last iteration: it does not do two things at once,
    /// and that it comes later is no fault of the generator's.
    fn spawn_after(&self, last: JoinHandle<()>, index: u32, entry: Entry) -> JoinHandle<()> {
        let (worker, group) = (Rc::clone(&self.worker), self.share.group);
        spawn_local(async move {
            last.await.ok();
            let now = clock::now();
            let is_over = [entry.leave, entry.end].into_iter().flatten().any(|over| over <= now);
            if !is_over && worker.level() == Level::Run {
                let entry = Entry { due: now, ..entry };
                Box::pin(unconstrained(thread::run(worker, group, index, entry))).await;
            }
        })
    }
}

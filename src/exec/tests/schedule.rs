//! Hours of arrivals and stages in simulated time: a runtime whose clock jumps to the next timer.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{pause, program};
use crate::clock;
use crate::exec::shared::Shared;
use crate::exec::stop::Stop;
use crate::exec::worker::{self, Share};
use crate::program::*;
use crate::sample::{Note, Sample, Sink, WorkerSink};

/// What happened when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Started(Duration),
    Finished,
    Missed,
}

/// Keeps the comings and goings of threads with the simulated time.
#[derive(Clone, Default)]
struct Times(Arc<Mutex<Vec<(Instant, What)>>>);

impl Sink for Times {
    fn worker(&self) -> Box<dyn WorkerSink> {
        Box::new(self.clone())
    }
}

impl WorkerSink for Times {
    fn sample(&mut self, _: &Sample<'_>) {}
    fn note(&mut self, note: &Note<'_>) {
        let what = match note {
            Note::ThreadStarted { late } => What::Started(*late),
            Note::ThreadFinished => What::Finished,
            Note::Missed => What::Missed,
            _ => return,
        };
        self.0.lock().unwrap().push((clock::now(), what));
    }
    fn flush(&mut self) {}
}

/// Runs one group on one worker; gives what happened, in seconds from the beginning.
fn simulate(schedule: Schedule, threads: u32, loops: Loops, steps: Vec<Step>) -> Vec<(f64, What)> {
    let duration = match &schedule {
        Schedule::Stages(stages) => Some(stages.duration()),
        _ => None,
    };
    let group = Group {
        name: "g".to_owned(),
        phase: Phase::Main,
        number: 1,
        threads,
        schedule,
        delay: Duration::ZERO,
        loops,
        duration,
        connections: ConnectionCount::of(&[]),
        data_sets: Vec::new(),
        steps,
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = runtime.unwrap();
    let times = Times::default();
    let began = {
        let _entered = runtime.enter();
        let shared = Shared::new(Arc::new(program(group, 0)), Stop::new(), 1);
        let began = shared.started;
        let share = Share { group: 0, first: 0, step: 1 };
        worker::run(&runtime, Arc::new(shared), times.worker(), vec![share]);
        began
    };
    let times = times.0.lock().unwrap();
    times.iter().map(|(at, what)| ((*at - began).as_secs_f64(), *what)).collect()
}

type Loops = crate::program::Times;

fn stretch(from: f64, to: f64, seconds: u64) -> Stretch {
    Stretch { from, to, over: Duration::from_secs(seconds) }
}

/// The threads that are there on average between two moments.
fn average(events: &[(f64, What)], from: f64, to: f64) -> f64 {
    let (mut active, mut at, mut sum) = (0.0, 0.0, 0.0);
    for (moment, what) in events {
        let (begin, end) = (f64::max(at, from), f64::min(*moment, to));
        sum += active * f64::max(end - begin, 0.0);
        at = *moment;
        match what {
            What::Started(_) => active += 1.0,
            What::Finished => active -= 1.0,
            What::Missed => {}
        }
    }
    sum / (to - from)
}

#[test]
fn no_arrival_is_lost_or_doubled_in_ten_minutes_and_littles_law_holds() {
    for spacing in [Spacing::Even, Spacing::Poisson] {
        let stretches =
            vec![stretch(20.0, 20.0, 240), stretch(20.0, 60.0, 120), stretch(60.0, 60.0, 240)];
        let arrivals = Arrivals { stretches, spacing };
        let planned: Vec<f64> = arrivals.times(0).map(|time| time.as_secs_f64()).collect();
        let events =
            simulate(Schedule::Arrivals(arrivals), 10_000, Loops::Count(1), vec![pause(2_000)]);
        let started: Vec<f64> = events
            .iter()
            .filter(|(_, what)| matches!(what, What::Started(_)))
            .map(|it| it.0)
            .collect();
        assert_eq!(started.len(), 20 * 240 + 40 * 120 + 60 * 240);
        assert!(started.is_sorted());
        if spacing == Spacing::Even {
            for (started, planned) in started.iter().zip(&planned) {
                // The runtime's simulated timers go by milliseconds.
                assert!((started - planned).abs() <= 0.002, "{started} for {planned}");
            }
        }
        // L = λ W: at 20/s and 60/s, two seconds each.
        for (from, to, wanted) in [(10.0, 240.0, 40.0), (370.0, 600.0, 120.0)] {
            let found = average(&events, from, to);
            assert!((found / wanted - 1.0).abs() < 0.05, "{found} for {wanted}");
        }
    }
}

#[test]
fn arrivals_beyond_the_most_are_missed_and_none_waits() {
    let arrivals = Arrivals { stretches: vec![stretch(10.0, 10.0, 60)], spacing: Spacing::Even };
    let events = simulate(Schedule::Arrivals(arrivals), 5, Loops::Count(1), vec![pause(1_000)]);
    let count = |is: fn(&What) -> bool| events.iter().filter(|(_, what)| is(what)).count();
    let started = count(|what| matches!(what, What::Started(_)));
    let missed = count(|what| *what == What::Missed);
    // Five a second fit, each for a second and its last millisecond.
    assert_eq!(started + missed, 600);
    assert!((270..=300).contains(&started), "{started}");
    for (_, what) in &events {
        assert!(
            !matches!(what, What::Started(late) if *late > Duration::from_millis(2)),
            "{what:?}"
        );
    }
}

#[test]
fn stages_follow_their_line_for_hours() {
    let hour = Duration::from_hours(1);
    let stages = Stages(vec![
        Stage::RampTo { threads: 40, over: hour },
        Stage::Hold(hour),
        Stage::RampTo { threads: 10, over: hour },
        Stage::RampTo { threads: 0, over: hour },
    ]);
    let events = simulate(Schedule::Stages(stages), 40, Loops::Forever, vec![pause(1_000)]);
    // In the middle of each stage: 20, 40, 25, 5 threads.
    for (hours, wanted) in [(0.5, 20.0), (1.5, 40.0), (2.5, 25.0), (3.5, 5.0)] {
        let found = average(&events, hours * 3_600.0 - 300.0, hours * 3_600.0 + 300.0);
        assert!((found - wanted).abs() <= 0.6, "{found} threads, not {wanted}, after {hours} h");
    }
    // Who is asked to leave finishes an iteration of a second, and no more.
    let last = events.last().unwrap().0;
    assert!((last - 4.0 * 3_600.0).abs() < 1.1, "{last}");
}

#[test]
fn a_thread_that_comes_again_ends_its_last_iteration_first() {
    let now = Duration::ZERO;
    let stages = Stages(vec![
        Stage::RampTo { threads: 1, over: now },
        Stage::Hold(Duration::from_secs(2)),
        Stage::RampTo { threads: 0, over: now },
        Stage::Hold(Duration::from_secs(1)),
        Stage::RampTo { threads: 1, over: now },
        Stage::Hold(Duration::from_secs(4)),
    ]);
    let events = simulate(Schedule::Stages(stages), 1, Loops::Forever, vec![pause(5_000)]);
    // It is asked to leave after 2 s, and to come again after 3; the end is after 7.
    let told = |(at, what): &(f64, What)| match what {
        What::Started(_) => format!("comes at {at:.0}"),
        _ => format!("leaves at {at:.0}"),
    };
    let told: Vec<String> = events.iter().map(told).collect();
    assert_eq!(told, ["comes at 0", "leaves at 5", "comes at 5", "leaves at 7"]);
    let on_time = |what: &What| !matches!(what, What::Started(late) if late.as_millis() > 10);
    assert!(events.iter().all(|(_, what)| on_time(what)), "{events:?}");
}

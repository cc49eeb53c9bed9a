//! Whether a worker keeps up: how late its timers are, and how long it waits for a core.

use std::time::{Duration, Instant};

use tokio::time::{Instant as RuntimeInstant, sleep_until};

use crate::clock;
use crate::exec::worker::Worker;
use crate::sample::{Note, Second};

/// From one look at the clock to the next.
const PULSE: Duration = Duration::from_millis(10);

/// A worker that is so late at a timer has done nothing for its threads meanwhile.
const STALL: Duration = Duration::from_millis(500);

/// Tells each second how the worker got on, without end.
pub(crate) async fn watch(worker: &Worker) {
    let (mut due, mut before) = (clock::now(), Usage::now());
    let mut began = due;
    let mut late = Vec::with_capacity(128);
    let mut stalled = None;
    loop {
        due += PULSE;
        sleep_until(RuntimeInstant::from_std(due)).await;
        let now = clock::now();
        late.push(now.saturating_duration_since(due));
        if now.saturating_duration_since(due) >= STALL {
            stalled = Some((stalled.map_or(due, |(from, _)| from), now));
        }
        // What was missed is one long delay, and not many.
        due = due.max(now.checked_sub(PULSE).unwrap_or(now));
        if now - began >= Duration::from_secs(1) {
            let after = Usage::now();
            let mut second = second(worker, began, now, &mut late, before.to(after));
            let number =
                |at: Instant| at.saturating_duration_since(worker.shared.started).as_secs();
            second.stalled = stalled.take().map(|(from, to)| (number(from), number(to)));
            worker.note(&Note::Second(second));
            late.clear();
            (began, before) = (now, after);
        }
    }
}

fn second(
    worker: &Worker,
    began: Instant,
    now: Instant,
    late: &mut [Duration],
    used: Option<Usage>,
) -> Second {
    late.sort_unstable();
    // The nearest rank: of a hundred looks the last but one.
    let rank = (late.len() * 99).div_ceil(100).max(1) - 1;
    let took = (now - began).as_nanos().max(1);
    let share = |nanoseconds: u64| {
        u32::try_from(u128::from(nanoseconds) * 1_000 / took).unwrap_or(u32::MAX)
    };
    Second {
        number: (began.saturating_duration_since(worker.shared.started)).as_secs(),
        late: late.get(rank).copied().unwrap_or_default(),
        stalled: None,
        cpu_permille: used.map(|used| share(used.cpu_ns)),
        waited_permille: used.map(|used| share(used.waited_ns)),
    }
}

/// What this OS thread has had of the cores so far.
#[derive(Debug, Clone, Copy)]
struct Usage {
    /// Running.
    cpu_ns: u64,
    /// Ready to run, and waiting for a core.
    waited_ns: u64,
}

impl Usage {
    /// `None` where the system does not tell (it is Linux's `schedstat`; reading it never waits).
    fn now() -> Option<Self> {
        let text = fs_err::read_to_string("/proc/thread-self/schedstat").ok()?;
        let mut fields = text.split_ascii_whitespace().map(str::parse);
        Some(Self { cpu_ns: fields.next()?.ok()?, waited_ns: fields.next()?.ok()? })
    }
}

trait Between {
    fn to(self, later: Self) -> Self;
}

impl Between for Option<Usage> {
    /// What was used between two readings.
    fn to(self, later: Self) -> Self {
        let (before, after) = (self?, later?);
        Some(Usage {
            cpu_ns: after.cpu_ns.saturating_sub(before.cpu_ns),
            waited_ns: after.waited_ns.saturating_sub(before.waited_ns),
        })
    }
}

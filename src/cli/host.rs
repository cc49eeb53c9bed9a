//! This machine and what this process has used of it.

use std::time::Duration;

use crate::report::json::{Generator, WorkerCpu};
use crate::stats::{Stats, Times};

/// Clock ticks a second in `/proc`: 100 on every Linux, whatever the kernel's own rate.
const TICKS: f64 = 100.0;

/// Cores that this process may use, at least 1.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The machine's name; empty where the system does not tell.
pub(crate) fn name() -> String {
    fs_err::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_owned()
}

/// What the process has used, over a run that took `wall`.
pub(crate) fn generator(wall: Duration, stats: &Stats) -> Generator {
    let p99_ms = |times: &Times| times.percentile(99.0).map(|time| time.as_secs_f64() * 1e3);
    let (spans, workers) = (stats.health.saturated(), stats.health.workers());
    Generator {
        lag_p99_ms: p99_ms(&stats.lag),
        timers_p99_ms: p99_ms(&stats.health.timers),
        saturated: spans.iter().map(|span| [span.from, span.to]).collect(),
        workers: workers.into_iter().map(|(cpu, waited)| WorkerCpu { cpu, waited }).collect(),
        peak_memory_bytes: peak_memory(),
        cpu: cpu_seconds().map(|cpu| cpu / wall.as_secs_f64().max(1e-9)),
    }
}

fn peak_memory() -> Option<u64> {
    let status = fs_err::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// User and system time of all threads.
fn cpu_seconds() -> Option<f64> {
    let stat = fs_err::read_to_string("/proc/self/stat").ok()?;
    // The command's name may hold blanks; the fields after it are counted from its parenthesis.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace().skip(11);
    let (user, system): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some((user + system) / TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_tells_what_was_used() {
        let used = generator(Duration::from_secs(1), &Stats::default());
        assert!(used.peak_memory_bytes.unwrap() > 100_000);
        assert!(used.cpu.unwrap() >= 0.0);
    }
}

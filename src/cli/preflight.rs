//! What a run needs of the machine, found out before the first connection: a run that fails half-way
//! because of a limit measures the limit.

use std::fmt;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::program::{ConnectionCount, Group, Phase, Program};
use crate::stats::thousands;

/// Descriptors beside those of connections and workers: standard streams, outputs, the runtime's own, and
/// sockets that linger for a moment after their connection.
const SPARE_DESCRIPTORS: u64 = 20;

/// Of each worker: its poll, its wake-up, its timers.
const DESCRIPTORS_OF_A_WORKER: u64 = 6;

/// Of serving metrics: the listener, its runtime, and those who fetch them.
const DESCRIPTORS_OF_METRICS: u64 = 16;

/// Of each connection, in our memory and in the kernel's, before messages wait in them.
const BYTES_OF_A_CONNECTION: u64 = 8 * 1024;

/// What TLS adds to a connection: its keys and certificates.
const BYTES_OF_TLS: u64 = 6 * 1024;

/// What a run needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Needs {
    /// Connections open at once.
    connections: u64,
    /// Open files of the process.
    descriptors: u64,
    /// Of the connections, in bytes.
    memory: u64,
    /// There may be more connections than the plan tells.
    or_more: bool,
}

/// Something that there is too little of.
#[derive(Debug, thiserror::Error)]
pub(crate) struct Shortage {
    what: &'static str,
    needed: u64,
    or_more: bool,
    limit: u64,
    help: String,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, needed, or_more, limit, .. } = self;
        let (needed, limit) = (at_least(*needed, *or_more), thousands(*limit));
        write!(f, "the run needs {needed} {what}, limit {limit}")
    }
}

impl Shortage {
    /// How to mend it.
    pub(crate) fn help(&self) -> &str {
        &self.help
    }
}

impl Needs {
    /// Those of the phase that needs most. `serves`: the embedded target is in the process, and has the
    /// other end of each connection.
    pub(crate) fn of(program: &Program, workers: usize, serves: bool) -> Self {
        let most = |need: fn(&ConnectionCount) -> u64| {
            let in_phase = |phase: &Phase| {
                let groups = program.groups.iter().filter(|group| group.phase == *phase);
                let in_group = |group: &Group| {
                    need(&group.connections).saturating_mul(u64::from(group.threads))
                };
                groups.map(in_group).fold(0, u64::saturating_add)
            };
            Phase::ALL.iter().map(in_phase).max().unwrap_or(0)
        };
        let connections = most(|count| count.known);
        let memory = most(|count| {
            let plain = count.known.saturating_mul(BYTES_OF_A_CONNECTION);
            plain.saturating_add(count.secure.saturating_mul(BYTES_OF_TLS))
        });
        let or_more = program.groups.iter().any(|group| group.connections.or_more);
        let ends = if serves { 2 } else { 1 };
        let others = DESCRIPTORS_OF_A_WORKER * workers as u64
            + program.groups.len() as u64
            + SPARE_DESCRIPTORS;
        let descriptors = connections.saturating_mul(ends).saturating_add(others);
        Self { connections, descriptors, memory, or_more }
    }

    /// The same for a run that also serves its metrics.
    pub(crate) fn with_metrics(self) -> Self {
        let descriptors = self.descriptors.saturating_add(DESCRIPTORS_OF_METRICS);
        Self { descriptors, ..self }
    }

    /// Raises the limit of open files as far as it must and may go, and tells what there is too little of.
    pub(crate) fn check(self) -> Vec<Shortage> {
        let mut shortages = Vec::new();
        shortages.extend(self.descriptors());
        shortages.extend(self.memory());
        shortages
    }

    fn descriptors(self) -> Option<Shortage> {
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        // `None` is no limit.
        let is_enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= self.descriptors);
        if is_enough(current) {
            return None;
        }
        let raised = Rlimit { current: Some(self.descriptors), maximum };
        if is_enough(maximum) && setrlimit(Resource::Nofile, raised).is_ok() {
            return None;
        }
        let needed = self.descriptors;
        Some(Shortage {
            what: "open files",
            needed,
            or_more: self.or_more,
            limit: maximum.or(current).unwrap_or(0),
            help: format!("`ulimit -n {needed}` raises the limit; `--force` runs anyway"),
        })
    }

    fn memory(self) -> Option<Shortage> {
        let text = fs_err::read_to_string("/proc/meminfo").ok()?;
        let limit = available_memory(&text)?;
        let needed = self.memory;
        (needed > limit).then(|| Shortage {
            what: "bytes of memory",
            needed,
            or_more: true,
            limit,
            help: "use fewer threads, or several machines; `--force` runs anyway".to_owned(),
        })
    }

    /// What to say of the local ports, if connections to one address would need more than there are.
    pub(crate) fn too_few_ports(self) -> Option<String> {
        let range = fs_err::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
        let ports = ports_in(&range)?;
        (self.connections > ports).then(|| {
            format!(
                "{} connections to one address need as many local ports, and there are {}; widen \
                 `net.ipv4.ip_local_port_range`, or connect to several addresses",
                at_least(self.connections, self.or_more),
                thousands(ports)
            )
        })
    }
}

/// `1,234`, or `at least 1,234`.
fn at_least(number: u64, or_more: bool) -> String {
    let number = thousands(number);
    if or_more { format!("at least {number}") } else { number }
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn available_memory(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The size of a range such as `32768 60999`.
fn ports_in(range: &str) -> Option<u64> {
    let mut ends = range.split_ascii_whitespace().map(str::parse);
    let (first, last): (u64, u64) = (ends.next()?.ok()?, ends.next()?.ok()?);
    last.checked_sub(first).map(|rest| rest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_tells_is_read() {
        let text = "MemTotal:       24609268 kB\nMemAvailable:   23000000 kB\n";
        assert_eq!(available_memory(text), Some(23_000_000 * 1024));
        assert_eq!(available_memory("MemTotal: 1 kB\n"), None);
        assert_eq!(ports_in("32768\t60999\n"), Some(28_232));
        assert_eq!(ports_in("many"), None);
    }
}

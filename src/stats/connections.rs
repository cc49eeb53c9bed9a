//! What is known of connections.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::sample::{Beats, Code, Phases};
use crate::stats::Times;

/// How many of something there are now, and how many there were at most; shared by all workers, so
/// that the peak is exact.
#[derive(Debug, Default)]
pub struct Gauge {
    now: AtomicI64,
    peak: AtomicI64,
}

impl Gauge {
    /// One more.
    pub fn up(&self) {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.peak.fetch_max(now, Ordering::Relaxed);
    }

    /// One less.
    pub fn down(&self) {
        self.now.fetch_sub(1, Ordering::Relaxed);
    }

    /// How many now.
    pub fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed).try_into().unwrap_or(0)
    }

    /// How many at most.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed).try_into().unwrap_or(0)
    }
}

/// All figures of the connections.
#[derive(Debug, Clone, Default)]
pub struct ConnectionStats {
    /// Accepted upgrades.
    pub opened: u64,
    /// Attempts that failed.
    pub refused: u64,
    /// Close frames received, by code; 1005 for none.
    pub close_codes: BTreeMap<u16, u64>,
    /// Losses that no sampler met, by cause.
    pub lost_while_idle: BTreeMap<Code, u64>,
    /// Messages that full inboxes dropped.
    pub inbox_dropped: u64,
    /// All bytes that were read, those of upgrades too, before TLS. Of connections that have ended.
    pub received_bytes: u64,
    /// All bytes that were sent; as with `received_bytes`.
    pub sent_bytes: u64,
    /// Frames that the kernel did not take at once. Of connections that have ended.
    pub write_stalls: u64,
    /// Messages that waited unread at once on one of them, at most. Of connections that have ended.
    pub inbox_peak: u64,
    /// What heartbeats did. Of connections that have ended.
    pub beats: Beats,
    /// Name lookups.
    pub dns: Times,
    /// TCP connects.
    pub tcp: Times,
    /// TLS handshakes, full and resumed.
    pub tls: Times,
    /// TLS handshakes that resumed an earlier session.
    pub tls_resumed: u64,
    /// Upgrades, from request to answer.
    pub upgrade: Times,
}

impl ConnectionStats {
    /// Adds an accepted upgrade.
    pub fn open(&mut self, phases: &Phases) {
        self.opened += 1;
        self.dns.record(phases.dns);
        self.tcp.record(phases.tcp);
        if let Some(tls) = phases.tls {
            self.tls.record(tls.time);
            self.tls_resumed += u64::from(tls.resumed);
        }
        self.upgrade.record(phases.upgrade);
    }

    /// Adds what passed over a connection, or in a failed attempt to open one.
    pub fn add_traffic(&mut self, received_bytes: u64, sent_bytes: u64) {
        self.received_bytes += received_bytes;
        self.sent_bytes += sent_bytes;
    }

    /// Adds what a heartbeat did.
    pub fn add_beats(&mut self, beats: &Beats) {
        self.beats.pings += beats.pings;
        self.beats.sent += beats.sent;
        self.beats.answered += beats.answered;
    }

    /// Adds all that another has seen.
    pub fn merge(&mut self, other: &Self) {
        self.opened += other.opened;
        self.refused += other.refused;
        self.inbox_dropped += other.inbox_dropped;
        self.write_stalls += other.write_stalls;
        self.inbox_peak = self.inbox_peak.max(other.inbox_peak);
        self.add_traffic(other.received_bytes, other.sent_bytes);
        self.add_beats(&other.beats);
        for (code, count) in &other.close_codes {
            *self.close_codes.entry(*code).or_default() += count;
        }
        for (cause, count) in &other.lost_while_idle {
            *self.lost_while_idle.entry(*cause).or_default() += count;
        }
        self.dns.merge(&other.dns);
        self.tcp.merge(&other.tcp);
        self.tls.merge(&other.tls);
        self.tls_resumed += other.tls_resumed;
        self.upgrade.merge(&other.upgrade);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gauge_remembers_its_peak() {
        let gauge = Gauge::default();
        gauge.up();
        gauge.up();
        gauge.down();
        gauge.up();
        gauge.down();
        assert_eq!((gauge.now(), gauge.peak()), (1, 2));
    }
}

//! What the server counts, to be compared with what a client says it did.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

/// The server's counters at one moment, all since its start. `/count` answers with them as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counters {
    /// Upgrades accepted.
    pub connections: u64,
    /// WebSocket connections open now; one that has begun to close is not.
    pub open: u64,
    /// Upgrades and other requests refused with a status of 400 or above, or by `/reject`.
    pub rejected: u64,
    /// Connections that ended before their request head was complete, some of it having come.
    pub incomplete: u64,
    /// Data messages received.
    pub messages_received: u64,
    /// Data messages sent: handed to the kernel, or about to be.
    pub messages_sent: u64,
    /// Bytes received after the upgrade: frames with their headers.
    pub bytes_received: u64,
    /// Bytes sent after the upgrade: frames with their headers.
    pub bytes_sent: u64,
    /// Close frames received.
    pub closes_received: u64,
    /// Connections failed because the client broke RFC 6455.
    pub violations: u64,
    /// Due messages of `/push` and `/cap` left out because the peer had not taken earlier ones.
    pub pushes_skipped: u64,
}

/// A counter with one writer, the server's thread, and any number of readers.
#[derive(Debug, Default)]
pub(super) struct Tally(AtomicU64);

impl Tally {
    // With a single writer, a load and a store do what `fetch_add` does, without locking the bus.
    pub(super) fn add(&self, count: u64) {
        self.0.store(self.0.load(Ordering::Relaxed) + count, Ordering::Release);
    }

    pub(super) fn take_back(&self, count: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).saturating_sub(count), Ordering::Release);
    }

    pub(super) fn value(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// The counters as they are kept. Written by the server's thread only.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    pub(super) connections: Tally,
    pub(super) open: Tally,
    /// Those of `open` that came by `/cap`.
    pub(super) open_capped: Tally,
    pub(super) rejected: Tally,
    pub(super) incomplete: Tally,
    pub(super) messages_received: Tally,
    pub(super) messages_sent: Tally,
    pub(super) bytes_received: Tally,
    pub(super) bytes_sent: Tally,
    pub(super) closes_received: Tally,
    pub(super) violations: Tally,
    pub(super) pushes_skipped: Tally,
}

impl Tallies {
    pub(super) fn snapshot(&self) -> Counters {
        Counters {
            connections: self.connections.value(),
            open: self.open.value(),
            rejected: self.rejected.value(),
            incomplete: self.incomplete.value(),
            messages_received: self.messages_received.value(),
            messages_sent: self.messages_sent.value(),
            bytes_received: self.bytes_received.value(),
            bytes_sent: self.bytes_sent.value(),
            closes_received: self.closes_received.value(),
            violations: self.violations.value(),
            pushes_skipped: self.pushes_skipped.value(),
        }
    }
}

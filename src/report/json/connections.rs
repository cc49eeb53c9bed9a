//! What `summary.json` says of connections.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::report::json::{Figures, counts, figures};
use crate::stats::ConnectionStats;

#[derive(Serialize)]
pub(super) struct Connections {
    opened: u64,
    refused: u64,
    peak: u64,
    close_codes: Map<String, Value>,
    lost_while_idle: Map<String, Value>,
    inbox_dropped: u64,
    /// Messages that waited unread at once on one connection, at most.
    inbox_peak: u64,
    /// Frames that the kernel did not take at once.
    write_stalls: u64,
    /// With upgrades, control frames, heartbeats and late replies.
    received_bytes: u64,
    sent_bytes: u64,
    heartbeat: Heartbeat,
    handshake: Handshake,
}

/// What connections did by themselves.
#[derive(Serialize)]
struct Heartbeat {
    pings: u64,
    sent: u64,
    answered: u64,
}

#[derive(Serialize)]
struct Handshake {
    dns: Figures,
    tcp: Figures,
    /// Full and resumed ones.
    tls: Figures,
    tls_count: u64,
    tls_resumed: u64,
    upgrade: Figures,
}

impl Connections {
    /// `peak`: how many were open at once, at most.
    pub(super) fn of(connections: &ConnectionStats, peak: u64) -> Self {
        Self {
            opened: connections.opened,
            refused: connections.refused,
            peak,
            close_codes: counts(&connections.close_codes),
            lost_while_idle: counts(&connections.lost_while_idle),
            inbox_dropped: connections.inbox_dropped,
            inbox_peak: connections.inbox_peak,
            write_stalls: connections.write_stalls,
            received_bytes: connections.received_bytes,
            sent_bytes: connections.sent_bytes,
            heartbeat: Heartbeat {
                pings: connections.beats.pings,
                sent: connections.beats.sent,
                answered: connections.beats.answered,
            },
            handshake: Handshake {
                dns: figures(&connections.dns),
                tcp: figures(&connections.tcp),
                tls: figures(&connections.tls),
                tls_count: connections.tls.count(),
                tls_resumed: connections.tls_resumed,
                upgrade: figures(&connections.upgrade),
            },
        }
    }
}

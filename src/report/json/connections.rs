//! What `summary.json` says of connections.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::report::json::{Figures, counts, figures};
use crate::stats::ConnectionStats;

/// The figures of all connections.
#[derive(Serialize, JsonSchema)]
pub(super) struct Connections {
    /// Upgrades that were accepted.
    opened: u64,
    /// Attempts to open one that failed.
    refused: u64,
    /// Connections that were open at once, at most.
    peak: u64,
    /// Close frames received, by code; 1005 for none.
    #[schemars(with = "BTreeMap<String, u64>")]
    close_codes: Map<String, Value>,
    /// Losses that no sampler met, by cause.
    #[schemars(with = "BTreeMap<String, u64>")]
    lost_while_idle: Map<String, Value>,
    /// Messages that full inboxes dropped.
    inbox_dropped: u64,
    /// Messages that waited unread at once on one connection, at most.
    inbox_peak: u64,
    /// Frames that the kernel did not take at once.
    write_stalls: u64,
    /// With upgrades, control frames, heartbeats and late replies, before TLS.
    received_bytes: u64,
    /// As `received_bytes`.
    sent_bytes: u64,
    /// What heartbeats did.
    heartbeat: Heartbeat,
    /// Phases of opening.
    handshake: Handshake,
}

/// What connections did by themselves.
#[derive(Serialize, JsonSchema)]
struct Heartbeat {
    /// Pings sent.
    pings: u64,
    /// Messages sent.
    sent: u64,
    /// Messages answered.
    answered: u64,
}

/// Phases of opening connections.
#[derive(Serialize, JsonSchema)]
struct Handshake {
    /// Name lookups.
    dns: Figures,
    /// TCP connects.
    tcp: Figures,
    /// TLS handshakes, full and resumed ones.
    tls: Figures,
    /// How many TLS handshakes there were.
    tls_count: u64,
    /// How many of them resumed an earlier session.
    tls_resumed: u64,
    /// From the upgrade's request to its answer.
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

//! What a page says of connections: figures, the phases of their handshakes, how they ended.

use serde::Serialize;

use crate::report::html::figures::{HEADS, distributions};
use crate::report::html::text::shown;
use crate::report::html::view::Fact;
use crate::report::units::size;
use crate::stats::{ConnectionStats, Times, thousands};

#[derive(Debug, Serialize)]
pub(super) struct Connections {
    facts: Vec<Fact>,
    heads: [&'static str; 8],
    phases: Vec<Phase>,
    close_codes: Vec<CloseCode>,
    lost: Vec<Fact>,
}

#[derive(Debug, Serialize)]
struct Phase {
    name: &'static str,
    meaning: &'static str,
    cells: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CloseCode {
    code: u16,
    meaning: &'static str,
    count: String,
}

impl Connections {
    /// `None` of a run without connections. `peak`: how many were open at once, at most.
    pub(super) fn of(connections: &ConnectionStats, peak: Option<u64>) -> Option<Self> {
        (connections.opened + connections.refused > 0).then(|| Self {
            facts: facts(connections, peak),
            heads: HEADS,
            phases: phases(connections),
            close_codes: close_codes(connections),
            lost: lost(connections),
        })
    }
}

fn facts(connections: &ConnectionStats, peak: Option<u64>) -> Vec<Fact> {
    let beats = connections.beats;
    let counts = [
        ("attempts that failed", connections.refused),
        ("TLS sessions resumed", connections.tls_resumed),
        ("writes that the kernel did not take at once", connections.write_stalls),
        ("messages that full inboxes dropped", connections.inbox_dropped),
        ("heartbeat pings", beats.pings),
        ("heartbeat messages", beats.sent),
        ("heartbeats answered", beats.answered),
    ];
    let mut facts = vec![Fact::new("opened", thousands(connections.opened))];
    facts.extend(peak.map(|peak| Fact::new("open at once, at most", thousands(peak))));
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    facts.extend(counts.map(|(name, count)| Fact::new(name, thousands(count))));
    facts.push(Fact::new("received", size(connections.received_bytes)));
    facts.push(Fact::new("sent", size(connections.sent_bytes)));
    facts
}

fn phases(connections: &ConnectionStats) -> Vec<Phase> {
    let phases = [
        ("lookup", "name to address", &connections.dns),
        ("connect", "TCP handshake", &connections.tcp),
        ("TLS", "full and resumed handshakes", &connections.tls),
        ("upgrade", "from request to answer", &connections.upgrade),
    ];
    let phases: Vec<_> = phases.into_iter().filter(|(_, _, times)| times.count() > 0).collect();
    let times: Vec<&Times> = phases.iter().map(|(_, _, times)| *times).collect();
    let rows = phases.iter().zip(distributions(&times));
    rows.map(|((name, meaning, _), cells)| Phase { name, meaning, cells }).collect()
}

fn close_codes(connections: &ConnectionStats) -> Vec<CloseCode> {
    let codes = connections.close_codes.iter();
    codes
        .map(|(code, count)| CloseCode {
            code: *code,
            meaning: meaning(*code),
            count: thousands(*count),
        })
        .collect()
}

/// What RFC 6455 7.4 and its registry call a close code.
fn meaning(code: u16) -> &'static str {
    match code {
        1000 => "normal closure",
        1001 => "going away",
        1002 => "protocol error",
        1003 => "unsupported data",
        1005 => "no status received",
        1007 => "invalid payload",
        1008 => "policy violation",
        1009 => "message too big",
        1010 => "extension missing",
        1011 => "internal error",
        1012 => "service restart",
        1013 => "try again later",
        1014 => "bad gateway",
        3000..=3999 => "registered for a library",
        4000..=4999 => "of the application",
        _ => "",
    }
}

fn lost(connections: &ConnectionStats) -> Vec<Fact> {
    let lost = connections.lost_while_idle.iter();
    lost.map(|(cause, count)| Fact::new(&shown(&cause.to_string()), thousands(*count))).collect()
}

//! What happened without being a row: counted and shown in the summary.

use std::time::Duration;

use crate::sample::Code;

/// How long each part of connecting took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Phases {
    /// Name lookup.
    pub dns: Duration,
    /// TCP connect, to the address that answered.
    pub tcp: Duration,
    /// The TLS handshake, if there was one.
    pub tls: Option<TlsHandshake>,
    /// From the first byte of the upgrade request to the end of its answer.
    pub upgrade: Duration,
}

/// A TLS handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlsHandshake {
    /// How long it took.
    pub time: Duration,
    /// Whether it resumed an earlier session of the thread.
    pub resumed: bool,
}

/// What the heartbeat of a connection did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Beats {
    /// Pings that were sent.
    pub pings: u64,
    /// Messages that were sent at regular times.
    pub sent: u64,
    /// Messages of the peer that were answered, or would have been if the peer read anything.
    pub answered: u64,
}

/// How a worker of the generator got on in one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Second {
    /// Which of the run, from 0.
    pub number: u64,
    /// How late its timers were, at p99.
    pub late: Duration,
    /// From when to when it did not get to its timers at all, at the longest: seconds of the run, the last
    /// included. `None` where that was not for long.
    pub stalled: Option<(u64, u64)>,
    /// How much of the time it ran, in thousandths; `None` where the system does not tell.
    pub cpu_permille: Option<u32>,
    /// How much of the time it waited for a core.
    pub waited_permille: Option<u32>,
}

/// Why a thread ended before its loops or its time were used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EndCause {
    /// `on_error: stop_thread`, or the step.
    StopThread,
    /// The step `stop_test` or `stop_test_now`, which ended the run too.
    StopTest,
    /// Three iterations in a row in which every sampler was skipped with this cause.
    AllSkipped(Code),
    /// 10,000 passes that reached no sampler and waited for nothing.
    EmptyLoop,
    /// A data set that does not begin again has no more lines.
    DataUsedUp,
}

/// What happened without being a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note<'a> {
    /// What an HTTP server answered where that made a sample fail, which has a row of its own.
    Answer {
        /// Of the row.
        label: &'a str,
        /// The row's.
        code: Code,
        /// As the row's sample has it.
        cause: &'a str,
        /// The head and the beginning of the body, without secrets.
        answer: &'a str,
    },
    /// How a worker got on in a second that is over.
    Second(Second),
    /// An arrival found as many threads as there may be, and did nothing.
    Missed,
    /// A sampler could not run because an earlier one had failed.
    Skipped {
        /// The sampler's label.
        label: &'a str,
        /// The code of the failure that caused it.
        cause: Code,
    },
    /// A waiting reader was cut off by the end of the run.
    Cut {
        /// The sampler's label.
        label: &'a str,
    },
    /// A transaction was cut off by the end of its group's time, or of a `run_for`.
    CutTransaction {
        /// The transaction's label.
        label: &'a str,
    },
    /// Messages that arrived before the request was written, and so are not its reply.
    Early {
        /// The request's label.
        label: &'a str,
        /// How many.
        count: u32,
    },
    /// Messages that a filter discarded before the sampler saw them.
    Filtered {
        /// The sampler's label.
        label: &'a str,
        /// The filter as written.
        filter: &'a str,
        /// How many.
        count: u64,
    },
    /// A reply that came after its request had failed, and was told apart.
    Late {
        /// The request's label.
        label: &'a str,
        /// From the request's first byte to the reply's last.
        round_trip: Duration,
    },
    /// Messages that fitted no matcher and that no step could read.
    Unmatched {
        /// The label of the sampler that passed them over.
        label: &'a str,
        /// How many.
        count: u64,
    },
    /// Messages that a `read` took.
    Read {
        /// Its label.
        label: &'a str,
        /// How many.
        messages: u64,
    },
    /// The time between two messages of one `read`.
    Gap {
        /// Its label.
        label: &'a str,
        /// From arrival to arrival.
        gap: Duration,
    },
    /// A message that was sent before it could have been: the clocks of server and client differ.
    ClockSkew {
        /// The label of the sampler that read it.
        label: &'a str,
    },
    /// A request whose reply never came.
    Unanswered {
        /// The request's label.
        label: &'a str,
    },
    /// Messages that a full inbox dropped (`when_full: drop_oldest`).
    InboxDropped {
        /// How many.
        count: u64,
    },
    /// The connection was lost and no sampler met the loss.
    LostWhileIdle {
        /// The peer's close code, or how it was lost.
        cause: Code,
    },
    /// An upgrade was accepted.
    Opened {
        /// How long its parts took.
        phases: Phases,
    },
    /// An attempt to open a connection failed.
    OpenFailed {
        /// Bytes that were read, before TLS.
        received_bytes: u64,
        /// Bytes that were sent.
        sent_bytes: u64,
    },
    /// A connection is gone; follows every `Opened` once.
    ConnectionEnded {
        /// All bytes that were read from it, the upgrade's too, before TLS.
        received_bytes: u64,
        /// All bytes that were sent over it.
        sent_bytes: u64,
        /// Frames that the kernel did not take at once.
        write_stalls: u64,
        /// Messages that waited unread at once, at most.
        inbox_peak: u64,
        /// What its heartbeat did.
        beats: Beats,
    },
    /// The peer sent a close frame.
    CloseReceived {
        /// Its code; 1005 for none.
        code: u16,
    },
    /// A thread waited in vain for others at a `rendezvous`, and went on without them.
    RendezvousMissed,
    /// A `log` step.
    Log {
        /// The thread's name.
        thread: &'a str,
        /// What to show, without secrets.
        text: &'a str,
    },
    /// A virtual thread started.
    ThreadStarted {
        /// How long after it was to start.
        late: Duration,
    },
    /// The first sample of a main thread group.
    GroupBegan {
        /// The group's name.
        group: &'a str,
    },
    /// A virtual thread finished.
    ThreadFinished,
    /// A virtual thread ended early; comes before its `ThreadFinished`.
    ThreadEndedEarly {
        /// The thread's name.
        thread: &'a str,
        /// Why.
        cause: EndCause,
    },
}

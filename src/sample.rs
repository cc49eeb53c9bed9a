//! What the engine tells reporting, and nothing else passes between them: a [`Sample`] for each
//! sampler execution, a [`Note`] for what has no row of its own.

mod code;
mod note;
mod run_end;
mod text;
mod trace;

use std::borrow::Cow;
use std::time::{Duration, Instant};

pub use code::Code;
pub use note::{Beats, EndCause, Note, Phases, Second};
pub use run_end::RunEnd;
pub(crate) use text::may_be_control;
pub use text::{TEXT_CHARS, one_line};
pub use trace::{Payload, Trace};

/// What kind of payload a sampler received; the JTL's `dataType`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DataType {
    /// Nothing was received.
    #[default]
    None,
    /// A text message, or the reason of a close frame.
    Text,
    /// A binary message.
    Binary,
}

/// What one sampler execution did: one row of the JTL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample<'a> {
    /// The sampler's name, expanded.
    pub label: &'a str,
    /// When it began: see "Times" in the module documentation of `exec`.
    pub start: Instant,
    /// End minus start minus `idle`.
    pub elapsed: Duration,
    /// Time until connected, or until connecting failed; zero on a reused connection.
    pub connect: Duration,
    /// Time to the first byte of the awaited message; zero where nothing was awaited or came.
    pub latency: Duration,
    /// Time inside the sample that is not the server's.
    pub idle: Duration,
    /// The JTL's `responseCode`.
    pub code: Code,
    /// The JTL's `responseMessage`: one line of a small fixed set, or a failed assertion's text
    /// where JMeter's dashboard would hide it otherwise.
    pub message: &'a str,
    /// The JTL's `failureMessage`: empty for a success, one line.
    pub failure_message: &'a str,
    /// `failure_message` before variables were expanded: what groups equal causes.
    pub cause: &'a str,
    /// Whether the sampler and all its assertions passed.
    pub success: bool,
    /// What was received.
    pub data_type: DataType,
    /// Bytes of the frames (or the upgrade response) that this sample consumed.
    pub bytes: u64,
    /// Bytes of the frames (or the upgrade request) that this sample sent.
    pub sent_bytes: u64,
    /// `<group> <group number>-<thread number>`.
    pub thread: &'a str,
    /// Threads active in the group when the sample ended.
    pub group_threads: u32,
    /// Threads active in all groups when the sample ended.
    pub all_threads: u32,
    /// The connection's URL without secrets; empty where there is none.
    pub url: &'a str,
    /// The values of the plan's `sample_variables` at the end of the sample, in their order; `None`
    /// for one that has no value.
    pub variables: &'a [Option<Cow<'a, str>>],
    /// Whether this was the first exchange on its connection.
    pub first_exchange: bool,
    /// How it kept to its schedule; `None` where it was to begin just when the one before was done.
    pub delay: Option<Delay>,
    /// Whether this sums up the samples of a `transaction`: a row, and no sampler execution.
    pub transaction: bool,
}

/// How much later than its schedule intended a sample began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delay {
    /// Zero where nothing delayed it.
    pub by: Duration,
    /// From one to the next, where those that the delay left out are never made up for; `None` where
    /// none is left out.
    pub interval: Option<Duration>,
}

/// Where a run's samples go: hands out one [`WorkerSink`] for each worker.
pub trait Sink: Send + Sync {
    /// A sink that one worker owns; called once for each worker, on any thread.
    fn worker(&self) -> Box<dyn WorkerSink>;
}

/// A worker's own end of the [`Sink`]: never blocks, never waits for a disk.
pub trait WorkerSink: Send {
    /// Takes one row.
    fn sample(&mut self, sample: &Sample<'_>);
    /// Takes what has no row.
    fn note(&mut self, note: &Note<'_>);
    /// Whether it wants to see everything that happens: see [`Trace`].
    fn wants_traces(&self) -> bool {
        false
    }
    /// Takes an event of a trial run and when it happened, in order.
    fn trace(&mut self, _: Instant, _: &Trace) {}
    /// Hands on what was collected; called about twice a second and once at the end.
    fn flush(&mut self);
}

#[cfg(test)]
impl Sample<'static> {
    /// A row that passed and has nothing special, for unit tests.
    pub(crate) fn plain() -> Self {
        Self {
            label: "say",
            start: crate::clock::now(),
            elapsed: Duration::from_micros(2_500),
            connect: Duration::ZERO,
            latency: Duration::from_micros(2_499),
            idle: Duration::ZERO,
            code: Code::OK,
            message: "OK",
            failure_message: "",
            cause: "",
            success: true,
            data_type: DataType::Text,
            bytes: 7,
            sent_bytes: 11,
            thread: "Chatters 1-1",
            group_threads: 1,
            all_threads: 2,
            url: "ws://127.0.0.1:9000/echo",
            variables: &[],
            first_exchange: false,
            delay: None,
            transaction: false,
        }
    }
}

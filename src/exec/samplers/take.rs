//! The observer of samplers that wait for a message, and the check of its type.

use std::time::Instant;

use crate::exec::filter::Filters;
use crate::exec::outcome::{Failure, Outcome};
use crate::exec::samplers::job::Job;
use crate::program::Expect;
use crate::sample::{Code, DataType};
use crate::ws::{Frame, Message, MessageKind, Observer};

/// Takes the first message that qualifies and leaves all others to the inbox.
#[derive(Debug)]
pub(crate) struct Take<'p> {
    /// A message that began before this is not an answer to what was sent then.
    since: Option<Instant>,
    pub(crate) filters: Filters<'p>,
    pub(crate) taken: Option<Message>,
}

impl<'p> Take<'p> {
    /// Takes any message that the filters let pass.
    pub(crate) fn any(filters: Filters<'p>) -> Self {
        Self { since: None, filters, taken: None }
    }

    /// Takes a message whose first byte came after a request's first byte went.
    pub(crate) fn since(moment: Instant, filters: Filters<'p>) -> Self {
        Self { since: Some(moment), filters, taken: None }
    }

    /// The message, if one was taken. What was discarded on the way belongs to the sample's bytes.
    pub(crate) fn finish(self, job: &Job<'_>, outcome: &mut Outcome) -> Option<Message> {
        outcome.bytes += self.filters.bytes;
        self.filters.report(&job.connections.worker, job.label);
        self.taken
    }
}

impl Observer for Take<'_> {
    fn is_waiting(&self) -> bool {
        self.taken.is_none()
    }

    fn message(&mut self, message: Message) -> Option<Message> {
        let qualifies = self.since.is_none_or(|since| message.first_byte >= since);
        if self.taken.is_some() {
            return Some(message);
        }
        if self.filters.discard(&message) {
            return None;
        }
        if !qualifies {
            return Some(message);
        }
        self.taken = Some(message);
        None
    }

    fn control(&mut self, _: &Frame, _: Instant) {}
}

/// The observer of samplers at work that wait for no message: all go to the inbox, and a full one
/// does not hold the reading back.
#[derive(Debug)]
pub(crate) struct ReadOn;

impl Observer for ReadOn {
    fn is_waiting(&self) -> bool {
        true
    }

    fn message(&mut self, message: Message) -> Option<Message> {
        Some(message)
    }

    fn control(&mut self, _: &Frame, _: Instant) {}
}

/// An awaited control frame that came.
#[derive(Debug)]
pub(crate) struct Came {
    first_byte: Instant,
    arrived: Instant,
    wire_length: u64,
}

impl Came {
    pub(crate) fn of(frame: &Frame, arrived: Instant) -> Self {
        Self { first_byte: frame.first_byte, arrived, wire_length: frame.wire_length }
    }

    /// Puts its times and bytes into the outcome.
    pub(crate) fn fill(&self, outcome: &mut Outcome) {
        outcome.end = self.arrived;
        outcome.first_byte = Some(self.first_byte);
        outcome.bytes += self.wire_length;
    }
}

/// Puts a received message into the outcome and checks its type. `sent` is what was sent before.
pub(crate) fn receive(
    mut outcome: Outcome,
    message: Message,
    expect: Expect,
    sent: Option<MessageKind>,
) -> Outcome {
    outcome.end = message.arrived.max(outcome.start);
    outcome.first_byte = Some(message.first_byte);
    outcome.bytes += message.wire_length;
    outcome.data_type = match message.kind {
        MessageKind::Text => DataType::Text,
        MessageKind::Binary => DataType::Binary,
    };
    let wanted = match expect {
        Expect::Same => sent,
        Expect::Text => Some(MessageKind::Text),
        Expect::Binary => Some(MessageKind::Binary),
        Expect::Any => None,
    };
    let mismatch = wanted.filter(|wanted| *wanted != message.kind);
    let kind = message.kind;
    outcome.message = Some(message);
    let Some(wanted) = mismatch else { return outcome };
    let name = |kind| match kind {
        MessageKind::Text => "text",
        MessageKind::Binary => "binary",
    };
    let text = format!(
        "the message is {}, and `expect: {}` wants {}",
        name(kind),
        if expect == Expect::Same { "same" } else { name(wanted) },
        name(wanted)
    );
    let end = outcome.end;
    outcome.failed(Failure::plain(Code::UnexpectedType, &text), end)
}

//! The observer of samplers that wait for a message, and the check of its type.

use std::rc::Rc;
use std::time::Instant;

use crate::clock;
use crate::exec::filter::Filters;
use crate::exec::judge::shown;
use crate::exec::matcher::Matcher;
use crate::exec::outcome::{Failure, Outcome};
use crate::exec::samplers::job::Job;
use crate::exec::trace::Tracer;
use crate::program::{Expect, Unmatched};
use crate::sample::{Code, DataType, Note};
use crate::ws::{Connection, Fate, Frame, Loss, Message, MessageKind, Observer, Reaction};

/// So many characters of the last message that was passed over are shown.
const SHOWN: usize = 100;

/// Takes the first message that qualifies and passes over the others.
#[derive(Debug)]
pub(crate) struct Take<'p> {
    /// A message that began before this is not an answer to what was sent then.
    pub(crate) since: Option<Instant>,
    pub(crate) filters: Filters<'p>,
    pub(crate) matcher: Option<Rc<Matcher<'p>>>,
    unmatched: Unmatched,
    /// Whether only the peer's close will do, and all messages are passed over.
    pub(crate) for_close: bool,
    passed: Option<Box<PassedOver>>,
    /// Who is told what becomes of messages, in a trial run.
    tracer: Option<Rc<Tracer>>,
    pub(crate) taken: Option<Message>,
}

/// Messages that the matcher did not fit.
#[derive(Debug, Default)]
struct PassedOver {
    count: u64,
    dropped: u64,
    last: String,
}

impl<'p> Take<'p> {
    /// Takes a message that the filters let pass and that the matcher fits; with a moment, that of a
    /// request's first byte, only one whose first byte came after it.
    pub(crate) fn new(
        since: Option<Instant>,
        filters: Filters<'p>,
        matcher: Option<Rc<Matcher<'p>>>,
        unmatched: Unmatched,
        tracer: Option<Rc<Tracer>>,
    ) -> Self {
        let (passed, taken) = (None, None);
        Self { since, filters, matcher, unmatched, for_close: false, passed, tracer, taken }
    }

    /// What becomes of a message that has not been looked at before.
    pub(crate) fn fate(&mut self, message: &Message) -> Fate {
        if let Some(filter) = self.filters.discard(message) {
            self.tell(message, || format!("dropped by the filter `{}`", filter.source));
            return Fate::Drop;
        }
        if self.since.is_some_and(|since| message.began < since) {
            self.tell(message, || "too early to be the reply".to_owned());
            return Fate::Keep;
        }
        let fits = self.matcher.as_ref().is_none_or(|matcher| matcher.fits(message));
        if fits && !self.for_close {
            return Fate::Take;
        }
        let passed = self.passed.get_or_insert_default();
        passed.count += 1;
        passed.last.clear();
        shown(message, SHOWN, &mut passed.last);
        match self.unmatched {
            Unmatched::Keep => {
                self.tell(message, || "passed over, and kept for other readers".to_owned());
                Fate::Keep
            }
            Unmatched::Drop => {
                passed.dropped += 1;
                self.tell(message, || "passed over, and dropped: nobody else reads it".to_owned());
                Fate::Drop
            }
        }
    }

    fn tell(&self, message: &Message, what: impl FnOnce() -> String) {
        if let Some(tracer) = &self.tracer {
            tracer.fate(&what(), message);
        }
    }

    /// What was passed over, for the text of a failed wait; empty for nothing.
    pub(crate) fn passed_over(&self) -> String {
        match self.passed.as_deref() {
            None => String::new(),
            Some(PassedOver { count: 1, last, .. }) => {
                format!("; one message was passed over: {last}")
            }
            Some(PassedOver { count, last, .. }) => {
                format!("; {count} messages were passed over, the last: {last}")
            }
        }
    }

    /// The message, if one was taken. What was discarded on the way belongs to the sample's bytes.
    pub(crate) fn finish(
        &mut self,
        job: &mut Job<'_, '_>,
        outcome: &mut Outcome,
    ) -> Option<Message> {
        outcome.bytes += self.filters.bytes;
        self.filters.report(&job.connections.worker, job.label);
        let dropped = self.passed.as_ref().map_or(0, |passed| passed.dropped);
        if dropped > 0 {
            job.note(&Note::Unmatched { label: job.label, count: dropped });
        }
        job.slot().waits_no_more();
        self.taken.take()
    }
}

impl Observer for Take<'_> {
    fn is_waiting(&self) -> bool {
        self.taken.is_none()
    }

    fn message(&mut self, message: Message) -> Option<Message> {
        if self.taken.is_some() {
            return Some(message);
        }
        match self.fate(&message) {
            Fate::Keep => Some(message),
            Fate::Drop => None,
            Fate::Take => {
                self.taken = Some(message);
                None
            }
        }
    }

    fn control(&mut self, _: &Frame, _: Instant) -> bool {
        false
    }

    fn take_reaction(&mut self) -> Option<Reaction> {
        self.filters.take_pong()
    }
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

    fn control(&mut self, _: &Frame, _: Instant) -> bool {
        false
    }
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

    /// Puts its times and bytes into the outcome. It may have come before the sampler began.
    pub(crate) fn fill(&self, outcome: &mut Outcome) {
        outcome.end = self.arrived.max(outcome.start);
        outcome.first_byte = Some(self.first_byte);
        outcome.bytes += self.wire_length;
    }
}

/// Puts a received message into the outcome and checks its type. `sent` is what was sent before.
pub(crate) fn receive(
    outcome: &mut Outcome,
    message: Message,
    expect: Expect,
    sent: Option<MessageKind>,
) {
    outcome.end = message.arrived.max(outcome.start);
    outcome.first_byte = Some(message.first_byte);
    outcome.bytes += message.wire_length;
    outcome.data_type = match message.kind {
        MessageKind::Text => DataType::Text,
        MessageKind::Binary | MessageKind::Ping | MessageKind::Pong => DataType::Binary,
    };
    let kind = message.kind;
    let wanted = match expect {
        Expect::Same => sent,
        Expect::Text => Some(MessageKind::Text),
        Expect::Binary => Some(MessageKind::Binary),
        Expect::Ping => Some(MessageKind::Ping),
        Expect::Pong => Some(MessageKind::Pong),
        Expect::Any | Expect::Close => None,
    };
    let fits = wanted.map_or_else(|| kind.is_data(), |wanted| wanted == kind);
    outcome.message = Some(message);
    if fits {
        return;
    }
    let name = |kind| match kind {
        MessageKind::Text => "text",
        MessageKind::Binary => "binary",
        MessageKind::Ping => "a ping",
        MessageKind::Pong => "a pong",
    };
    let word = match expect {
        Expect::Same => "same",
        Expect::Text => "text",
        Expect::Binary => "binary",
        Expect::Ping => "ping",
        Expect::Pong => "pong",
        Expect::Any | Expect::Close => "any",
    };
    let wanted = wanted.map_or("text or binary", name);
    let other = match kind {
        MessageKind::Text | MessageKind::Binary => "any",
        MessageKind::Ping => "ping",
        MessageKind::Pong => "pong",
    };
    let text = format!(
        "the message is {}, and `expect: {word}` wants {wanted}; write `expect: {other}` to take it",
        name(kind)
    );
    outcome.fail(Failure::plain(Code::UnexpectedType, &text));
}

/// The outcome of a sampler that waited on a connection which is lost: the peer's close is a success
/// where it was expected, and any other loss fails it. Either way the loss is met.
pub(crate) fn lost(job: &mut Job<'_, '_>, mut outcome: Outcome, expect: Expect) -> Outcome {
    let failure = job.slot().meet_loss();
    let connection = job.slot().connection.as_deref();
    let close = connection.filter(|one| matches!(one.loss(), Some(Loss::Closed(_))));
    match close.and_then(Connection::close_frame) {
        Some((frame, arrived)) if expect == Expect::Close => {
            Came::of(frame, arrived).fill(&mut outcome);
            outcome.code = failure.code;
            outcome.data_type = DataType::Text;
            outcome
        }
        _ => outcome.failed(failure, clock::now()),
    }
}

//! What becomes of messages before any sampler sees them: heartbeats first, then late replies.

use std::time::Instant;

use crate::exec::attribution::{Attribution, Late};
use crate::exec::heartbeat::Heartbeat;
use crate::exec::worker::Worker;
use crate::sample::Note;
use crate::ws::{Frame, Message, Observer, Reaction};

/// The observer of a connection that is being closed.
#[derive(Debug)]
pub(crate) struct Discard;

impl Observer for Discard {
    fn is_waiting(&self) -> bool {
        true
    }

    fn message(&mut self, _: Message) -> Option<Message> {
        None
    }

    fn control(&mut self, _: &Frame, _: Instant) -> bool {
        true
    }
}

/// The observer of a connection with a heartbeat or unanswered requests: what belongs to these goes
/// no further.
pub(crate) struct Background<'s, 'p> {
    pub(crate) attribution: Option<&'s mut Attribution<'p>>,
    pub(crate) heartbeat: Option<&'s mut Heartbeat<'p>>,
    pub(crate) worker: &'s Worker,
    pub(crate) observer: &'s mut dyn Observer,
}

impl Background<'_, '_> {
    fn tell(&self, what: &str, message: &Message) {
        if let Some(tracer) = &self.worker.tracer {
            tracer.fate(what, message);
        }
    }
}

impl Observer for Background<'_, '_> {
    fn is_waiting(&self) -> bool {
        self.observer.is_waiting()
    }

    fn message(&mut self, message: Message) -> Option<Message> {
        if self.heartbeat.as_mut().is_some_and(|heartbeat| heartbeat.claims(&message)) {
            self.tell("answered by the heartbeat", &message);
            return None;
        }
        let late = match &mut self.attribution {
            // A ping or pong answers no request.
            Some(attribution) if message.kind.is_data() => attribution.claim(&message),
            _ => None,
        };
        match late {
            None => return self.observer.message(message),
            Some(Late::OfForgotten) => self.tell("a late reply to a forgotten request", &message),
            Some(Late::Of(label, round_trip)) => {
                self.tell(&format!("a late reply to `{label}`"), &message);
                self.worker.note(&Note::Late { label: &label, round_trip });
            }
        }
        None
    }

    fn control(&mut self, frame: &Frame, arrived: Instant) -> bool {
        self.observer.control(frame, arrived)
            || self.heartbeat.as_mut().is_some_and(|heartbeat| heartbeat.is_pong(frame))
    }

    fn take_reaction(&mut self) -> Option<Reaction> {
        let own = self.heartbeat.as_mut().and_then(|heartbeat| heartbeat.take_reaction());
        own.or_else(|| self.observer.take_reaction())
    }
}

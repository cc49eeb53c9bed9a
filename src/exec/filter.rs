//! Filters: what a reading sampler discards before it looks for its message.

use crate::exec::check::{self, Ready};
use crate::exec::evaluate::Scope;
use crate::exec::judge::Subject;
use crate::exec::outcome::Failure;
use crate::exec::worker::Worker;
use crate::program::Filter;
use crate::sample::Note;
use crate::ws::{Connection, Fate, Message, MessageKind, Reaction};

/// The filters of one execution of a sampler. Without any, nothing is allocated or looked at.
#[derive(Debug)]
pub(crate) struct Filters<'p> {
    armed: Vec<Armed<'p>>,
    /// Payloads of discarded pings that are still to be answered.
    pongs: Vec<Vec<u8>>,
    /// Of the messages that were discarded: headers and payloads.
    pub(crate) bytes: u64,
}

/// One filter, evaluated.
#[derive(Debug)]
struct Armed<'p> {
    filter: &'p Filter,
    check: Ready<'p>,
    /// Whether pings that it discards are answered.
    reply: bool,
    /// How many it has discarded.
    count: u64,
}

impl<'p> Filters<'p> {
    /// Evaluates the filters, outer scopes first.
    pub(crate) fn evaluate(scope: &mut Scope, filters: &'p [Filter]) -> Result<Self, Failure> {
        let ready = |filter: &'p Filter| {
            let check = check::ready(scope, &filter.check)?;
            Ok(Armed { filter, check, reply: scope.value(&filter.reply)?, count: 0 })
        };
        let armed = filters.iter().map(ready).collect::<Result<_, Failure>>()?;
        Ok(Self { armed, pongs: Vec::new(), bytes: 0 })
    }

    /// The filter that discards the message, which counts it; the first one that fits.
    pub(crate) fn discard(&mut self, message: &Message) -> Option<&'p Filter> {
        if self.armed.is_empty() {
            return None;
        }
        let subject = Subject::message(message);
        let armed = self.armed.iter_mut().find(|armed| subject.holds(&armed.check))?;
        armed.count += 1;
        if armed.reply && message.kind == MessageKind::Ping {
            self.pongs.push(message.payload.clone());
        }
        self.bytes += message.wire_length;
        Some(armed.filter)
    }

    /// The answer to a ping that was discarded, once.
    pub(crate) fn take_pong(&mut self) -> Option<Reaction> {
        (!self.pongs.is_empty()).then(|| Reaction::Pong(self.pongs.remove(0)))
    }

    /// Discards what waits unread.
    pub(crate) fn sweep(&mut self, connection: &mut Connection) {
        if !self.armed.is_empty() {
            let discard = |message: &Message| {
                if self.discard(message).is_some() { Fate::Drop } else { Fate::Keep }
            };
            connection.inbox().sift(discard);
        }
    }

    /// Tells how many messages each filter discarded for a sampler of this label.
    pub(crate) fn report(&self, worker: &Worker, label: &str) {
        for Armed { filter, count, .. } in self.armed.iter().filter(|armed| armed.count > 0) {
            worker.note(&Note::Filtered { label, filter: &filter.source, count: *count });
        }
    }
}

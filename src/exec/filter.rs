//! Filters: what a reading sampler discards before it looks for its message.

use crate::exec::check::{self, Ready};
use crate::exec::evaluate::Scope;
use crate::exec::judge::Subject;
use crate::exec::outcome::Failure;
use crate::exec::worker::Worker;
use crate::program::Filter;
use crate::sample::Note;
use crate::ws::{Connection, Fate, Message};

/// The filters of one execution of a sampler. Without any, nothing is allocated or looked at.
#[derive(Debug)]
pub(crate) struct Filters<'p> {
    filters: Vec<(&'p Filter, Ready<'p>, u64)>,
    /// Of the messages that were discarded: headers and payloads.
    pub(crate) bytes: u64,
}

impl<'p> Filters<'p> {
    /// Evaluates the filters, outer scopes first.
    pub(crate) fn evaluate(scope: &mut Scope, filters: &'p [Filter]) -> Result<Self, Failure> {
        let ready = |filter: &'p Filter| Ok((filter, check::ready(scope, &filter.check)?, 0));
        let filters = filters.iter().map(ready).collect::<Result<_, Failure>>()?;
        Ok(Self { filters, bytes: 0 })
    }

    /// Whether the message is to be discarded; the first filter that says so counts it.
    pub(crate) fn discard(&mut self, message: &Message) -> bool {
        if self.filters.is_empty() {
            return false;
        }
        let subject = Subject::message(message);
        let hit = self.filters.iter_mut().find(|(_, check, _)| subject.holds(check));
        let Some((_, _, count)) = hit else { return false };
        *count += 1;
        self.bytes += message.wire_length;
        true
    }

    /// Discards what waits unread.
    pub(crate) fn sweep(&mut self, connection: &mut Connection) {
        if !self.filters.is_empty() {
            let discard = |message: &Message| {
                if self.discard(message) { Fate::Drop } else { Fate::Keep }
            };
            connection.inbox().sift(discard);
        }
    }

    /// Tells how many messages each filter discarded for a sampler of this label.
    pub(crate) fn report(&self, worker: &Worker, label: &str) {
        for (filter, _, count) in self.filters.iter().filter(|(_, _, count)| *count > 0) {
            worker.note(&Note::Filtered { label, filter: &filter.source, count: *count });
        }
    }
}

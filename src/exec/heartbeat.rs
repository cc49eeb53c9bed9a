//! What a connection does by itself to stay alive: pings, messages at regular times, answers to
//! messages of the peer. Served with the pump, whatever the thread waits for; no rows.
//!
//! Everything is evaluated when the connection is opened: later, while a sampler waits, nobody may
//! touch the thread's variables.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::exec::check::{self, Ready};
use crate::exec::evaluate::Scope;
use crate::exec::judge::Subject;
use crate::exec::outcome::Failure;
use crate::exec::samplers::nonzero;
use crate::program;
use crate::sample::Beats;
use crate::ws::{Connection, Fate, Frame, Message, Opcode, Reaction};

/// The least time from one beat to the next: a template may give less.
const MIN_EVERY: Duration = Duration::from_millis(1);

/// After so long an overdue pong is looked for again where the socket was not read to its end.
const READ_ON: Duration = Duration::from_millis(50);

/// The heartbeat of one connection.
#[derive(Debug)]
pub(crate) struct Heartbeat<'p> {
    ping: Option<Pings>,
    sends: Vec<Regular<'p>>,
    rules: Vec<(Ready<'p>, Cow<'p, str>)>,
    /// Answers that are still to be queued.
    answers: VecDeque<String>,
    pub(crate) beats: Beats,
}

/// One ping after another.
#[derive(Debug)]
struct Pings {
    every: Duration,
    fail_after: Duration,
    /// When the next one is due.
    due: Instant,
    /// Payload of the one that is unanswered, and when that is too late.
    open: Option<(Vec<u8>, Instant)>,
}

/// One text at regular times.
#[derive(Debug)]
struct Regular<'p> {
    every: Duration,
    text: Cow<'p, str>,
    due: Instant,
}

impl<'p> Heartbeat<'p> {
    /// The heartbeat of a connection that is about to be opened; `None` if it has none. Its times
    /// count from [`Self::start`].
    pub(crate) fn evaluate(
        scope: &mut Scope,
        spec: &'p program::Heartbeat,
        now: Instant,
    ) -> Result<Option<Box<Self>>, Failure> {
        if spec.is_empty() {
            return Ok(None);
        }
        let ping = match &spec.ping {
            None => None,
            Some(ping) => Some(Pings {
                every: scope.value(&ping.every)?.max(MIN_EVERY),
                fail_after: nonzero(scope.value(&ping.fail_after)?, "fail_after")?,
                due: now,
                open: None,
            }),
        };
        let mut sends = Vec::with_capacity(spec.send.len());
        for send in &spec.send {
            let every = scope.value(&send.every)?.max(MIN_EVERY);
            sends.push(Regular { every, text: scope.text(&send.text)?, due: now });
        }
        let mut rules = Vec::with_capacity(spec.answer.len());
        for rule in &spec.answer {
            rules.push((check::ready(scope, &rule.when)?, scope.text(&rule.send)?));
        }
        let (answers, beats) = (VecDeque::new(), Beats::default());
        Ok(Some(Box::new(Self { ping, sends, rules, answers, beats })))
    }

    /// The connection is open: times count from now, and what came with the answer to the upgrade
    /// may be for this heartbeat.
    pub(crate) fn start(&mut self, connection: &mut Connection, now: Instant) {
        connection.let_observers_react();
        if let Some(ping) = &mut self.ping {
            ping.due = now + ping.every;
        }
        for send in &mut self.sends {
            send.due = now + send.every;
        }
        connection.inbox().sift(
            |message| {
                if self.claims(message) { Fate::Drop } else { Fate::Keep }
            },
        );
    }

    /// Whether the message is one that is answered; then the answer is in
    /// [`Self::take_reaction`].
    pub(crate) fn claims(&mut self, message: &Message) -> bool {
        let subject = Subject::message(message);
        let rule = self.rules.iter().find(|(when, _)| subject.holds(when));
        let Some((_, text)) = rule else { return false };
        self.answers.push_back(text.clone().into_owned());
        self.beats.answered += 1;
        true
    }

    /// What is to be answered to a message that was claimed.
    pub(crate) fn take_reaction(&mut self) -> Option<Reaction> {
        self.answers.pop_front().map(Reaction::Text)
    }

    /// Whether the frame is the pong to a ping of this heartbeat.
    pub(crate) fn is_pong(&mut self, frame: &Frame) -> bool {
        let open = self.ping.as_mut().map(|ping| &mut ping.open);
        let Some(open) = open.filter(|_| frame.opcode == Opcode::Pong) else { return false };
        let is_own = open.as_ref().is_some_and(|(payload, _)| *payload == frame.payload);
        if is_own {
            *open = None;
        }
        is_own
    }

    /// Sends what is due. A text is left out while the kernel has not even taken what was sent
    /// before: a peer that never reads must not fill our memory.
    pub(crate) fn send_due(
        &mut self,
        connection: &mut Connection,
        scratch: &mut Vec<u8>,
        now: Instant,
    ) {
        if connection.is_closing() {
            return;
        }
        for send in self.sends.iter_mut().filter(|send| send.due <= now) {
            send.due = next_after(send.due, send.every, now);
            if connection.is_flushed() {
                connection.send(Opcode::Text, send.text.as_bytes(), scratch);
                self.beats.sent += 1;
            }
        }
        if let Some(ping) = &mut self.ping
            && ping.open.is_none()
            && ping.due <= now
        {
            // A pong for an earlier ping, or for one of a sampler, must not pass for this one's.
            let payload = format!("{:016x}", rand::random::<u64>()).into_bytes();
            connection.send(Opcode::Ping, &payload, scratch);
            self.beats.pings += 1;
            ping.due = now + ping.every;
            ping.open = Some((payload, now + ping.fail_after));
        }
    }

    /// Gives the connection up if a ping was not answered in time. To be asked after the pump, so
    /// that a pong which waits in the socket counts.
    pub(crate) fn judge(&mut self, connection: &mut Connection, now: Instant) {
        let Some(Pings { open: Some((_, deadline)), .. }) = &mut self.ping else { return };
        if *deadline > now || connection.is_closing() {
            return;
        }
        if connection.is_caught_up(now) {
            connection.fail_ping();
        } else {
            // Something is still unread, and it may be the pong: the silence is ours.
            *deadline = now + READ_ON;
        }
    }

    /// When it wants to be served next.
    pub(crate) fn next(&self) -> Option<Instant> {
        let ping = self.ping.as_ref().map(|ping| match &ping.open {
            Some((_, deadline)) => *deadline,
            None => ping.due,
        });
        self.sends.iter().map(|send| send.due).chain(ping).min()
    }
}

/// The beat after the one that was due. After a time in which nobody pumped, those that were missed
/// are not made up for.
fn next_after(due: Instant, every: Duration, now: Instant) -> Instant {
    let next = due + every;
    if next > now { next } else { now + every }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn beats_keep_their_times_and_missed_ones_are_not_made_up_for() {
        let due = clock::now();
        let ms = Duration::from_millis;
        assert_eq!(next_after(due, ms(10), due + ms(3)), due + ms(10));
        assert_eq!(next_after(due, ms(10), due + ms(99)), due + ms(109));
    }
}

//! The connections of one virtual thread, by name, and the pump that keeps them alive.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use crate::clock;
use crate::exec::attribution::{Attribution, UnansweredPings};
use crate::exec::background::{Background, Discard};
use crate::exec::heartbeat::Heartbeat;
use crate::exec::outcome::Failure;
use crate::exec::timer::Timer;
use crate::exec::worker::{WakerSlot, Worker};
use crate::net::{TlsClient, TlsConnector};
use crate::sample::{Code, Note};
use crate::ws::{Connection, KeepAll, Loss, Observer, Traffic, Violation, linger};

/// Names one of a thread's connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlotId(usize);

/// A connection by name. With neither a connection nor a loss it was never opened, or was closed by
/// a `close` step; with a loss it is lost, and the connection keeps what arrived before.
#[derive(Debug, Default)]
pub(crate) struct Slot<'p> {
    name: String,
    /// Where it was opened to, without secrets.
    pub(crate) url: Option<Rc<str>>,
    pub(crate) connection: Option<Box<Connection>>,
    loss: Option<Met>,
    /// Whether a sampler has exchanged something over it.
    pub(crate) exchanged: bool,
    /// Payloads of pings whose pongs could pass for others'.
    pub(crate) unanswered_pings: UnansweredPings,
    /// Whether we have sent a close that no sampler waits for.
    closing: bool,
    /// Whether a sampler has failed because a frame was not taken in time: those that wait for the same
    /// frame after it are skipped.
    pub(crate) write_timed_out: bool,
    /// Attempts to open it that failed, since the last that succeeded.
    pub(crate) failed_attempts: u32,
    /// Requests that went unanswered, whose late replies could pass for others'.
    pub(crate) attribution: Option<Box<Attribution<'p>>>,
    /// What it does by itself to stay alive.
    heartbeat: Option<Box<Heartbeat<'p>>>,
}

/// A loss, and whether a sampler has failed with it.
#[derive(Debug)]
struct Met {
    failure: Failure,
    met: bool,
}

/// What a sampler finds that needs an open connection.
pub(crate) enum Admission {
    /// It can run.
    Go,
    /// It is the first to meet a loss, or there is nothing to use.
    Fail(Failure),
    /// An earlier sampler failed with this cause.
    Skip(Code),
}

/// All connections of one virtual thread.
pub(crate) struct Connections<'p> {
    pub(crate) worker: Rc<Worker>,
    slots: Vec<Slot<'p>>,
    pub(crate) timer: Timer,
    pub(crate) waker: WakerSlot,
    /// When the next heartbeat is due; known after each pump.
    pub(crate) next_beat: Option<Instant>,
    /// When the group's duration is over.
    pub(crate) end: Option<Instant>,
    /// When pauses end at the latest, because the thread is in a `run_for`.
    pub(crate) pause_end: Option<Instant>,
    /// How long the thread has paused in all.
    pub(crate) paused: Duration,
    turn: Cell<Turn>,
    is_remembered: bool,
    /// The thread's own, with its sessions, for each configuration that it has used.
    tls: Vec<TlsConnector>,
}

/// What a thread knows of the present for as long as no other task runs: asking again would cost it a
/// reading of the clock, or a look at sockets that the runtime has learned nothing new of.
#[derive(Debug, Clone, Copy, Default)]
struct Turn {
    /// The clock as it was read last.
    now: Option<Instant>,
    /// Whether all connections were pumped, and left nothing that could be read at once.
    is_pumped: bool,
    /// Whether the runtime will wake the thread for each connection that is read.
    is_armed: bool,
}

impl<'p> Connections<'p> {
    pub(crate) fn new(worker: Rc<Worker>, end: Option<Instant>) -> Self {
        let waker = worker.register();
        Self {
            worker,
            slots: Vec::new(),
            timer: Timer::default(),
            waker,
            next_beat: None,
            end,
            pause_end: None,
            paused: Duration::ZERO,
            turn: Cell::default(),
            is_remembered: false,
            tls: Vec::new(),
        }
    }

    /// The time, at most as old as what the thread has done since other tasks ran or a sampler began:
    /// good for deadlines, not for what is measured.
    pub(crate) fn recent(&self) -> Instant {
        self.turn.get().now.unwrap_or_else(|| self.now())
    }

    /// The time now, which is the recent time from here on.
    pub(crate) fn now(&self) -> Instant {
        let now = clock::now();
        self.turn.set(Turn { now: Some(now), ..self.turn.get() });
        now
    }

    /// Other tasks may run before the next step.
    pub(crate) fn end_turn(&self) {
        self.turn.set(Turn::default());
    }

    /// Whether there is nothing to pump for until other tasks have run.
    pub(crate) fn is_pumped(&self) -> bool {
        self.turn.get().is_pumped
    }

    /// Whether the runtime will wake the thread when something comes.
    pub(crate) fn is_armed(&self) -> bool {
        self.turn.get().is_armed
    }

    /// Sees to it that the end of the run wakes the task.
    pub(crate) fn remember(&mut self, waker: &Waker) {
        if !self.is_remembered {
            self.worker.remember(&self.waker, waker);
            self.is_remembered = true;
        }
    }

    /// What the thread opens secure connections with.
    pub(crate) fn tls_connector(&mut self, client: &Arc<TlsClient>) -> TlsConnector {
        if let Some(known) = self.tls.iter().find(|known| known.is_of(client)) {
            return known.clone();
        }
        let connector = client.connector();
        // Most threads use one, and there are many threads.
        self.tls.reserve_exact(1);
        self.tls.push(connector.clone());
        connector
    }

    /// The slot of this name, made if there is none. Good until the next one is asked for: a slot
    /// that holds nothing goes to another name, so that names from templates do not pile up.
    pub(crate) fn slot(&mut self, name: &str) -> SlotId {
        find_or_make(&mut self.slots, name)
    }

    pub(crate) fn get(&self, id: SlotId) -> &Slot<'p> {
        &self.slots[id.0]
    }

    pub(crate) fn get_mut(&mut self, id: SlotId) -> &mut Slot<'p> {
        &mut self.slots[id.0]
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = SlotId> + use<> {
        (0..self.slots.len()).map(SlotId)
    }

    /// Pumps every connection once; `target` is the one that a sampler uses, with its observer.
    pub(crate) fn poll_pump(
        &mut self,
        context: &mut Context<'_>,
        mut target: Option<(SlotId, &mut dyn Observer)>,
    ) {
        let Self { worker, slots, next_beat, turn, .. } = self;
        *next_beat = None;
        let mut now = turn.get().now;
        let (mut is_pumped, mut is_armed) = (true, true);
        let mut buffer = worker.read_buffer.borrow_mut();
        let mut spare = worker.spare_payload.borrow_mut();
        for (index, slot) in slots.iter_mut().enumerate() {
            let Slot { closing, attribution, heartbeat, .. } = slot;
            let (Some(connection), loss @ None) = (&mut slot.connection, &mut slot.loss) else {
                continue;
            };
            if let Some(heartbeat) = heartbeat {
                let mut scratch = worker.write_buffer.borrow_mut();
                heartbeat.send_due(connection, &mut scratch, clock::now());
            }
            let observer: &mut dyn Observer = match &mut target {
                Some((SlotId(target), observer)) if *target == index => *observer,
                _ if *closing => &mut Discard,
                _ => &mut KeepAll,
            };
            let read_at = if attribution.is_none() && heartbeat.is_none() {
                connection.poll_pump(context, &mut buffer, &mut spare, observer)
            } else {
                let attribution = attribution.as_deref_mut();
                let heartbeat = heartbeat.as_deref_mut().filter(|_| !connection.is_closing());
                let mut first = Background { attribution, heartbeat, worker, observer };
                connection.poll_pump(context, &mut buffer, &mut spare, &mut first)
            };
            now = read_at.or(now);
            is_pumped &= connection.is_read_empty();
            is_armed &= !connection.is_unarmed();
            if let Some(heartbeat) = heartbeat {
                heartbeat.judge(connection, clock::now());
                *next_beat = heartbeat.next().into_iter().chain(*next_beat).min();
            }
            let dropped = connection.inbox().take_dropped();
            if dropped > 0 {
                worker.note(&Note::InboxDropped { count: dropped });
            }
            if let Some(lost) = connection.loss() {
                if let Loss::Closed(close) = lost {
                    worker.note(&Note::CloseReceived { code: close.code });
                }
                *loss = Some(Met { failure: failure_of(lost), met: false });
                retire(worker, connection, heartbeat.as_deref());
            }
        }
        turn.set(Turn { now, is_pumped, is_armed });
    }

    /// What a sampler finds that writes to the connection.
    pub(crate) fn admit_writer(&mut self, id: SlotId) -> Admission {
        let slot = self.get_mut(id);
        match (&slot.connection, &slot.loss) {
            (Some(_), None) => Admission::Go,
            (_, Some(Met { failure, met: true })) => Admission::Skip(failure.code),
            (_, Some(Met { met: false, .. })) => Admission::Fail(slot.meet_loss()),
            (None, None) => Admission::Fail(Failure::plain(
                Code::NoConnection,
                "the connection was never opened, or is closed",
            )),
        }
    }

    /// Takes over a connection that was just opened.
    pub(crate) fn opened(
        &mut self,
        id: SlotId,
        mut connection: Connection,
        url: Rc<str>,
        mut heartbeat: Option<Box<Heartbeat<'p>>>,
    ) {
        if let Some(heartbeat) = &mut heartbeat {
            heartbeat.start(&mut connection, clock::now());
        }
        let slot = self.get_mut(id);
        let name = std::mem::take(&mut slot.name);
        let connection = Some(Box::new(connection));
        *slot = Slot { name, url: Some(url), connection, heartbeat, ..Slot::default() };
        // This one was not pumped yet.
        self.end_turn();
    }

    /// Remembers that an `open` failed; its own row is the one that tells.
    pub(crate) fn open_failed(&mut self, id: SlotId, url: Option<Rc<str>>, failure: Failure) {
        let slot = self.get_mut(id);
        let (name, failed_attempts) = (std::mem::take(&mut slot.name), slot.failed_attempts);
        let loss = Some(Met { failure, met: true });
        *slot = Slot { name, url, loss, failed_attempts, ..Slot::default() };
    }

    /// Lets go of a connection, open or lost: what is left of it lingers in the background, and a
    /// loss that no sampler met is counted.
    pub(crate) fn discard(&mut self, id: SlotId) {
        let Self { worker, slots, .. } = self;
        let slot = &mut slots[id.0];
        match slot.loss.take() {
            Some(Met { failure, met: false }) => {
                worker.note(&Note::LostWhileIdle { cause: failure.code });
            }
            Some(_) => {}
            None => {
                if let Some(connection) = &mut slot.connection {
                    retire(worker, connection, slot.heartbeat.as_deref());
                }
            }
        }
        slot.connection = None;
        slot.heartbeat = None;
        slot.closing = false;
        slot.write_timed_out = false;
        slot.unanswered_pings = UnansweredPings::default();
        if let Some(attribution) = slot.attribution.take() {
            attribution.labels().for_each(|label| worker.note(&Note::Unanswered { label }));
        }
    }
}

impl Drop for Connections<'_> {
    fn drop(&mut self) {
        self.worker.forget(&self.waker);
    }
}

impl Slot<'_> {
    /// The loss as a failure of the sampler that meets it now.
    pub(crate) fn meet_loss(&mut self) -> Failure {
        match &mut self.loss {
            Some(Met { failure, met }) => {
                *met = true;
                failure.clone()
            }
            None => Failure::plain(Code::Disconnected, "the connection is gone"),
        }
    }

    /// Only the peer's close is of interest from here on: what it still sends is read and dropped, so
    /// that a full inbox does not keep the close away.
    pub(crate) fn begin_closing(&mut self) {
        self.closing = true;
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// No sampler waits for a message any more.
    pub(crate) fn waits_no_more(&mut self) {
        if let Some(attribution) = &mut self.attribution {
            attribution.waiting = None;
        }
    }

    /// Whether the connection is lost and no sampler has met that.
    pub(crate) fn is_lost_unmet(&self) -> bool {
        self.loss.as_ref().is_some_and(|loss| !loss.met)
    }

    /// Takes a loss that follows from our own close, if there is one, for met.
    pub(crate) fn expect_loss(&mut self) {
        if let Some(loss) = &mut self.loss {
            loss.met = true;
        }
    }

    /// The code of the peer's close frame, if that is how the connection ended.
    pub(crate) fn close_code(&self) -> Option<u16> {
        match self.connection.as_ref()?.loss()? {
            Loss::Closed(close) => Some(close.code),
            _ => None,
        }
    }

    /// Whether it says no more than a name that was never used.
    fn is_empty(&self) -> bool {
        self.connection.is_none() && self.loss.is_none()
    }

    pub(crate) fn is_open(&self) -> bool {
        self.connection.is_some() && self.loss.is_none()
    }

    /// Whether it is open, and the kernel has all that was sent over it.
    pub(crate) fn is_flushed(&self) -> bool {
        self.loss.is_none() && self.connection.as_ref().is_some_and(|one| one.is_flushed())
    }

    /// Whether it is open and neither an unanswered request nor a frame that is not taken makes later
    /// samplers skip it.
    pub(crate) fn is_in_sync(&self) -> bool {
        let is_stuck = self.attribution.as_ref().is_some_and(|requests| requests.is_stuck());
        let is_blocked = self.write_timed_out && !self.is_flushed();
        self.is_open() && !is_stuck && !is_blocked && self.unanswered_pings.is_empty()
    }
}

fn find_or_make(slots: &mut Vec<Slot<'_>>, name: &str) -> SlotId {
    if let Some(found) = slots.iter().position(|slot| slot.name == name) {
        return SlotId(found);
    }
    let slot = Slot { name: name.to_owned(), ..Slot::default() };
    let free = slots.iter().position(Slot::is_empty).unwrap_or(slots.len());
    if let Some(old) = slots.get_mut(free) {
        *old = slot;
    } else {
        // Most threads have one, and there are many threads.
        slots.reserve_exact(1);
        slots.push(slot);
    }
    SlotId(free)
}

/// Counts the end of a connection and lets its socket linger.
fn retire(worker: &Worker, connection: &mut Connection, heartbeat: Option<&Heartbeat<'_>>) {
    let Traffic { received, sent, write_stalls } = connection.traffic();
    worker.note(&Note::ConnectionEnded {
        received_bytes: received,
        sent_bytes: sent,
        write_stalls,
        inbox_peak: connection.inbox().most() as u64,
        beats: heartbeat.map(|heartbeat| heartbeat.beats).unwrap_or_default(),
    });
    if let Some(remains) = connection.take_remains() {
        worker.leave_behind(linger(remains));
    }
}

/// How a loss reads in the row of the sampler that meets it.
fn failure_of(loss: &Loss) -> Failure {
    match loss {
        Loss::Closed(close) => {
            let cause = "the peer closed the connection";
            let text = match close.reason.as_str() {
                "" => format!("{cause} with {}", close.code),
                reason => format!("{cause} with {}: {reason}", close.code),
            };
            Failure::new(Code::Number(close.code), text, cause)
        }
        Loss::Disconnected(how) => Failure::new(
            Code::Disconnected,
            format!("the connection was lost: {how}"),
            "the connection was lost",
        ),
        Loss::Violation(violation @ Violation::TooLarge { .. }) => {
            Failure::plain(Code::TooLarge, &violation.to_string())
        }
        Loss::Violation(violation) => Failure::plain(Code::ProtocolError, &violation.to_string()),
        Loss::PingTimeout => Failure::plain(
            Code::PingTimeout,
            "the peer did not answer a ping of `heartbeat` within `fail_after`",
        ),
        Loss::InboxFull => {
            Failure::plain(Code::InboxFull, "the inbox was full and `when_full` is `fail`")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_hold_nothing_do_not_pile_up_and_a_loss_is_kept() {
        let mut slots = Vec::new();
        let lost = find_or_make(&mut slots, "lost");
        let failure = Failure::plain(Code::Disconnected, "gone");
        slots[lost.0].loss = Some(Met { failure, met: true });
        for number in 0..1_000 {
            assert_eq!(find_or_make(&mut slots, &format!("c{number}")), SlotId(1));
        }
        assert_eq!(find_or_make(&mut slots, "lost"), lost);
        assert!(slots[lost.0].loss.is_some());
        assert_eq!(slots.len(), 2);
    }
}

//! What a connection does with messages and with time, by its [`Script`]. No I/O.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Context;
use std::time::{Duration, Instant};

use crate::clock::Clock;
use crate::target::counters::Tallies;
use crate::target::outbox::Outbox;
use crate::target::room::{Member, Rooms};
use crate::target::route::{Ending, Script};
use crate::ws::frame::encode;
use crate::ws::{Message, MessageKind, Opcode};

/// How much `/slow` holds back before it stops reading.
const HELD_MESSAGES: usize = 1_024;
const HELD_BYTES: usize = 1 << 20;

/// The state of one connection's script.
#[derive(Debug)]
pub(super) enum Behaviour {
    Echo,
    Binary,
    Silent,
    Fragment { count: usize },
    Drop { left: u64, ending: Ending },
    Push(Push),
    Slow(Box<Slow>),
    Flood(Box<Flood>),
    Room(Member),
}

/// Messages on a schedule that is absolute: the n-th is due `n / hz` after the start.
#[derive(Debug)]
pub(super) struct Push {
    hz: f64,
    started: Instant,
    /// The number of the next message, from 1.
    next: u64,
}

/// Messages that wait to be echoed.
#[derive(Debug)]
pub(super) struct Slow {
    release: Release,
    held: VecDeque<Message>,
    held_bytes: usize,
}

/// When a message is echoed.
#[derive(Debug)]
enum Release {
    /// So long after it came.
    After(Duration),
    /// At once, but for the last part of each period, at whose end all are.
    Stall { every: Duration, length: Duration, since: Instant },
}

/// One message again and again.
#[derive(Debug)]
pub(super) struct Flood {
    frame: Vec<u8>,
    /// `None` without end.
    left: Option<u64>,
}

impl Behaviour {
    /// The script of a connection whose upgrade was accepted at `started`, by a server that began
    /// at `since`.
    pub(super) fn new(
        script: Script,
        started: Instant,
        since: Instant,
        rooms: &Arc<Rooms>,
    ) -> Self {
        let slow =
            |release| Self::Slow(Box::new(Slow { release, held: VecDeque::new(), held_bytes: 0 }));
        match script {
            Script::Echo => Self::Echo,
            Script::Binary => Self::Binary,
            Script::Silent => Self::Silent,
            Script::Room { number } => Self::Room(Member::join(rooms, number)),
            Script::Fragment { count } => Self::Fragment { count },
            Script::Drop { after, ending } => Self::Drop { left: after, ending },
            Script::Push { hz } => Self::Push(Push { hz, started, next: 1 }),
            Script::Slow { delay } => slow(Release::After(delay)),
            Script::Stall { every, length } => slow(Release::Stall { every, length, since }),
            Script::Flood { bytes, max } => {
                let mut frame = Vec::new();
                encode(&mut frame, Opcode::Text, true, &vec![b'x'; bytes], None);
                Self::Flood(Box::new(Flood { frame, left: max }))
            }
        }
    }

    /// Takes a message from the peer.
    pub(super) fn on_message(&mut self, message: Message, out: &mut Outbox) {
        match self {
            Self::Echo | Self::Push(_) => out.message(message.kind, &message.payload),
            Self::Binary => out.message(MessageKind::Binary, &message.payload),
            Self::Silent | Self::Flood(_) => {}
            Self::Room(member) => {
                let mut frame = Vec::new();
                encode(&mut frame, message.kind.opcode(), true, &message.payload, None);
                member.say(&frame);
            }
            Self::Fragment { count } => out.fragments(&message, *count),
            Self::Drop { left, .. } => {
                *left = left.saturating_sub(1);
                out.message(message.kind, &message.payload);
            }
            Self::Slow(slow) => {
                slow.held_bytes += message.payload.len();
                slow.held.push_back(message);
            }
        }
    }

    /// How the connection is to end now, if it is.
    pub(super) fn ending(&self) -> Option<Ending> {
        match self {
            Self::Drop { left: 0, ending } => Some(*ending),
            _ => None,
        }
    }

    /// Whether there is room for what more input might bring.
    pub(super) fn takes_input(&self) -> bool {
        match self {
            Self::Slow(slow) => slow.held.len() < HELD_MESSAGES && slow.held_bytes < HELD_BYTES,
            _ => true,
        }
    }

    /// When [`on_time`](Self::on_time) is wanted next.
    pub(super) fn due(&self, out: &Outbox) -> Option<Instant> {
        match self {
            Self::Push(push) => Some(push.due()),
            // While there is no room its echoes wait for the peer, not for a time.
            Self::Slow(slow) if !out.is_full() => slow.due(),
            _ => None,
        }
    }

    /// Does what is due at `now`.
    pub(super) fn on_time(
        &mut self,
        now: Instant,
        clock: &Clock,
        tallies: &Tallies,
        out: &mut Outbox,
    ) {
        match self {
            Self::Push(push) => push.send_due(now, clock, tallies, out),
            Self::Slow(slow) => slow.echo_due(now, out),
            _ => {}
        }
    }

    /// Adds what is sent without cause, as far as there is room. True if it added something.
    pub(super) fn top_up(&mut self, out: &mut Outbox, cx: &Context<'_>) -> bool {
        let flood = match self {
            Self::Flood(flood) => flood,
            Self::Room(member) => return member.listen(out, cx),
            _ => return false,
        };
        let mut added = false;
        while !out.is_full() && flood.left != Some(0) {
            out.encoded_message(&flood.frame);
            flood.left = flood.left.map(|left| left - 1);
            added = true;
        }
        added
    }
}

impl Push {
    fn due(&self) -> Instant {
        #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53 messages")]
        let seconds = self.next as f64 / self.hz;
        self.started + Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX / 4)
    }

    fn send_due(&mut self, now: Instant, clock: &Clock, tallies: &Tallies, out: &mut Outbox) {
        while self.due() <= now {
            if out.is_full() {
                // Its number stays unused, so that a reader can see the gap.
                tallies.pushes_skipped.add(1);
            } else {
                let text = format!(r#"{{"seq":{},"t":{}}}"#, self.next, clock.epoch_ms(now));
                out.message(MessageKind::Text, text.as_bytes());
            }
            self.next += 1;
        }
    }
}

impl Release {
    fn of(&self, arrived: Instant) -> Instant {
        match *self {
            Self::After(delay) => arrived + delay,
            Self::Stall { every, length, since } => {
                let age = arrived.saturating_duration_since(since).as_nanos();
                let into = age.checked_rem(every.as_nanos()).unwrap_or_default();
                let into = Duration::from_nanos(u64::try_from(into).unwrap_or_default());
                let stalls = into >= every.saturating_sub(length);
                if stalls { arrived + every.saturating_sub(into) } else { arrived }
            }
        }
    }
}

impl Slow {
    fn due(&self) -> Option<Instant> {
        self.held.front().map(|message| self.release.of(message.arrived))
    }

    fn echo_due(&mut self, now: Instant, out: &mut Outbox) {
        while !out.is_full() && self.due().is_some_and(|due| due <= now) {
            let Some(message) = self.held.pop_front() else { break };
            self.held_bytes -= message.payload.len();
            out.message(message.kind, &message.payload);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;
    use crate::target::outbox::FULL;

    fn new(script: Script, started: Instant) -> Behaviour {
        Behaviour::new(script, started, started, &Arc::default())
    }

    fn text(payload: &str, arrived: Instant) -> Message {
        Message::new(MessageKind::Text, payload.as_bytes().to_vec(), 0, arrived, arrived)
    }

    #[test]
    fn pushes_keep_to_their_schedule_however_late_they_are_looked_at() {
        let (clock, tallies, mut out) = (Clock::start(), Tallies::default(), Outbox::default());
        let start = clock.started();
        let mut push = new(Script::Push { hz: 4.0 }, start);
        let at = |ms| start + Duration::from_millis(ms);
        assert_eq!(push.due(&out), Some(at(250)));
        push.on_time(at(249), &clock, &tallies, &mut out);
        assert!(out.is_empty());
        push.on_time(at(790), &clock, &tallies, &mut out);
        assert_eq!(push.due(&out), Some(at(1_000)));
        let sent = String::from_utf8_lossy(out.bytes()).into_owned();
        assert!(sent.contains(r#"{"seq":1,"t":"#) && sent.contains(r#"{"seq":3,"t":"#), "{sent}");
        assert!(sent.contains(&clock.epoch_ms(at(790)).to_string()), "{sent}");
    }

    #[test]
    fn a_peer_that_takes_nothing_is_not_sent_more_pushes() {
        let (clock, tallies, mut out) = (Clock::start(), Tallies::default(), Outbox::default());
        let mut push = new(Script::Push { hz: 1_000.0 }, clock.started());
        let later = clock.started() + Duration::from_mins(1);
        push.on_time(later, &clock, &tallies, &mut out);
        assert!(out.bytes().len() < FULL + 100, "{}", out.bytes().len());
        assert!(tallies.pushes_skipped.value() > 50_000);
    }

    #[test]
    fn slow_echoes_in_order_each_after_its_own_delay() {
        let (clock, tallies, mut out) = (Clock::start(), Tallies::default(), Outbox::default());
        let start = clock.started();
        let mut slow = new(Script::Slow { delay: Duration::from_secs(1) }, start);
        slow.on_message(text("a", start), &mut out);
        slow.on_message(text("b", start + Duration::from_millis(10)), &mut out);
        assert_eq!(slow.due(&out), Some(start + Duration::from_secs(1)));
        slow.on_time(start + Duration::from_millis(1_005), &clock, &tallies, &mut out);
        assert_eq!(out.bytes(), b"\x81\x01a");
        slow.on_time(start + Duration::from_millis(1_010), &clock, &tallies, &mut out);
        assert_eq!(out.bytes(), b"\x81\x01a\x81\x01b");
        assert_eq!(slow.due(&out), None);
    }

    #[test]
    fn a_stall_holds_back_what_comes_in_it_until_its_end() {
        let start = Clock::start().started();
        let at = |ms| start + Duration::from_millis(ms);
        let [every, length] = [1_000, 200].map(Duration::from_millis);
        let release = Release::Stall { every, length, since: start };
        for (arrived, released) in [(0, 0), (799, 799), (800, 1_000), (999, 1_000), (1_850, 2_000)]
        {
            assert_eq!(release.of(at(arrived)), at(released));
        }
    }

    #[test]
    fn slow_stops_reading_when_it_holds_enough() {
        let (clock, mut out) = (Clock::start(), Outbox::default());
        let mut slow = new(Script::Slow { delay: Duration::from_secs(1) }, clock.started());
        assert!(slow.takes_input());
        slow.on_message(text(&"x".repeat(HELD_BYTES), clock.started()), &mut out);
        assert!(!slow.takes_input());
    }

    #[test]
    fn drop_ends_after_its_last_echo() {
        let (now, mut out) = (Clock::start().started(), Outbox::default());
        let mut drop = new(Script::Drop { after: 2, ending: Ending::Reset }, now);
        drop.on_message(text("a", now), &mut out);
        assert_eq!(drop.ending(), None);
        drop.on_message(text("b", now), &mut out);
        assert_eq!(drop.ending(), Some(Ending::Reset));
        assert_eq!(out.bytes(), b"\x81\x01a\x81\x01b");
    }

    #[test]
    fn a_flood_fills_the_outbox_and_no_more_and_ends_at_its_number() {
        let now = Clock::start().started();
        let mut out = Outbox::default();
        let mut flood = new(Script::Flood { bytes: 1_024, max: None }, now);
        assert!(flood.top_up(&mut out, &Context::from_waker(Waker::noop())));
        assert!(out.is_full() && out.bytes().len() < FULL + 2_000);
        assert!(!flood.top_up(&mut out, &Context::from_waker(Waker::noop())));
        let mut out = Outbox::default();
        let mut flood = new(Script::Flood { bytes: 1, max: Some(2) }, now);
        assert!(
            flood.top_up(&mut out, &Context::from_waker(Waker::noop()))
                && !flood.top_up(&mut out, &Context::from_waker(Waker::noop()))
        );
        assert_eq!(out.bytes(), b"\x81\x01x\x81\x01x");
    }
}

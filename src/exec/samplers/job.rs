//! What every sampler needs while it runs.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::clock;
use crate::exec::attribution::{Waiting, class_of};
use crate::exec::connections::{Admission, Connections, Slot, SlotId};
use crate::exec::evaluate::Scope;
use crate::exec::filter::Filters;
use crate::exec::matcher::Matcher;
use crate::exec::outcome::{Execution, Failure, Outcome};
use crate::exec::samplers::open;
use crate::exec::samplers::take::ReadOn;
use crate::exec::trace::{ConnectionTap, Tracer};
use crate::exec::wait::{AtEnd, Ended};
use crate::program::{LateReplies, Matching, Open, Reply, Sampler, Unmatched};
use crate::sample::{Code, Note};
use crate::ws::{Connection, Observer, Opcode};

/// One execution of one sampler.
pub(crate) struct Job<'a, 'p> {
    pub(crate) scope: &'a mut Scope,
    pub(crate) connections: &'a mut Connections<'p>,
    pub(crate) sampler: &'p Sampler,
    pub(crate) label: &'a str,
    pub(crate) id: SlotId,
}

impl<'a, 'p> Job<'a, 'p> {
    /// Finds the connection and pumps, so that the sampler meets what has happened meanwhile.
    pub(crate) async fn begin(
        scope: &'a mut Scope,
        connections: &'a mut Connections<'p>,
        sampler: &'p Sampler,
        label: &'a str,
    ) -> Result<Self, Failure> {
        let id = connections.slot(&scope.text(&sampler.connection)?);
        connections.pump_once().await;
        Ok(Self { scope, connections, sampler, label, id })
    }

    pub(crate) fn slot(&mut self) -> &mut Slot<'p> {
        self.connections.get_mut(self.id)
    }

    /// Who is told what becomes of messages, in a trial run.
    pub(crate) fn tracer(&self) -> Option<Rc<Tracer>> {
        self.connections.worker.tracer.clone()
    }

    /// Who looks on at the connection, in a trial run.
    pub(crate) fn tap(&mut self) -> Option<ConnectionTap> {
        let tracer = Rc::clone(self.connections.worker.tracer.as_ref()?);
        let connection = self.slot().name().to_owned();
        Some(ConnectionTap { tracer, connection })
    }

    pub(crate) fn note(&self, note: &Note<'_>) {
        self.connections.worker.note(note);
    }

    /// Opens the connection of a sampler that is to have its own: its outcome so far, which is
    /// `None` for one that uses the connection that is open; or what came of the sampler.
    pub(crate) async fn connect(
        &mut self,
        connect: Option<&'p Open>,
    ) -> Result<Result<Option<Outcome>, Execution>, Failure> {
        match connect {
            None => Ok(Ok(None)),
            Some(spec) => Ok(Box::pin(open::open(self, spec)).await?.map(Some)),
        }
    }

    /// Why a sampler that writes cannot run, if it cannot.
    pub(crate) fn refusal(&mut self) -> Option<Execution> {
        match self.connections.admit_writer(self.id) {
            Admission::Go => None,
            Admission::Skip(cause) => Some(Execution::Skipped(cause)),
            Admission::Fail(failure) => {
                let mut outcome = Outcome::unstarted(failure);
                outcome.url.clone_from(&self.slot().url);
                Some(Execution::Row(outcome))
            }
        }
    }

    pub(crate) fn read_timeout(&mut self) -> Result<Duration, Failure> {
        let value = self.scope.value(&self.sampler.read_timeout)?;
        nonzero(value, "read_timeout")
    }

    pub(crate) fn write_timeout(&mut self) -> Result<Duration, Failure> {
        match &self.sampler.write_timeout {
            Some(timeout) => nonzero(self.scope.value(timeout)?, "write_timeout"),
            None => self.read_timeout(),
        }
    }

    /// For reading and for writing, each evaluated once.
    pub(crate) fn timeouts(&mut self) -> Result<(Duration, Duration), Failure> {
        let read = self.read_timeout()?;
        let write = if self.sampler.write_timeout.is_some() { self.write_timeout()? } else { read };
        Ok((read, write))
    }

    /// What the sampler discards unseen.
    pub(crate) fn filters(&mut self) -> Result<Filters<'p>, Failure> {
        Filters::evaluate(self.scope, &self.sampler.filters)
    }

    /// An outcome that begins now on the sampler's connection.
    pub(crate) fn outcome(&mut self) -> Outcome {
        let now = self.connections.now();
        self.outcome_at(now)
    }

    /// An outcome that has just begun.
    pub(crate) fn outcome_at(&mut self, start: Instant) -> Outcome {
        let mut outcome = self.connections.worker.outcome(start);
        outcome.url.clone_from(&self.slot().url);
        outcome
    }

    /// Marks the outcome if it is the first exchange on its connection.
    pub(crate) fn exchange(&mut self, outcome: &mut Outcome) {
        outcome.first_exchange = !std::mem::replace(&mut self.slot().exchanged, true);
    }

    /// What happens to late replies, and to messages that are passed over.
    pub(crate) fn policies(
        &mut self,
        matching: &Matching,
    ) -> Result<(LateReplies, Unmatched), Failure> {
        let late_replies = self.scope.value(&matching.late_replies)?;
        let unmatched = match &matching.unmatched {
            Some(unmatched) => self.scope.value(unmatched)?,
            None if matching.others_read => Unmatched::Keep,
            None => Unmatched::Drop,
        };
        Ok((late_replies, unmatched))
    }

    /// The matcher of a sampler that sends `payload`, if it has one.
    pub(crate) fn matcher(
        &mut self,
        reply: Option<&'p Reply>,
        payload: &[u8],
    ) -> Result<Option<Rc<Matcher<'p>>>, Failure> {
        reply.map(|reply| Matcher::evaluate(self.scope, reply, payload)).transpose()
    }

    /// Prepares for a message; false where it could be the late reply to an earlier request.
    pub(crate) fn awaits(
        &mut self,
        matcher: Option<&Rc<Matcher<'p>>>,
        late_replies: LateReplies,
    ) -> bool {
        let Some(attribution) = &mut self.slot().attribution else { return true };
        let class = class_of(matcher);
        if late_replies == LateReplies::Skip && attribution.is_ambiguous(&class) {
            return false;
        }
        attribution.waiting = Some(Waiting { class, matcher: matcher.cloned(), late_replies });
        true
    }

    /// The failure of a wait whose deadline passed; tells whether something was on its way, and what
    /// was passed over.
    pub(crate) fn timed_out(&mut self, what: &str, passed_over: &str) -> Failure {
        let partial = self.slot().connection.as_ref().is_some_and(|one| one.is_inside_a_message());
        let more = if partial { "; part of a message had arrived" } else { "" };
        Failure::new(Code::ReadTimeout, format!("{what}{more}{passed_over}"), what)
    }

    /// The failure of a wait for an answer; `what` says what did not come in time.
    pub(crate) fn no_answer(&mut self, ended: Ended, what: &str, passed_over: &str) -> Failure {
        match ended {
            Ended::TimedOut => self.timed_out(what, passed_over),
            Ended::Done => self.slot().meet_loss(),
            Ended::Cut | Ended::Interrupted => interrupted(),
        }
    }

    /// Sends one frame that nothing answers: what comes of it is the rest of the sample.
    pub(crate) async fn send_only(
        &mut self,
        mut outcome: Outcome,
        opcode: Opcode,
        payload: &[u8],
        write_timeout: Duration,
    ) -> Execution {
        let sent = self.send(&mut outcome, opcode, payload, &mut ReadOn, write_timeout).await;
        outcome.end = self.connections.now();
        let end = outcome.end;
        Execution::Row(match sent {
            Ok(()) => outcome,
            Err(failure) => outcome.failed(failure, end),
        })
    }

    /// Gets out of the way what could pass for an answer to what is sent next: what is in the socket
    /// already, and what comes while an older frame still waits for the kernel. A peer that sends
    /// without end is followed only as far as the socket can have held. Gives the present, from which
    /// on what comes may be an answer. Fails where the older frame does not go in time, or the
    /// connection is lost; then nothing is to be sent.
    pub(crate) async fn catch_up(&mut self, at_most: Duration) -> Result<Instant, Outcome> {
        let now = self.connections.now();
        let Some(connection) = &mut self.slot().connection else { return Ok(now) };
        if connection.is_flushed() && connection.is_caught_up(now) {
            return Ok(now);
        }
        // Rare, and its state would be part of every thread's.
        Box::pin(self.catch_up_slowly(now, at_most)).await
    }

    async fn catch_up_slowly(
        &mut self,
        now: Instant,
        at_most: Duration,
    ) -> Result<Instant, Outcome> {
        let deadline = now + at_most;
        let mut flushed = self.flush_older(&mut ReadOn, deadline).await;
        if flushed.is_ok() {
            self.read_up(deadline).await;
            flushed = self.flush_older(&mut ReadOn, deadline).await;
        }
        let end = self.connections.now();
        flushed.map(|()| end).map_err(|failure| {
            let outcome = self.outcome_at(now);
            self.slot().waits_no_more();
            outcome.failed(failure, end)
        })
    }

    async fn read_up(&mut self, deadline: Instant) {
        let Some(connection) = &self.slot().connection else { return };
        let enough = connection.traffic().received + connection.receive_buffer() as u64;
        let is_enough = |slot: &mut Slot<'_>, _: &mut ReadOn| {
            let caught_up = |one: &mut Connection| {
                one.traffic().received >= enough || one.is_caught_up(clock::now())
            };
            !slot.is_open() || slot.connection.as_deref_mut().is_some_and(caught_up)
        };
        let id = self.id;
        // A peer that sends faster than this reads is not waited for beyond the deadline.
        self.connections.wait(id, &mut ReadOn, deadline, AtEnd::Finish, is_enough).await;
    }

    /// Sends one frame and waits until the kernel has it, or says why that did not work. A frame
    /// that still waits there goes first, in the same time.
    pub(crate) fn send<'s, O: Observer>(
        &'s mut self,
        outcome: &'s mut Outcome,
        opcode: Opcode,
        payload: &'s [u8],
        observer: &'s mut O,
        write_timeout: Duration,
    ) -> Sending<'s> {
        let deadline = self.connections.recent() + write_timeout;
        if !self.slot().is_flushed() {
            return Sending::Waits(Box::pin(async move {
                self.flush_older(observer, deadline).await?;
                self.write(outcome, opcode, payload);
                if self.slot().is_flushed() { Ok(()) } else { self.flush(observer, deadline).await }
            }));
        }
        self.write(outcome, opcode, payload);
        if self.slot().is_flushed() {
            Sending::Sent
        } else {
            Sending::Waits(Box::pin(self.flush(observer, deadline)))
        }
    }

    /// Hands the kernel as much of a frame as it takes.
    fn write(&mut self, outcome: &mut Outcome, opcode: Opcode, payload: &[u8]) {
        let worker = &self.connections.worker;
        let mut scratch = std::mem::take(&mut *worker.write_buffer.borrow_mut());
        if let Some(connection) = &mut self.slot().connection {
            outcome.sent_bytes += connection.send(opcode, payload, &mut scratch) as u64;
        }
        self.connections.worker.write_buffer.replace(scratch);
    }

    /// Waits for a frame of an earlier sampler. Where that one has failed because it was not taken, this is
    /// no failure of its own: one cause, one error.
    async fn flush_older<O: Observer>(
        &mut self,
        observer: &mut O,
        deadline: Instant,
    ) -> Result<(), Failure> {
        let is_known = self.slot().write_timed_out;
        let flushed = self.flush(observer, deadline).await;
        flushed.map_err(|mut failure| {
            failure.is_skip = is_known && failure.code == Code::WriteTimeout;
            failure
        })
    }

    async fn flush<O: Observer>(
        &mut self,
        observer: &mut O,
        deadline: Instant,
    ) -> Result<(), Failure> {
        let ended = self.connections.wait_for_flush(self.id, observer, deadline).await;
        self.slot().write_timed_out = ended == Ended::TimedOut;
        match ended {
            Ended::Done if self.slot().is_open() => Ok(()),
            Ended::Done => Err(self.slot().meet_loss()),
            Ended::TimedOut => Err(Failure::plain(
                Code::WriteTimeout,
                "the frame was not handed to the kernel within `write_timeout`",
            )),
            Ended::Cut | Ended::Interrupted => Err(interrupted()),
        }
    }
}

/// A frame on its way to the kernel, which nearly always takes it at once. The rest is boxed: its state
/// would be part of every thread's.
pub(crate) enum Sending<'s> {
    Sent,
    Waits(Pin<Box<dyn Future<Output = Result<(), Failure>> + 's>>),
}

impl Future for Sending<'_> {
    type Output = Result<(), Failure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Sent => Poll::Ready(Ok(())),
            Self::Waits(rest) => rest.as_mut().poll(context),
        }
    }
}

/// The failure of a sampler that was at work when the time for finishing was over.
pub(crate) fn interrupted() -> Failure {
    Failure::plain(Code::Interrupted, "the run ended while the sampler was at work")
}

/// A wait needs an end; constants are checked when the plan is read.
pub(crate) fn nonzero(time: Duration, name: &str) -> Result<Duration, Failure> {
    if time.is_zero() {
        return Err(Failure::plain(
            Code::BadValue,
            &format!("`{name}` is zero; a wait needs an end"),
        ));
    }
    Ok(time)
}

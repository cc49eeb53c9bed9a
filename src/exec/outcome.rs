//! What a sampler found out, before its assertions.

use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::time::{Duration, Instant};

use http::StatusCode;

use crate::clock;
use crate::exec::assertion::one_line;
use crate::sample::{Code, DataType};
use crate::ws::{Message, MessageKind};

/// Why a sampler failed. A box: failures are rare, and the results of all that may fail are moved
/// about for every sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure(Box<Reason>);

/// What a [`Failure`] tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reason {
    pub(crate) code: Code,
    /// The row's `failureMessage`.
    pub(crate) text: String,
    /// The text without what differs from time to time: what groups equal causes.
    pub(crate) cause: String,
    /// Nothing was tried, because an earlier sampler failed: a skip and no failure of its own.
    pub(crate) is_skip: bool,
}

impl Failure {
    pub(crate) fn new(code: Code, text: impl Into<String>, cause: impl Into<String>) -> Self {
        Self(Box::new(Reason { code, text: text.into(), cause: cause.into(), is_skip: false }))
    }

    /// A variable that is needed was not extracted, because of a failure with this code.
    pub(crate) fn unmet(cause: Code, name: &str) -> Self {
        let text = format!("variable `{name}` was not extracted");
        let mut failure = Self::plain(cause, &text);
        failure.is_skip = true;
        failure
    }

    /// A failure whose text is always the same.
    pub(crate) fn plain(code: Code, text: &str) -> Self {
        Self::new(code, text, text)
    }
}

impl Deref for Failure {
    type Target = Reason;

    fn deref(&self) -> &Reason {
        &self.0
    }
}

impl DerefMut for Failure {
    fn deref_mut(&mut self) -> &mut Reason {
        &mut self.0
    }
}

/// What one execution of a sampler did. A box, whose memory goes to the next execution: there is one for
/// each sample, and on its way from the sampler to the row it passes through many hands.
#[derive(Debug)]
pub(crate) struct Outcome(Box<Facts>);

impl Deref for Outcome {
    type Target = Facts;

    fn deref(&self) -> &Facts {
        &self.0
    }
}

impl DerefMut for Outcome {
    fn deref_mut(&mut self) -> &mut Facts {
        &mut self.0
    }
}

/// What an [`Outcome`] tells.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) start: Instant,
    pub(crate) end: Instant,
    /// Time between the two that is not the server's.
    pub(crate) idle: Duration,
    /// Until connected, or until connecting failed.
    pub(crate) connect: Duration,
    /// When the first byte of the awaited message was read.
    pub(crate) first_byte: Option<Instant>,
    /// The row's code where nothing failed.
    pub(crate) code: Code,
    pub(crate) failure: Option<Failure>,
    /// Whether the failure is an assertion's.
    pub(crate) failed_assertion: bool,
    pub(crate) data_type: DataType,
    pub(crate) bytes: u64,
    pub(crate) sent_bytes: u64,
    /// The head of the answer to an upgrade request, for assertions and extractors.
    pub(crate) head: Option<Box<[u8]>>,
    /// What was received, for assertions.
    pub(crate) message: Option<Message>,
    /// Whether this was the first exchange on its connection.
    pub(crate) first_exchange: bool,
    /// Where the connection leads, without secrets.
    pub(crate) url: Option<Rc<str>>,
}

impl Outcome {
    /// A success that took no time yet.
    pub(crate) fn begun(start: Instant) -> Self {
        Self(Box::new(Facts::at(start)))
    }

    /// The same, in the memory of one that is over.
    pub(crate) fn begin_again(mut self, start: Instant) -> Self {
        *self.0 = Facts::at(start);
        self
    }

    /// Takes over an HTTP answer: its head, and what there is of its body as a message.
    pub(crate) fn answered(&mut self, head: Vec<u8>, body: Vec<u8>, arrived: Instant) {
        self.head = Some(head.into());
        let kind = match std::str::from_utf8(&body) {
            Ok(_) => MessageKind::Text,
            Err(_) => MessageKind::Binary,
        };
        let length = body.len() as u64;
        self.message = Some(Message::new(kind, body, length, arrived, arrived));
    }

    /// End minus start minus idle time.
    pub(crate) fn elapsed(&self) -> Duration {
        self.end.saturating_duration_since(self.start).saturating_sub(self.idle)
    }

    /// Until the first byte of the awaited message, if there was one; never beyond `elapsed`.
    pub(crate) fn latency(&self, elapsed: Duration) -> Duration {
        let Some(first) = self.first_byte else { return Duration::ZERO };
        first.saturating_duration_since(self.start).min(elapsed)
    }

    /// A failure before anything was begun.
    pub(crate) fn unstarted(failure: Failure) -> Self {
        let now = clock::now();
        Self::begun(now).failed(failure, now)
    }

    /// Fails with an assertion, if one did not hold. Its code stands only if it could not be judged;
    /// one that does not hold leaves the outcome's own.
    pub(crate) fn fail_assertion(&mut self, failure: Option<Failure>) {
        let Some(failure) = failure else { return };
        self.failed_assertion = failure.code == self.code;
        self.code = failure.code;
        self.failure = Some(failure);
    }

    /// The same, failed and noticed at `end`.
    pub(crate) fn failed(mut self, failure: Failure, end: Instant) -> Self {
        self.fail(failure);
        self.end = end;
        self
    }

    /// Fails when it ended anyway.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.code = failure.code;
        self.failure = Some(failure);
    }
}

impl Facts {
    fn at(start: Instant) -> Self {
        Self {
            start,
            end: start,
            idle: Duration::ZERO,
            connect: Duration::ZERO,
            first_byte: None,
            code: Code::OK,
            failure: None,
            failed_assertion: false,
            data_type: DataType::None,
            bytes: 0,
            sent_bytes: 0,
            head: None,
            message: None,
            first_exchange: false,
            url: None,
        }
    }
}

/// How the execution of a sampler ended.
#[derive(Debug)]
pub(crate) enum Execution {
    /// With a row.
    Row(Outcome),
    /// Without one: an earlier sampler failed with this cause.
    Skipped(Code),
    /// Without one: the run ended while it only waited.
    Cut,
    /// Without one: what it would have opened is open.
    Kept,
}

/// The failure text of an HTTP answer with this status line: why it is not what was wanted, if
/// anything is to be said about that, and how its body begins.
pub(crate) fn refused(line: &str, why: Option<&str>, body: &[u8]) -> String {
    let mut text = format!("the server answered `{line}`");
    if let Some(why) = why {
        text = format!("{text}; {why}");
    }
    let body = String::from_utf8_lossy(body);
    let words: Vec<&str> = body.split_whitespace().collect();
    let excerpt: String = words.join(" ").chars().filter(|c| !c.is_control()).collect();
    if !excerpt.is_empty() {
        text = format!("{text}: {excerpt}");
    }
    one_line(&text)
}

/// Whether a number is an HTTP status: those of close frames begin at 1000.
pub(crate) fn is_http(number: u16) -> bool {
    number < 1_000
}

/// The reason phrase that goes with a status (RFC 9110 15), whatever the server wrote.
fn reason_phrase(status: u16) -> &'static str {
    let known = StatusCode::from_u16(status).ok();
    known.and_then(|status| status.canonical_reason()).unwrap_or("Unknown status")
}

/// The row's `responseMessage`: one line of a fixed set.
pub(crate) fn message_of(code: Code, opening: bool) -> &'static str {
    match code {
        Code::SWITCHING_PROTOCOLS => "Switching Protocols",
        Code::OK if !opening => "OK",
        Code::Number(_) if opening => "Upgrade refused",
        Code::Number(status) if is_http(status) => reason_phrase(status),
        Code::Number(_) => "Connection closed",
        Code::Dns => "Name not resolved",
        Code::ConnectRefused => "Connection refused",
        Code::ConnectTimeout => "Connect timed out",
        Code::Tls => "TLS failed",
        Code::Upgrade => "Upgrade failed",
        Code::ReadTimeout => "Read timed out",
        Code::WriteTimeout => "Write timed out",
        Code::Disconnected => "Connection lost",
        Code::ProtocolError => "Protocol error",
        Code::TooLarge => "Message too large",
        Code::PingTimeout => "Ping timed out",
        Code::InboxFull => "Inbox full",
        Code::UnexpectedType => "Unexpected message type",
        Code::NoConnection => "No connection",
        Code::NoMessage => "No message",
        Code::BadMessage => "Bad message",
        Code::BadValue => "Bad value",
        Code::UndefinedVariable => "Undefined variable",
        Code::EmptyLoop => "Loop without samplers",
        Code::Interrupted => "Interrupted",
        Code::OutOfSync => "Out of sync",
        Code::NotExtracted => "Not extracted",
        // Rows of other tools bring their own.
        Code::Other => "Other",
    }
}

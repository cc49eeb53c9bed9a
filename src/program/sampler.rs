//! The six samplers, resolved.

use std::time::Duration;

use crate::program::{
    Assertion, BadValue, ByteSize, Extractor, Filter, Heartbeat, Matching, Pause, PushDelay,
    Setting, Template, VariableId,
};

/// One sampler: what all kinds share, and its kind.
#[derive(Debug)]
pub struct Sampler {
    /// The row's label.
    pub name: Template,
    /// The name of the connection it uses.
    pub connection: Template,
    /// Deadline of its wait, counted from the moment the request is written or the reader begins;
    /// never zero.
    pub read_timeout: Setting<Duration>,
    /// Deadline for handing its frame to the kernel; never zero.
    /// `None` means that of reading, which may be a template: evaluated once for both.
    pub write_timeout: Option<Setting<Duration>>,
    /// What a failure does.
    pub on_error: OnError,
    /// Outer scopes first; inherited ones that cannot apply to this kind are already left out.
    pub assertions: Vec<Assertion>,
    /// Outer scopes first, as with `assertions`; they see only samples that passed.
    pub extractors: Vec<Extractor>,
    /// The variables that assertions and extractors read: without them the sampler cannot be judged.
    pub needs: Vec<VariableId>,
    /// What it discards unseen, outer scopes first; empty for samplers that read nothing.
    pub filters: Vec<Filter>,
    /// Pauses before it, outer scopes first.
    pub timers: Vec<Pause>,
    /// What it does.
    pub kind: SamplerKind,
}

impl Sampler {
    /// How it knows the message that it waits for, if it waits for one.
    pub fn matching_mut(&mut self) -> Option<&mut Matching> {
        match &mut self.kind {
            SamplerKind::RequestResponse(request) => Some(&mut request.matching),
            SamplerKind::SingleRead(read) => Some(&mut read.matching),
            SamplerKind::Read(read) => Some(&mut read.matching),
            _ => None,
        }
    }
}

/// What a sampler does.
#[derive(Debug)]
pub enum SamplerKind {
    /// Connects and upgrades.
    Open(Box<Open>),
    /// Sends a message and waits for its reply.
    RequestResponse(RequestResponse),
    /// Sends a message.
    SingleWrite(SingleWrite),
    /// Waits for a message.
    SingleRead(SingleRead),
    /// Waits for many messages.
    Read(Box<Read>),
    /// Sends a ping and waits for its pong, or sends an unsolicited pong.
    PingPong(PingPong),
    /// Closes the connection (RFC 6455 7).
    Close(Close),
}

impl SamplerKind {
    /// The connection that it opens, if it opens one.
    pub fn opening(&self) -> Option<&Open> {
        match self {
            Self::Open(open) => Some(open),
            Self::RequestResponse(RequestResponse { connect, .. })
            | Self::SingleWrite(SingleWrite { connect, .. })
            | Self::SingleRead(SingleRead { connect, .. }) => connect.as_deref(),
            Self::Read(_) | Self::PingPong(_) | Self::Close(_) => None,
        }
    }

    /// What a reading sampler expects; `None` for the others.
    pub fn expect(&self) -> Option<&Setting<Expect>> {
        match self {
            Self::RequestResponse(request) => Some(&request.expect),
            Self::SingleRead(read) => Some(&read.expect),
            Self::Read(read) => Some(&read.expect),
            Self::Open(_) | Self::SingleWrite(_) | Self::PingPong(_) | Self::Close(_) => None,
        }
    }
}

impl SamplerKind {
    /// As the plan names it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Open(_) => "open",
            Self::RequestResponse(_) => "request_response",
            Self::SingleWrite(_) => "single_write",
            Self::SingleRead(_) => "single_read",
            Self::Read(_) => "read",
            Self::PingPong(_) => "ping_pong",
            Self::Close(_) => "close",
        }
    }
}

/// What a failed sampler does to its thread or the run, after its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// Nothing; what needs the failed part is skipped.
    Continue,
    /// The next iteration of the thread begins.
    NextIteration,
    /// The thread ends.
    StopThread,
    /// All threads end after their current sampler.
    StopTest,
    /// All threads end at once.
    StopTestNow,
}

/// `open`.
#[derive(Debug)]
pub struct Open {
    /// `ws://host[:port][/path][?query]`.
    pub url: Template,
    /// Replaces path and query of `url`.
    pub path: Option<Template>,
    /// Deadline for name lookup, TCP and upgrade together; never zero.
    pub connect_timeout: Setting<Duration>,
    /// Further request headers, in order.
    pub headers: Vec<Header>,
    /// The subprotocols that are offered, best first; see [`subprotocol`].
    pub subprotocols: Vec<Template>,
    /// A larger message fails the connection.
    pub max_message_size: Setting<ByteSize>,
    /// Bounds of what waits unread.
    pub inbox: InboxLimits,
    /// What becomes of pings and pongs.
    pub pings: Setting<Pings>,
    /// Whether pings are answered although they are delivered.
    pub answer_pings: Setting<bool>,
    /// What becomes of a message's fragments.
    pub fragments: Setting<Fragments>,
    /// What the connection does by itself to stay alive.
    pub heartbeat: Heartbeat,
    /// What happens to an open connection of that name.
    pub if_open: Setting<IfOpen>,
    /// Waits before attempts that follow failed ones; `None` for no waits.
    pub backoff: Option<Backoff>,
}

/// `if_open`: what an `open` does with an open connection of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfOpen {
    /// It is closed, and a new one opened.
    Replace,
    /// It stays, unless it is out of sync.
    Keep,
}

/// `backoff`: each wait is twice the one before.
#[derive(Debug, Clone)]
pub struct Backoff {
    /// The first wait; never zero.
    pub first: Setting<Duration>,
    /// The longest wait; never zero.
    pub max: Setting<Duration>,
}

/// `pings`: what becomes of pings, and of pongs that no `ping_pong` awaits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pings {
    /// Pings are answered, pongs dropped.
    Answer,
    /// All are dropped.
    Ignore,
    /// They are messages for reading samplers; pings are answered too, unless the plan says no.
    Deliver,
}

/// `fragments`: what becomes of a message that comes in several frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fragments {
    /// They are one message.
    Join,
    /// Each is a message of its own, of the type of the first.
    Deliver,
}

/// Whether the text can name a subprotocol: a token (RFC 6455 4.1, RFC 9110 5.6.2).
pub fn subprotocol(name: &str) -> Result<(), BadValue> {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() {
        return Err(BadValue::new("a subprotocol cannot be empty"));
    }
    if name.chars().all(is_token) {
        return Ok(());
    }
    let bad = BadValue::new(format!("`{name}` is not a subprotocol"));
    Err(bad.with_help("names are letters, digits and `-._`; write several as a list: `[a, b]`"))
}

/// One header of the upgrade request.
#[derive(Debug, Clone)]
pub struct Header {
    /// A valid header name (RFC 9110 5.1), none of those the handshake sets itself.
    pub name: String,
    /// Its value.
    pub value: Template,
}

/// `inbox`: what a connection keeps for later readers.
#[derive(Debug)]
pub struct InboxLimits {
    /// Messages, at least 1.
    pub messages: Setting<u32>,
    /// Payload bytes; one message is always kept.
    pub bytes: Setting<ByteSize>,
    /// What happens beyond.
    pub when_full: Setting<WhenFull>,
}

/// What a full inbox does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// The oldest messages go, counted.
    DropOldest,
    /// The socket is not read, except while a sampler waits on the connection.
    Wait,
    /// The connection is lost.
    Fail,
}

/// `request_response`.
#[derive(Debug)]
pub struct RequestResponse {
    /// What is sent.
    pub payload: Payload,
    /// What the reply must be.
    pub expect: Setting<Expect>,
    /// Which message is the reply.
    pub matching: Matching,
    /// What it opens first, for itself; `None` to use the connection that is open.
    pub connect: Option<Box<Open>>,
}

/// `single_write`.
#[derive(Debug)]
pub struct SingleWrite {
    /// What is sent.
    pub payload: Payload,
    /// What it opens first, for itself; `None` to use the connection that is open.
    pub connect: Option<Box<Open>>,
}

/// `single_read`.
#[derive(Debug)]
pub struct SingleRead {
    /// What the message must be; never [`Expect::Same`] when fixed.
    pub expect: Setting<Expect>,
    /// Whether nothing is fine too.
    pub optional: Setting<bool>,
    /// Measures how old the message is instead of how long it was waited for.
    pub push_delay: Option<PushDelay>,
    /// Which message is read.
    pub matching: Matching,
    /// What it opens first, for itself; `None` to use the connection that is open.
    pub connect: Option<Box<Open>>,
}

/// `read`: ends with `count` messages, or with one that fits `until`; without either, after `time`.
#[derive(Debug)]
pub struct Read {
    /// Its end, or the deadline where there is another end; `None` for that of `read_timeout`.
    pub time: Option<Setting<Duration>>,
    /// How many messages are enough, at least 1.
    pub count: Option<Setting<u64>>,
    /// What the last message is like, if there is anything here: all of these hold.
    pub until: Vec<Assertion>,
    /// What each message must be; never [`Expect::Same`] when fixed.
    pub expect: Setting<Expect>,
    /// Whether nothing is fine too.
    pub optional: Setting<bool>,
    /// Which messages are read.
    pub matching: Matching,
}

/// `ping_pong`.
#[derive(Debug)]
pub struct PingPong {
    /// At most 125 bytes (RFC 6455 5.5); unique for each ping where the plan gives none.
    pub payload: Option<Template>,
    /// Whether a pong is awaited.
    pub kind: Setting<PingKind>,
}

/// `kind` of `ping_pong`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PingKind {
    /// Sends a ping, waits for the pong with the same payload.
    PingPong,
    /// Sends a pong, waits for nothing.
    Pong,
}

/// `close`.
#[derive(Debug)]
pub struct Close {
    /// The status sent.
    pub status: Setting<u16>,
    /// The reason sent, at most 123 bytes.
    pub reason: Template,
    /// Which answers pass; empty for the default: 1000, 1001, the one sent, or none.
    pub expect_status: Vec<Setting<u16>>,
}

/// The type a received message must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// The type that was sent.
    Same,
    /// A text message.
    Text,
    /// A binary message.
    Binary,
    /// Either.
    Any,
    /// The peer's close, whatever comes before it.
    Close,
    /// A ping, where the connection delivers them.
    Ping,
    /// A pong that no `ping_pong` awaits, where the connection delivers them.
    Pong,
}

/// What a sampler sends.
#[derive(Debug)]
pub enum Payload {
    /// The same text at each execution.
    FixedText(String),
    /// The same bytes at each execution, as a binary message.
    FixedBinary(Vec<u8>),
    /// `send` with `${…}`.
    Text(Template),
    /// `send_json` with `${…}`: a text message.
    Json(Vec<crate::program::JsonPart>),
    /// `send_hex` with `${…}`: a binary message.
    Hex(Template),
    /// `send_base64` with `${…}`: a binary message.
    Base64(Template),
    /// `send_random`: a binary message, at most [`MAX_RANDOM`] long.
    Random(Setting<ByteSize>),
}

/// The longest message that `send_random` makes.
pub const MAX_RANDOM: ByteSize = ByteSize(64 << 20);

impl Payload {
    /// Whether it is a text message; else a binary one.
    pub fn is_text(&self) -> bool {
        match self {
            Self::FixedText(_) | Self::Text(_) | Self::Json(_) => true,
            Self::FixedBinary(_) | Self::Hex(_) | Self::Base64(_) | Self::Random(_) => false,
        }
    }
}

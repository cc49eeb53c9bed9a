//! The six samplers, as written.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::assertion::Check;
use crate::plan::extractor::Extractor;
use crate::plan::heartbeat::Heartbeat;
use crate::plan::json::Json;
use crate::plan::setting::{
    Count, Entries, Flag, List, Removable, Setting, Size, Text, TextOr, Time, Word, given,
};
use crate::plan::timer::Pause;

/// What all samplers share, borrowed from one of them.
#[derive(Debug, Clone, Copy)]
pub struct Common<'a> {
    /// `name`
    pub name: Option<&'a Setting<Text>>,
    /// `connection`
    pub connection: Option<&'a Setting<Text>>,
    /// `read_timeout`
    pub read_timeout: Option<&'a Setting<Time>>,
    /// `write_timeout`
    pub write_timeout: Option<&'a Setting<Time>>,
    /// `on_error`
    pub on_error: Option<&'a Setting<Word>>,
    /// `assert`
    pub assert: &'a [Check],
    /// `extract`
    pub extract: &'a [Extractor],
    /// `filters`
    pub filters: &'a [Check],
    /// `timers`
    pub timers: &'a [TextOr<Pause>],
    /// `enabled`
    pub enabled: Option<&'a Setting<Flag>>,
}

/// Adds the settings that all samplers share. They are repeated in each type because
/// `serde(flatten)` would lose the check for unknown keys.
macro_rules! samplers {
    ($(
        $(#[$doc:meta])*
        $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The row's label; the kind of the step where there is none.
            #[serde(default, deserialize_with = "given")]
            pub name: Option<Setting<Text>>,
            /// The name of the connection, `main` where there is none.
            #[serde(default, deserialize_with = "given")]
            pub connection: Option<Setting<Text>>,
            $(
                $(#[$field_doc])*
                #[serde(default, deserialize_with = "given")]
                pub $field: Option<$type>,
            )*
            /// How long an answer may take, from the moment the request is written.
            #[serde(default, deserialize_with = "given")]
            pub read_timeout: Option<Setting<Time>>,
            /// How long the kernel may take to accept the frame.
            #[serde(default, deserialize_with = "given")]
            pub write_timeout: Option<Setting<Time>>,
            /// What must hold for the sample to pass.
            #[serde(default)]
            pub assert: List<Check>,
            /// What a passed sample gives to variables.
            #[serde(default)]
            pub extract: List<Extractor>,
            /// Messages that a reading sampler discards.
            #[serde(default)]
            pub filters: List<Check>,
            /// Pauses before it, after those of the scopes around; one after the other, outside its
            /// time.
            #[serde(default)]
            pub timers: List<TextOr<Pause>>,
            /// `false` leaves the step out.
            #[serde(default, deserialize_with = "given")]
            pub enabled: Option<Setting<Flag>>,
            /// What a failure does.
            #[serde(default, deserialize_with = "given")]
            pub on_error: Option<Setting<Word>>,
        }

        impl $name {
            /// The settings that all samplers share.
            pub fn common(&self) -> Common<'_> {
                Common {
                    name: self.name.as_ref(),
                    connection: self.connection.as_ref(),
                    read_timeout: self.read_timeout.as_ref(),
                    write_timeout: self.write_timeout.as_ref(),
                    on_error: self.on_error.as_ref(),
                    assert: &self.assert.0,
                    extract: &self.extract.0,
                    filters: &self.filters.0,
                    timers: &self.timers.0,
                    enabled: self.enabled.as_ref(),
                }
            }
        }
    )*};
}

samplers! {
    /// Connects and upgrades.
    Open {
        /// The address of the server: `ws://host[:port][/path][?query]`.
        url: Setting<Text>,
        /// Path and query of the address; they replace those of `url`.
        path: Setting<Text>,
        /// How long name lookup, TCP and upgrade may take together.
        connect_timeout: Setting<Time>,
        /// Further headers of the upgrade request.
        headers: Entries<Removable<Setting<Text>>>,
        /// The subprotocols to offer, best first. A server that chooses another one fails the sample.
        subprotocols: List<Setting<Text>>,
        /// A larger message fails the connection.
        max_message_size: Setting<Size>,
        /// What is kept for later readers.
        inbox: Inbox,
        /// What becomes of pings, and of pongs that no `ping_pong` awaits: `answer` answers pings,
        /// `ignore` answers none, `deliver` makes all of them messages for reading samplers too.
        pings: Setting<Word>,
        /// With `pings: deliver`: whether pings are answered all the same.
        answer_pings: Setting<Flag>,
        /// What becomes of a message in several frames: `join` makes them one message, with
        /// `deliver` each is a message of its own, and `${websocket.last_frame_final}` tells after
        /// each reading sampler whether it was the last one.
        fragments: Setting<Word>,
        /// What the connection does by itself while its thread waits, without rows.
        heartbeat: Heartbeat,
        /// What happens if the connection is open already: `replace` closes it and opens a new one,
        /// `keep` leaves it alone, without a row, unless late replies have left it out of sync.
        if_open: Setting<Word>,
        /// How long to wait before an attempt that follows a failed one.
        backoff: Backoff,
    }

    /// Sends a message and waits for its reply.
    RequestResponse {
        /// The text message to send.
        send: Setting<Text>,
        /// A map or list, which is sent as JSON in a text message.
        send_json: Json,
        /// The binary message to send, in hexadecimal: `ca fe`.
        send_hex: Setting<Text>,
        /// The binary message to send, in Base64 (RFC 4648 4).
        send_base64: Setting<Text>,
        /// The file to send, relative to the file in which this stands; read once, before the run.
        send_file: TextOr<SendFile>,
        /// A binary message of so many random bytes, new ones at each execution.
        send_random: Setting<Size>,
        /// Whether the text ends with a NUL, as STOMP frames do.
        stomp: Setting<Flag>,
        /// The type of the reply: `same`, `text`, `binary` or `any`; or `close`, if the server is to
        /// close the connection; or `ping` or `pong`, which need `pings: deliver`.
        expect: Setting<Word>,
        /// What the reply is like, so that it is told from other messages: all of these hold.
        reply: List<Check>,
        /// The reply holds the same value as the request: a JSONPath for both, or settings.
        correlate: TextOr<Correlate>,
        /// What happens after a request went unanswered, where its late reply could pass for the one
        /// that is awaited: later samplers are skipped, the late reply is discarded, or accepted.
        late_replies: Setting<Word>,
        /// What becomes of messages that are not the reply: `keep` them for later readers, or `drop`
        /// them.
        unmatched: Setting<Word>,
        /// Which connection is used: `reuse` takes the one that is open, `new` opens one first, in
        /// the same row; settings of an `open` mean `new`.
        connect: TextOr<Connect>,
    }

    /// Sends a message.
    SingleWrite {
        /// The text message to send.
        send: Setting<Text>,
        /// A map or list, which is sent as JSON in a text message.
        send_json: Json,
        /// The binary message to send, in hexadecimal: `ca fe`.
        send_hex: Setting<Text>,
        /// The binary message to send, in Base64 (RFC 4648 4).
        send_base64: Setting<Text>,
        /// The file to send, relative to the file in which this stands; read once, before the run.
        send_file: TextOr<SendFile>,
        /// A binary message of so many random bytes, new ones at each execution.
        send_random: Setting<Size>,
        /// Whether the text ends with a NUL, as STOMP frames do.
        stomp: Setting<Flag>,
        /// Which connection is used: `reuse` takes the one that is open, `new` opens one first, in
        /// the same row; settings of an `open` mean `new`.
        connect: TextOr<Connect>,
    }

    /// Waits for a message.
    SingleRead {
        /// The type of the message: `text`, `binary` or `any`; or `close`, for which other messages
        /// are passed over and which may have come before; or `ping` or `pong`, which need
        /// `pings: deliver`.
        expect: Setting<Word>,
        /// Whether it is fine if none arrives.
        optional: Setting<Flag>,
        /// Measures how old the message is, by the time that the server wrote into it, instead of how
        /// long it was waited for.
        push_delay: PushDelay,
        /// What the message is like; others are passed over.
        reply: List<Check>,
        /// What happens after a request went unanswered, where its late reply could pass for this
        /// message.
        late_replies: Setting<Word>,
        /// What becomes of messages that are passed over.
        unmatched: Setting<Word>,
        /// Which connection is used: `reuse` takes the one that is open, `new` opens one first, in
        /// the same row; settings of an `open` mean `new`.
        connect: TextOr<Connect>,
    }

    /// Reads many messages into one row: for a time, or until there are enough, or until one fits.
    Read {
        /// How long to read; the sample passes when this time is over.
        r#for: Setting<Time>,
        /// How many messages to read, at most so long as `read_timeout` or `for`.
        count: Setting<Count>,
        /// What the last message is like: all of these hold.
        until: List<Check>,
        /// The type of every message: `text`, `binary` or `any`.
        expect: Setting<Word>,
        /// Whether it is fine if none arrives.
        optional: Setting<Flag>,
        /// What the messages are like; others are passed over.
        reply: List<Check>,
        /// What happens after a request went unanswered, where its late reply could pass for one of
        /// these messages.
        late_replies: Setting<Word>,
        /// What becomes of messages that are passed over.
        unmatched: Setting<Word>,
    }

    /// Sends a ping and waits for its pong.
    PingPong {
        /// What the ping carries, at most 125 bytes. After a time-out, pings with the same payload
        /// are skipped until the connection is opened anew: their pong could be the late one.
        payload: Setting<Text>,
        /// What is sent: `ping_pong` waits for the answer, `pong` is a pong that nobody asked for.
        kind: Setting<Word>,
    }

    /// Closes the connection.
    Close {
        /// The status to send.
        status: Setting<Count>,
        /// The reason to send, at most 123 bytes.
        reason: Setting<Text>,
        /// The statuses of the peer's answer that pass.
        expect_status: List<Setting<Count>>,
    }
}

/// `backoff`: the first wait, and the longest; each is twice the one before, and an attempt that
/// succeeds ends them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Backoff {
    /// The wait after the first attempt that failed.
    #[serde(default, deserialize_with = "given")]
    pub first: Option<Setting<Time>>,
    /// The longest wait.
    #[serde(default, deserialize_with = "given")]
    pub max: Option<Setting<Time>>,
}

/// `connect`: settings of the connection that a sampler opens for itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Connect {
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub url: Option<Setting<Text>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub path: Option<Setting<Text>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub connect_timeout: Option<Setting<Time>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub headers: Option<Entries<Removable<Setting<Text>>>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub subprotocols: Option<List<Setting<Text>>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub max_message_size: Option<Setting<Size>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub inbox: Option<Inbox>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub pings: Option<Setting<Word>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub answer_pings: Option<Setting<Flag>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub fragments: Option<Setting<Word>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub heartbeat: Option<Heartbeat>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub backoff: Option<Backoff>,
}

/// `send_file`: the file and what it holds.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendFile {
    /// The file, relative to the file in which this stands.
    #[serde(default, deserialize_with = "given")]
    pub path: Option<Setting<Text>>,
    /// The type of the message: `text` or `binary`.
    #[serde(default, rename = "type", deserialize_with = "given")]
    pub kind: Option<Setting<Word>>,
    /// Whether `${…}` in the file is evaluated at each execution.
    #[serde(default, deserialize_with = "given")]
    pub template: Option<Setting<Flag>>,
}

/// `push_delay`: where the message tells when it was sent, by a path or a pattern.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PushDelay {
    /// A JSONPath (RFC 9535) to the time in the message.
    #[serde(default, deserialize_with = "given")]
    pub sent_at: Option<Setting<Text>>,
    /// A regular expression, instead of `sent_at`: its first group is the time, or all of it.
    #[serde(default, deserialize_with = "given")]
    pub regex: Option<Setting<Text>>,
    /// How the time is written: `s`, `ms`, `us` or `ns` since 1970, or `rfc3339`.
    #[serde(default, deserialize_with = "given")]
    pub unit: Option<Setting<Word>>,
    /// An older message fails the sample.
    #[serde(default, deserialize_with = "given")]
    pub at_most: Option<Setting<Time>>,
}

/// `correlate`: where the value stands that a request and its reply have in common; in JSON, or by a
/// regular expression.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Correlate {
    /// A JSONPath (RFC 9535) into the request.
    #[serde(default, deserialize_with = "given")]
    pub request: Option<Setting<Text>>,
    /// A JSONPath into the reply, where it is another than that of the request.
    #[serde(default, deserialize_with = "given")]
    pub reply: Option<Setting<Text>>,
    /// A regular expression for both: what its first group matches, or all of it.
    #[serde(default, deserialize_with = "given")]
    pub regex: Option<Setting<Text>>,
}

/// `inbox`: bounds of what a connection keeps for later readers.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Inbox {
    /// How many messages are kept.
    #[serde(default, deserialize_with = "given")]
    pub messages: Option<Removable<Setting<Count>>>,
    /// How many bytes all messages kept may have together.
    #[serde(default, deserialize_with = "given")]
    pub bytes: Option<Removable<Setting<Size>>>,
    /// What a full inbox does: it drops the oldest message, no longer reads, or fails the connection.
    #[serde(default, deserialize_with = "given")]
    pub when_full: Option<Removable<Setting<Word>>>,
}

/// `defaults`: settings of the samplers within the scope that has it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub url: Option<Setting<Text>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub path: Option<Setting<Text>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub connect_timeout: Option<Setting<Time>>,
    /// See [`Open`]; merges with the outer scope's.
    #[serde(default, deserialize_with = "given")]
    pub headers: Option<Entries<Removable<Setting<Text>>>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub subprotocols: Option<List<Setting<Text>>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub max_message_size: Option<Setting<Size>>,
    /// See [`Open`]; merges with the outer scope's.
    #[serde(default, deserialize_with = "given")]
    pub inbox: Option<Inbox>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub pings: Option<Setting<Word>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub answer_pings: Option<Setting<Flag>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub fragments: Option<Setting<Word>>,
    /// See [`Open`]; merges with the outer scope's.
    #[serde(default, deserialize_with = "given")]
    pub heartbeat: Option<Heartbeat>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub if_open: Option<Setting<Word>>,
    /// See [`Open`].
    #[serde(default, deserialize_with = "given")]
    pub backoff: Option<Backoff>,
    /// See [`RequestResponse`], [`SingleWrite`] and [`SingleRead`].
    #[serde(default, deserialize_with = "given")]
    pub connect: Option<TextOr<Connect>>,
    /// The name of the connection of all samplers.
    #[serde(default, deserialize_with = "given")]
    pub connection: Option<Setting<Text>>,
    /// Of all samplers.
    #[serde(default, deserialize_with = "given")]
    pub read_timeout: Option<Setting<Time>>,
    /// Of all samplers.
    #[serde(default, deserialize_with = "given")]
    pub write_timeout: Option<Setting<Time>>,
    /// See [`RequestResponse`] and [`SingleRead`].
    #[serde(default, deserialize_with = "given")]
    pub expect: Option<Setting<Word>>,
    /// See [`SingleRead`].
    #[serde(default, deserialize_with = "given")]
    pub optional: Option<Setting<Flag>>,
    /// See [`RequestResponse`] and [`SingleRead`].
    #[serde(default, deserialize_with = "given")]
    pub reply: Option<List<Check>>,
    /// See [`RequestResponse`].
    #[serde(default, deserialize_with = "given")]
    pub correlate: Option<TextOr<Correlate>>,
    /// See [`RequestResponse`] and [`SingleRead`].
    #[serde(default, deserialize_with = "given")]
    pub late_replies: Option<Setting<Word>>,
    /// See [`RequestResponse`] and [`SingleRead`].
    #[serde(default, deserialize_with = "given")]
    pub unmatched: Option<Setting<Word>>,
    /// See [`SingleRead`].
    #[serde(default, deserialize_with = "given")]
    pub push_delay: Option<PushDelay>,
    /// See [`PingPong`].
    #[serde(default, deserialize_with = "given")]
    pub payload: Option<Setting<Text>>,
    /// See [`PingPong`].
    #[serde(default, deserialize_with = "given")]
    pub kind: Option<Setting<Word>>,
    /// See [`Close`].
    #[serde(default, deserialize_with = "given")]
    pub status: Option<Setting<Count>>,
    /// See [`Close`].
    #[serde(default, deserialize_with = "given")]
    pub reason: Option<Setting<Text>>,
    /// See [`Close`].
    #[serde(default, deserialize_with = "given")]
    pub expect_status: Option<List<Setting<Count>>>,
    /// Adds up with the outer scope's; reaches the samplers that it can apply to.
    #[serde(default)]
    pub assert: List<Check>,
    /// Adds up as `assert` does.
    #[serde(default)]
    pub extract: List<Extractor>,
    /// Messages that the reading samplers below discard.
    #[serde(default)]
    pub filters: List<Check>,
    /// Adds up as `assert` does.
    #[serde(default)]
    pub timers: List<TextOr<Pause>>,
    /// Of all samplers.
    #[serde(default, deserialize_with = "given")]
    pub on_error: Option<Setting<Word>>,
}

//! What a trial run tells beside rows and notes: each step, frame and judgement as it happens.

/// One event of a trial run, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trace {
    /// A thread begins.
    Thread {
        /// Its name.
        name: String,
    },
    /// A sampler begins; what follows up to its row, skip or cut is what it did.
    Step {
        /// Its kind, as the plan names it.
        kind: &'static str,
        /// Its label.
        label: String,
    },
    /// The thread pauses.
    Pause {
        /// For so long, or why not.
        text: String,
    },
    /// An upgrade request, or what the server answered: its head and the beginning of its body.
    Head {
        /// Whether it was sent.
        sent: bool,
        /// All of it, in bytes.
        size: u64,
        /// As it went over the wire, cut.
        text: String,
    },
    /// A frame.
    Frame {
        /// The connection's name.
        connection: String,
        /// Whether it was sent.
        sent: bool,
        /// `text`, `binary`, `continuation`, `ping`, `pong` or `close`.
        kind: &'static str,
        /// Whether it ends its message.
        last: bool,
        /// Its payload, in bytes.
        size: u64,
        /// Whether all of the payload is shown.
        whole: bool,
        /// The beginning of the payload, or what a close frame says.
        payload: Payload,
    },
    /// What became of the message that was received last.
    Fate(String),
    /// An assertion.
    Check {
        /// As written.
        source: String,
        /// What was expected and found, where it does not hold.
        failure: Option<String>,
        /// The value it looked at, if that can be told.
        found: Option<String>,
    },
    /// What an extractor or `set` did to a variable.
    Variable {
        /// Its name.
        name: String,
        /// Its value, if it has one.
        value: Option<String>,
    },
}

/// The beginning of a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// Text, with control characters as they came.
    Text(String),
    /// Bytes that are no text.
    Binary(Vec<u8>),
}

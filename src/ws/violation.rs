//! The ways in which a peer can break RFC 6455, and what it is told.

/// A rule that the peer broke. The text names the rule; it ends up in a row's `failureMessage`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Violation {
    /// RFC 6455 5.1: a server must not mask.
    #[error("a frame from the server is masked (RFC 6455 5.1)")]
    Masked,
    /// RFC 6455 5.1: a client must mask.
    #[error("a frame from the client is not masked (RFC 6455 5.1)")]
    NotMasked,
    /// RFC 6455 5.2: no extension that defines them was negotiated.
    #[error("a reserved bit (RSV) is set and no extension was negotiated (RFC 6455 5.2)")]
    ReservedBits,
    /// RFC 6455 5.2.
    #[error("reserved opcode {0} (RFC 6455 5.2)")]
    ReservedOpcode(u8),
    /// RFC 6455 5.2: the shortest form is a must, and the top bit of the long form is zero.
    #[error("a payload length is not in its shortest form (RFC 6455 5.2)")]
    BadLength,
    /// RFC 6455 5.5.
    #[error("a control frame is longer than 125 bytes (RFC 6455 5.5)")]
    LongControl,
    /// RFC 6455 5.5.
    #[error("a control frame is fragmented (RFC 6455 5.5)")]
    FragmentedControl,
    /// RFC 6455 5.4.
    #[error("a continuation frame without a message to continue (RFC 6455 5.4)")]
    StrayContinuation,
    /// RFC 6455 5.4.
    #[error("a new message before the fragmented one was finished (RFC 6455 5.4)")]
    UnfinishedMessage,
    /// RFC 6455 8.1.
    #[error("a text message is not UTF-8 (RFC 6455 8.1)")]
    TextNotUtf8,
    /// RFC 6455 5.5.1 and 8.1.
    #[error("a close reason is not UTF-8 (RFC 6455 5.5.1)")]
    ReasonNotUtf8,
    /// RFC 6455 5.5.1.
    #[error("a close frame has a payload of one byte (RFC 6455 5.5.1)")]
    ShortClose,
    /// RFC 6455 7.4.
    #[error("close code {0} must not be sent (RFC 6455 7.4)")]
    BadCloseCode(u16),
    /// A limit of our own.
    #[error("a message is larger than `max_message_size`, {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
}

impl Violation {
    /// The status that the peer is told (RFC 6455 7.4.1).
    pub fn close_code(self) -> u16 {
        match self {
            Self::TextNotUtf8 | Self::ReasonNotUtf8 => 1007,
            Self::TooLarge { .. } => 1009,
            _ => 1002,
        }
    }
}

//! Response codes: numbers where HTTP or RFC 6455 has one, words of our own elsewhere.

use std::fmt;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)*) => {
        /// The JTL's `responseCode`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            /// An HTTP status, a close code of RFC 6455 7.4, or 200 for a success on an open
            /// connection.
            Number(u16),
            $($(#[$doc])* $variant,)*
        }

        impl fmt::Display for Code {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Number(number) => number.fmt(f),
                    $(Self::$variant => f.write_str($text),)*
                }
            }
        }

        impl Code {
            /// The code that a JTL has as `text`; [`Code::Other`] for what is not one of ours.
            pub fn from_text(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)*
                    _ => text.parse().map_or(Self::Other, Self::Number),
                }
            }
        }
    };
}

codes! {
    /// The name could not be resolved.
    Dns = "DNS",
    /// No address accepted the connection.
    ConnectRefused = "CONNECT_REFUSED",
    /// Connecting or the upgrade took longer than `connect_timeout`.
    ConnectTimeout = "CONNECT_TIMEOUT",
    /// The TLS handshake failed, or was not complete within `connect_timeout`.
    Tls = "TLS",
    /// The answer to the upgrade request was not what RFC 6455 4.1 demands.
    Upgrade = "UPGRADE",
    /// Nothing that fits arrived within `read_timeout`.
    ReadTimeout = "READ_TIMEOUT",
    /// The kernel did not take the frame within `write_timeout`.
    WriteTimeout = "WRITE_TIMEOUT",
    /// The peer closed or reset TCP without a close frame.
    Disconnected = "DISCONNECTED",
    /// The peer broke RFC 6455.
    ProtocolError = "PROTOCOL_ERROR",
    /// A message was larger than `max_message_size`.
    TooLarge = "TOO_LARGE",
    /// The peer did not answer a heartbeat's ping in time.
    PingTimeout = "PING_TIMEOUT",
    /// The inbox was full and `when_full` is `fail`.
    InboxFull = "INBOX_FULL",
    /// The message had another type than `expect` allows.
    UnexpectedType = "UNEXPECTED_TYPE",
    /// The connection was never opened, or was closed by a `close` step.
    NoConnection = "NO_CONNECTION",
    /// An optional read found nothing: a success.
    NoMessage = "NO_MESSAGE",
    /// A message did not hold what it should tell.
    BadMessage = "BAD_MESSAGE",
    /// A template gave a value of the wrong type.
    BadValue = "BAD_VALUE",
    /// A variable had no value.
    UndefinedVariable = "UNDEFINED_VARIABLE",
    /// A loop reached no sampler and waited for nothing, pass after pass.
    EmptyLoop = "EMPTY_LOOP",
    /// The run was ended while the sampler was at work.
    Interrupted = "INTERRUPTED",
    /// Only a cause of skipping: an unanswered request makes later replies ambiguous.
    OutOfSync = "OUT_OF_SYNC",
    /// Only a cause of skipping: an earlier sampler passed without a value for a variable.
    NotExtracted = "NOT_EXTRACTED",
    /// Only of rows that another tool wrote: a text that is none of these.
    Other = "OTHER",
}

impl Code {
    /// The code of an accepted upgrade.
    pub const SWITCHING_PROTOCOLS: Self = Self::Number(101);
    /// The code of a success on an open connection.
    pub const OK: Self = Self::Number(200);

    /// Whether JMeter's dashboard shows the failure message of such a row: it does so only for
    /// codes from 200 to 399 and shows code and response message for the others.
    pub fn dashboard_shows_failure_message(self) -> bool {
        matches!(self, Self::Number(200..=399))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_read_as_in_the_jtl() {
        assert_eq!(Code::Number(1001).to_string(), "1001");
        assert_eq!(Code::ReadTimeout.to_string(), "READ_TIMEOUT");
    }

    #[test]
    fn codes_are_read_back() {
        for code in [Code::Number(1001), Code::ReadTimeout, Code::Other] {
            assert_eq!(Code::from_text(&code.to_string()), code);
        }
        let java = "Non HTTP response code: java.net.ConnectException";
        assert_eq!(Code::from_text(java), Code::Other);
    }

    #[test]
    fn the_dashboard_hides_failure_messages_of_101_and_of_words() {
        assert!(Code::OK.dashboard_shows_failure_message());
        assert!(!Code::SWITCHING_PROTOCOLS.dashboard_shows_failure_message());
        assert!(!Code::ReadTimeout.dashboard_shows_failure_message());
    }
}

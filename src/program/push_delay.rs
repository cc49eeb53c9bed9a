//! `push_delay`: how old a message is when it arrives.

use std::time::Duration;

use regex::Regex;

use crate::program::{JsonPath, Setting};

/// Where a message tells when it was sent, and how old it may be.
#[derive(Debug, Clone)]
pub struct PushDelay {
    /// Where it tells.
    pub sent_at: SentAt,
    /// How the time is written.
    pub unit: Setting<TimeUnit>,
    /// An older message fails.
    pub at_most: Option<Setting<Duration>>,
}

/// Where a message tells when it was sent.
#[derive(Debug, Clone)]
pub enum SentAt {
    /// The first value of a path into JSON.
    Json(JsonPath),
    /// The first group of a pattern, or all that it matches.
    Regex(Regex),
}

/// How a moment is written: a number of these since 1970, or text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds, with or without a fraction.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
    /// `2026-01-31T12:00:00.123Z` (RFC 3339).
    Rfc3339,
}

impl TimeUnit {
    /// As a plan has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
            Self::Rfc3339 => "rfc3339",
        }
    }
}

//! Values that are either known before the run or given by a template at each execution, and how
//! their text is read. The compiler and the engine share these rules, so that a constant and the
//! same text from a variable mean the same.

use std::time::Duration;

use crate::program::{
    Expect, LateReplies, MessageType, PingKind, Share, Template, TimeUnit, Times, Unmatched,
};

/// A value of a step: fixed, or text with `${…}` that is evaluated at each execution.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting<T> {
    /// Known before the run.
    Fixed(T),
    /// Evaluated, then read by [`FromText`].
    Template(Template),
}

/// Text that does not read as the wanted type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct BadValue {
    /// What is wrong and with which value; lower case, no full stop.
    pub what: String,
    /// How to mend it.
    pub help: Option<String>,
}

impl BadValue {
    /// An error without advice.
    pub fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), help: None }
    }

    /// Adds advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Reads a value from the text of a plan's scalar or of an evaluated template.
pub trait FromText: Sized {
    /// Fails with a text for the user when `text` is not such a value.
    fn from_text(text: &str) -> Result<Self, BadValue>;
}

/// A number of bytes, written `16MiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

const TIME_UNITS: [(&str, u64); 5] = [
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Far beyond any run, and no sum of a few such durations overflows a clock.
const LONGEST: Duration = Duration::from_hours(100 * 8_766);

/// `250us`, `250ms`, `2s`, `1m30s`, `1.5h`; `0` alone is zero, any other bare number is refused.
impl FromText for Duration {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        if text == "0" {
            return Ok(Self::ZERO);
        }
        if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return Err(BadValue::new(format!("`{text}` has no unit"))
                .with_help(format!("write `{text}ms` or `{text}s`")));
        }
        let bad = || {
            BadValue::new(format!("`{text}` is not a duration"))
                .with_help("write a number and a unit: `250us`, `250ms`, `2s`, `1m30s`, `1.5h`")
        };
        let mut rest = text;
        let mut total = Self::ZERO;
        while !rest.is_empty() {
            let digits = rest
                .find(|c: char| !c.is_ascii_digit() && c != '.')
                .filter(|&digits| digits > 0)
                .ok_or_else(bad)?;
            let number: f64 = rest[..digits].parse().map_err(|_| bad())?;
            rest = &rest[digits..];
            let letters = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
            let (_, nanoseconds) = TIME_UNITS
                .into_iter()
                .find(|(unit, _)| *unit == &rest[..letters])
                .ok_or_else(bad)?;
            rest = &rest[letters..];
            #[expect(clippy::cast_precision_loss, reason = "the units are exact as f64")]
            let seconds = number * (nanoseconds as f64 / 1e9);
            let part = Self::try_from_secs_f64(seconds).map_err(|_| bad())?;
            total = total.checked_add(part).ok_or_else(bad)?;
        }
        if total > LONGEST {
            return Err(BadValue::new(format!("`{text}` is longer than 100 years")));
        }
        if total.is_zero() && text.is_empty() { Err(bad()) } else { Ok(total) }
    }
}

const SIZE_UNITS: [(&str, u64); 7] = [
    ("B", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
];

impl FromText for ByteSize {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        let bad = || {
            BadValue::new(format!("`{text}` is not a size"))
                .with_help("write a number and a unit: `512B`, `4KiB`, `16MiB`")
        };
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let number: u64 = text[..digits].parse().map_err(|_| bad())?;
        let unit = &text[digits..];
        if unit.is_empty() && number != 0 {
            return Err(BadValue::new(format!("`{text}` has no unit"))
                .with_help(format!("write `{text}B` or `{text}KiB`")));
        }
        let known = SIZE_UNITS.into_iter().find(|(name, _)| *name == unit);
        let factor = match known {
            Some((_, factor)) => factor,
            None if unit.is_empty() => 1,
            None => return Err(bad()),
        };
        number.checked_mul(factor).map(Self).ok_or_else(bad)
    }
}

impl FromText for Times {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        if text == "forever" {
            return Ok(Self::Forever);
        }
        text.parse().map(Self::Count).map_err(|_| {
            BadValue::new(format!("`{text}` is not a number of passes"))
                .with_help("write a whole number, or `forever`")
        })
    }
}

macro_rules! whole_numbers {
    ($($type:ty),*) => {$(
        impl FromText for $type {
            fn from_text(text: &str) -> Result<Self, BadValue> {
                text.parse().map_err(|_| {
                    BadValue::new(format!(
                        "`{text}` is not a whole number from {} to {}", Self::MIN, Self::MAX
                    ))
                })
            }
        }
    )*};
}
whole_numbers!(u16, u32, u64, i64);

impl FromText for f64 {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        text.parse()
            .ok()
            .filter(|number: &Self| number.is_finite())
            .ok_or_else(|| BadValue::new(format!("`{text}` is not a number")))
    }
}

impl FromText for bool {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        match text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(BadValue::new(format!("`{text}` is neither `true` nor `false`"))),
        }
    }
}

/// Reads one of a few words, and names them all when it is none of them.
fn word<T: Copy>(text: &str, words: &[(&str, T)]) -> Result<T, BadValue> {
    words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
        let all: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        BadValue::new(format!("`{text}` is none of {}", all.join(", ")))
    })
}

impl FromText for Expect {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        word(
            text,
            &[
                ("same", Self::Same),
                ("text", Self::Text),
                ("binary", Self::Binary),
                ("any", Self::Any),
                ("close", Self::Close),
                ("ping", Self::Ping),
                ("pong", Self::Pong),
            ],
        )
    }
}

impl FromText for TimeUnit {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        word(
            text,
            &[
                ("s", Self::Seconds),
                ("ms", Self::Milliseconds),
                ("us", Self::Microseconds),
                ("ns", Self::Nanoseconds),
                ("rfc3339", Self::Rfc3339),
            ],
        )
    }
}

impl FromText for Share {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        word(text, &[("all", Self::All), ("group", Self::Group), ("thread", Self::Thread)])
    }
}

impl FromText for LateReplies {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        word(text, &[("skip", Self::Skip), ("discard", Self::Discard), ("accept", Self::Accept)])
    }
}

impl FromText for Unmatched {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        word(text, &[("keep", Self::Keep), ("drop", Self::Drop)])
    }
}

impl FromText for MessageType {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        word(
            text,
            &[
                ("text", Self::Text),
                ("binary", Self::Binary),
                ("ping", Self::Ping),
                ("pong", Self::Pong),
                ("close", Self::Close),
            ],
        )
    }
}

impl FromText for crate::program::IfOpen {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        word(text, &[("replace", Self::Replace), ("keep", Self::Keep)])
    }
}

impl FromText for PingKind {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        word(text, &[("ping_pong", Self::PingPong), ("pong", Self::Pong)])
    }
}

impl FromText for crate::program::Pings {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        word(
            text,
            &[("answer", Self::Answer), ("ignore", Self::Ignore), ("deliver", Self::Deliver)],
        )
    }
}

impl FromText for crate::program::Fragments {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        word(text, &[("join", Self::Join), ("deliver", Self::Deliver)])
    }
}

impl FromText for crate::program::WhenFull {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        word(text, &[("drop_oldest", Self::DropOldest), ("wait", Self::Wait), ("fail", Self::Fail)])
    }
}

impl FromText for crate::program::OnError {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        word(
            text,
            &[
                ("continue", Self::Continue),
                ("next_iteration", Self::NextIteration),
                ("start_next_loop", Self::NextIteration),
                ("stop_thread", Self::StopThread),
                ("stop_test", Self::StopTest),
                ("stop_test_now", Self::StopTestNow),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_written() {
        let cases = [
            ("250us", 250),
            ("250ms", 250_000),
            ("2s", 2_000_000),
            ("1m30s", 90_000_000),
            ("1.5h", 5_400_000_000),
            ("0", 0),
            ("0s", 0),
        ];
        for (text, microseconds) in cases {
            assert_eq!(
                Duration::from_text(text),
                Ok(Duration::from_micros(microseconds)),
                "{text}"
            );
        }
    }

    #[test]
    fn a_bare_number_is_refused_with_both_readings() {
        let error = Duration::from_text("500").unwrap_err();
        assert_eq!(error.help.as_deref(), Some("write `500ms` or `500s`"));
        for text in ["", "5x", "s", "1.2.3s", "-1s", "99999999999999999999h", "876601h"] {
            assert!(Duration::from_text(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_read_as_written() {
        assert_eq!(ByteSize::from_text("4KiB"), Ok(ByteSize(4_096)));
        assert_eq!(ByteSize::from_text("0"), Ok(ByteSize(0)));
        assert!(ByteSize::from_text("10").is_err());
        assert!(ByteSize::from_text("18446744073709551615GiB").is_err());
    }
}

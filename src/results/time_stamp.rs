//! The numbers and times of rows.

use chrono::{DateTime, NaiveDateTime};

/// The patterns that JMeter's own reader tries, and ISO 8601; fractions may be missing in all of them.
const PATTERNS: [&str; 4] = [
    "%Y/%m/%d %H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%m/%d/%y %H:%M:%S%.f",
];

/// No run has later time stamps, in milliseconds (year 5138): those are in microseconds.
const LATEST_MS: u64 = 100_000_000_000_000;

/// No sample takes longer, in nanoseconds (31 years); sums of a few do not overflow.
const LONGEST_NS: u64 = 1_000_000_000_000_000_000;

/// A whole number, as nearly all are written.
#[inline]
fn whole(field: &[u8]) -> Option<u64> {
    // 18 digits do not overflow.
    if field.is_empty() || field.len() > 18 {
        return None;
    }
    let mut number = 0;
    for byte in field {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    Some(number)
}

/// A number of milliseconds, in nanoseconds: whole, or with decimals. `None` for anything else.
#[inline]
pub(super) fn milliseconds(field: &[u8]) -> Option<u64> {
    let ns = match whole(field) {
        Some(number) => number.checked_mul(1_000_000),
        None => decimal(field, 1e6),
    };
    ns.filter(|ns| *ns <= LONGEST_NS)
}

/// A count; one that is missing or no number counts 0, as nothing depends on it.
#[inline]
pub(super) fn count(field: &[u8]) -> u64 {
    whole(field).or_else(|| decimal(field, 1.0)).unwrap_or(0)
}

/// Times `factor`, rounded.
#[cold]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is checked to be between 0 and 2^63"
)]
fn decimal(field: &[u8], factor: f64) -> Option<u64> {
    let number: f64 = std::str::from_utf8(field).ok()?.trim().parse().ok()?;
    let value = (number * factor).round();
    (0.0..9.2e18).contains(&value).then_some(value as u64)
}

/// A time stamp in milliseconds since 1970: a number, or a date (of UTC, unless it says otherwise).
#[inline]
pub(super) fn time_stamp(field: &[u8]) -> Option<u64> {
    let ms = whole(field).or_else(|| date(field)).or_else(|| decimal(field, 1.0));
    ms.filter(|ms| *ms < LATEST_MS)
}

#[cold]
fn date(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?.trim();
    let with_zone = || DateTime::parse_from_rfc3339(text).ok().map(|time| time.timestamp_millis());
    let plain = |pattern: &&str| NaiveDateTime::parse_from_str(text, pattern).ok();
    let ms = PATTERNS.iter().find_map(plain).map(|time| time.and_utc().timestamp_millis());
    ms.or_else(with_zone)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_have_decimals_and_blanks() {
        for (field, expected) in [
            ("0", Some(0)),
            ("12", Some(12_000_000)),
            ("12.5", Some(12_500_000)),
            (" 12 ", Some(12_000_000)),
            ("1e3", Some(1_000_000_000)),
            ("", None),
            ("-1", None),
            ("NaN", None),
            ("inf", None),
            ("99999999999999999999999", None),
            ("999999999999999999", None),
            ("1000000000000", Some(LONGEST_NS)),
            ("1000000000001", None),
            ("12a", None),
        ] {
            assert_eq!(milliseconds(field.as_bytes()), expected, "{field}");
        }
        assert_eq!([count(b"7"), count(b""), count(b"null"), count(b"7.6")], [7, 0, 0, 8]);
    }

    #[test]
    fn time_stamps_may_be_dates() {
        let expected = Some(1_705_309_200_123);
        for text in [
            "1705309200123",
            "2024/01/15 09:00:00.123",
            "2024-01-15 09:00:00.123",
            "2024-01-15T09:00:00.123Z",
            "2024-01-15T10:00:00.123+01:00",
            "01/15/24 09:00:00.123",
        ] {
            assert_eq!(time_stamp(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(time_stamp(b"2024/01/15 09:00:00"), Some(1_705_309_200_000));
        for text in ["", "now", "-5", "1705309200123456", "1969-12-31 00:00:00"] {
            assert_eq!(time_stamp(text.as_bytes()), None, "{text}");
        }
    }
}

//! Numbers as people read them.

use std::borrow::Cow;
use std::time::Duration;

use crate::stats::{Times, thousands};

/// A text without control characters, which are written as `\u{1b}`: labels and messages may hold
/// what a server sent, and a terminal would obey it.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut printable = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_obeyed(character) {
            printable.extend(character.escape_unicode());
        } else {
            printable.push(character);
        }
    }
    Cow::Owned(printable)
}

/// Whether a character does something to the text around it: control characters, those that end a line or
/// turn the direction of writing.
fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// A time in the unit that keeps it short, three significant digits or so: `12.3µs`, `4.56ms`,
/// `78.9s`, `3m20s`, `2h05m`; `-` for none.
pub(crate) fn time(time: Option<Duration>) -> String {
    let Some(time) = time else { return "-".to_owned() };
    if time.is_zero() {
        return "0ms".to_owned();
    }
    let microseconds = time.as_secs_f64() * 1e6;
    // The limits are where rounding to three digits reaches the next unit.
    if microseconds < 999.5 {
        format!("{}µs", digits(microseconds))
    } else if microseconds < 999_500.0 {
        format!("{}ms", digits(microseconds / 1e3))
    } else if time.as_secs() < 120 {
        format!("{}s", digits(microseconds / 1e6))
    } else if time.as_secs() < 3_600 {
        format!("{}m{:02}s", time.as_secs() / 60, time.as_secs() % 60)
    } else {
        format!("{}h{:02}m", time.as_secs() / 3_600, time.as_secs() / 60 % 60)
    }
}

/// The mean of some times; in milliseconds, however small, where these were rounded to such.
pub(crate) fn mean(times: &Times) -> String {
    match times.mean() {
        Some(mean) if times.are_in_whole_ms() && mean < Duration::from_millis(1) => {
            format!("{}ms", digits(mean.as_secs_f64() * 1e3))
        }
        mean => time(mean),
    }
}

/// A rate a second; `-` for none.
pub(crate) fn rate(rate: Option<f64>) -> String {
    match rate {
        None => "-".to_owned(),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rate of rows is positive and far below 2^53"
        )]
        Some(rate) if rate >= 999.5 => format!("{}/s", thousands(rate.round() as u64)),
        Some(rate) => format!("{}/s", digits(rate)),
    }
}

fn digits(number: f64) -> String {
    let decimals = if number < 9.995 { 2 } else { usize::from(number < 99.95) };
    format!("{number:.decimals$}")
}

/// A number of bytes with three digits or more: `512 B`, `1.53 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let Some((unit, shift)) = UNITS.into_iter().find(|(_, shift)| bytes >> shift > 0) else {
        return format!("{bytes} B");
    };
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let value = bytes as f64 / (1_u64 << shift) as f64;
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_take_the_unit_that_keeps_them_short() {
        let text = |microseconds| time(Some(Duration::from_micros(microseconds)));
        assert_eq!([0, 12, 4_560, 78_900].map(text), ["0ms", "12.0µs", "4.56ms", "78.9ms"]);
        assert_eq!([1_500_000, 119_000_000, 200_000_000].map(text), ["1.50s", "119s", "3m20s"]);
        assert_eq!(time(None), "-");
        assert_eq!(text(7_500_000_000), "2h05m");
    }

    #[test]
    fn sizes_take_the_unit_that_keeps_them_short() {
        let text = |bytes| size(bytes);
        assert_eq!([0, 1_023, 1_024, 10_236].map(text), ["0 B", "1023 B", "1.00 KiB", "10.0 KiB"]);
        assert_eq!([1 << 20, 3 << 40].map(text), ["1.00 MiB", "3.00 TiB"]);
    }

    #[test]
    fn characters_that_turn_or_break_a_line_are_shown_and_not_obeyed() {
        assert_eq!(printable("a\u{202e}b\u{2028}c\u{2066}"), r"a\u{202e}b\u{2028}c\u{2066}");
        assert_eq!(printable("ü → 日本\u{200d}"), "ü → 日本\u{200d}");
    }

    #[test]
    fn rounding_does_not_add_a_digit() {
        let text = |nanoseconds| time(Some(Duration::from_nanos(nanoseconds)));
        assert_eq!(
            [9_996, 99_960, 999_600, 999_600_000].map(text),
            ["10.0µs", "100µs", "1.00ms", "1.00s"]
        );
        assert_eq!(rate(Some(999.7)), "1,000/s");
    }

    #[test]
    fn rates_are_short_too() {
        assert_eq!(
            [0.5, 12.34, 12_345.6].map(|one| rate(Some(one))),
            ["0.50/s", "12.3/s", "12,346/s"]
        );
    }
}

//! The patterns of `__time`: those of Java's `DateTimeFormatter`, as `chrono` format strings.

use crate::program::TimeFormat;

/// JMeter's names for common patterns.
const ALIASES: &[(&str, &str)] =
    &[("YMD", "yyyyMMdd"), ("HMS", "HHmmss"), ("YMDHMS", "yyyyMMdd-HHmmss")];

/// Runs of pattern letters and what they are for chrono.
const RUNS: &[(&str, &str)] = &[
    ("yyyy", "%Y"),
    ("uuuu", "%Y"),
    ("y", "%Y"),
    ("u", "%Y"),
    ("yy", "%y"),
    ("uu", "%y"),
    ("MMMM", "%B"),
    ("MMM", "%b"),
    ("MM", "%m"),
    ("M", "%-m"),
    ("dd", "%d"),
    ("d", "%-d"),
    ("DDD", "%j"),
    ("D", "%-j"),
    ("EEEE", "%A"),
    ("EEE", "%a"),
    ("EE", "%a"),
    ("E", "%a"),
    ("a", "%p"),
    ("HH", "%H"),
    ("H", "%-H"),
    ("hh", "%I"),
    ("h", "%-I"),
    ("mm", "%M"),
    ("m", "%-M"),
    ("ss", "%S"),
    ("s", "%-S"),
    ("SSS", "%3f"),
    ("SSSSSS", "%6f"),
    ("SSSSSSSSS", "%9f"),
    ("Z", "%z"),
    ("ZZ", "%z"),
    ("ZZZ", "%z"),
    ("xx", "%z"),
    ("xxx", "%:z"),
];

/// Reads the first argument of `__time`. The error says what is wrong.
pub(super) fn time_format(text: &str) -> Result<TimeFormat, String> {
    if text.is_empty() {
        return Ok(TimeFormat::EpochMs);
    }
    if let Some(divisor) = text.strip_prefix('/') {
        return divisor
            .trim()
            .parse()
            .ok()
            .filter(|&divisor: &u64| divisor > 0)
            .map(TimeFormat::EpochDivided)
            .ok_or_else(|| format!("`{text}` does not divide by a whole number above 0"));
    }
    let pattern =
        ALIASES.iter().find(|(alias, _)| *alias == text).map_or(text, |(_, pattern)| pattern);
    pattern_to_chrono(pattern).map(TimeFormat::Pattern)
}

fn pattern_to_chrono(pattern: &str) -> Result<String, String> {
    let mut format = String::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if c == '\'' {
            rest = quoted(rest, &mut format)?;
        } else if c.is_ascii_alphabetic() {
            let run = &rest[..rest.len() - rest.trim_start_matches(c).len()];
            let (_, translated) = RUNS
                .iter()
                .find(|(letters, _)| *letters == run)
                .ok_or_else(|| format!("`{run}` in the time pattern `{pattern}` is not known"))?;
            format.push_str(translated);
            rest = &rest[run.len()..];
        } else {
            push_literal(c, &mut format);
            rest = &rest[c.len_utf8()..];
        }
    }
    Ok(format)
}

/// Text between single quotes; two of them are one, within quotes and outside. Returns what follows.
fn quoted<'a>(pattern: &'a str, format: &mut String) -> Result<&'a str, String> {
    if let Some(rest) = pattern.strip_prefix("''") {
        format.push('\'');
        return Ok(rest);
    }
    let mut chars = pattern.char_indices().skip(1).peekable();
    while let Some((index, c)) = chars.next() {
        if c != '\'' {
            push_literal(c, format);
        } else if chars.peek().is_some_and(|(_, next)| *next == '\'') {
            format.push('\'');
            chars.next();
        } else {
            return Ok(&pattern[index + 1..]);
        }
    }
    Err("a quote in the time pattern is not closed".to_owned())
}

fn push_literal(c: char, format: &mut String) {
    if c == '%' {
        format.push('%');
    }
    format.push(c);
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;

    use super::*;

    #[test]
    fn patterns_write_the_same_as_javas() {
        let time = NaiveDate::from_ymd_opt(2024, 3, 7)
            .and_then(|date| date.and_hms_milli_opt(9, 5, 3, 42))
            .unwrap();
        for (pattern, expected) in [
            ("yyyy-MM-dd'T'HH:mm:ss.SSS", "2024-03-07T09:05:03.042"),
            ("YMDHMS", "20240307-090503"),
            ("YMD", "20240307"),
            ("HMS", "090503"),
            ("d.M.yy h 'o''clock' a", "7.3.24 9 o'clock AM"),
            ("EEE, MMM d '%' 100%", "Thu, Mar 7 % 100%"),
        ] {
            let Ok(TimeFormat::Pattern(format)) = time_format(pattern) else {
                panic!("{pattern}");
            };
            assert_eq!(time.format(&format).to_string(), expected, "{pattern}");
        }
    }

    #[test]
    fn milliseconds_may_be_divided() {
        assert_eq!(time_format(""), Ok(TimeFormat::EpochMs));
        assert_eq!(time_format("/1000"), Ok(TimeFormat::EpochDivided(1_000)));
        assert!(time_format("/0").is_err());
    }

    #[test]
    fn unknown_letters_are_refused_by_name() {
        assert_eq!(
            time_format("yyyy-ww").unwrap_err(),
            "`ww` in the time pattern `yyyy-ww` is not known"
        );
        assert!(time_format("'open").is_err());
    }
}

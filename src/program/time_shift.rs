//! Times as `__time` and `__timeShift` write, read and move them.

use std::fmt::Write as _;

use chrono::format::{Parsed, StrftimeItems, parse};
use chrono::{DateTime, Local, NaiveTime, TimeDelta, TimeZone};

use crate::program::{BadValue, FromText, TimeFormat};

/// An ISO 8601 duration of days and smaller units, `P2DT3H` or `-PT0.5S`: what Java's
/// `Duration.parse` reads, which JMeter uses. A day is 24 hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shift(pub TimeDelta);

/// Further than any plan shifts, and safe to add to the time of a run.
const FURTHEST_SECONDS: f64 = 1_000.0 * 8_766.0 * 3_600.0;

impl FromText for Shift {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        let bad = || {
            BadValue::new(format!("`{text}` is not an ISO 8601 duration"))
                .with_help("write `P1D`, `PT2H30M`, `-PT15S`; days are the largest unit")
        };
        let (sign, rest) = match text.strip_prefix('-') {
            Some(rest) => (-1.0, rest),
            None => (1.0, text.strip_prefix('+').unwrap_or(text)),
        };
        let mut rest =
            rest.strip_prefix(['P', 'p']).filter(|rest| !rest.is_empty()).ok_or_else(bad)?;
        let mut units: &[(char, f64)] = &[('D', 86_400.0)];
        let mut seconds = 0.0;
        while !rest.is_empty() {
            if let Some(time) = rest.strip_prefix(['T', 't']).filter(|_| units.len() < 2) {
                units = &[('H', 3_600.0), ('M', 60.0), ('S', 1.0)];
                rest = time;
                if rest.is_empty() {
                    return Err(bad());
                }
            }
            let length = rest.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(bad)?;
            let number = f64::from_text(&rest[..length]).map_err(|_| bad())?;
            let unit = rest[length..].chars().next().ok_or_else(bad)?.to_ascii_uppercase();
            let index = units.iter().position(|(known, _)| *known == unit).ok_or_else(bad)?;
            seconds += number * units[index].1;
            units = &units[index + 1..];
            rest = &rest[length + 1..];
        }
        if seconds.abs() > FURTHEST_SECONDS {
            return Err(BadValue::new(format!("`{text}` is more than 1,000 years")));
        }
        #[expect(clippy::cast_possible_truncation, reason = "it is bounded")]
        Ok(Self(TimeDelta::milliseconds((sign * seconds * 1e3).round() as i64)))
    }
}

impl TimeFormat {
    /// Appends the time.
    pub fn write(&self, time: DateTime<Local>, out: &mut String) {
        let epoch_ms = time.timestamp_millis();
        // Its result is that of the writer, and writing to a `String` does not fail.
        match self {
            Self::EpochMs => write!(out, "{epoch_ms}"),
            Self::EpochDivided(by) => {
                let by = i64::try_from(*by).unwrap_or(i64::MAX).max(1);
                write!(out, "{}", epoch_ms.div_euclid(by))
            }
            Self::Pattern(pattern) => write!(out, "{}", time.format(pattern)),
        }
        .ok();
    }

    /// Reads a time that is written so. Without a time of day it is midnight, without a zone the local
    /// one.
    pub fn read(&self, text: &str) -> Result<DateTime<Local>, BadValue> {
        let bad = || {
            BadValue::new(format!("`{text}` is not a date of this format"))
                .with_help("write the date as the first argument has it")
        };
        let pattern = match self {
            Self::Pattern(pattern) => pattern,
            Self::EpochMs | Self::EpochDivided(_) => {
                let by = if let Self::EpochDivided(by) = self { *by } else { 1 };
                let epoch_ms = i64::from_text(text).ok();
                return epoch_ms
                    .and_then(|number| number.checked_mul(i64::try_from(by).ok()?))
                    .and_then(|epoch_ms| Local.timestamp_millis_opt(epoch_ms).single())
                    .ok_or_else(bad);
            }
        };
        let mut parsed = Parsed::new();
        parse(&mut parsed, text, StrftimeItems::new(pattern)).map_err(|_| bad())?;
        let time = if parsed.hour_mod_12().is_none() {
            NaiveTime::MIN
        } else {
            if parsed.minute().is_none() {
                parsed.set_minute(0).map_err(|_| bad())?;
            }
            parsed.to_naive_time().map_err(|_| bad())?
        };
        let local = parsed.to_naive_date().map_err(|_| bad())?.and_time(time);
        match parsed.to_fixed_offset() {
            Ok(zone) => zone.from_local_datetime(&local).single().map(Into::into),
            Err(_) => Local.from_local_datetime(&local).earliest(),
        }
        .ok_or_else(bad)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_are_javas_durations() {
        for (text, milliseconds) in [
            ("P1D", 86_400_000),
            ("P1DT1H", 90_000_000),
            ("PT2H30M", 9_000_000),
            ("-PT15S", -15_000),
            ("PT-0.5S", -500),
            ("pt1m", 60_000),
        ] {
            assert_eq!(
                Shift::from_text(text),
                Ok(Shift(TimeDelta::milliseconds(milliseconds))),
                "{text}"
            );
        }
        for text in [
            "", "P", "PT", "1D", "P1", "P1M", "P1Y", "P1H", "PT1D", "PT1S1H", "P1DT", "PTxS", "PTé",
        ] {
            assert!(Shift::from_text(text).is_err(), "{text}");
        }
        assert!(Shift::from_text("P1e9D").is_err());
    }

    #[test]
    fn what_a_format_writes_it_reads() {
        let time = Local.with_ymd_and_hms(2026, 1, 31, 9, 30, 5).unwrap();
        let day = Local.with_ymd_and_hms(2026, 1, 31, 0, 0, 0).unwrap();
        let hour = Local.with_ymd_and_hms(2026, 1, 31, 9, 0, 0).unwrap();
        for (format, wanted) in [
            (TimeFormat::EpochMs, time),
            (TimeFormat::EpochDivided(1_000), time),
            (TimeFormat::Pattern("%Y-%m-%dT%H:%M:%S%:z".to_owned()), time),
            (TimeFormat::Pattern("%Y-%m-%d %H:%M:%S".to_owned()), time),
            (TimeFormat::Pattern("%Y%m%d".to_owned()), day),
            (TimeFormat::Pattern("%d.%m.%Y %H".to_owned()), hour),
        ] {
            let mut text = String::new();
            format.write(time, &mut text);
            assert_eq!(format.read(&text), Ok(wanted), "{text}");
        }
        for text in ["", "2026", "2026-02-30", "2026-01-31 more"] {
            assert!(TimeFormat::Pattern("%Y-%m-%d".to_owned()).read(text).is_err(), "{text}");
        }
        assert!(TimeFormat::EpochMs.read("9223372036854775807").is_err());
    }
}

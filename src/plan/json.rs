//! JSON values in a plan, written in YAML.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A JSON value as written: keys in order, numbers with all their digits, templates in texts.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A number in JSON's notation (RFC 8259 6).
    Number(String),
    /// A string; it and the keys of maps may hold `${…}`.
    Text(String),
    /// An array.
    List(Vec<Self>),
    /// An object.
    Map(Vec<(String, Self)>),
}

impl Json {
    /// Whether a text is a number in JSON's notation (RFC 8259 6).
    pub fn is_number(text: &str) -> bool {
        is_json_number(text)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Json, E> {
        Ok(Json::Flag(flag))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    // The reader gives a number as a value to ask for its text.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, number: D) -> Result<Json, D::Error> {
        let text = String::deserialize(number)?;
        json_number(&text)
            .map(Json::Number)
            .ok_or_else(|| D::Error::custom(format!("JSON has no number `{text}`")))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = list.next_element()? {
            elements.push(element);
        }
        Ok(Json::List(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Json::Map(entries))
    }
}

/// A YAML number in JSON's notation: as written wherever JSON allows it. `None` for what JSON cannot
/// say (`.inf`, `.nan`).
fn json_number(text: &str) -> Option<String> {
    if is_json_number(text) {
        return Some(text.to_owned());
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = digits.strip_prefix(prefix) {
            return u128::from_str_radix(digits, radix).ok().map(|n| format!("{sign}{n}"));
        }
    }
    // What is left is JSON but for a plus sign, or for a point without digits on both sides.
    let (whole, rest) = digits.split_at(digits.find(['.', 'e', 'E']).unwrap_or(digits.len()));
    let (fraction, exponent) = rest.split_at(rest.find(['e', 'E']).unwrap_or(rest.len()));
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = if fraction == "." { "" } else { fraction };
    Some(format!("{sign}{whole}{fraction}{exponent}")).filter(|text| is_json_number(text))
}

/// RFC 8259 6: `[ "-" ] int [ frac ] [ exp ]`.
fn is_json_number(text: &str) -> bool {
    fn digits(text: &str) -> Option<&str> {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        (rest.len() < text.len()).then_some(rest)
    }
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let Some(mut rest) = unsigned.strip_prefix('0').or_else(|| digits(unsigned)) else {
        return false;
    };
    if let Some(fraction) = rest.strip_prefix('.') {
        let Some(after) = digits(fraction) else { return false };
        rest = after;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let Some(after) = digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)) else {
            return false;
        };
        rest = after;
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits_and_become_json() {
        for (written, json) in [
            ("1.10", Some("1.10")),
            ("1e400", Some("1e400")),
            ("-0", Some("-0")),
            ("12345678901234567890123", Some("12345678901234567890123")),
            ("+5", Some("5")),
            (".5", Some("0.5")),
            ("-.5e3", Some("-0.5e3")),
            ("1.", Some("1")),
            ("0x1F", Some("31")),
            ("0o17", Some("15")),
            (".inf", None),
            (".nan", None),
        ] {
            assert_eq!(json_number(written).as_deref(), json, "{written}");
        }
    }
}

//! Checks as they are written, on one line: the names of assertions and filters in reports.

use crate::program::Setting as Resolved;
use crate::program::{
    Bytes, Check, HeaderTest, HexTest, JsonPart, JsonTest, MessageType, Pattern, SizeTest,
};

/// The check as it is written, on one line.
pub(super) fn source(check: &Check) -> String {
    let text = match check {
        Check::Contains(text) => format!("contains: {}", text.source),
        Check::Equals(text) => format!("equals: {}", text.source),
        Check::StartsWith(text) => format!("starts_with: {}", text.source),
        Check::EndsWith(text) => format!("ends_with: {}", text.source),
        Check::Regex(pattern) => format!("regex: {}", pattern_source(pattern)),
        Check::FullMatch(pattern) => format!("full_match: {}", pattern_source(pattern)),
        Check::Hex(test, bytes) => hex_source(test, bytes),
        Check::Json { path, test } => format!("json: {} {}", path.text, test_source(test)),
        Check::Type(kind) => format!("type: {}", setting_source(kind).to_lowercase()),
        Check::Size(test, size) => {
            let name = match test {
                SizeTest::Equals => "equals",
                SizeTest::AtMost => "at_most",
                SizeTest::AtLeast => "at_least",
            };
            let size = match size {
                Resolved::Fixed(size) => format!("{}B", size.0),
                Resolved::Template(template) => template.source.clone(),
            };
            format!("size: {name} {size}")
        }
        Check::Duration(limit) => format!("duration: {}", setting_source(limit)),
        Check::Status(status) => format!("status: {}", setting_source(status)),
        Check::CloseStatus(status) => format!("close_status: {}", setting_source(status)),
        Check::Header(name, test) => format!("header: {name} {}", header_source(test)),
        Check::Not(inner) => format!("not {}", source(inner)),
        Check::AnyOf(checks) if is_ping_pong(checks) => "ping_pong".to_owned(),
        Check::AnyOf(checks) => format!("any_of: {}", list(checks)),
        Check::AllOf(checks) => format!("all_of: {}", list(checks)),
    };
    on_one_line(&text)
}

/// The text with its line breaks written out.
pub(super) fn on_one_line(text: &str) -> String {
    text.replace('\n', "\\n").replace('\r', "\\r")
}

/// Whether this is what the form `ping_pong` of filters stands for.
fn is_ping_pong(checks: &[Check]) -> bool {
    use MessageType::{Ping, Pong};
    let kinds = checks.iter().map(|check| match check {
        Check::Type(Resolved::Fixed(kind)) => Some(*kind),
        _ => None,
    });
    kinds.eq([Some(Ping), Some(Pong)])
}

fn list(checks: &[Check]) -> String {
    checks.iter().map(source).collect::<Vec<_>>().join("; ")
}

fn hex_source(test: &HexTest, bytes: &Bytes) -> String {
    let bytes = match bytes {
        Bytes::Fixed(bytes) => {
            bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
        }
        Bytes::Template(template) => template.source.clone(),
    };
    match test {
        HexTest::Equals => format!("hex: equals {bytes}"),
        HexTest::StartsWith => format!("hex: starts_with {bytes}"),
        HexTest::Contains(None) => format!("hex: contains {bytes}"),
        HexTest::Contains(Some(at)) => format!("hex: contains {bytes} at {}", setting_source(at)),
    }
}

fn header_source(test: &HeaderTest) -> String {
    match test {
        HeaderTest::Exists => "exists".to_owned(),
        HeaderTest::Equals(text) => format!("equals: {}", text.source),
        HeaderTest::Contains(text) => format!("contains: {}", text.source),
        HeaderTest::Regex(pattern) => format!("regex: {}", pattern_source(pattern)),
    }
}

pub(super) fn pattern_source(pattern: &Pattern) -> &str {
    match pattern {
        Pattern::Fixed(regex) => Pattern::written(regex.as_str()).0,
        Pattern::Template(template) => &template.source,
    }
}

/// A whole number without a fraction.
fn number_source(setting: &Resolved<f64>) -> String {
    match setting {
        Resolved::Fixed(value) => value.to_string(),
        Resolved::Template(template) => template.source.clone(),
    }
}

fn setting_source<T: std::fmt::Debug>(setting: &Resolved<T>) -> String {
    match setting {
        Resolved::Fixed(value) => format!("{value:?}"),
        Resolved::Template(template) => template.source.clone(),
    }
}

fn test_source(test: &JsonTest) -> String {
    match test {
        JsonTest::Exists(wanted) => format!("exists: {}", setting_source(wanted)),
        JsonTest::Equals(parts) => {
            let text: String = parts
                .iter()
                .map(|part| match part {
                    JsonPart::Raw(text) => text.as_str(),
                    JsonPart::String(template) | JsonPart::Value(template) => &template.source,
                })
                .collect();
            format!("equals: {text}")
        }
        JsonTest::Regex(pattern) => format!("regex: {}", pattern_source(pattern)),
        JsonTest::LessThan(limit) => format!("less_than: {}", number_source(limit)),
        JsonTest::GreaterThan(limit) => format!("greater_than: {}", number_source(limit)),
        JsonTest::Count(count) => format!("count: {}", setting_source(count)),
    }
}

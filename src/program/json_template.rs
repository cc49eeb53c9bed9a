//! `send_json` and JSON values of assertions, compiled.

use crate::program::Template;

/// A piece of a JSON text whose strings may hold templates. The pieces are put one after the other:
/// compact, keys in the order of the plan.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonPart {
    /// JSON text, inserted as it is.
    Raw(String),
    /// A string that holds `${…}` beside other text: evaluated, quoted, escaped.
    String(Template),
    /// A string that is one `${…}` and nothing else: inserted as a number if the result reads as a
    /// JSON number, else quoted and escaped.
    Value(Template),
}

/// The JSON text with what is only known at each execution left out.
pub fn constant_json(parts: &[JsonPart]) -> String {
    let text = |part: &JsonPart| match part {
        JsonPart::Raw(text) => text.clone(),
        JsonPart::String(_) => "\"\"".to_owned(),
        JsonPart::Value(_) => "null".to_owned(),
    };
    parts.iter().map(text).collect()
}

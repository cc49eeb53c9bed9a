//! The schema of a scalar by its kind: its type, or text with `${`.

use serde_json::{Map, Value, json};

use crate::plan::schema::types::ANY;

/// Text that holds `${` which is not escaped.
const TEMPLATE: &str = r"(^|[^\\])\$\{";

/// What a scalar of `kind` is. Kinds without a rule of their own are any scalar.
pub(super) fn of(kind: &str, nullable: bool) -> Map<String, Value> {
    let text = |pattern: &str| format!("^({pattern})$|{TEMPLATE}");
    let mut schema = match kind {
        // `0` alone is a duration and a size; no other number is.
        "Time" => json!({
            "type": ["string", "integer"], "minimum": 0, "maximum": 0,
            "pattern": text(r"0|((\d+\.?\d*|\.\d+)(us|ms|s|m|h))+"),
        }),
        "Size" => json!({
            "type": ["string", "integer"], "minimum": 0, "maximum": 0,
            "pattern": text(r"0|\d+([KMG]iB|[kMG]?B)"),
        }),
        "Count" => json!({
            "type": ["integer", "string"], "minimum": 0, "pattern": text(r"\+?\d+"),
        }),
        "Number" => json!({
            "type": ["number", "string"],
            "pattern": text(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"),
        }),
        "Rate" => json!({
            "type": "string", "pattern": text(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)? */ *(s|m|h)"),
        }),
        "Passes" => json!({
            "type": ["integer", "string"], "minimum": 0, "pattern": text(r"forever|\+?\d+"),
        }),
        "Flag" => json!({ "type": ["boolean", "string"], "pattern": text("true|false") }),
        // Without quotes it is a number.
        "Version" => json!({
            "type": ["number", "string"], "pattern": text(r"1\.[23]"),
            "if": { "type": "number" }, "then": { "enum": [1.2, 1.3] },
        }),
        ANY => json!({}),
        _ => json!({ "type": ["string", "number", "boolean"] }),
    };
    let advice = advice(kind);
    if !advice.is_empty() {
        // What the YAML language server says instead of showing the pattern.
        schema["patternErrorMessage"] = json!(advice);
    }
    if let (true, Some(Value::Array(types))) = (nullable, schema.get_mut("type")) {
        types.push(json!("null"));
    }
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}

/// What to write where a text is no value of the kind.
fn advice(kind: &str) -> &'static str {
    match kind {
        "Time" => "Write a duration with its unit: `250us`, `250ms`, `2s`, `1m30s`, `1.5h`.",
        "Size" => "Write a number of bytes with its unit: `512B`, `4KiB`, `1MiB`.",
        "Count" => "Write a whole number.",
        "Number" => "Write a number.",
        "Passes" => "Write a whole number, or `forever`.",
        "Flag" => "Write `true` or `false`.",
        "Version" => "Write `1.2` or `1.3`.",
        _ => "",
    }
}

/// One of `words`, or text with `${`.
pub(super) fn words(words: &[&str], nullable: bool) -> Value {
    let text = json!({ "type": "string", "pattern": TEMPLATE });
    let nothing = nullable.then(|| json!({ "type": "null" }));
    [json!({ "enum": words }), text].into_iter().chain(nothing).collect()
}

/// An example that is right for every key of the kind.
pub(super) fn example(kind: &str) -> Value {
    match kind {
        "Time" => json!("250ms"),
        "Size" => json!("4KiB"),
        "Count" | "Passes" => json!(10),
        "Number" => json!(0.5),
        "Flag" => json!(true),
        "Version" => json!("1.3"),
        "Rate" => json!("10/m"),
        ANY => json!({ "ok": true }),
        _ => json!("${name}"),
    }
}

/// How values of the kind are written; empty where that goes without saying.
pub(super) fn unit(kind: &str) -> &'static str {
    match kind {
        "Time" => "A duration with its unit: `us`, `ms`, `s`, `m` or `h`.",
        "Size" => "A number of bytes with its unit: `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` or `GB`.",
        "Count" => "A whole number.",
        "Passes" => "A whole number, or `forever`.",
        "Rate" => "A number by `s`, `m` or `h`: `50/s`, `600/m`.",
        _ => "",
    }
}

//! Examples: what an editor writes into the file when a key is chosen.
//!
//! The YAML language server, which editors use, writes a scalar that is one of the `examples`. Of a map it
//! would show `[object Object]`, and indent it too little where the key is the first one of a list
//! element. So a map's example is told in the description; what is written comes from `defaultSnippets`,
//! or, for settings that are one choice of several, from the defaults of `properties` that say nothing else.

use serde_json::{Map, Value, json};

/// Any type.
const ANY: &[&str] = &["string", "number", "boolean", "object", "array", "null"];

/// Gives a key its example.
pub(super) fn exemplify(schema: &mut Map<String, Value>, example: &Value) {
    let has_maps = example.as_array().is_some_and(|list| list.iter().any(Value::is_object));
    if !example.is_object() && !has_maps {
        schema.insert("examples".to_owned(), json!([example]));
        return;
    }
    let label = flow(example);
    if let Some(Value::String(description)) = schema.get_mut("description") {
        description.push_str(" For example `");
        description.push_str(&label);
        description.push_str("`.");
    }
    match example {
        // A list begins with its first dash.
        Value::Object(map) if schema.contains_key("anyOf") => {
            let scalars = map.iter().filter(|(_, value)| !value.is_object() && !value.is_array());
            let defaults = scalars.map(|(key, value)| (key.clone(), written(value)));
            schema.insert("properties".to_owned(), Value::Object(defaults.collect()));
        }
        Value::Object(_) => {
            let snippet = json!({ "label": label, "body": with_stops(example, &mut 0) });
            schema.insert("defaultSnippets".to_owned(), json!([snippet]));
        }
        _ => {}
    }
}

/// What makes the server write `value` behind its key, and does nothing else.
fn written(value: &Value) -> Value {
    let mut types = ANY.to_vec();
    let own = match value {
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        _ => "string",
    };
    // The server goes by the first one.
    types.sort_by_key(|name| *name != own);
    json!({ "type": types, "default": value, "doNotSuggest": true })
}

/// The value with its scalars as places of a snippet, numbered in order, through which one goes with the
/// tabulator key.
fn with_stops(value: &Value, stop: &mut usize) -> Value {
    match value {
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), with_stops(value, stop))).collect()
        }
        Value::Array(list) => list.iter().map(|value| with_stops(value, stop)).collect(),
        scalar => {
            *stop += 1;
            let text = scalar.as_str().map_or_else(|| scalar.to_string(), str::to_owned);
            json!(format!("${{{stop}:{}}}", text.replace('$', "\\$").replace('}', "\\}")))
        }
    }
}

/// A value as a plan has it on one line.
fn flow(value: &Value) -> String {
    match value {
        Value::Array(list) => {
            format!("[{}]", list.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| format!("{key}: {}", flow(value)));
            format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) if text.contains([':', ',', '{', '[', '}', ']', '"', '#', '$']) => {
            format!("'{text}'")
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

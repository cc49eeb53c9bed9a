//! The schema of what is a map with one key, its kind: steps, checks, extractors.
//!
//! An editor offers the kinds as keys, each with an example behind it. A kind may be written as a bare
//! word too; that is accepted and explained, but not offered, for editors that find the same word as
//! a key and as a text make a mess of both. Jumps, such as `break`, are offered as bare words only.

use serde_json::{Map, Value, json};

use crate::plan::reader::MAIN_SETTINGS;
use crate::plan::schema::{complete, exemplify, expand, facts, literal, sentences};

/// A step or check: a map with exactly one key, or that key as a bare word.
pub(super) fn one_key_map(
    written: &Map<String, Value>,
    owner: &str,
    definitions: &Map<String, Value>,
) -> Map<String, Value> {
    let variants = written["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (mut kinds, mut bare, mut jumps) = (Map::new(), Vec::new(), Vec::new());
    for variant in variants {
        if let Some(word) = variant.get("const").or_else(|| variant["enum"].get(0)) {
            let word = word.as_str().unwrap_or_default().to_owned();
            let description = variant["description"].as_str().map(sentences).unwrap_or_default();
            let content =
                json!({ "type": "null", "description": description, "doNotSuggest": true });
            kinds.insert(word.clone(), content);
            jumps.push((word, description));
            continue;
        }
        let Some((kind, content)) =
            variant["properties"].as_object().and_then(|properties| properties.iter().next())
        else {
            continue;
        };
        let mut content = content.as_object().cloned().unwrap_or_default();
        let definition =
            content.get("$ref").and_then(Value::as_str).and_then(|name| name.rsplit('/').next());
        // Of definitions, only those of settings have properties: a check within a check has none.
        let has_settings = definition.is_some_and(|name| {
            definitions.get(name).is_some_and(|d| d.get("properties").is_some())
        });
        // The bare word is the kind with nothing behind it.
        let nothing = json!({ "type": "null" });
        let takes_nothing = content
            .get("anyOf")
            .and_then(Value::as_array)
            .is_some_and(|choices| choices.contains(&nothing));
        if has_settings || takes_nothing {
            let description = variant["description"].as_str().map(sentences).unwrap_or_default();
            bare.push((kind.clone(), description));
        }
        if let (Some(name), true) = (definition, has_settings) {
            content = in_place_of_settings(kind, name, &content, definitions);
        }
        content.insert("description".to_owned(), variant["description"].clone());
        if has_settings {
            expand(&mut content, &[]);
            let description = content["description"].as_str().map(sentences);
            content.insert("description".to_owned(), json!(description));
            let example = facts::of(owner, kind).map(|fact| fact.example).unwrap_or_default();
            if !example.is_empty() {
                exemplify(&mut content, &literal(example));
            }
        } else {
            complete(&mut content, owner, kind);
        }
        kinds.insert(kind.clone(), Value::Object(content));
    }
    let map = json!({
        "type": "object", "properties": kinds,
        "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
    });
    let mut choices = vec![map];
    if !jumps.is_empty() {
        let (words, descriptions): (Vec<_>, Vec<_>) = jumps.into_iter().unzip();
        choices.push(json!({ "enum": words, "enumDescriptions": descriptions }));
    }
    choices.extend(bare.into_iter().map(|(word, description)| {
        let pattern = format!("^{word}$");
        json!({ "type": "string", "pattern": pattern, "description": description })
    }));
    let mut schema = Map::new();
    let description = written.get("description").and_then(Value::as_str).unwrap_or_default();
    schema.insert("description".to_owned(), json!(sentences(description)));
    schema.insert("anyOf".to_owned(), Value::Array(choices));
    schema
}

/// The settings of a step, its main setting alone, or nothing.
fn in_place_of_settings(
    kind: &str,
    name: &str,
    settings: &Map<String, Value>,
    definitions: &Map<String, Value>,
) -> Map<String, Value> {
    let mut choices = vec![Value::Object(settings.clone())];
    // A filter may have the name of a step, and other settings.
    let has = |main: &str| definitions[name]["properties"].get(main).is_some();
    if let Some((_, main)) = MAIN_SETTINGS.iter().find(|(known, main)| *known == kind && has(main))
    {
        choices.push(scalar(definitions, name, main));
    }
    choices.push(json!({ "type": "null" }));
    let mut schema = Map::new();
    schema.insert("anyOf".to_owned(), Value::Array(choices));
    schema
}

/// What the key `main` of the type `name` may be, without its texts.
fn scalar(definitions: &Map<String, Value>, name: &str, main: &str) -> Value {
    let mut schema = definitions
        .get(name)
        .and_then(|definition| definition["properties"].get(main))
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    for key in ["description", "examples"] {
        schema.remove(key);
    }
    Value::Object(schema)
}

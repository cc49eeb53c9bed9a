//! The JSON schema of plans, for editors: generated from the types of the plan, so that a key that
//! the reader knows is in it, and no other.
//!
//! The types say which keys there are and what they mean (their documentation), [`facts`] adds
//! defaults and examples, and the reader's habits are applied here: bare words, text in place of a
//! map, one item for a list, `${` in any scalar. Draft 7, which editors understand best.

mod facts;
mod kinds;
mod types;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::plan::Plan;
use crate::plan::reader::MAIN_SETTINGS;
use types::{MARK, NULLABLE};

/// The schema as pretty JSON with a final newline; the same for the same types.
pub fn schema() -> String {
    let generator = SchemaSettings::draft07().into_generator();
    let mut root = generator.into_root_schema_for::<Plan>().to_value();
    if let Value::Object(root) = &mut root {
        let mut definitions = match root.remove("definitions") {
            Some(Value::Object(definitions)) => definitions,
            _ => Map::new(),
        };
        describe_defaults(&mut definitions);
        let names: Vec<String> = definitions.keys().cloned().collect();
        for name in names {
            let Some(Value::Object(mut definition)) = definitions.remove(&name) else { continue };
            if definition.contains_key("oneOf") {
                definition = one_key_map(&definition, &name, &definitions);
            } else {
                settings(&mut definition, &name);
            }
            definitions.insert(name, Value::Object(definition));
        }
        definitions.sort_keys();
        settings(root, "Plan");
        root.insert("title".to_owned(), json!("wsmeter plan"));
        root.insert("definitions".to_owned(), Value::Object(definitions));
    }
    let mut text = format!("{root:#}");
    text.push('\n');
    text
}

/// Gives the keys of `defaults` the descriptions that they have in the samplers.
fn describe_defaults(definitions: &mut Map<String, Value>) {
    let found = |definitions: &Map<String, Value>, key: &str| {
        definitions
            .iter()
            // Samplers, and not a check that has a key of the same name.
            .filter(|(_, definition)| definition["properties"]["write_timeout"].is_object())
            .find_map(|(_, definition)| definition["properties"][key].get("description").cloned())
    };
    let Some(Value::Object(mut defaults)) = definitions.remove("Defaults") else { return };
    for (key, schema) in properties(&mut defaults) {
        let own = schema["description"].as_str().unwrap_or_default();
        if own.starts_with("See [")
            || own.starts_with("Of all samplers")
            || own.starts_with("Adds up as")
        {
            schema["description"] = found(definitions, key).unwrap_or_else(|| json!(own));
        }
    }
    definitions.insert("Defaults".to_owned(), Value::Object(defaults));
}

fn properties(schema: &mut Map<String, Value>) -> impl Iterator<Item = (&String, &mut Value)> {
    schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
}

/// Settings: each key complete. Nothing in their place is no settings.
fn settings(definition: &mut Map<String, Value>, owner: &str) {
    for (key, schema) in properties(definition) {
        if let Value::Object(schema) = schema {
            complete(schema, owner, key);
        }
    }
    if let Some(Value::String(description)) = definition.get_mut("description") {
        *description = sentences(description);
    }
}

/// Fills in what a value may be, and what an editor shows of it.
fn complete(schema: &mut Map<String, Value>, owner: &str, key: &str) {
    let fact = facts::of(owner, key);
    let words = fact.map_or(&[][..], |fact| fact.words);
    if key == "timers" {
        // A text in place of a pause's settings is its time.
        schema.values_mut().for_each(texts_are_times);
    }
    let kind = expand(schema, words);
    let kind = kind.as_deref().unwrap_or_default();
    // What the compiler asks of the shape beyond the types.
    if key == "send_json" {
        schema.insert("type".to_owned(), json!(["object", "array"]));
    } else if key == "uniform" {
        let items = schema.remove("anyOf").map(|choices| choices[0]["items"].clone());
        let pair = json!({ "type": "array", "items": items, "minItems": 2, "maxItems": 2 });
        schema.extend(pair.as_object().cloned().unwrap_or_default());
    }
    if key == "in" {
        // The one of `for_each`: a value must be there.
        let choices = schema.get("anyOf").map(|choices| choices[0]["anyOf"].clone());
        schema.extend(choices.map(|choices| ("anyOf".to_owned(), choices)));
    }
    let written = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let mut description = sentences(written);
    let default = fact.map_or("", |fact| fact.default);
    let inherited = owner == "Defaults" || default.is_empty();
    for more in [kinds::unit(kind), &if inherited { String::new() } else { ticked(default) }] {
        if !more.is_empty() {
            description.push(' ');
            description.push_str(more);
        }
    }
    schema.insert("description".to_owned(), json!(description.trim()));
    schema.remove("default");
    if !inherited && !default.contains(' ') {
        schema.insert("default".to_owned(), literal(default));
    }
    let example = fact.map(|fact| fact.example).filter(|example| !example.is_empty());
    let example = match (example, words) {
        (Some(example), _) => literal(example),
        (None, [.., last]) => json!(last),
        (None, []) => kinds::example(kind),
    };
    schema.insert("examples".to_owned(), json!([example]));
}

/// Makes the texts in `schema` and below durations.
fn texts_are_times(schema: &mut Value) {
    match schema {
        Value::Object(schema) => {
            if let Some(kind) = schema.get_mut(MARK).filter(|kind| **kind == "Text") {
                *kind = json!("Time");
            }
            schema.values_mut().for_each(texts_are_times);
        }
        Value::Array(parts) => parts.iter_mut().for_each(texts_are_times),
        _ => {}
    }
}

/// Replaces marks in `schema` and below; gives the kind of the first.
fn expand(schema: &mut Map<String, Value>, words: &[&str]) -> Option<String> {
    if let Some(Value::String(kind)) = schema.remove(MARK) {
        schema.remove("type");
        let mut rule = kinds::of(&kind, schema.contains_key(NULLABLE));
        if !words.is_empty() {
            rule = Map::new();
            rule.insert("anyOf".to_owned(), kinds::words(words, schema.contains_key(NULLABLE)));
        }
        schema.remove(NULLABLE);
        schema.append(&mut rule);
        return Some(kind);
    }
    let mut first = None;
    for (_, value) in schema.iter_mut().filter(|(key, _)| *key != "examples") {
        let parts: &mut [Value] = match value {
            Value::Array(parts) => parts,
            Value::Object(_) => std::slice::from_mut(value),
            _ => continue,
        };
        for part in parts.iter_mut().filter_map(Value::as_object_mut) {
            let kind = expand(part, words);
            first = first.or(kind);
        }
    }
    first
}

/// A step or check: a map with exactly one key, or that key as a bare word.
fn one_key_map(
    written: &Map<String, Value>,
    owner: &str,
    definitions: &Map<String, Value>,
) -> Map<String, Value> {
    let variants = written["oneOf"].as_array().map(Vec::as_slice).unwrap_or_default();
    let (mut kinds, mut bare) = (Map::new(), Vec::new());
    for variant in variants {
        if let Some(word) = variant.get("const").or_else(|| variant["enum"].get(0)) {
            let mut content = json!({ "type": "null", "description": variant["description"] });
            if let (Value::String(word), Value::Object(content)) = (word, &mut content) {
                let description = content["description"].as_str().map(sentences);
                content.insert("description".to_owned(), json!(description));
                kinds.insert(word.clone(), Value::Object(std::mem::take(content)));
                bare.push(word.clone());
            }
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
            bare.push(kind.clone());
        }
        if let (Some(name), true) = (definition, has_settings) {
            content = in_place_of_settings(kind, name, &content, definitions);
        }
        content.insert("description".to_owned(), variant["description"].clone());
        if has_settings {
            expand(&mut content, &[]);
            let description = content["description"].as_str().map(sentences);
            content.insert("description".to_owned(), json!(description));
        } else {
            complete(&mut content, owner, kind);
        }
        kinds.insert(kind.clone(), Value::Object(content));
    }
    let map = json!({
        "type": "object", "properties": kinds,
        "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
    });
    let choices = if bare.is_empty() { vec![map] } else { vec![map, json!({ "enum": bare })] };
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
    for key in ["description", "default", "examples"] {
        schema.remove(key);
    }
    Value::Object(schema)
}

/// Documentation as plain text: without links, whole sentences.
fn sentences(documentation: &str) -> String {
    let text = documentation.replace("[`", "`").replace("`]", "`").replace('\n', " ");
    let mut text = text.trim().to_owned();
    if !text.is_empty() && !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    text
}

fn ticked(default: &str) -> String {
    if default.contains(' ') {
        format!("Default: {default}.")
    } else {
        format!("Default: `{default}`.")
    }
}

/// A fact as JSON, if it reads as that, else as text.
fn literal(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_is_about_a_key_that_some_type_has() {
        let schema: Value = serde_json::from_str(&schema()).unwrap();
        let mut known = Vec::new();
        let definitions = schema["definitions"].as_object().unwrap().iter();
        let plan = "Plan".to_owned();
        for (owner, definition) in definitions.chain([(&plan, &schema)]) {
            let one_key_map = &definition["anyOf"][0];
            for holder in [definition, one_key_map] {
                for (key, _) in holder["properties"].as_object().into_iter().flatten() {
                    known.push(format!("{owner}.{key}"));
                    known.push(key.clone());
                }
            }
        }
        for fact in facts::FACTS {
            assert!(known.iter().any(|key| key == fact.key), "{}", fact.key);
        }
    }

    #[test]
    fn documentation_becomes_whole_sentences_without_links() {
        assert_eq!(sentences("See [`Open`]\nand more"), "See `Open` and more.");
        assert_eq!(sentences("What is sent?"), "What is sent?");
    }
}

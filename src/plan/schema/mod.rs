//! The JSON schemas of plans and of files that they include, for editors: generated from the types, so
//! that a key that the reader knows is in them, and no other.
//!
//! The types say which keys there are and what they mean (their documentation), [`facts`] adds
//! defaults and examples, and the reader's habits are applied here: bare words, text in place of a
//! map, one item for a list, `${` in any scalar. Draft 7, which editors understand best.

mod example;
mod facts;
mod kinds;
mod one_key;
mod types;
mod words;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::plan::{Plan, Step, Steps};
use example::exemplify;
use one_key::one_key_map;
use types::{MARK, NULLABLE};

/// The schema of plans as pretty JSON with a final newline; the same for the same types.
pub fn schema() -> String {
    let generator = SchemaSettings::draft07().into_generator();
    let mut root = generator.into_root_schema_for::<Plan>().to_value();
    if let Value::Object(root) = &mut root {
        let definitions = match root.remove("definitions") {
            Some(Value::Object(definitions)) => definitions,
            _ => Map::new(),
        };
        settings(root, "Plan");
        root.insert("title".to_owned(), json!("wsmeter plan"));
        root.insert("definitions".to_owned(), Value::Object(complete_all(definitions)));
    }
    pretty(&root)
}

/// The schema of files of steps, which plans include, in the same form. It is one of its own: an editor
/// would offer what is right in either kind of file in both.
pub fn steps_schema() -> String {
    let mut generator = SchemaSettings::draft07().into_generator();
    let (list, map) = (generator.subschema_for::<Step>(), generator.subschema_for::<Steps>());
    let definitions = complete_all(generator.take_definitions(true));
    pretty(&json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "wsmeter steps",
        "description": "Steps that a plan includes: a list of them, or `parameters:` and `steps:`.",
        "anyOf": [{ "type": "array", "items": list, "minItems": 1 }, map],
        "definitions": definitions,
    }))
}

fn pretty(schema: &Value) -> String {
    let mut text = format!("{schema:#}");
    text.push('\n');
    text
}

/// The definitions with what the types alone do not say.
fn complete_all(mut definitions: Map<String, Value>) -> Map<String, Value> {
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
    describe_settings(&mut definitions);
    definitions.sort_keys();
    definitions
}

/// Gives the settings of a step or check the description that the step or check has: an editor shows
/// either, depending on what is written.
fn describe_settings(definitions: &mut Map<String, Value>) {
    let mut told: Vec<(String, Value)> = Vec::new();
    for definition in definitions.values() {
        for (_, kind) in definition["anyOf"][0]["properties"].as_object().into_iter().flatten() {
            let settings = kind["anyOf"][0]["$ref"].as_str();
            if let Some(name) = settings.and_then(|name| name.rsplit('/').next()) {
                told.push((name.to_owned(), kind["description"].clone()));
            }
        }
    }
    for (name, description) in &told {
        let of_several = told.iter().any(|(other, text)| other == name && text != description);
        if let (false, Some(settings)) = (of_several, definitions.get_mut(name)) {
            settings["description"] = description.clone();
        }
    }
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
    without_second_null(schema);
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
        schema.remove("anyOf");
        let pair = json!({ "type": "array", "minItems": 2, "maxItems": 2 });
        schema.extend(pair.as_object().cloned().unwrap_or_default());
    }
    if key == "in" {
        // The one of `for_each`: a value must be there.
        let choices = schema.get("anyOf").map(|choices| choices[0]["anyOf"].clone());
        schema.extend(choices.map(|choices| ("anyOf".to_owned(), choices)));
    } else if key == "when"
        && let Some(Value::Array(choices)) = schema.get_mut("anyOf")
    {
        // One check, of which nothing is not one.
        choices.retain(|choice| choice["type"] != "null");
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
    // As text only: the YAML language server writes all `default`s of a thread group into the file with
    // the group, and no value at all for a key that has an example beside its default.
    schema.remove("default");
    explain_words(schema, key, words);
    let example = fact.map(|fact| fact.example).filter(|example| !example.is_empty());
    let example = match (example, words) {
        (Some(example), _) => literal(example),
        // What is not so by default anyway.
        (None, [first, ..]) => json!(words.iter().find(|word| **word != default).unwrap_or(first)),
        (None, []) => kinds::example(kind),
    };
    exemplify(schema, &example);
}

/// A list may be nothing anyway: what a key that may be left out adds to that hides the list from editors.
fn without_second_null(schema: &mut Map<String, Value>) {
    let choices = schema.get("anyOf").and_then(Value::as_array).map(Vec::as_slice);
    let Some([list, null]) = choices else { return };
    if let (Some(list), true) = (list.as_object(), *null == json!({ "type": "null" }))
        && list.contains_key("items")
    {
        let list = list.clone();
        schema.remove("anyOf");
        schema.extend(list);
    }
}

/// Says what the words mean that a key takes.
fn explain_words(schema: &mut Map<String, Value>, key: &str, words: &[&str]) {
    let meanings: Option<Vec<&str>> = words.iter().map(|word| words::meaning(key, word)).collect();
    if let Some(meanings) = meanings.filter(|meanings| !meanings.is_empty()) {
        add_meanings(schema, &meanings);
    }
}

fn add_meanings(schema: &mut Map<String, Value>, meanings: &[&str]) {
    if schema.contains_key("enum") {
        schema.insert("enumDescriptions".to_owned(), json!(meanings));
    }
    let choices = schema.get_mut("anyOf").and_then(Value::as_array_mut).into_iter().flatten();
    for choice in choices.filter_map(Value::as_object_mut) {
        add_meanings(choice, meanings);
    }
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
        let steps: Value = serde_json::from_str(&steps_schema()).unwrap();
        let mut known = Vec::new();
        let definitions = schema["definitions"].as_object().unwrap().iter();
        let (plan, steps_map) = ("Plan".to_owned(), "Steps".to_owned());
        let others = [(&plan, &schema), (&steps_map, &steps["definitions"]["Steps"])];
        for (owner, definition) in definitions.chain(others) {
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

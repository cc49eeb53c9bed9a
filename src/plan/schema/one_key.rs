//! The schema of what is a map with one key, its kind: steps, checks, extractors.
//!
//! An editor offers the kinds as keys, each with an example behind it. A kind may be written as a bare
//! word too; that is accepted and explained, but not offered, for editors that find the same word as
//! a key and as a text make a mess of both. Jumps, such as `break`, are offered as bare words only.

use serde_json::{Map, Value, json};

use crate::plan::reader::MAIN_SETTINGS;
use crate::plan::schema::example::exemplify;
use crate::plan::schema::{complete, expand, facts, literal, sentences};

/// A step or check: a map with exactly one key, or that key as a bare word.
pub(super) fn one_key_map(
    written: &Map<String, Value>,
    owner: &str,
    definitions: &Map<String, Value>,
) -> Map<String, Value> {
    let mut kinds = Kinds::default();
    for variant in written["oneOf"].as_array().into_iter().flatten() {
        if let Some(Value::String(word)) = variant.get("const").or_else(|| variant["enum"].get(0)) {
            kinds.add_jump(word, told(variant));
        } else if let Some((kind, content)) =
            variant["properties"].as_object().and_then(|properties| properties.iter().next())
        {
            let content = content.as_object().cloned().unwrap_or_default();
            kinds.add(kind, content, &told(variant), (owner, definitions));
        }
    }
    let mut schema = Map::new();
    schema.insert("description".to_owned(), json!(told(&Value::Object(written.clone()))));
    schema.insert("anyOf".to_owned(), Value::Array(kinds.choices(owner)));
    schema
}

/// The description of a type or of one of its variants.
fn told(written: &Value) -> String {
    written["description"].as_str().map(sentences).unwrap_or_default()
}

/// What the language server writes behind a kind stands in a list element, behind its dash: two columns
/// further in than the server thinks.
fn indent_further(content: &mut Map<String, Value>) {
    let snippets = content.get_mut("defaultSnippets").and_then(Value::as_array_mut);
    for body in snippets.into_iter().flatten().filter_map(|snippet| snippet.get_mut("body")) {
        if let Some(map) = body.as_object() {
            *body = map.iter().map(|(key, value)| (format!("  {key}"), value.clone())).collect();
        }
    }
}

/// What a map with one key may be.
#[derive(Default)]
struct Kinds {
    /// By kind: what stands behind it.
    keys: Map<String, Value>,
    /// Kinds that may be bare words, with their descriptions.
    bare: Vec<(String, String)>,
    /// Kinds that are nothing but a word, with their descriptions.
    jumps: Vec<(String, String)>,
}

impl Kinds {
    fn add_jump(&mut self, word: &str, description: String) {
        let content = json!({ "type": "null", "description": description, "doNotSuggest": true });
        self.keys.insert(word.to_owned(), content);
        self.jumps.push((word.to_owned(), description));
    }

    fn add(
        &mut self,
        kind: &str,
        mut content: Map<String, Value>,
        description: &str,
        (owner, definitions): (&str, &Map<String, Value>),
    ) {
        let definition =
            content.get("$ref").and_then(Value::as_str).and_then(|name| name.rsplit('/').next());
        // Of definitions, only those of settings have properties: a check within a check has none.
        let settings = definition
            .filter(|name| definitions.get(*name).is_some_and(|d| d.get("properties").is_some()));
        // The bare word is the kind with nothing behind it.
        let choices = content.get("anyOf").and_then(Value::as_array);
        let takes_nothing =
            choices.is_some_and(|choices| choices.contains(&json!({ "type": "null" })));
        if settings.is_some() || takes_nothing {
            self.bare.push((kind.to_owned(), description.to_owned()));
        }
        if let Some(name) = settings {
            content = in_place_of_settings(kind, name, &content, definitions);
            expand(&mut content, &[]);
            content.insert("description".to_owned(), json!(description));
            let example = facts::of(owner, kind).map(|fact| fact.example).unwrap_or_default();
            if !example.is_empty() {
                exemplify(&mut content, &literal(example));
            }
        } else {
            content.insert("description".to_owned(), json!(description));
            complete(&mut content, owner, kind);
            indent_further(&mut content);
        }
        self.keys.insert(kind.to_owned(), Value::Object(content));
    }

    fn choices(self, owner: &str) -> Vec<Value> {
        let names: Vec<String> = self.keys.keys().map(|kind| format!("`{kind}`")).collect();
        // What the language server says of any other key or word.
        let what = owner.to_lowercase();
        let advice = format!(
            "This is no {what}, and a setting of one stands further in. The {what}s are {}.",
            names.join(", ")
        );
        let map = json!({
            "type": "object", "properties": self.keys,
            "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
            "errorMessage": advice,
        });
        let mut choices = vec![map];
        if !self.jumps.is_empty() {
            let (words, descriptions): (Vec<_>, Vec<_>) = self.jumps.into_iter().unzip();
            choices.push(json!({ "enum": words, "enumDescriptions": descriptions }));
        }
        choices.extend(self.bare.into_iter().map(|(word, description)| {
            let pattern = format!("^{word}$");
            json!({ "type": "string", "pattern": pattern, "description": description })
        }));
        choices
    }
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

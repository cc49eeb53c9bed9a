//! `send`, `send_json`, `send_hex`: what a sampler sends.

use crate::compile::compiler::{Compiler, When};
use crate::compile::template::is_one_expression;
use crate::compile::warning::Warning;
use crate::plan::{At, Json, Path, Problem, Setting, Text};
use crate::program::{JsonPart, Payload, hex_bytes, json_escape};

/// The three ways to give a payload, of which a sampler has exactly one.
#[derive(Debug)]
pub(super) struct PayloadSettings<'a> {
    pub(super) send: Option<&'a Setting<Text>>,
    pub(super) send_json: Option<&'a Json>,
    pub(super) send_hex: Option<&'a Setting<Text>>,
}

impl Compiler<'_> {
    /// `path`: the sampler's.
    pub(super) fn payload(
        &mut self,
        settings: &PayloadSettings<'_>,
        path: &Path,
    ) -> Option<Payload> {
        let kind = path.last_key().unwrap_or("the sampler").to_owned();
        match *settings {
            PayloadSettings { send: Some(send), send_json: None, send_hex: None } => {
                self.send(send, &path.key("send"))
            }
            PayloadSettings { send: None, send_json: Some(json), send_hex: None } => {
                self.send_json(json, &path.key("send_json"))
            }
            PayloadSettings { send: None, send_json: None, send_hex: Some(hex) } => {
                self.send_hex(hex, &path.key("send_hex"))
            }
            PayloadSettings { send: None, send_json: None, send_hex: None } => {
                let problem = Problem::error(path, format!("`{kind}` has nothing to send"));
                self.note(problem.at(At::Key).help("give `send`, `send_json` or `send_hex`"));
                None
            }
            PayloadSettings { send_json, .. } => {
                let second = if send_json.is_some() && settings.send.is_some() {
                    "send_json"
                } else {
                    "send_hex"
                };
                let title = format!("`{kind}` has more than one payload");
                let problem = Problem::error(&path.key(second), title).at(At::Key);
                self.note(problem.help("give one of `send`, `send_json`, `send_hex`"));
                None
            }
        }
    }

    fn send(&mut self, setting: &Setting<Text>, path: &Path) -> Option<Payload> {
        // Only a block text can end in a newline without anyone seeing it; the warning is dropped
        // where the text is not one.
        if setting.text.ends_with('\n') {
            self.note(Warning::TrailingNewline.at(path, At::Block));
        }
        let template = self.text(setting, path)?;
        Some(match template.as_constant() {
            Some(text) => Payload::FixedText(text.to_owned()),
            None => Payload::Text(template),
        })
    }

    fn send_json(&mut self, json: &Json, path: &Path) -> Option<Payload> {
        if !matches!(json, Json::List(_) | Json::Map(_)) {
            let problem = Problem::error(path, "`send_json` takes a map or a list");
            self.note(problem.help("use `send` for a text that is JSON already"));
            return None;
        }
        let mut parts = self.json(json, path)?;
        Some(match parts.as_mut_slice() {
            [JsonPart::Raw(text)] => Payload::FixedText(std::mem::take(text)),
            _ => Payload::Json(parts),
        })
    }

    fn send_hex(&mut self, setting: &Setting<Text>, path: &Path) -> Option<Payload> {
        let template = self.text(setting, path)?;
        match template.as_constant().map(hex_bytes) {
            None => Some(Payload::Hex(template)),
            Some(Ok(bytes)) => Some(Payload::FixedBinary(bytes)),
            Some(Err(bad)) => {
                self.bad_value(bad, path, "");
                None
            }
        }
    }

    /// A JSON value: compact, constant parts merged.
    pub(super) fn json(&mut self, json: &Json, path: &Path) -> Option<Vec<JsonPart>> {
        let mut writer = JsonWriter { compiler: self, parts: Vec::new(), complete: true };
        writer.value(json, path);
        writer.complete.then_some(writer.parts)
    }
}

struct JsonWriter<'c, 'a> {
    compiler: &'c mut Compiler<'a>,
    parts: Vec<JsonPart>,
    complete: bool,
}

impl JsonWriter<'_, '_> {
    fn value(&mut self, json: &Json, path: &Path) {
        match json {
            Json::Null => self.raw("null"),
            Json::Flag(true) => self.raw("true"),
            Json::Flag(false) => self.raw("false"),
            Json::Number(number) => self.raw(number),
            Json::Text(text) => self.text(text, path, Role::Value),
            Json::List(elements) => {
                self.raw("[");
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        self.raw(",");
                    }
                    self.value(element, &path.index(index));
                }
                self.raw("]");
            }
            Json::Map(entries) => {
                self.raw("{");
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        self.raw(",");
                    }
                    let path = path.key(key.clone());
                    self.text(key, &path, Role::Key);
                    self.raw(":");
                    self.value(value, &path);
                }
                self.raw("}");
            }
        }
    }

    fn raw(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(JsonPart::Raw(before)) => before.push_str(text),
            _ => self.parts.push(JsonPart::Raw(text.to_owned())),
        }
    }

    fn text(&mut self, text: &str, path: &Path, role: Role) {
        let Some(template) = self.compiler.template(text, path, When::InTheRun) else {
            self.complete = false;
            return;
        };
        // `${x}` and nothing else is inserted as a number if it reads as one.
        let bare = role == Role::Value && text.contains("${") && is_one_expression(text);
        match template.as_constant() {
            Some(constant) if bare && Json::is_number(constant) => self.raw(constant),
            Some(constant) => {
                let mut quoted = String::with_capacity(constant.len() + 2);
                quoted.push('"');
                json_escape(constant, &mut quoted);
                quoted.push('"');
                self.raw(&quoted);
            }
            None if bare => self.parts.push(JsonPart::Value(template)),
            None => self.parts.push(JsonPart::String(template)),
        }
    }
}

/// Where a text stands in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Key,
    Value,
}

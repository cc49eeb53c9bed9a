//! What a sampler sends: `send` and its like, and `stomp`.

use crate::compile::compiler::{Compiler, When};
use crate::compile::template::is_one_expression;
use crate::compile::warning::Warning;
use crate::plan::{At, Flag, Json, Path, Problem, SendFile, Setting, Size, Text, TextOr};
use crate::program::{
    BadValue, ByteSize, JsonPart, MAX_RANDOM, Part, Payload, Template, base64_bytes, hex_bytes,
    json_escape,
};

/// The ways to give a payload, of which a sampler has exactly one, and what goes with it.
#[derive(Debug)]
pub(super) struct PayloadSettings<'a> {
    pub(super) send: Option<&'a Setting<Text>>,
    pub(super) send_json: Option<&'a Json>,
    pub(super) send_hex: Option<&'a Setting<Text>>,
    pub(super) send_base64: Option<&'a Setting<Text>>,
    pub(super) send_file: Option<&'a TextOr<SendFile>>,
    pub(super) send_random: Option<&'a Setting<Size>>,
    pub(super) stomp: Option<&'a Setting<Flag>>,
}

/// The payload settings of a sampler as written, which has them among others.
macro_rules! payload_settings {
    ($own:expr) => {
        crate::compile::payload::PayloadSettings {
            send: $own.send.as_ref(),
            send_json: $own.send_json.as_ref(),
            send_hex: $own.send_hex.as_ref(),
            send_base64: $own.send_base64.as_ref(),
            send_file: $own.send_file.as_ref(),
            send_random: $own.send_random.as_ref(),
            stomp: $own.stomp.as_ref(),
        }
    };
}
pub(super) use payload_settings;

impl PayloadSettings<'_> {
    /// The keys of the payloads that are given, in the order of the documentation.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let keys = [
            ("send", self.send.is_some()),
            ("send_json", self.send_json.is_some()),
            ("send_hex", self.send_hex.is_some()),
            ("send_base64", self.send_base64.is_some()),
            ("send_file", self.send_file.is_some()),
            ("send_random", self.send_random.is_some()),
        ];
        keys.into_iter().filter(|(_, given)| *given).map(|(key, _)| key)
    }
}

impl Compiler<'_> {
    /// `path`: the sampler's.
    pub(super) fn payload(
        &mut self,
        settings: &PayloadSettings<'_>,
        path: &Path,
    ) -> Option<Payload> {
        let kind = path.last_key().unwrap_or("the sampler").to_owned();
        let mut given = settings.given();
        let Some(key) = given.next() else {
            let problem = Problem::error(path, format!("`{kind}` has nothing to send"));
            self.note(problem.at(At::Key).help(
                "give `send`, `send_json`, `send_hex`, `send_base64`, `send_file` or `send_random`",
            ));
            return None;
        };
        if let Some(second) = given.next() {
            let title = format!("`{kind}` has more than one payload");
            let problem = Problem::error(&path.key(second), title).at(At::Key);
            self.note(problem.help(format!("give one of `{key}` and `{second}`")));
            return None;
        }
        let payload = self.given_payload(settings, &path.key(key));
        let stomp_path = path.key("stomp");
        let stomp = match settings.stomp {
            Some(stomp) => self.fixed(stomp, &stomp_path)?,
            None => false,
        };
        if !stomp {
            return payload;
        }
        let ended = with_nul(payload?);
        if ended.is_none() {
            let title = format!("`stomp` ends a text with NUL, and `{key}` sends binary");
            let problem = Problem::error(&stomp_path, title).at(At::Key);
            self.note(problem.help("use `send`, or end the bytes with `00` yourself"));
        }
        ended
    }

    /// The one payload that is given, at `path`.
    fn given_payload(&mut self, settings: &PayloadSettings<'_>, path: &Path) -> Option<Payload> {
        if let Some(send) = settings.send {
            return self.send(send, path);
        }
        if let Some(json) = settings.send_json {
            return self.send_json(json, path);
        }
        if let Some(hex) = settings.send_hex {
            return self.send_encoded(hex, path, hex_bytes, Payload::Hex);
        }
        if let Some(base64) = settings.send_base64 {
            return self.send_encoded(base64, path, base64_bytes, Payload::Base64);
        }
        if let Some(file) = settings.send_file {
            return self.send_file(file, path);
        }
        let size = self.setting(settings.send_random?, path);
        let size = self.checked(size, path, |size: &ByteSize| {
            if *size <= MAX_RANDOM {
                return Ok(());
            }
            Err(BadValue::new("`send_random` sends at most 64MiB")
                .with_help("send it in several messages"))
        })?;
        Some(Payload::Random(size))
    }

    pub(super) fn send(&mut self, setting: &Setting<Text>, path: &Path) -> Option<Payload> {
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

    /// A binary message that is written as text.
    fn send_encoded(
        &mut self,
        setting: &Setting<Text>,
        path: &Path,
        decode: impl Fn(&str) -> Result<Vec<u8>, BadValue>,
        later: impl Fn(Template) -> Payload,
    ) -> Option<Payload> {
        let template = self.text(setting, path)?;
        match template.as_constant().map(decode) {
            None => Some(later(template)),
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

/// A text payload with a NUL at its end, as STOMP frames have it; `None` for a binary
/// one.
fn with_nul(payload: Payload) -> Option<Payload> {
    Some(match payload {
        Payload::FixedText(text) => Payload::FixedText(text + "\0"),
        Payload::Text(mut template) => {
            template.parts.push(Part::Text("\0".to_owned()));
            Payload::Text(template)
        }
        Payload::Json(mut parts) => {
            parts.push(JsonPart::Raw("\0".to_owned()));
            Payload::Json(parts)
        }
        _ => return None,
    })
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

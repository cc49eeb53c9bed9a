//! Values that are found to be secrets, by what says so where they enter.

use percent_encoding::percent_decode_str;
use serde_json::{Deserializer, Value};

use crate::net;
use crate::secrets::telling;

/// A value that only its name makes a secret is hidden in texts without that name if it has so many
/// bytes: `lang=en` of a cookie must not hide every `en`.
const TELLING: usize = 8;

/// A password is, if it has so many.
const PASSWORD: usize = 4;

/// Of a body that is no JSON so many bytes are searched.
const SEARCHED: usize = 64 * 1024;

/// Values as they are.
#[derive(Debug, Default)]
pub struct Found(pub(super) Vec<String>);

impl Found {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a value; an empty one hides nothing.
    pub fn remember(&mut self, value: &str) {
        if !value.is_empty() {
            self.0.push(value.to_owned());
        }
    }

    /// Adds the value of a header that holds secrets, and the parts that stand for themselves: what
    /// follows `Bearer`, what each cookie has.
    pub fn remember_header(&mut self, name: &str, value: &str) {
        if !net::is_secret(name) {
            return;
        }
        self.remember_telling(value);
        for part in value.split([';', ' ']) {
            self.remember_telling(part);
            if let Some((_, part)) = part.split_once('=') {
                self.remember_telling(part);
            }
        }
    }

    /// Adds the cookie of a `Set-Cookie` header, not its attributes.
    pub fn remember_set_cookie(&mut self, value: &str) {
        let pair = value.split(';').next().unwrap_or_default();
        self.remember_telling(pair.trim());
        if let Some((_, value)) = pair.split_once('=') {
            self.remember_telling(value.trim().trim_matches('"'));
        }
    }

    /// Adds the password of a URL's user info, and the values of its query parameters whose names tell
    /// that they are secrets.
    pub fn remember_url(&mut self, url: &str) {
        if let Some(password) = net::password(url) {
            self.remember_password(password);
            self.remember_password(&percent_decode_str(password).decode_utf8_lossy());
        }
        let Some((_, query)) = url.split_once('?') else { return };
        for (name, value) in query.split('&').filter_map(|parameter| parameter.split_once('=')) {
            if net::is_secret(name) {
                self.remember_telling(value);
                let decoded = percent_decode_str(value).decode_utf8_lossy();
                self.remember_telling(&decoded);
            }
        }
    }

    /// Adds the value of a field of a form or of JSON if its name tells that it is a secret.
    pub fn remember_field(&mut self, name: &str, value: &str) {
        if name.to_ascii_lowercase().trim_end_matches('s').ends_with("password") {
            self.remember_password(value);
        } else if net::is_secret(name) && !telling::is_entry(name) {
            self.remember_telling(value);
        }
    }

    /// Adds what a body calls a secret: the fields of one JSON text or of several in a row; those of
    /// any other text, such as a form, as far as they can be made out.
    pub fn remember_body(&mut self, bytes: &[u8]) {
        let mut values = Deserializer::from_slice(bytes).into_iter::<Value>();
        let mut is_json = false;
        for value in values.by_ref() {
            match value {
                Ok(value @ (Value::Object(_) | Value::Array(_))) => {
                    is_json = true;
                    self.remember_value("", &value);
                }
                Ok(_) | Err(_) => break,
            }
        }
        if is_json && values.byte_offset() >= bytes.trim_ascii_end().len() {
            return;
        }
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SEARCHED)]);
        telling::fields(text.as_bytes(), &mut |name, place| {
            let Some(value) = text.get(place) else { return };
            self.remember_field(name, value);
            let in_a_form = value.replace('+', " ");
            let decoded = percent_decode_str(&in_a_form).decode_utf8_lossy();
            self.remember_field(name, &decoded);
        });
    }

    fn remember_value(&mut self, name: &str, value: &Value) {
        match value {
            Value::String(text) => self.remember_field(name, text),
            Value::Number(number) => self.remember_field(name, &number.to_string()),
            Value::Array(values) => {
                for value in values {
                    self.remember_value(name, value);
                }
            }
            Value::Object(entries) => {
                for (name, value) in entries {
                    self.remember_value(name, value);
                }
            }
            _ => {}
        }
    }

    /// Adds a password that is not named in `secrets`, unless it is so short that it would hide what is
    /// none.
    pub fn remember_password(&mut self, value: &str) {
        if value.len() >= PASSWORD {
            self.remember(value);
        }
    }

    /// Adds a value that only a name tells to be a secret, unless it is short.
    pub fn remember_telling(&mut self, value: &str) {
        if value.len() >= TELLING {
            self.remember(value);
        }
    }
}

//! Values that no output shows.

use std::borrow::Cow;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;
use url::form_urlencoded;

use crate::net;
use crate::program::json_escape;

/// What stands in place of a secret.
const MASK: &str = "***";

/// So many values are remembered; the oldest go first. A variable may get a new value with every
/// iteration, and a text may still hold the one before.
const REMEMBERED: usize = 16;

/// Where a text is cut off (`…`), so many bytes of a secret before it are recognised as its
/// beginning.
const RECOGNISED: usize = 4;

/// A value that only the name of its header or query parameter makes a secret is hidden in other
/// texts if it has so many bytes: `lang=en` of a cookie must not hide every `en`.
const TELLING: usize = 8;

/// Headers whose values are secrets by themselves.
const SECRET_HEADERS: [&str; 3] = ["authorization", "cookie", "set-cookie"];

/// Whether the values of headers of this name are secrets.
pub fn is_secret_header(name: &str) -> bool {
    SECRET_HEADERS.iter().any(|secret| secret.eq_ignore_ascii_case(name))
}

/// Secret values, as they are and as they stand in URLs and in JSON.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    /// Each with its other forms, oldest first.
    values: Vec<Vec<String>>,
}

impl Secrets {
    /// Whether there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Adds a value; an empty one hides nothing.
    pub fn remember(&mut self, value: &str) {
        if value.is_empty() || self.values.iter().any(|forms| forms[0] == value) {
            return;
        }
        let mut forms = vec![value.to_owned()];
        let mut json = String::new();
        json_escape(value, &mut json);
        let everything = utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
        let in_a_form: String = form_urlencoded::byte_serialize(value.as_bytes()).collect();
        for form in [net::encoded(value), everything, json, in_a_form] {
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
        if self.values.len() == REMEMBERED {
            self.values.remove(0);
        }
        self.values.push(forms);
    }

    /// Adds the value of a header that holds secrets, and the parts that stand for themselves: what
    /// follows `Bearer`, what each cookie has.
    pub fn remember_header(&mut self, name: &str, value: &str) {
        if !is_secret_header(name) {
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
            self.remember(password);
            self.remember(&percent_decode_str(password).decode_utf8_lossy());
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
        if name.to_ascii_lowercase().contains("password") {
            // However short.
            self.remember(value);
        } else if net::is_secret(name) {
            self.remember_telling(value);
        }
    }

    /// Adds the texts that a JSON value has under names that tell that they are secrets; nothing of
    /// what is not JSON.
    pub fn remember_json(&mut self, bytes: &[u8]) {
        if let Ok(value) = serde_json::from_slice(bytes) {
            self.remember_value("", &value);
        }
    }

    fn remember_value(&mut self, name: &str, value: &Value) {
        match value {
            Value::String(text) => self.remember_field(name, text),
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

    fn remember_telling(&mut self, value: &str) {
        if value.len() >= TELLING {
            self.remember(value);
        }
    }

    /// The text with `***` for every secret; borrowed where there is none.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let may_be_cut = text.contains('…');
        if !may_be_cut && !self.forms().any(|form| text.contains(form)) {
            return Cow::Borrowed(text);
        }
        let mut masked = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let length = self.begins(rest, may_be_cut);
            if length > 0 {
                masked.push_str(MASK);
                rest = &rest[length..];
            } else {
                masked.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        Cow::Owned(masked)
    }

    fn forms(&self) -> impl Iterator<Item = &str> {
        self.values.iter().flatten().map(String::as_str)
    }

    /// Bytes of the longest secret that the text begins with.
    fn begins(&self, text: &str, may_be_cut: bool) -> usize {
        let before_cut = match may_be_cut.then(|| text.find('…')).flatten() {
            Some(cut) if cut >= RECOGNISED => Some(&text[..cut]),
            _ => None,
        };
        let length = |form: &str| {
            if text.starts_with(form) {
                form.len()
            } else {
                before_cut.filter(|cut| form.starts_with(cut)).map_or(0, str::len)
            }
        };
        self.forms().map(length).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(values: &[&str]) -> Secrets {
        let mut secrets = Secrets::default();
        for value in values {
            secrets.remember(value);
        }
        secrets
    }

    #[test]
    fn every_form_of_a_value_is_hidden_and_nothing_else() {
        let secrets = secrets(&["a b\"c", ""]);
        let text = "a b\"c, a%20b%22c, a b\\\"c and a b";
        assert_eq!(secrets.mask(text), "***, ***, *** and a b");
        assert!(matches!(secrets.mask("nothing"), Cow::Borrowed("nothing")));
    }

    #[test]
    fn the_longest_of_overlapping_values_is_hidden() {
        assert_eq!(secrets(&["abc", "abcdef", "cde"]).mask("xabcdefx abcx"), "x***x ***x");
    }

    #[test]
    fn the_beginning_of_a_value_is_hidden_where_the_text_is_cut() {
        assert_eq!(secrets(&["hunter2hunter2"]).mask("token hunter2hu… more"), "token ***… more");
        assert_eq!(secrets(&["hunter2"]).mask("hun…"), "hun…");
    }

    #[test]
    fn headers_and_queries_tell_their_secrets() {
        let mut secrets = Secrets::default();
        secrets.remember_header("Authorization", "Bearer abcdefgh==");
        secrets.remember_header("cookie", "lang=en; sid=0123456789");
        secrets.remember_header("X-Room", "lobby-lobby");
        secrets.remember_url("ws://h/?apikey=secret%20secret&room=lobby-lobby&token=short");
        secrets.remember_json(br#"{"a":[{"passwords":["pw"]}],"token":"tokentoken","key":"k"}"#);
        secrets.remember_set_cookie("s=setcookie; Path=/lobby-lobby");
        assert_eq!(secrets.mask("pw tokentoken k setcookie"), "*** *** k ***");
        secrets.remember_url("ws://bob:p%40ss@h/?a=b@c:d");
        assert_eq!(secrets.mask("bob p%40ss p@ss c:d"), "bob *** *** c:d");
        let text = "abcdefgh== en 0123456789 secret secret secret%20secret lobby-lobby short";
        assert_eq!(secrets.mask(text), "*** en *** *** *** lobby-lobby short");
    }

    #[test]
    fn only_so_many_old_values_are_remembered() {
        let mut secrets = Secrets::default();
        for number in 0..=REMEMBERED {
            secrets.remember(&format!("value-{number:03}"));
        }
        assert_eq!(secrets.mask("value-000 value-001 value-016"), "value-000 *** ***");
    }
}

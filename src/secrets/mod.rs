//! Values that no output shows.

mod telling;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Deserializer, Value};
use url::form_urlencoded;

use crate::net;

pub use telling::{get_ready, without_telling};

/// What stands in place of a secret.
pub const MASK: &str = "***";

/// As long as there are no more, all values are remembered.
const KEPT: usize = 64;

/// So many times that something is added, each value is remembered that was added or was still in
/// use: a variable may get a new value with every iteration, and a text may hold the one before.
const BATCHES: u64 = 64;

/// With so many forms it is quicker to look for those that begin at each character.
const FEW: usize = 64;

/// Where a text is cut off (`…`), so many bytes of a secret before it are recognised as its
/// beginning.
const RECOGNISED: usize = 4;

/// A value that only its name makes a secret is hidden in texts without that name if it has so many
/// bytes: `lang=en` of a cookie must not hide every `en`.
const TELLING: usize = 8;

/// A password is, if it has so many.
const PASSWORD: usize = 4;

/// Of a body that is no JSON so many bytes are searched.
const SEARCHED: usize = 64 * 1024;

/// Secret values, as they are and as they stand in URLs and in JSON.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    /// Each with the last batch in which it was added or in use.
    values: BTreeMap<Box<str>, u64>,
    /// All forms of all values.
    forms: BTreeSet<Box<str>>,
    batch: u64,
    /// So many values were left when old ones were last forgotten.
    left: usize,
}

impl Secrets {
    /// Whether there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Adds a value; an empty one hides nothing.
    pub fn remember(&mut self, value: &str) {
        if value.is_empty() {
            return;
        }
        if let Some(batch) = self.values.get_mut(value) {
            *batch = self.batch;
            return;
        }
        self.values.insert(value.into(), self.batch);
        self.forms.extend(forms(value));
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
        } else if net::is_secret(name) {
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
        for field in telling::fields(&text) {
            let value = &text[field.value];
            self.remember_field(field.name, value);
            let in_a_form = value.replace('+', " ");
            let decoded = percent_decode_str(&in_a_form).decode_utf8_lossy();
            self.remember_field(field.name, &decoded);
        }
    }

    fn remember_value(&mut self, name: &str, value: &Value) {
        match value {
            Value::String(text) => self.remember_field(name, text),
            Value::Number(number) if net::is_secret(name) => {
                self.remember_telling(&number.to_string());
            }
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

    /// What is added from here on is newer than what is there.
    pub fn begin_batch(&mut self) {
        self.batch += 1;
    }

    /// Whether old values should be forgotten: there are twice as many as were left last time.
    pub fn is_crowded(&self) -> bool {
        self.values.len() > KEPT.max(2 * self.left)
    }

    /// Forgets what was neither added lately nor is part of one of these texts, which are in use.
    pub fn forget_old<'t>(&mut self, in_use: impl Iterator<Item = &'t str>) {
        for text in in_use {
            for (value, batch) in &mut self.values {
                if text.contains(&**value) {
                    *batch = self.batch;
                }
            }
        }
        let oldest = self.batch.saturating_sub(BATCHES);
        self.values.retain(|_, batch| *batch >= oldest);
        self.forms = self.values.keys().flat_map(|value| forms(value)).collect();
        self.left = self.values.len();
    }

    /// The text with `***` for every secret; borrowed where there is none.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        mask(&[self], text)
    }

    /// Whether one of them is in the text.
    pub fn are_in(&self, text: &str) -> bool {
        if self.forms.len() <= FEW {
            self.forms.iter().any(|form| text.contains(&**form))
        } else {
            text.char_indices().any(|(at, _)| self.longest(&text[at..]) > 0)
        }
    }

    /// Bytes of the longest form that the text begins with.
    fn longest(&self, text: &str) -> usize {
        let mut start = text;
        // Of the forms that the text begins with the longest comes last, and none of the others comes
        // after it. What is in its place instead shows how much the longest has at most.
        while let Some(form) = self.forms.range::<str, _>(up_to(start)).next_back() {
            let common = common_start(form, start);
            if common == form.len() {
                return common;
            }
            start = &start[..common];
        }
        0
    }

    /// Whether a form begins with the text.
    fn any_begins(&self, text: &str) -> bool {
        let from = (Bound::Included(text), Bound::Unbounded);
        self.forms.range::<str, _>(from).next().is_some_and(|form| form.starts_with(text))
    }
}

/// The text with `***` for every secret of these; borrowed where there is none.
pub fn mask<'t>(secrets: &[&Secrets], text: &'t str) -> Cow<'t, str> {
    let cut = text.find('…');
    if cut.is_none() && !secrets.iter().any(|secrets| secrets.are_in(text)) {
        return Cow::Borrowed(text);
    }
    let (mut masked, mut rest) = (String::with_capacity(text.len()), text);
    let (mut cut, mut is_masked) = (cut, false);
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        if cut.is_some_and(|cut| cut < at) {
            cut = rest.find('…').map(|cut| at + cut);
        }
        let length = begins(secrets, rest, cut.map(|cut| cut - at));
        if length > 0 {
            is_masked = true;
            masked.push_str(MASK);
            rest = &rest[length..];
        } else {
            masked.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    if is_masked { Cow::Owned(masked) } else { Cow::Borrowed(text) }
}

/// Bytes of the longest secret that the text begins with; `cut`: where it was cut off.
fn begins(secrets: &[&Secrets], text: &str, cut: Option<usize>) -> usize {
    let longest = secrets.iter().map(|secrets| secrets.longest(text)).max().unwrap_or(0);
    match cut.filter(|cut| *cut >= RECOGNISED) {
        Some(cut) if secrets.iter().any(|secrets| secrets.any_begins(&text[..cut])) => {
            longest.max(cut)
        }
        _ => longest,
    }
}

/// All forms that begin with less than the text, or with all of it.
fn up_to(text: &str) -> (Bound<&str>, Bound<&str>) {
    (Bound::Unbounded, Bound::Included(text))
}

/// Bytes of whole characters with which both begin.
fn common_start(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum()
}

/// A value as it is, as it stands in a URL (in part and wholly encoded), in JSON and in a form.
fn forms(value: &str) -> impl Iterator<Item = Box<str>> + use<> {
    let everything = utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
    let json = Value::from(value).to_string();
    let json = json[1..json.len() - 1].to_owned();
    let in_a_form = form_urlencoded::byte_serialize(value.as_bytes()).collect();
    let forms = [value.to_owned(), net::encoded(value), everything, json, in_a_form];
    forms.into_iter().map(String::into_boxed_str)
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
        secrets.remember_body(br#"{"a":[{"passwords":["pw12"]}],"token":"tokentoken","key":"k"}"#);
        secrets.remember_set_cookie("s=setcookie; Path=/lobby-lobby");
        assert_eq!(secrets.mask("pw12 tokentoken k setcookie"), "*** *** k ***");
        secrets.remember_url("ws://bob:p%40ss@h/?a=b@c:d");
        assert_eq!(secrets.mask("bob p%40ss p@ss c:d"), "bob *** *** c:d");
        let text = "abcdefgh== en 0123456789 secret secret secret%20secret lobby-lobby short";
        assert_eq!(secrets.mask(text), "*** en *** *** *** lobby-lobby short");
    }

    #[test]
    fn bodies_of_any_kind_tell_their_secrets() {
        for body in [
            "user=bob&password=pass+word-1%21&a=b",
            "{\"password\":\"pass word-1!\"}\n{\"a\":1}",
            "{\"a\":1}\n{\"password\":\"pass word-1!\"} tail",
            "CONNECT\npasscode:pass word-1!\n",
        ] {
            let mut secrets = Secrets::default();
            secrets.remember_body(body.as_bytes());
            assert_eq!(secrets.mask("a pass word-1! 1"), "a *** 1", "{body}");
        }
        let mut secrets = Secrets::default();
        secrets.remember_body(br#"{"token":1234567890,"pin":12,"password":1}"#);
        assert_eq!(secrets.mask("1234567890 12 1"), "*** 12 1");
    }

    #[test]
    fn of_many_values_only_the_old_ones_that_are_not_in_use_are_forgotten() {
        let mut secrets = Secrets::default();
        let value = |number: usize| format!("value-{number:04}");
        for number in 0..1_000 {
            secrets.begin_batch();
            secrets.remember(&value(number));
            // One answer may bring more than are kept otherwise.
            if number == 990 {
                for more in 0..500 {
                    secrets.remember(&format!("other-{more:04}"));
                }
            }
            if secrets.is_crowded() {
                secrets.forget_old(["Bearer value-0003"].into_iter());
            }
        }
        assert_eq!(secrets.mask("value-0001 value-0003 other-0000"), "value-0001 *** ***");
        for number in 1_000 - 64..1_000 {
            assert_eq!(secrets.mask(&value(number)), MASK);
        }
    }

    #[test]
    fn many_values_are_found_as_few_are() {
        let mut many = secrets(&["abc", "abcdef", "cde", "äö"]);
        for number in 0..1_000 {
            many.remember(&format!("abd{number}"));
        }
        assert_eq!(many.mask("xabcdefx abcx äö abd7"), "x***x ***x *** ***");
        assert!(matches!(many.mask("ab abd äb"), Cow::Borrowed(_)));
        assert_eq!(many.mask("a ab… abcd…"), "a ab… ***…");
    }

    #[test]
    fn a_value_of_one_store_does_not_split_that_of_another() {
        let (one, other) = (secrets(&["abc"]), secrets(&["abcdef"]));
        assert_eq!(mask(&[&one, &other], "abcdef abc"), "*** ***");
    }
}

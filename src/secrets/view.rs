//! A text as it reads once escapes are undone, with the way back to where each byte of it stands.
//!
//! Whoever quotes a value may have written it into a URL, into JSON, into JSON within JSON, into HTML or into
//! capitals. Instead of listing what a secret then looks like, the text that may hold it is read as far back as
//! it goes, level by level.

use std::ops::Range;

/// So many times escapes are undone: JSON within JSON within a URL.
pub(super) const LEVELS: usize = 4;

/// Bytes of an escape at most, `&#x10ffff;` or `\u{10ffff}`.
const LONGEST_ESCAPE: usize = 10;

/// What HTML and XML name.
const ENTITIES: [(&str, u8); 5] =
    [("amp", b'&'), ("lt", b'<'), ("gt", b'>'), ("quot", b'"'), ("apos", b'\'')];

/// One level of a text.
#[derive(Debug, Clone)]
pub(super) struct View {
    pub(super) bytes: Vec<u8>,
    /// Where each byte begins in the text; at its end, where the text ends. All bytes of one escape begin
    /// where it does.
    starts: Vec<usize>,
}

impl View {
    /// The text as it is.
    pub(super) fn of(text: &[u8]) -> Self {
        Self { bytes: text.to_vec(), starts: (0..=text.len()).collect() }
    }

    /// All levels, the text as it is first.
    pub(super) fn levels(text: &[u8]) -> impl Iterator<Item = Self> + use<> {
        let mut next = Some(Self::of(text));
        let mut left = LEVELS;
        std::iter::from_fn(move || {
            let view = next.take()?;
            left -= 1;
            next = if left > 0 { view.decoded() } else { None };
            Some(view)
        })
    }

    /// Where in the text these bytes stand.
    pub(super) fn place(&self, range: Range<usize>) -> Range<usize> {
        let start = self.starts[range.start];
        if range.is_empty() {
            return start..start;
        }
        let last = self.starts[range.end - 1];
        let end = self.starts[range.end..].iter().find(|start| **start > last);
        start..end.copied().unwrap_or(last)
    }

    /// The index of the first byte that begins at this place of the text or after it.
    pub(super) fn index(&self, place: usize) -> usize {
        self.starts.partition_point(|start| *start < place).min(self.bytes.len())
    }

    /// With each escape undone; `None` if there is none.
    fn decoded(&self) -> Option<Self> {
        let may_be = |byte: &u8| matches!(byte, b'%' | b'\\' | b'&');
        if !self.bytes.iter().any(may_be) {
            return None;
        }
        let mut decoded = Self::with_capacity(self.bytes.len());
        let (mut at, mut any) = (0, false);
        while at < self.bytes.len() {
            if let Some((value, length)) = escape(&self.bytes[at..]) {
                let mut utf8 = [0; 4];
                let bytes = match value {
                    Escaped::Byte(byte) => {
                        utf8[0] = byte;
                        &utf8[..1]
                    }
                    Escaped::Char(character) => character.encode_utf8(&mut utf8).as_bytes(),
                };
                for byte in bytes {
                    decoded.push(*byte, self.starts[at]);
                }
                at += length;
                any = true;
            } else {
                decoded.push(self.bytes[at], self.starts[at]);
                at += 1;
            }
        }
        any.then(|| decoded.ended(self))
    }

    /// Without what does not count when values are compared: capitals, and how much white space there is.
    /// A `+` of a form is white space.
    pub(super) fn folded(&self) -> Self {
        let mut folded = Self::with_capacity(self.bytes.len());
        for (byte, start) in self.bytes.iter().zip(&self.starts) {
            let byte = fold(*byte);
            if byte != b' ' || folded.bytes.last() != Some(&b' ') {
                folded.push(byte, *start);
            }
        }
        folded.ended(self)
    }

    fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity), starts: Vec::with_capacity(capacity + 1) }
    }

    fn push(&mut self, byte: u8, start: usize) {
        self.bytes.push(byte);
        self.starts.push(start);
    }

    fn ended(mut self, of: &Self) -> Self {
        self.starts.extend(of.starts.last());
        self
    }
}

fn fold(byte: u8) -> u8 {
    match byte {
        b' ' | b'\t' | b'\r' | b'\n' | b'+' => b' ',
        other => other.to_ascii_lowercase(),
    }
}

enum Escaped {
    Byte(u8),
    Char(char),
}

/// What the bytes begin with, if that is an escape, and its length.
fn escape(bytes: &[u8]) -> Option<(Escaped, usize)> {
    match bytes {
        [b'%', rest @ ..] => Some((Escaped::Byte(hex_byte(rest)?), 3)),
        [b'\\', b'x', rest @ ..] => Some((Escaped::Byte(hex_byte(rest)?), 4)),
        [b'\\', b'u', rest @ ..] => unicode(rest),
        [b'\\', b'n' | b'r' | b't', ..] => {
            let byte = match bytes[1] {
                b'n' => b'\n',
                b'r' => b'\r',
                _ => b'\t',
            };
            Some((Escaped::Byte(byte), 2))
        }
        [b'\\', byte @ (b'"' | b'\\' | b'/' | b'\''), ..] => Some((Escaped::Byte(*byte), 2)),
        [b'&', rest @ ..] => entity(rest),
        _ => None,
    }
}

/// What follows `\u`: `00e9`, a pair of surrogates (RFC 8259 7), `{e9}`.
fn unicode(rest: &[u8]) -> Option<(Escaped, usize)> {
    if rest.first() == Some(&b'{') {
        let end = rest.iter().take(LONGEST_ESCAPE).position(|byte| *byte == b'}')?;
        let character = char::from_u32(hex(&rest[1..end])?)?;
        return Some((Escaped::Char(character), "\\u".len() + end + 1));
    }
    let high = hex(rest.get(..4)?)?;
    if let Some(character) = char::from_u32(high) {
        return Some((Escaped::Char(character), 6));
    }
    let low = hex(rest.get(4..)?.strip_prefix(b"\\u")?.get(..4)?)?;
    let mut pair = char::decode_utf16([u16::try_from(high).ok()?, u16::try_from(low).ok()?]);
    Some((Escaped::Char(pair.next()?.ok()?), 12))
}

/// What follows `&`: `amp;`, `#233;`, `#xe9;`.
fn entity(rest: &[u8]) -> Option<(Escaped, usize)> {
    let end = rest.iter().take(LONGEST_ESCAPE).position(|byte| *byte == b';')?;
    let name = str::from_utf8(&rest[..end]).ok()?;
    let named = ENTITIES.iter().find(|(own, _)| name.eq_ignore_ascii_case(own));
    if let Some((_, byte)) = named {
        return Some((Escaped::Byte(*byte), end + 2));
    }
    let number = name.strip_prefix('#')?;
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => hex(digits.as_bytes())?,
        None => number.parse().ok()?,
    };
    Some((Escaped::Char(char::from_u32(code)?), end + 2))
}

fn hex_byte(bytes: &[u8]) -> Option<u8> {
    u8::try_from(hex(bytes.get(..2)?)?).ok()
}

/// A number of digits only, without a sign.
fn hex(digits: &[u8]) -> Option<u32> {
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(text: &str) -> (String, View) {
        let view = View::levels(text.as_bytes()).last().unwrap();
        (String::from_utf8_lossy(&view.bytes).into_owned(), view)
    }

    #[test]
    fn escapes_of_all_kinds_are_undone() {
        for (text, plain) in [
            ("a%20b%C3%A9%zz%", "a bé%zz%"),
            (r#"a\"b\u00e9\ud83d\ude00\/\\"#, "a\"bé😀/\\"),
            (r"\u{e9}\x41\u12", r"éA\u12"),
            ("&lt;a&#233;&#xE9;&nbsp;&", "<aéé&nbsp;&"),
            (r#"{\\\"a\\\":1}"#, r#"{"a":1}"#),
            ("%2520", " "),
            (r"\ud83d\u0041\ud83d", r"\ud83dA\ud83d"),
            ("plain", "plain"),
        ] {
            assert_eq!(last(text).0, plain, "{text}");
        }
    }

    #[test]
    fn what_was_found_has_its_place_in_the_text() {
        let (plain, view) = last("x %C3%A9y& z");
        assert_eq!(plain, "x éy& z");
        assert_eq!(view.place(2..4), 2..8);
        // Of an escape all is taken.
        assert_eq!(view.place(2..3), 2..5);
        assert_eq!(view.place(4..8), 8..12);
        let (_, view) = last(r"\u00e9");
        assert_eq!(view.place(0..1), 0..6);
        assert_eq!(view.place(0..0), 0..0);
        let (_, view) = last("");
        assert_eq!(view.place(0..0), 0..0);
    }

    #[test]
    fn capitals_and_white_space_do_not_count() {
        let folded = View::of(b"A +\r\n b").folded();
        assert_eq!(folded.bytes, b"a b");
        assert_eq!(folded.place(1..2), 1..6);
        assert_eq!(folded.place(0..3), 0..7);
    }
}

//! What a text itself tells to be a secret, by the name before it: `token=…`, `"password": "…"`,
//! `Authorization: …`; and what a URL's user info is. In whatever was quoted, and however short.

use std::borrow::Cow;
use std::ops::Range;

use crate::net;
use crate::secrets::view::View;
use crate::secrets::{MASK, replaced, together};

/// Bytes of a name that are looked at: its last ones.
const MOST_NAME: usize = 64;

/// Bytes of the attributes of an element that are passed over.
const MOST_ATTRIBUTES: usize = 256;

/// Bytes of a URL in which its user info is looked for.
const MOST_USER_INFO: usize = 1_024;

/// What ends a value of a query, a form or a cookie.
const ENDS: &[u8] = b"& \t\r\n\"'<>;,#`";

/// What begins the value of an `Authorization` header.
const SCHEMES: [&str; 5] = ["basic", "bearer", "digest", "negotiate", "token"];

/// Where a text was cut off.
const CUT: &[u8] = "…".as_bytes();

/// The text with `***` for what it tells to be a secret; borrowed where there is nothing. Names of
/// variables (`${token}`) are none.
pub fn without_telling(text: &str) -> Cow<'_, str> {
    if !text.contains([':', '=', '>', '%', '@', '&']) && !text.contains(EXPECTED) {
        return Cow::Borrowed(text);
    }
    replaced(text, &telling(text.as_bytes()), mask_constants)
}

/// Where a text tells that something is a secret, in order and without overlaps.
pub(super) fn telling(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for level in View::levels(text) {
        fields(&level.bytes, &mut |_, value| found.push(level.place(value)));
        if let Ok(text) = str::from_utf8(&level.bytes) {
            found.extend(user_infos(text).map(|place| level.place(place)));
        }
    }
    together(found)
}

/// Gives the values that the text tells to be secrets.
pub fn each_value(text: &str, mut take: impl FnMut(&str)) {
    fields(text.as_bytes(), &mut |_, place| {
        if let Some(value) = text.get(place) {
            take(value);
        }
    });
}

/// Whether some word of the text is the name of a secret: of a JSON path, of a pattern.
pub fn tells(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_ascii() || !is_name(c as u8));
    words.into_iter().any(|word| net::is_secret(word) && !is_entry(word.trim_matches('.')))
}

/// What alone is called a key is more often that of an entry than of a door, but for URLs.
pub(super) fn is_entry(name: &str) -> bool {
    name.eq_ignore_ascii_case("key")
}

/// Gives the secret fields of a text, in order: their names, and where their values are.
pub(super) fn fields(text: &[u8], take: &mut impl FnMut(&str, Range<usize>)) {
    let mut at = 0;
    while at < text.len() {
        if !is_name(text[at]) {
            at += 1;
            continue;
        }
        let start = at;
        at = end_of(text, at, is_name);
        // Names are ASCII.
        let name = str::from_utf8(&text[start.max(at.saturating_sub(MOST_NAME))..at]);
        let Some(name) = name.ok().filter(|name| net::is_secret(name)) else { continue };
        let Some(values) = values_of(text, start..at) else { continue };
        for value in values {
            let value = trimmed(text, value);
            at = at.max(value.end);
            if is_some(&text[value.clone()]) {
                take(name, value);
            }
        }
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.[]-".contains(&byte)
}

/// Whether it is a value at all.
fn is_some(value: &[u8]) -> bool {
    let none: [&[u8]; 9] = [b"", b"null", b"None", b"~", b"true", b"false", b"|", b">", b"|-"];
    !none.contains(&value)
}

/// Without white space around it.
fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    let start = end_of(text, range.start, |byte| byte.is_ascii_whitespace()).min(range.end);
    start..start + text[start..range.end].trim_ascii_end().len()
}

/// The end of what begins here and consists of such bytes.
fn end_of(text: &[u8], from: usize, is_in: impl Fn(u8) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.iter().position(|byte| !is_in(*byte)).unwrap_or(rest.len())
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// What is written for this name, in whatever notation: one value, or those of a list.
fn values_of(text: &[u8], name: Range<usize>) -> Option<Vec<Range<usize>>> {
    let before = name.start.checked_sub(1).map(|at| text[at]);
    let after = text.get(name.end).copied()?;
    // What a pattern looks for, or a text that was cut, may begin within a name.
    if matches!((before, after), (_, b'"' | b'\'') | (Some(b'`'), b'`')) {
        return of_quoted(text, name.clone()).or_else(|| expected(text, &name));
    }
    match (before, after) {
        (Some(b'<' | b':'), b'>' | b' ') if is_element(text, name.start) => {
            of_element(text, name.end)
        }
        (_, b'=' | b':' | b' ' | b'\t') => of_bare(text, &name).or_else(|| expected(text, &name)),
        _ => expected(text, &name),
    }
}

/// `"name": value`, `'name': value`, `'name' => value`; a field of a form with several parts (RFC 7578), or of
/// HTML.
fn of_quoted(text: &[u8], name: Range<usize>) -> Option<Vec<Range<usize>>> {
    let after = name.end + 1;
    if text[..name.start.saturating_sub(1)].ends_with(b"name=") {
        return of_part(text, after).or_else(|| of_attribute(text, after));
    }
    let at = end_of(text, after, |byte| byte.is_ascii_whitespace());
    let is_key = text[name].eq_ignore_ascii_case(b"key");
    match text.get(at)? {
        b':' if !is_key => {
            let at = end_of(text, at + 1, |byte| byte.is_ascii_whitespace());
            match text.get(at)? {
                b'"' | b'\'' | b'[' | b'{' => value(text, at),
                _ => Some(only(at..end_of_bare(text, at, b",]} \t\r\n\"'"))),
            }
        }
        b'=' => {
            let at = end_of(text, at, |byte| matches!(byte, b'=' | b'>'));
            value(text, end_of(text, at, |byte| byte.is_ascii_whitespace()))
        }
        _ => None,
    }
}

/// After the line's end, other headers, and an empty line: up to the next line's end.
fn of_part(text: &[u8], from: usize) -> Option<Vec<Range<usize>>> {
    let rest = &text[from..];
    let head = &rest[..rest.len().min(MOST_ATTRIBUTES)];
    let find = |end: &[u8]| head.windows(end.len()).position(|bytes| bytes == end);
    let (empty, long) = match (find(b"\r\n\r\n"), find(b"\n\n")) {
        (Some(at), _) => (at, 4),
        (None, Some(at)) => (at, 2),
        (None, None) => return None,
    };
    // Not that of another one.
    if head[..empty].windows(5).any(|bytes| bytes == b"name=") {
        return None;
    }
    let start = from + empty + long;
    Some(only(start..end_of(text, start, |byte| !matches!(byte, b'\r' | b'\n'))))
}

/// `value="…"` or `content="…"` in the same element.
fn of_attribute(text: &[u8], from: usize) -> Option<Vec<Range<usize>>> {
    let at = end_of(text, from, |byte| byte.is_ascii_whitespace());
    let rest = &text[at..];
    let own = [b"value=".as_slice(), b"content="].into_iter().find(|own| rest.starts_with(own))?;
    value(text, at + own.len())
}

fn is_element(text: &[u8], name: usize) -> bool {
    // Perhaps with a name space.
    text[name - 1] == b'<'
        || text[..name - 1].iter().rev().take(MOST_NAME).find(|byte| !is_name(**byte))
            == Some(&b'<')
}

/// `<name …>value<`.
fn of_element(text: &[u8], from: usize) -> Option<Vec<Range<usize>>> {
    let attributes = text[from..].iter().take(MOST_ATTRIBUTES);
    let start = from + attributes.enumerate().find(|(_, byte)| **byte == b'>')?.0 + 1;
    if text[start - 2] == b'/' {
        return None;
    }
    Some(only(start..end_of(text, start, |byte| byte != b'<')))
}

/// `name=value`, `name = value`; `name: value` where that is a header or a key of YAML.
fn of_bare(text: &[u8], name: &Range<usize>) -> Option<Vec<Range<usize>>> {
    let at = end_of(text, name.end, is_blank);
    let is_key = text[name.clone()].eq_ignore_ascii_case(b"key");
    match text.get(at)? {
        b'=' => {
            let mut from = end_of(text, at, |byte| matches!(byte, b'=' | b'>'));
            if at > name.end || from > at + 1 {
                from = end_of(text, from, is_blank);
            }
            value(text, from)
        }
        b':' if !is_key => of_colon(text, name, at + 1),
        _ => None,
    }
}

fn of_colon(text: &[u8], name: &Range<usize>, from: usize) -> Option<Vec<Range<usize>>> {
    let start = end_of(text, from, is_blank);
    let has_blank = start > from;
    let first = *text.get(start)?;
    if begins_line(text, name.start) {
        // A header, or a key of YAML, one on a line.
        return match first {
            b'{' => None,
            b'[' | b'"' | b'\'' => value(text, start),
            _ => {
                let is_end = |at: usize| match &text[at..] {
                    [b'\r' | b'\n', ..] | [b'\\', b'n' | b'r', ..] => true,
                    rest => rest.starts_with(CUT),
                };
                let end = (start..text.len()).find(|at| is_end(*at)).unwrap_or(text.len());
                Some(only(start..end))
            }
        };
    }
    if is_in_braces(text, name.start) && (has_blank || matches!(first, b'"' | b'\'')) {
        return match first {
            b'"' | b'\'' | b'[' | b'{' => value(text, start),
            _ => {
                let end = |byte| !matches!(byte, b',' | b'}' | b'\r' | b'\n');
                Some(only(start..end_of(text, start, end)))
            }
        };
    }
    // A header in a text that has lost its line ends.
    let is_header = {
        let name = &text[name.clone()];
        let one_of: [&[u8]; 2] = [b"authorization", b"cookie"];
        one_of.iter().any(|own| name.eq_ignore_ascii_case(own))
            || (name.contains(&b'-') && name.iter().all(|b| b.is_ascii_alphabetic() || *b == b'-'))
    };
    if !(is_header && has_blank) {
        return None;
    }
    let word = |from| end_of(text, from, |byte| !b" \t\r\n,;".contains(&byte));
    let mut end = word(start);
    let is_scheme = SCHEMES.iter().any(|own| text[start..end].eq_ignore_ascii_case(own.as_bytes()));
    if is_scheme {
        end = word(end_of(text, end, is_blank));
    }
    Some(only(start..end))
}

/// Whether nothing is before it on its line, but what begins an item or a comment.
fn begins_line(text: &[u8], at: usize) -> bool {
    let mut before = text[..at].iter().rev();
    let first = before.find(|byte| !matches!(byte, b' ' | b'\t' | b'-' | b'#'));
    first.is_none_or(|byte| matches!(byte, b'\r' | b'\n'))
}

fn is_in_braces(text: &[u8], at: usize) -> bool {
    let before = text[..at].trim_ascii_end();
    matches!(before.last(), Some(b'{' | b','))
}

/// One value, all in one place.
fn only(place: Range<usize>) -> Vec<Range<usize>> {
    Vec::from([place])
}

/// A value that begins here: quoted, a list of some, or as far as a form or a query would take it.
fn value(text: &[u8], at: usize) -> Option<Vec<Range<usize>>> {
    match text.get(at)? {
        b'"' | b'\'' => Some(only(quoted(text, at))),
        b'[' => Some(list(text, at + 1)),
        b'{' => None,
        _ => Some(only(at..end_of_bare(text, at, ENDS))),
    }
}

fn end_of_bare(text: &[u8], from: usize, ends: &[u8]) -> usize {
    let is_end = |at: usize| ends.contains(&text[at]) || text[at..].starts_with(CUT);
    let mut at = from;
    while at < text.len() && !is_end(at) {
        // A variable goes as far as its brace.
        let is_variable = text[at..].starts_with(b"${");
        at = if is_variable { end_of(text, at, |byte| byte != b'}') + 1 } else { at + 1 };
    }
    at.min(text.len())
}

/// What is between the quote here and the next of the kind that is not escaped; all that is left if there is none.
fn quoted(text: &[u8], at: usize) -> Range<usize> {
    let (quote, start) = (text[at], at + 1);
    let mut end = start;
    while end < text.len() && text[end] != quote {
        end += if text[end] == b'\\' { 2 } else { 1 };
    }
    start..end.min(text.len())
}

/// The values of a list up to its end, or to one that is neither a text nor a number.
fn list(text: &[u8], from: usize) -> Vec<Range<usize>> {
    let (mut values, mut at) = (Vec::new(), from);
    loop {
        at = end_of(text, at, |byte| byte.is_ascii_whitespace() || byte == b',');
        match text.get(at) {
            None | Some(b']' | b'{' | b'[') => return values,
            Some(b'"' | b'\'') => {
                let value = quoted(text, at);
                at = value.end + 1;
                values.push(value);
            }
            Some(_) => {
                let end = end_of_bare(text, at, b",] \t\r\n\"'");
                // A byte that ends it and was passed over by nothing else.
                if end == at {
                    return values;
                }
                values.push(at..end);
                at = end;
            }
        }
    }
}

const EXPECTED: &str = " expected ";

/// What stands between a JSON path and the value that is wanted, where an assertion is written on one line.
const TESTS: [&str; 4] = [" equals: ", " regex: ", " less_than: ", " greater_than: "];

/// Bytes of what an assertion says that are looked at.
const MOST_EXPECTED: usize = 4 * 1024;

/// What an assertion of ours says of a name: `'$.token' expected to be '…', but found '…'`,
/// ``headers `Cookie` expected to contain /…/, found /…/``, `json: $.token equals: …`.
fn expected(text: &[u8], name: &Range<usize>) -> Option<Vec<Range<usize>>> {
    let at = end_of(text, name.end, |byte| b"]'\"`)".contains(&byte));
    let rest = text.get(at..)?;
    let rest = &rest[..rest.len().min(MOST_EXPECTED)];
    if !rest.starts_with(EXPECTED.as_bytes()) {
        // As it is written: nothing tells where the value ends but the line.
        let test = TESTS.into_iter().find(|test| rest.starts_with(test.as_bytes()))?;
        let start = at + test.len();
        return Some(only(start..end_of(text, start, |byte| !matches!(byte, b'\r' | b'\n'))));
    }
    let find = |mark: &[u8]| rest.windows(mark.len()).rposition(|bytes| bytes == mark);
    let found = find(b" found ")?;
    let within = |part: Range<usize>| {
        let is_quote = |byte: &u8| matches!(byte, b'\'' | b'/');
        let first = rest[part.clone()].iter().position(is_quote)? + part.start + 1;
        let last = rest[part.clone()].iter().rposition(is_quote)? + part.start;
        // Where it was cut off, all is taken.
        Some(at + first..at + if last < first { part.end } else { last })
    };
    Some([within(0..found), within(found..rest.len())].into_iter().flatten().collect())
}

fn user_infos(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices("//").filter_map(|(slashes, _)| {
        // As far as the URL goes.
        let has_scheme = text[..slashes].ends_with(':');
        let start = slashes - usize::from(has_scheme);
        let rest = &text[start..text.floor_char_boundary(start + MOST_USER_INFO)];
        let end = rest.find(|c: char| c.is_whitespace() || "\"'`<>".contains(c));
        let url = &rest[..end.unwrap_or(rest.len())];
        let found = if has_scheme { net::user_info(url) } else { of_authority(url) }?;
        Some(found.start + start..found.end + start)
    })
}

/// The user info of `//user:password@host`, as a redirect may have it.
fn of_authority(url: &str) -> Option<Range<usize>> {
    let start = "//".len();
    let authority = url[start..].split(['/', '?', '#']).next()?;
    let (user_info, _) = authority.rsplit_once('@')?;
    user_info.contains(':').then(|| start..start + user_info.len())
}

/// Appends a mask for each part of a value that is no variable or function.
fn mask_constants(value: &str, out: &mut String) {
    let mut rest = value;
    while !rest.is_empty() {
        let start = rest.find("${").unwrap_or(rest.len());
        let constant = &rest[..start];
        let is_blank = constant.trim_matches(['\'', '"', ' ']).is_empty();
        out.push_str(if is_blank { constant } else { MASK });
        let end = rest[start..].find('}').map_or(rest.len(), |end| start + end + 1);
        out.push_str(&rest[start..end]);
        rest = &rest[end..];
    }
}

#[cfg(test)]
mod tests;

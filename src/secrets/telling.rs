//! What a text itself tells to be a secret, by the name before it: `token=…`, `"password": "…"`,
//! `Authorization: …`; and what a URL's user info is. In whatever was quoted, and however short.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::net;
use crate::secrets::MASK;

/// How a name and its value are written. The value is looked at only once its name is known to tell
/// something: whatever the text, no part of it is read again and again.
struct Notation {
    /// Up to where the value begins.
    name: &'static str,
    value: &'static str,
}

const NOTATIONS: [Notation; 6] = [
    // JSON within the text of another JSON.
    Notation {
        name: r#"\\"(NAME)\\"[ \t\r\n]*:[ \t\r\n]*"#,
        value: r#"\\"((?:[^"\\]|\\[^"])*)|(-?[0-9][A-Za-z0-9_.+-]*)"#,
    },
    // JSON.
    Notation {
        name: r#""(NAME)"[ \t\r\n]*:[ \t\r\n]*"#,
        value: r#""((?:[^"\\]|\\.)*)|(-?[0-9][A-Za-z0-9_.+-]*)"#,
    },
    // Queries, forms, cookies.
    Notation { name: "(NAME)=", value: r#""([^"]*)|([^& \t\r\n"'<>;,#…`]+)"# },
    // Headers and keys of YAML, one on a line, also where line ends are shown as `\n`.
    Notation {
        name: r"(?:(?m:^)|\\n)[ \t\r\n]*(?:- +)?(NAME)[\t ]*:[\t ]*",
        value: r"([^ \t\r\n{\[](?:[^\r\n\\]|\\[^nr])*)",
    },
    // Headers in a text that has lost its line ends.
    Notation {
        name: r"(?-u:\b)((?:[A-Za-z]+-)+[A-Za-z]+|Authorization|Cookie): +",
        value: r"((?:(?i:Basic|Bearer|Digest|Negotiate|Token) +)?[^ \t\r\n,;]+)",
    },
    // Keys of YAML within braces.
    Notation {
        name: r"[{,][ \t\r\n]*(NAME)[ \t\r\n]*:[ \t\r\n]+",
        value: r#"'([^']*)|"((?:[^"\\]|\\.)*)|([^ \t\r\n'"{\[][^,}\r\n]*)"#,
    },
];

/// All names, one group for each notation, and the values of each notation.
static FIELD: LazyLock<(Regex, Vec<Regex>)> = LazyLock::new(|| {
    let pattern = |text: &str| Regex::new(text).expect("the pattern is valid");
    let name = r"[A-Za-z0-9_.\[\]-]{2,64}";
    let names: Vec<String> = NOTATIONS.iter().map(|one| one.name.replace("NAME", name)).collect();
    let values = NOTATIONS.iter().map(|one| pattern(&format!(r"\A(?:{})", one.value)));
    (pattern(&names.join("|")), values.collect())
});

/// Makes the search ready, so that no run waits for it.
pub fn get_ready() {
    LazyLock::force(&FIELD);
}

/// A field of a text whose name tells that its value is a secret.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field<'t> {
    pub(super) name: &'t str,
    pub(super) value: Range<usize>,
}

/// The secret fields of a text, in order.
pub(super) fn fields(text: &str) -> impl Iterator<Item = Field<'_>> {
    let (names, values) = &*FIELD;
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(found) = names.captures_at(text, from) {
            let (kind, name) =
                found.iter().skip(1).enumerate().find_map(|(kind, name)| Some((kind, name?)))?;
            let start = found.get_match().end();
            // Its value may hold others.
            from = name.end();
            // What alone is called a key is more often that of an entry than of a door, but for URLs.
            let is_entry =
                name.as_str().eq_ignore_ascii_case("key") && !text[name.end()..].starts_with('=');
            if is_entry || !net::is_secret(name.as_str()) {
                continue;
            }
            let Some(value) = values[kind].captures(&text[start..]) else { continue };
            let Some(value) = value.iter().skip(1).flatten().next() else { continue };
            let written = value.as_str().trim_end();
            if ["null", "~", "true", "false", ""].contains(&written) {
                continue;
            }
            from = start + value.end();
            let value = start + value.start()..start + value.start() + written.len();
            return Some(Field { name: name.as_str(), value });
        }
        None
    })
}

/// The text with `***` for what it tells to be a secret; borrowed where there is nothing. Names of
/// variables (`${token}`) are none.
pub fn without_telling(text: &str) -> Cow<'_, str> {
    if !text.contains([':', '=']) {
        return Cow::Borrowed(text);
    }
    let mut hidden: Vec<Range<usize>> = fields(text).map(|field| field.value).collect();
    hidden.extend(user_infos(text));
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    hidden.sort_by_key(|range| range.start);
    let (mut shown, mut end) = (String::with_capacity(text.len()), 0);
    for range in hidden {
        if range.start < end {
            continue;
        }
        shown.push_str(&text[end..range.start]);
        mask_constants(&text[range.clone()], &mut shown);
        end = range.end;
    }
    shown.push_str(&text[end..]);
    Cow::Owned(shown)
}

fn user_infos(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices("://").filter_map(|(colon, _)| {
        // As far as the URL goes.
        let rest = &text[colon..];
        let end = rest.find(|c: char| c.is_whitespace() || "\"'`<>".contains(c));
        let found = net::user_info(&rest[..end.unwrap_or(rest.len())])?;
        Some(found.start + colon..found.end + colon)
    })
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
mod tests {
    use super::*;

    #[test]
    fn names_tell_secrets_in_whatever_way_they_are_written() {
        for (text, shown) in [
            ("GET /x?token=abc&room=1 HTTP/1.1", "GET /x?token=***&room=1 HTTP/1.1"),
            ("user=bob&password=p%20w", "user=bob&password=***"),
            (r#"{"token": 1234, "b": 1}"#, r#"{"token": ***, "b": 1}"#),
            (r#"{"pass_token":"a\"b","b":"c"}"#, r#"{"pass_token":"***","b":"c"}"#),
            (r#"{"password":"cut o…"#, r#"{"password":"***"#),
            (r#""{\"token\":\"abc\",\"a\":1}""#, r#""{\"token\":\"***\",\"a\":1}""#),
            ("CONNECT\npasscode:abc\nhost:h\n", "CONNECT\npasscode:***\nhost:h\n"),
            (
                "HTTP/1.1 200\r\nSet-Cookie: a=b; Path=/\r\nX: y",
                "HTTP/1.1 200\r\nSet-Cookie: ***\r\nX: y",
            ),
            ("Location: /x?access_token=ab&c=d", "Location: /x?access_token=***&c=d"),
            ("sid=ab12; lang=en", "sid=***; lang=en"),
            (
                "  headers: { Authorization: 'Bearer a, b', X: y }",
                "  headers: { Authorization: '***', X: y }",
            ),
            ("  Authorization: Bearer abc", "  Authorization: ***"),
            ("GET / HTTP/1.1 X-Api-Key: ab Host: h", "GET / HTTP/1.1 X-Api-Key: *** Host: h"),
            (
                r"found /CONNECT\nlogin:bob\npasscode:pw\nhost:h/",
                r"found /CONNECT\nlogin:bob\npasscode:***\nhost:h/",
            ),
            ("a Authorization: Bearer ab12 b", "a Authorization: *** b"),
            ("  - Cookie: a=b", "  - Cookie: ***"),
            ("{ user: bob, password: pw }", "{ user: bob, password: *** }"),
            (
                "{ password: '${pw}', token: 'a${b}c' }",
                "{ password: '${pw}', token: '***${b}***' }",
            ),
            ("at `ws://bob:pw@h:1/` and ws://h/a@b", "at `ws://***@h:1/` and ws://h/a@b"),
            ("ws://bob:se/cret@h/ x@y", "ws://***@h/ x@y"),
            ("ws://bob:pw@h/?key=abc", "ws://***@h/?key=***"),
        ] {
            assert_eq!(without_telling(text), shown, "{text}");
        }
    }

    #[test]
    fn other_names_hide_nothing() {
        for text in [
            r#"{"key":"room","author":"Bob","inside":1}"#,
            "Sec-WebSocket-Key: abc==",
            "expected `token`, found 3",
            "Invalid token: expired",
            "secrets: [token]",
            "a=b&c=d",
            "read timeout: no message in 500 ms",
        ] {
            assert!(matches!(without_telling(text), Cow::Borrowed(_)), "{}", without_telling(text));
        }
    }

    #[test]
    fn a_text_that_looks_like_many_fields_is_read_once() {
        for part in ["aa=", "35=D|", "{aa: x", "year=2024/", "\"a\":\"b", "token=", "a\n"] {
            let text = part.repeat(200_000 / part.len());
            let started = crate::clock::now();
            assert!(fields(&text).count() < text.len());
            assert!(started.elapsed().as_secs() < 20, "{part}: {:?}", started.elapsed());
        }
    }
}

//! Which names stand before secrets, and URLs as they may be shown.

use std::borrow::Cow;
use std::ops::Range;

/// Wherever they stand in a name, it is that of a secret.
const ANYWHERE: [&str; 16] = [
    "token",
    "secret",
    "password",
    "passwort",
    "passwd",
    "passcode",
    "passphrase",
    "credential",
    "signature",
    "authoriz",
    "authentication",
    "apikey",
    "sessid",
    "sessionid",
    "cookie",
    "bearer",
];

/// A word that ends so makes a name that of a secret: `connect.sid`, `x_auth`, but not `inside`.
const ENDS: [&str; 7] = ["auth", "sid", "session", "jwt", "pwd", "csrf", "xsrf"];

/// As the last word, without digits, these do: `db_pass`, `pw1`.
const LAST: [&str; 6] = ["key", "sig", "pass", "pw", "ticket", "otp"];

/// A last word that ends in `key` does if this is before it: `mykey`, but not `monkey`.
const KEYS: [&str; 14] = [
    "access", "account", "app", "auth", "client", "license", "master", "my", "private", "service",
    "session", "shared", "signing", "user",
];

/// Keys of this kind open nothing.
const OPEN_KEYS: [&str; 12] = [
    "cache",
    "event",
    "foreign",
    "group",
    "idempotency",
    "message",
    "partition",
    "primary",
    "public",
    "routing",
    "row",
    "sort",
];

/// As the last word, these say something about a secret that is none: `token_type`, `cookie_name`.
const ABOUT: [&str; 18] = [
    "at", "count", "enabled", "endpoint", "error", "expires", "expiry", "in", "length", "limit",
    "name", "names", "required", "size", "ttl", "type", "url", "valid",
];

/// `max_tokens` is a number.
const COUNTED: [&str; 6] = ["completion", "input", "max", "output", "prompt", "total"];

/// What ends a parameter; `?`, because it may be an address with parameters of its own.
const SEPARATORS: [char; 3] = ['&', ';', '?'];

/// Whether what stands under this name (of a query parameter, a property, a field, a header) is taken
/// for a secret.
pub fn is_secret(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    // The key of the handshake is none, nor is a list of names.
    if lower.starts_with("sec-websocket-") || lower == "secrets" {
        return false;
    }
    let words: Vec<String> = words(name).map(str::to_ascii_lowercase).collect();
    let Some((last, before)) = words.split_last() else { return false };
    let is_before = |kinds: &[&str]| before.last().is_some_and(|word| kinds.contains(&&**word));
    if ABOUT.contains(&&**last) || (last == "tokens" && is_before(&COUNTED)) {
        return false;
    }
    let last = without_digits(last);
    let is_key = || last.strip_suffix("key").is_some_and(|kind| KEYS.contains(&kind));
    ANYWHERE.iter().any(|part| lower.contains(part))
        || words.iter().any(|word| ENDS.iter().any(|end| without_digits(word).ends_with(end)))
        || (LAST.contains(&last) && !(last == "key" && is_before(&OPEN_KEYS)))
        || is_key()
}

fn without_digits(word: &str) -> &str {
    word.trim_end_matches(|c: char| c.is_ascii_digit())
}

/// The words of `api_key`, `api-key`, `apiKey`, `API_KEY`.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).flat_map(humps)
}

/// Split before a capital that follows a small letter.
fn humps(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let bytes = rest.as_bytes();
        let is_hump =
            |at: &usize| bytes[at - 1].is_ascii_lowercase() && bytes[*at].is_ascii_uppercase();
        let end = (1..bytes.len()).find(is_hump).unwrap_or(bytes.len());
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

/// Where the user info stands in a URL, without `@`. A password that holds one of `/`, `?` and `#`,
/// which it must not, still belongs to it: what looks like a port there is no number.
pub fn user_info(url: &str) -> Option<Range<usize>> {
    let start = url.find("://")? + "://".len();
    let rest = &url[start..];
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    if let Some(at) = rest[..end].rfind('@') {
        return Some(start..start + at);
    }
    let (_, port) = rest[..end].split_once(':')?;
    let is_port = port.ends_with(']') || port.bytes().all(|byte| byte.is_ascii_digit());
    let at = rest.rfind('@').filter(|_| !is_port)?;
    Some(start..start + at)
}

/// The password of a URL's user info, as it is written.
pub fn password(url: &str) -> Option<&str> {
    let (_, password) = url[user_info(url)?].split_once(':')?;
    Some(password).filter(|password| !password.is_empty())
}

/// The URL, which may be a wrong one, with its user info and the values of secret query parameters
/// hidden.
pub fn shown(url: &str) -> String {
    let hidden = match user_info(url) {
        Some(Range { start, end }) => Cow::Owned(format!("{}***{}", &url[..start], &url[end..])),
        None => Cow::Borrowed(url),
    };
    let Some((before, query)) = hidden.split_once('?') else { return hidden.into_owned() };
    let mut shown = format!("{before}?");
    for parameter in query.split_inclusive(SEPARATORS) {
        match parameter.split_once('=') {
            Some((name, _)) if is_secret(name) => {
                shown.extend([name, "=***"]);
                shown.extend(parameter.chars().next_back().filter(|c| SEPARATORS.contains(c)));
            }
            _ => shown += parameter,
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_secrets() {
        for name in [
            "token",
            "accessToken",
            "X-Auth-Token",
            "API_KEY",
            "apikey",
            "key",
            "myKey",
            "oauth",
            "auth",
            "Authorization",
            "Proxy-Authorization",
            "Cookie",
            "Set-Cookie",
            "connect.sid",
            "PHPSESSID",
            "JSESSIONID",
            "passcode",
            "user[password]",
            "jwt",
            "sig",
            "pass",
            "pwd1",
            "passwort",
            "ticket",
            "bearer",
            "X-CSRF",
            "Authentication",
            "accesskey",
            "private_key",
            "userPwd",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in [
            "author",
            "inside",
            "keyboard",
            "room",
            "Sec-WebSocket-Key",
            "design",
            "secrets",
            "",
            "monkey",
            "hockey",
            "primaryKey",
            "routing_key",
            "tokenType",
            "token_expires_in",
            "max_tokens",
            "passenger",
            "compass",
            "key_count",
        ] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn secrets_in_the_query_are_not_shown() {
        let url = "ws://h/?access_token=abc&room=1&API_KEY=x";
        assert_eq!(shown(url), "ws://h/?access_token=***&room=1&API_KEY=***");
        let url = "ws://h/?to=/x?token=a&b=c?d;key=e";
        assert_eq!(shown(url), "ws://h/?to=/x?token=***&b=c?d;key=***");
    }

    #[test]
    fn a_password_is_not_shown_whatever_it_holds() {
        for (url, hidden, password_of) in [
            ("ws://bob:pw@h:1/a@b", "ws://***@h:1/a@b", Some("pw")),
            ("ws://bob:se/c@ret@h/", "ws://***@h/", Some("se/c@ret")),
            ("ws://bob:se?cret@h/", "ws://***@h/", Some("se?cret")),
            ("ws://h:80/?to=a@b", "ws://h:80/?to=a@b", None),
            ("ws://[::1]/?to=a@b", "ws://[::1]/?to=a@b", None),
            ("ws://h/a:b@c", "ws://h/a:b@c", None),
            ("ws://bob@h/", "ws://***@h/", None),
            ("/a@b", "/a@b", None),
        ] {
            assert_eq!(shown(url), hidden);
            assert_eq!(password(url), password_of, "{url}");
        }
    }
}

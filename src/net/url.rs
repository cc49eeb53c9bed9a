//! WebSocket URLs (RFC 6455 3).

use http::Uri;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use crate::net::{shown, user_info};

/// What may not stand in a URL as it is; `%` is left alone, so that encoded text stays as written.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A URL that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct UrlError {
    /// What is wrong and with which URL.
    pub what: String,
    /// How to mend it.
    pub help: Option<String>,
}

/// Where to connect and what to ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// Name or address; IPv6 without brackets.
    pub host: String,
    /// 80, or 443 over TLS, unless given.
    pub port: u16,
    /// The whole URL, percent-encoded, without its user info.
    pub uri: Uri,
    /// User and password of its user info, decoded.
    pub user_info: Option<(String, String)>,
}

impl Url {
    /// Reads `url`; `path` (with its query) replaces its path and query. Blanks and non-ASCII
    /// characters are percent-encoded.
    pub fn parse(url: &str, path: Option<&str>) -> Result<Self, UrlError> {
        let url = url.trim();
        let (scheme, rest) = scheme(url).ok_or_else(|| wrong_scheme(url))?;
        if user_info(url).is_some_and(|user_info| url[user_info].contains(['/', '?', '#'])) {
            return Err(UrlError {
                what: format!("the user info of `{}` holds one of `/`, `?` and `#`", shown(url)),
                help: Some("write `%2F` for `/`, `%3F` for `?`, `%23` for `#`".to_owned()),
            });
        }
        let (authority, own_path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let path = path.unwrap_or(own_path);
        if path.contains('#') {
            return Err(UrlError {
                what: format!(
                    "`{}` has a fragment, which a WebSocket URL must not have",
                    shown(path)
                ),
                help: Some("write `%23` for a `#` that belongs to the path or query".to_owned()),
            });
        }
        let (user_info, authority) = match authority.rsplit_once('@') {
            Some((user_info, authority)) => (Some(decoded(user_info)), authority),
            None => (None, authority),
        };
        if authority.is_empty() || authority.starts_with(':') {
            return Err(UrlError {
                what: format!("`{}` names no host", shown(url)),
                help: Some("write `ws://host:port/path`".to_owned()),
            });
        }
        if !authority.is_ascii() {
            return Err(not_ascii(url, scheme, authority));
        }
        let slash = if path.starts_with('/') { "" } else { "/" };
        let text = format!("{scheme}://{authority}{slash}{}", utf8_percent_encode(path, ENCODED));
        let uri: Uri = text.parse().map_err(|error| UrlError {
            what: format!("`{}` is not a URL: {error}", shown(url)),
            help: None,
        })?;
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let port_text = authority.rsplit_once(']').map_or(authority, |(_, after)| after);
        let port = match (uri.port_u16(), port_text.contains(':')) {
            (Some(port), _) if port > 0 => port,
            (None, false) => {
                if scheme == WSS {
                    443
                } else {
                    80
                }
            }
            _ => {
                return Err(UrlError {
                    what: format!("`{}` has no valid port", shown(url)),
                    help: Some("write a number from 1 to 65535 after the colon".to_owned()),
                });
            }
        };
        Ok(Self { host, port, uri, user_info })
    }

    /// Whether the connection is over TLS.
    pub fn is_secure(&self) -> bool {
        self.uri.scheme_str() == Some(WSS)
    }
}

/// The schemes of WebSocket URLs, the first without TLS.
const WS: &str = "ws";
const WSS: &str = "wss";

/// The scheme of a URL and what follows `://`.
fn scheme(url: &str) -> Option<(&'static str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    [WS, WSS].into_iter().find(|known| *known == scheme).map(|known| (known, rest))
}

fn wrong_scheme(url: &str) -> UrlError {
    let url = &shown(url);
    let of_http = [("http://", WS), ("https://", WSS)];
    let meant = of_http
        .into_iter()
        .find_map(|(wrong, right)| Some(format!("write `{right}://{}`", url.strip_prefix(wrong)?)));
    UrlError {
        what: format!("`url` must start with `ws://` or `wss://`, and `{url}` does not"),
        help: match meant {
            Some(help) => Some(help),
            None if url.is_empty() || url.contains("://") => None,
            None => Some(format!("write `ws://{url}`")),
        },
    }
}

/// The host of a URL has to be as names are looked up and certificates say it (RFC 5891).
fn not_ascii(url: &str, scheme: &str, authority: &str) -> UrlError {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, Some(port)),
        _ => (authority, None),
    };
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    let plain = url::Host::parse(host).ok();
    UrlError {
        what: format!("the host of `{}` is not ASCII", shown(url)),
        help: plain.map(|host| format!("write it as `{scheme}://{host}{port}`")),
    }
}

/// The user and the password of a user info.
fn decoded(user_info: &str) -> (String, String) {
    let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
    let decoded = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
    (decoded(user), decoded(password))
}

/// The text as it stands in a URL: blanks and what is not ASCII percent-encoded.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_and_query_replace_those_of_the_url() {
        let url = Url::parse("ws://h:9000/a?b=1", Some("/rooms/a b?q=ü")).unwrap();
        assert_eq!(url.uri.to_string(), "ws://h:9000/rooms/a%20b?q=%C3%BC");
        assert_eq!((url.host.as_str(), url.port), ("h", 9000));
    }

    #[test]
    fn defaults_are_filled_in() {
        let url = Url::parse("ws://h", None).unwrap();
        assert_eq!((url.port, url.uri.path()), (80, "/"));
        let url = Url::parse("ws://[::1]?x=1", None).unwrap();
        assert_eq!((url.host.as_str(), url.port, url.uri.query()), ("::1", 80, Some("x=1")));
        assert_eq!(Url::parse("ws://[::1]:81/", Some("chat")).unwrap().uri.path(), "/chat");
        let url = Url::parse("wss://h/a", None).unwrap();
        assert_eq!(
            (url.port, url.is_secure(), url.uri.to_string().as_str()),
            (443, true, "wss://h/a")
        );
        assert_eq!(Url::parse("wss://h:9443", None).unwrap().port, 9443);
    }

    #[test]
    fn secrets_are_not_shown_of_wrong_urls_either() {
        let what = |url: &str| Url::parse(url, None).unwrap_err().what;
        assert_eq!(what("ws://h:0/?token=abc"), "`ws://h:0/?token=***` has no valid port");
        let url = "http://me:abc@h/?sid=abc";
        assert!(!what(url).contains("abc"), "{}", what(url));
        assert_eq!(Url::parse(url, None).unwrap_err().help.unwrap(), "write `ws://***@h/?sid=***`");
    }

    #[test]
    fn a_password_that_ends_the_authority_too_early_has_advice_and_is_not_shown() {
        let error = Url::parse("ws://bob:se/cret@h:1/", None).unwrap_err();
        assert_eq!(error.what, "the user info of `ws://***@h:1/` holds one of `/`, `?` and `#`");
        assert!(error.help.unwrap().contains("%2F"));
    }

    #[test]
    fn user_info_is_decoded_and_not_part_of_the_address() {
        let url = Url::parse("ws://b%6Fb:p%40ss:w@h:9000/?a=b@c", None).unwrap();
        assert_eq!(url.user_info, Some(("bob".to_owned(), "p@ss:w".to_owned())));
        assert_eq!(url.uri.to_string(), "ws://h:9000/?a=b@c");
        let url = Url::parse("ws://bob@[::1]/", None).unwrap();
        assert_eq!(
            (url.user_info, url.host.as_str()),
            (Some(("bob".into(), String::new())), "::1")
        );
    }

    #[test]
    fn each_mistake_has_its_advice() {
        let help = |url: &str| Url::parse(url, None).unwrap_err().help;
        assert_eq!(help("http://h/").as_deref(), Some("write `ws://h/`"));
        assert_eq!(help("https://h/").as_deref(), Some("write `wss://h/`"));
        assert_eq!(help("localhost:9000").as_deref(), Some("write `ws://localhost:9000`"));
        for url in ["ws://", "ws://h:0/", "ws://h:99999/", "ws://h:x/", "ws://h/#a", ""] {
            assert!(Url::parse(url, None).is_err(), "{url}");
        }
    }
}

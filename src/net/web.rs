//! WebSocket URLs beside those of HTTP: `ws` is to `http` what `wss` is to `https` (RFC 6455 3), for
//! requests of both kinds, for redirects, and for cookies.

use http::Uri;

use crate::net::{Url, UrlError, shown};

/// Schemes of HTTP, and what they are for a WebSocket.
const SCHEMES: [(&str, &str); 2] = [("http://", "ws://"), ("https://", "wss://")];

impl Url {
    /// Reads the URL of an HTTP request, which may also be written with the scheme of a WebSocket's;
    /// `path` (with its query) replaces its path and query.
    pub fn parse_http(url: &str, path: Option<&str>) -> Result<Self, UrlError> {
        let url = url.trim();
        let mut schemes = SCHEMES.iter();
        match schemes.find_map(|(http, ws)| Some(format!("{ws}{}", url.strip_prefix(http)?))) {
            Some(url) => Self::parse(&url, path).map_err(UrlError::of_http),
            None if url.starts_with("ws://") || url.starts_with("wss://") => Self::parse(url, path),
            None => Err(UrlError {
                what: format!(
                    "`url` must start with `http://` or `https://`, and `{}` does not",
                    shown(url)
                ),
                help: (!url.is_empty() && !url.contains("://"))
                    .then(|| format!("write `http://{}`", shown(url))),
            }),
        }
    }

    /// The same with the scheme of HTTP.
    pub fn to_http(&self) -> String {
        let text = self.uri.to_string();
        let rest = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest);
        format!("{}://{rest}", if self.is_secure() { "https" } else { "http" })
    }

    /// Where a `Location` leads from here (RFC 9110 10.2.2), which may be relative. Its user info is
    /// dropped: a server does not tell a client who it is.
    pub fn follow(&self, location: &str) -> Result<Self, UrlError> {
        let refused = |why: &str| UrlError {
            what: format!("the redirect to `{}` cannot be followed: {why}", shown(location)),
            help: None,
        };
        let mut there = url::Url::parse(&self.to_http())
            .and_then(|here| here.join(location))
            .map_err(|error| refused(&error.to_string()))?;
        there.set_fragment(None);
        if !matches!(there.scheme(), "http" | "https" | "ws" | "wss") {
            return Err(refused("its scheme is none of http, https, ws, wss"));
        }
        let mut followed =
            Self::parse_http(there.as_str(), None).map_err(|error| refused(&error.what))?;
        followed.user_info = None;
        Ok(followed)
    }

    /// Whether what is secret here may go there: to the same host and port; and from the standard port
    /// to that of TLS.
    pub fn trusts(&self, there: &Self) -> bool {
        let secured = (self.is_secure(), self.port, there.is_secure(), there.port);
        let is_same = self.is_secure() == there.is_secure() && self.port == there.port;
        self.host.eq_ignore_ascii_case(&there.host)
            && (is_same || secured == (false, 80, true, 443))
    }
}

impl UrlError {
    /// In the words of HTTP, for a URL that was written so.
    fn of_http(mut self) -> Self {
        for text in [Some(&mut self.what), self.help.as_mut()].into_iter().flatten() {
            *text = text.replace("wss://", "https://").replace("ws://", "http://");
            *text = text.replace("a WebSocket URL", "the URL of a request");
        }
        self
    }
}

/// The header `Host`: with the port only where it is not the scheme's own.
pub fn host_header(uri: &Uri) -> String {
    let default = match uri.scheme_str() {
        Some("wss" | "https") => 443,
        _ => 80,
    };
    let host = uri.host().unwrap_or_default();
    match uri.port_u16() {
        Some(port) if port != default => format!("{host}:{port}"),
        _ => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text, None).unwrap()
    }

    #[test]
    fn a_request_may_have_either_scheme() {
        let parsed = Url::parse_http("http://h:81/a?b", Some("/login")).unwrap();
        assert_eq!(parsed.to_http(), "http://h:81/login");
        assert_eq!(Url::parse_http("ws://h/", None).unwrap().to_http(), "http://h/");
        let error = Url::parse_http("http://h:0/", None).unwrap_err();
        assert_eq!(error.what, "`http://h:0/` has no valid port");
        let help = |url: &str| Url::parse_http(url, None).unwrap_err().help;
        assert_eq!(help("h:80/login").as_deref(), Some("write `http://h:80/login`"));
        assert_eq!(help("ftp://h/"), None);
        let wanted = "write it as `http://xn--mller-kva.de:81`";
        assert_eq!(help("http://müller.de:81/a").as_deref(), Some(wanted));
        let error = Url::parse_http("http://h/#a", None).unwrap_err();
        assert!(error.what.ends_with("which the URL of a request must not have"), "{error}");
    }

    #[test]
    fn redirects_lead_to_absolute_and_relative_places() {
        let here = url("ws://h:9000/a/b?c=1");
        for (location, there) in [
            ("/x?y=1#z", "ws://h:9000/x?y=1"),
            ("d", "ws://h:9000/a/d"),
            ("?d=1", "ws://h:9000/a/b?d=1"),
            ("//other/x", "ws://other/x"),
            ("http://other:81/x", "ws://other:81/x"),
            ("ws://u:p@other/x", "ws://other/x"),
        ] {
            let followed = here.follow(location).unwrap();
            assert_eq!(followed.uri.to_string(), there, "{location}");
            assert_eq!(followed.user_info, None);
        }
        let what = here.follow("ftp://h/?token=abc").unwrap_err().what;
        assert!(what.contains("ftp://h/?token=***` cannot be followed"), "{what}");
    }

    #[test]
    fn secrets_stay_with_host_and_port() {
        let here = url("ws://h:9000/");
        assert!(here.trusts(&url("ws://H:9000/other")));
        assert!(!here.trusts(&url("ws://h:9001/")) && !here.trusts(&url("ws://i:9000/")));
    }

    #[test]
    fn a_host_has_a_port_only_where_it_must() {
        for (uri, host) in [
            ("ws://h/", "h"),
            ("ws://h:80/", "h"),
            ("ws://h:443/", "h:443"),
            ("wss://h:443/", "h"),
            ("wss://h:80/", "h:80"),
            ("ws://[::1]:9000/", "[::1]:9000"),
        ] {
            assert_eq!(host_header(&uri.parse().unwrap()), host, "{uri}");
        }
    }
}

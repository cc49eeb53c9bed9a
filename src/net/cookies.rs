//! A jar of cookies (RFC 6265) for HTTP and for what begins as HTTP.

use cookie_store::{CookieStore, RawCookie};

use crate::net::Url;

/// A jar keeps at most so many; further ones are not taken. RFC 6265 6.1 wants 50 for each domain.
const MOST: usize = 300;

/// A longer `Set-Cookie` is not taken, in bytes (RFC 6265 6.1 wants 4096).
const LONGEST: usize = 8 * 1024;

/// What servers have set, for one virtual thread: it takes memory only once there is something.
/// Cookies for other domains than the server's are refused, and so are those for a whole top-level
/// domain; there is no list of public suffixes.
#[derive(Debug, Default)]
pub struct Cookies(Option<Box<CookieStore>>);

impl Cookies {
    /// Takes the values of the `Set-Cookie` headers of an answer from `url`, as far as they may be set
    /// from there.
    pub fn keep(&mut self, url: &Url, set_cookies: &[String]) {
        if set_cookies.is_empty() {
            return;
        }
        let Ok(from) = url::Url::parse(&url.to_http()) else { return };
        let store = self.0.get_or_insert_default();
        for text in set_cookies.iter().filter(|text| text.len() <= LONGEST) {
            let Ok(cookie) = RawCookie::parse(text.as_str()) else { continue };
            // `Domain=com` would reach all of it; a host that is its own domain is fine.
            let is_too_wide = cookie.domain().is_some_and(|domain| {
                let domain = domain.trim_start_matches('.');
                !domain.contains('.') && !domain.eq_ignore_ascii_case(&url.host)
            });
            if is_too_wide || store.iter_any().count() >= MOST {
                continue;
            }
            // What may not be set from there is not an error of ours.
            store.insert_raw(&cookie, &from).ok();
        }
    }

    /// The values of all cookies.
    pub fn values(&self) -> Vec<String> {
        let all = self.0.iter().flat_map(|store| store.iter_any());
        all.map(|cookie| cookie.value().to_owned()).collect()
    }

    /// Names and values to send to `url`, those with longer paths first (RFC 6265 5.4).
    pub fn pairs(&self, url: &Url) -> Vec<(String, String)> {
        let Some(store) = &self.0 else { return Vec::new() };
        let Ok(to) = url::Url::parse(&url.to_http()) else { return Vec::new() };
        let mut found = store.matches(&to);
        let length = |path: &str| std::cmp::Reverse(path.len());
        found.sort_by(|one, other| {
            let order = length(&one.path).cmp(&length(&other.path));
            order.then_with(|| one.name().cmp(other.name()))
        });
        found.iter().map(|one| (one.name().to_owned(), one.value().to_owned())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text, None).unwrap()
    }

    fn sent(jar: &Cookies, to: &str) -> String {
        let pairs = jar.pairs(&url(to));
        let texts: Vec<String> =
            pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        texts.join("; ")
    }

    fn jar(from: &str, set_cookies: &[&str]) -> Cookies {
        let mut jar = Cookies::default();
        let texts: Vec<String> = set_cookies.iter().map(|&text| text.to_owned()).collect();
        jar.keep(&url(from), &texts);
        jar
    }

    #[test]
    fn cookies_go_where_their_domain_and_path_allow() {
        let from = "ws://chat.example.com/app/login";
        let jar = jar(
            from,
            &[
                "host=1",
                "wide=2; Domain=example.com; Path=/",
                "deep=3; Path=/app/room",
                "odd=a=b; Path=/",
            ],
        );
        assert_eq!(
            sent(&jar, "ws://chat.example.com/app/room/7"),
            "deep=3; host=1; odd=a=b; wide=2"
        );
        assert_eq!(sent(&jar, "ws://chat.example.com/"), "odd=a=b; wide=2");
        assert_eq!(sent(&jar, "ws://other.example.com/app/login"), "wide=2");
        assert_eq!(sent(&jar, "ws://example.org/app/login"), "");
    }

    #[test]
    fn foreign_domains_are_refused() {
        let set =
            ["a=1; Domain=example.org", "b=2; Domain=com", "c=3; Domain=xample.com", "; d", ""];
        let jar = jar("ws://chat.example.com/", &set);
        assert_eq!(jar.0.map(|store| store.iter_any().count()), Some(0));
    }

    #[test]
    fn cookies_are_replaced_and_removed() {
        let set = ["a=1", "b=1", "a=2", "b=; Max-Age=0"];
        assert_eq!(sent(&jar("ws://127.0.0.1:9000/x", &set), "ws://127.0.0.1:9001/"), "a=2");
    }

    #[test]
    fn a_secure_cookie_needs_tls() {
        assert_eq!(
            sent(&jar("ws://h.example/", &["a=1; Secure", "b=2"]), "ws://h.example/"),
            "b=2"
        );
    }

    #[test]
    fn a_jar_does_not_grow_without_end() {
        let set: Vec<String> = (0..1_000).map(|number| format!("c{number}=x")).collect();
        let mut jar = Cookies::default();
        jar.keep(&url("ws://h.example/"), &set);
        assert_eq!(jar.pairs(&url("ws://h.example/")).len(), MOST);
    }

    #[test]
    fn an_unused_jar_is_a_pointer() {
        assert_eq!(size_of::<Cookies>(), size_of::<usize>());
    }
}

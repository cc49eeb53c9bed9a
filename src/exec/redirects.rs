//! Where answers with 301, 302, 303, 307 and 308 lead (RFC 9110 15.4).

use crate::net::{Url, shown};
use crate::ws::header_values;

/// The redirects of one request.
#[derive(Debug)]
pub(crate) struct Redirects {
    most: u32,
    /// Whether they are told in the words of HTTP.
    is_http: bool,
    /// Where it has been.
    followed: Vec<Url>,
}

/// What follows from an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It is the answer.
    Stay,
    /// The request goes on to this place.
    Go(Box<Url>),
    /// It leads on, and is not followed: why.
    Refuse(String),
}

impl Redirects {
    /// Of an upgrade.
    pub(crate) fn new(most: u32) -> Self {
        Self { most, is_http: false, followed: Vec::new() }
    }

    /// Of a request of HTTP.
    pub(crate) fn of_http(most: u32) -> Self {
        Self { is_http: true, ..Self::new(most) }
    }

    /// All places that it has been to, ending with `last`.
    pub(crate) fn visited(self, last: &Url) -> Vec<Url> {
        let mut visited = self.followed;
        if visited.last() != Some(last) {
            visited.push(last.clone());
        }
        visited
    }

    /// What the answer from `url` with this head leads to.
    pub(crate) fn next(&mut self, url: &Url, status: u16, head: &[u8]) -> Next {
        if self.most == 0 || !matches!(status, 301 | 302 | 303 | 307 | 308) {
            return Next::Stay;
        }
        let locations = header_values(head, "Location");
        let Some(location) = locations.first() else {
            return Next::Refuse("it is a redirect without `Location`".to_owned());
        };
        let there = match url.follow(location) {
            Ok(there) => there,
            Err(error) => return Next::Refuse(error.what),
        };
        self.followed.push(url.clone());
        if self.followed.len() <= self.most as usize {
            return Next::Go(Box::new(there));
        }
        let count = match self.most {
            1 => "1 redirect was".to_owned(),
            many => format!("{many} redirects were"),
        };
        let is_loop = self.followed.iter().any(|url| url.uri == there.uri);
        let how = if is_loop { "in a loop" } else { "on" };
        let place = shown(&if self.is_http { there.to_http() } else { there.uri.to_string() });
        Next::Refuse(format!("{count} followed, and it leads {how} to `{place}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(redirects: &mut Redirects, status: u16, location: &str) -> Next {
        let url = Url::parse("ws://h/a", None).unwrap();
        let head = format!("HTTP/1.1 {status} Y\r\n{location}\r\n\r\n");
        redirects.next(&url, status, head.as_bytes())
    }

    #[test]
    fn only_redirects_are_followed_and_only_if_the_plan_wants_it() {
        let location = "Location: /b";
        for (most, status, is_followed) in [
            (0, 302, false),
            (1, 302, true),
            (1, 301, true),
            (1, 308, true),
            (1, 304, false),
            (1, 200, false),
        ] {
            let next = next(&mut Redirects::new(most), status, location);
            assert_eq!(matches!(next, Next::Go(_)), is_followed, "{status}: {next:?}");
            assert!(is_followed || next == Next::Stay);
        }
    }

    #[test]
    fn what_is_not_followed_says_why() {
        let why = |next| match next {
            Next::Refuse(why) => why,
            other => panic!("{other:?}"),
        };
        let mut redirects = Redirects::new(1);
        assert!(why(next(&mut redirects, 302, "X: y")).contains("without `Location`"));
        assert!(why(next(&mut redirects, 302, "Location: ftp://h/")).contains("ftp://h/"));
        next(&mut redirects, 302, "Location: /b");
        let text = "1 redirect was followed, and it leads on to `ws://h/c`";
        assert_eq!(why(next(&mut redirects, 302, "Location: /c")), text);
        let text = "1 redirect was followed, and it leads in a loop to `ws://h/a`";
        assert_eq!(why(next(&mut redirects, 302, "Location: a")), text);
        let mut redirects = Redirects::of_http(1);
        next(&mut redirects, 302, "Location: /b");
        let text = "1 redirect was followed, and it leads on to `http://h/c`";
        assert_eq!(why(next(&mut redirects, 302, "Location: /c")), text);
    }
}

//! The head of a request with everything evaluated, and what of it goes to which server.

use data_encoding::BASE64;

use crate::exec::evaluate::{Scope, bad_value};
use crate::exec::outcome::Failure;
use crate::net::{self, Cookies, Url};
use crate::program::{
    BadValue, RequestHead, Template, cookie_value, header_value, redirects, user_name,
};

/// What a request says beside its address.
#[derive(Debug)]
pub(crate) struct Asking {
    /// How many redirects may be followed.
    pub(crate) redirects: u32,
    headers: Vec<Said>,
    cookies: Vec<(String, String)>,
}

/// One header.
#[derive(Debug)]
struct Said {
    name: String,
    value: String,
    /// Whether it stays with the server that it is meant for.
    is_secret: bool,
}

impl Asking {
    /// Evaluates the head of a request to `url`.
    pub(crate) fn evaluate(
        scope: &mut Scope,
        head: &RequestHead,
        url: &Url,
    ) -> Result<Self, Failure> {
        let count = &head.follow_redirects;
        let redirects =
            checked(scope.value(count)?, "follow_redirects", |count| redirects(*count))?;
        let mut asking = Self {
            redirects,
            headers: Vec::with_capacity(head.headers.len()),
            cookies: Vec::with_capacity(head.cookies.len()),
        };
        if let Some(origin) = &head.origin {
            let value = text(scope, origin, header_value)?;
            asking.say(scope, "Origin", value);
        }
        asking.authorize(scope, head, url)?;
        for header in &head.headers {
            let value = text(scope, &header.value, header_value)?;
            asking.say(scope, &header.name, value);
        }
        for (name, value) in &head.cookies {
            let value = text(scope, value, cookie_value)?;
            let pair = format!("{name}={value}");
            scope.hide(|secrets| secrets.remember_header("Cookie", &pair));
            asking.cookies.push((name.clone(), value));
        }
        Ok(asking)
    }

    fn say(&mut self, scope: &mut Scope, name: &str, value: String) {
        let is_secret = net::is_secret(name) || scope.is_secret(&value);
        if net::is_secret(name) {
            scope.hide(|secrets| secrets.remember_header(name, &value));
        }
        self.headers.push(Said { name: name.to_owned(), value, is_secret });
    }

    /// `basic_auth`, or the user info of the URL where nothing else says who asks.
    fn authorize(
        &mut self,
        scope: &mut Scope,
        head: &RequestHead,
        url: &Url,
    ) -> Result<(), Failure> {
        let is_said = head.headers.iter().any(|own| own.name.eq_ignore_ascii_case("Authorization"));
        let (user, password) = match (&head.basic_auth, &url.user_info) {
            (Some(own), _) => {
                let user = text(scope, &own.user, user_name)?;
                (user, scope.text(&own.password)?.into_owned())
            }
            (None, Some((user, password))) if !is_said => (user.clone(), password.clone()),
            (None, _) => return Ok(()),
        };
        scope.hide(|secrets| secrets.remember_password(&password));
        let value = format!("Basic {}", BASE64.encode(format!("{user}:{password}").as_bytes()));
        self.say(scope, "Authorization", value);
        Ok(())
    }

    /// The headers of a request to `url`, with the cookies of the jar that belong there. A header
    /// `Cookie` of the plan stands for all cookies.
    pub(crate) fn headers(&self, url: &Url, jar: &Cookies) -> Vec<(String, String)> {
        let said = self.headers.iter().map(|said| (said.name.clone(), said.value.clone()));
        let mut headers: Vec<(String, String)> = said.collect();
        if headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("Cookie")) {
            return headers;
        }
        let is_own = |name: &str| self.cookies.iter().any(|(own, _)| own == name);
        let kept = jar.pairs(url);
        let kept = kept.iter().filter(|(name, _)| !is_own(name));
        let pairs: Vec<String> = self
            .cookies
            .iter()
            .chain(kept)
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if !pairs.is_empty() {
            headers.push(("Cookie".to_owned(), pairs.join("; ")));
        }
        headers
    }

    /// Drops what is meant for one server only: the next request goes to another one.
    pub(crate) fn keep_secrets(&mut self) {
        self.headers.retain(|said| !said.is_secret);
        self.cookies.clear();
    }

    /// Drops the headers of this name.
    pub(crate) fn unsay(&mut self, name: &str) {
        self.headers.retain(|said| !said.name.eq_ignore_ascii_case(name));
    }

    /// Says this unless the plan says something else.
    pub(crate) fn say_by_default(&mut self, name: &str, value: &str) {
        if !self.headers.iter().any(|said| said.name.eq_ignore_ascii_case(name)) {
            let (name, value) = (name.to_owned(), value.to_owned());
            self.headers.push(Said { name, value, is_secret: false });
        }
    }
}

/// The text of a template, for which something must hold.
fn text(
    scope: &mut Scope,
    template: &Template,
    check: impl Fn(&str) -> Result<(), BadValue>,
) -> Result<String, Failure> {
    let text = scope.text(template)?.into_owned();
    check(&text).map_err(|bad| bad_value(&bad.what, &template.source))?;
    Ok(text)
}

fn checked<T>(
    value: T,
    name: &str,
    check: impl Fn(&T) -> Result<(), BadValue>,
) -> Result<T, Failure> {
    check(&value).map_err(|bad| bad_value(&bad.what, name))?;
    Ok(value)
}

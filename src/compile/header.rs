//! The head of a request: `headers`, `cookies` and the like; and `subprotocols` of upgrades.

use http::HeaderName;

use crate::compile::compiler::Compiler;
use crate::compile::scope::{ConnectingSettings, replace};
use crate::plan::{self, At, Entries, List, Path, Problem, Removable, Setting, Text};
use crate::program::{
    BadValue, BasicAuth, Header, RequestHead, Template, cookie_name, cookie_value, header_value,
    redirects, subprotocol, user_name,
};

/// Headers that a plan cannot give, and why.
const REFUSED: &[(&str, &str)] = &[
    ("host", "it comes from `url`"),
    ("connection", "it is set anyway"),
    ("upgrade", "it is set anyway"),
    ("sec-websocket-key", "the handshake sets it, fresh for each connection"),
    ("sec-websocket-version", "the handshake sets it"),
    ("sec-websocket-accept", "it belongs in the server's answer"),
    ("sec-websocket-extensions", "compression and other extensions are not in this version"),
    ("sec-websocket-protocol", "write `subprotocols`"),
    ("content-length", "it follows from the body, if there is one"),
    ("transfer-encoding", "it follows from the body, if there is one"),
];

impl Compiler<'_> {
    /// Applies the settings at `path` that make up the head of a request.
    pub(super) fn request_head(
        &mut self,
        head: &mut RequestHead,
        own: &ConnectingSettings<'_>,
        path: &Path,
    ) {
        if let Some(headers) = own.headers {
            self.headers(&mut head.headers, headers, &path.key("headers"));
        }
        if let Some(cookies) = own.cookies {
            self.cookies(&mut head.cookies, cookies, &path.key("cookies"));
        }
        if let Some(origin) = own.origin {
            let path = path.key("origin");
            replace(&mut head.origin, self.checked_text(origin, &path, header_value));
        }
        if let Some(basic_auth) = own.basic_auth {
            let basic_auth = self.basic_auth(basic_auth, &path.key("basic_auth"));
            replace(&mut head.basic_auth, basic_auth);
        }
        if let Some(count) = own.follow_redirects {
            let path = path.key("follow_redirects");
            let count = self.setting(count, &path);
            if let Some(count) = self.checked(count, &path, |count| redirects(*count)) {
                head.follow_redirects = count;
            }
        }
        self.refuse_twofold(head, own, path);
    }

    /// Notes a header that is set in two ways.
    fn refuse_twofold(&mut self, head: &RequestHead, own: &ConnectingSettings<'_>, path: &Path) {
        let ways = [
            ("origin", "Origin", head.origin.is_some(), own.origin.is_some()),
            ("basic_auth", "Authorization", head.basic_auth.is_some(), own.basic_auth.is_some()),
            ("cookies", "Cookie", !head.cookies.is_empty(), own.cookies.is_some()),
        ];
        for (key, name, is_set, is_own) in ways {
            let is_named = |header: &Header| header.name.eq_ignore_ascii_case(name);
            // Once, where the second of them is written.
            let is_news = is_own || own.headers.is_some();
            if is_set && is_news && head.headers.iter().any(is_named) {
                let at = path.key(if is_own { key } else { "headers" });
                let title = format!("`{key}` sets the header `{name}`, and so does `headers`");
                let problem = Problem::error(&at, title).at(At::Key);
                self.note(problem.help("remove one of them; `null` removes an outer header"));
            }
        }
    }

    /// Merges the headers of an inner scope into those of the outer ones; names differ by more than
    /// case (RFC 9110 5.1), so that two spellings in one scope are two headers of one name.
    fn headers(
        &mut self,
        headers: &mut Vec<Header>,
        inner: &Entries<Removable<List<Setting<Text>>>>,
        path: &Path,
    ) {
        for (index, (name, values)) in inner.0.iter().enumerate() {
            let path = path.key(name.clone());
            if !self.header_name(name, &path) {
                continue;
            }
            let values = match values {
                Removable::Removed => Vec::new(),
                Removable::Given(values) => match self.header_values(name, values, &path) {
                    Some(values) => values,
                    None => continue,
                },
            };
            let is_same = |header: &Header| header.name.eq_ignore_ascii_case(name);
            let is_again =
                inner.0[..index].iter().any(|(earlier, _)| earlier.eq_ignore_ascii_case(name));
            let at = if is_again {
                headers.iter().rposition(is_same).map(|last| last + 1)
            } else {
                let first = headers.iter().position(is_same);
                headers.retain(|header| !is_same(header));
                first
            };
            let at = at.unwrap_or(headers.len());
            headers.splice(at..at, values);
        }
    }

    /// `None` where one of them is wrong.
    fn header_values(
        &mut self,
        name: &str,
        values: &List<Setting<Text>>,
        path: &Path,
    ) -> Option<Vec<Header>> {
        if values.0.is_empty() {
            let problem = Problem::error(path, "the list is empty").at(At::Key);
            self.note(problem.help("write `null` to remove a header of an outer scope"));
            return None;
        }
        let mut headers = Vec::with_capacity(values.0.len());
        for (index, value) in values.0.iter().enumerate() {
            let value = self.checked_text(value, &path.index(index), header_value)?;
            if let Some(text) = value.as_constant() {
                self.secrets.remember_header(name, text);
            }
            headers.push(Header { name: name.to_owned(), value });
        }
        Some(headers)
    }

    /// Merges the cookies of an inner scope into those of the outer ones.
    fn cookies(
        &mut self,
        cookies: &mut Vec<(String, Template)>,
        inner: &Entries<Removable<Setting<Text>>>,
        path: &Path,
    ) {
        for (name, value) in &inner.0 {
            let path = path.key(name.clone());
            if let Err(bad) = cookie_name(name) {
                let problem = Problem::error(&path, bad.what).at(At::Key);
                self.note(problem.help(bad.help.unwrap_or_default()));
                continue;
            }
            let value = match value {
                Removable::Removed => None,
                Removable::Given(value) => match self.checked_text(value, &path, cookie_value) {
                    Some(value) => Some(value),
                    None => continue,
                },
            };
            if let Some(text) = value.as_ref().and_then(Template::as_constant) {
                self.secrets.remember_header("Cookie", text);
            }
            let known = cookies.iter().position(|(known, _)| known == name);
            match (known, value) {
                (Some(at), Some(value)) => cookies[at].1 = value,
                (Some(at), None) => {
                    cookies.remove(at);
                }
                (None, Some(value)) => cookies.push((name.clone(), value)),
                (None, None) => {}
            }
        }
    }

    fn basic_auth(&mut self, own: &plan::BasicAuth, path: &Path) -> Option<BasicAuth> {
        let Some(user) = &own.user else {
            let problem = Problem::error(path, "`basic_auth` has no `user`").at(At::Key);
            self.note(problem.help("write `basic_auth: { user: bob, password: '${password}' }`"));
            return None;
        };
        let user = self.checked_text(user, &path.key("user"), user_name);
        let password = match &own.password {
            Some(password) => self.text(password, &path.key("password")),
            None => Some(Template::constant("")),
        };
        let (user, password) = (user?, password?);
        if let Some(password) = password.as_constant() {
            self.secrets.remember_password(password);
        }
        Some(BasicAuth { user, password })
    }

    /// A text for which something must hold if it is known.
    fn checked_text(
        &mut self,
        setting: &Setting<Text>,
        path: &Path,
        check: impl Fn(&str) -> Result<(), BadValue>,
    ) -> Option<Template> {
        let template = self.text(setting, path)?;
        match template.as_constant().map_or(Ok(()), check) {
            Ok(()) => Some(template),
            Err(bad) => {
                self.bad_value(bad, path, "");
                None
            }
        }
    }

    /// The list `subprotocols` at `path`; an empty one offers none.
    pub(super) fn subprotocols(
        &mut self,
        names: &List<Setting<Text>>,
        path: &Path,
    ) -> Vec<Template> {
        let mut offered: Vec<Template> = Vec::with_capacity(names.0.len());
        for (index, name) in names.0.iter().enumerate() {
            let path = path.index(index);
            let Some(template) = self.text(name, &path) else { continue };
            if let Some(name) = template.as_constant() {
                let is_known = offered.iter().any(|other| other.as_constant() == Some(name));
                let judged = match subprotocol(name) {
                    Ok(()) if is_known => Err(BadValue::new(format!("`{name}` is offered twice"))),
                    judged => judged,
                };
                if let Err(bad) = judged {
                    self.bad_value(bad, &path, "");
                    continue;
                }
            }
            offered.push(template);
        }
        offered
    }

    fn header_name(&mut self, name: &str, path: &Path) -> bool {
        let problem = |title: String| Problem::error(path, title).at(At::Key);
        if HeaderName::from_bytes(name.as_bytes()).is_err() {
            let problem = problem(format!("`{name}` is not a header name"));
            self.note(problem.help("use letters, digits and `-`"));
            return false;
        }
        let refused = REFUSED.iter().find(|(refused, _)| refused.eq_ignore_ascii_case(name));
        if let Some((_, why)) = refused {
            self.note(problem(format!("the header `{name}` cannot be set here: {why}")));
        }
        refused.is_none()
    }
}

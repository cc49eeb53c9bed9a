//! `headers` and `subprotocols` of the upgrade request.

use http::{HeaderName, HeaderValue};

use crate::compile::compiler::Compiler;
use crate::plan::{At, Entries, List, Path, Problem, Removable, Setting, Text};
use crate::program::{BadValue, Header, Template, subprotocol};

/// Headers that a plan cannot give, and why.
const REFUSED: &[(&str, &str)] = &[
    ("host", "it comes from `url`"),
    ("connection", "the handshake sets it"),
    ("upgrade", "the handshake sets it"),
    ("sec-websocket-key", "the handshake sets it, fresh for each connection"),
    ("sec-websocket-version", "the handshake sets it"),
    ("sec-websocket-accept", "it belongs in the server's answer"),
    ("sec-websocket-extensions", "compression and other extensions are not in this version"),
    ("sec-websocket-protocol", "write `subprotocols`"),
    ("content-length", "the upgrade request has no body"),
    ("transfer-encoding", "the upgrade request has no body"),
];

impl Compiler<'_> {
    /// Merges the headers of an inner scope into those of the outer ones; names differ by more than
    /// case (RFC 9110 5.1).
    pub(super) fn headers(
        &mut self,
        headers: &mut Vec<Header>,
        inner: &Entries<Removable<Setting<Text>>>,
        path: &Path,
    ) {
        for (name, value) in &inner.0 {
            let path = path.key(name.clone());
            if !self.header_name(name, &path) {
                continue;
            }
            let known = headers.iter().position(|header| header.name.eq_ignore_ascii_case(name));
            let value = match value {
                Removable::Removed => None,
                Removable::Given(value) => match self.header_value(value, &path) {
                    Some(value) => Some(value),
                    None => continue,
                },
            };
            match (known, value) {
                (Some(index), Some(value)) => {
                    headers[index] = Header { name: name.clone(), value };
                }
                (Some(index), None) => {
                    headers.remove(index);
                }
                (None, Some(value)) => headers.push(Header { name: name.clone(), value }),
                (None, None) => {}
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

    fn header_value(&mut self, value: &Setting<Text>, path: &Path) -> Option<Template> {
        let template = self.text(value, path)?;
        if let (Some(name), Some(text)) = (path.last_key(), template.as_constant()) {
            self.secrets.remember_header(name, text);
        }
        if template
            .as_constant()
            .is_some_and(|text| HeaderValue::from_bytes(text.as_bytes()).is_err())
        {
            let problem = Problem::error(
                path,
                "a header's value cannot hold line breaks or other control characters",
            );
            self.note(problem.help("for a value over several lines write `>-`, which joins them"));
            return None;
        }
        Some(template)
    }
}

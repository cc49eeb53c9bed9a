//! The secrets that stand in a plan itself, wherever they stand and whatever else is wrong with it, and what
//! secrets are made from: the variables and properties that are put where one is. What variables hold in the
//! end is known to `compile`.

use std::collections::BTreeSet;

use crate::diag::Diagnostic;
use crate::plan::document::{Key, Node, ScalarKind, Value};
use crate::secrets::{
    Found, Secrets, each_value, is_secret, mask, tells, user_info, without_telling,
};

/// Shorter cookies are not even hidden in what is said about the plan.
const SHORT: usize = 4;

/// The functions that give the value of a property, or of a variable of the environment.
const PROPERTIES: [&str; 3] = ["${__P(", "${__property(", "${__env("];

/// The keys beside a telling JSON path that hold no part of what it leads to.
const OTHERS: [&str; 6] = ["path", "exists", "count", "as", "match", "optional"];

/// Secrets, and what they are made from.
#[derive(Debug, Default)]
pub struct SecretTexts {
    /// The values of the variables that `secrets` names; cookies, and the headers, passwords and fields whose
    /// names tell that they are secret.
    pub found: Found,
    /// Cookies, and what assertions want, that are too short to be hidden wherever they stand in a run.
    pub short: Found,
    /// Variables that are put where a secret is: `Authorization: Bearer ${t}`, or that are taken from there.
    pub variables: BTreeSet<String>,
    /// Properties of the same kind.
    pub properties: BTreeSet<String>,
    /// Variables and the texts that give them their values, each of several perhaps.
    definitions: Vec<(String, String)>,
}

impl SecretTexts {
    /// Those of some files together.
    pub(super) fn of<'n>(roots: impl Iterator<Item = &'n Node> + Clone) -> Self {
        let mut texts = Self::default();
        roots.clone().for_each(|root| texts.walk("", root));
        roots.for_each(|root| texts.named(root));
        texts.follow();
        texts
    }

    /// All that is not to be told about the plan.
    pub fn secrets(&self) -> Secrets {
        let mut secrets = Secrets::default();
        secrets.learn(&self.found);
        secrets.learn(&self.short);
        secrets
    }

    /// What `secrets` names.
    fn named(&mut self, root: &Node) {
        let named: Vec<&str> = match entry(root, "secrets").map(|names| &names.value) {
            Some(Value::Scalar { text, .. }) => vec![text],
            Some(Value::List(names)) => names.iter().filter_map(scalar).collect(),
            _ => Vec::new(),
        };
        for name in &named {
            let value = entry(root, "variables").and_then(|own| scalar(entry(own, name)?));
            self.found.remember(value.filter(|value| !is_template(value)).unwrap_or_default());
        }
        self.variables.extend(named.into_iter().map(str::to_owned));
    }

    /// What gives a secret its value is one.
    fn follow(&mut self) {
        let definitions = std::mem::take(&mut self.definitions);
        loop {
            let before = (self.variables.len(), self.properties.len());
            for (name, text) in &definitions {
                if self.variables.contains(name) || is_secret(name) {
                    self.is_made_from(text);
                }
            }
            if before == (self.variables.len(), self.properties.len()) {
                break;
            }
        }
        for (name, text) in &definitions {
            if (self.variables.contains(name) || is_secret(name)) && !is_template(text) {
                self.secret(text);
            }
        }
    }

    /// A secret stands here.
    fn secret(&mut self, text: &str) {
        if is_template(text) {
            self.is_made_from(text);
        } else if text.len() >= SHORT {
            self.found.remember_telling(text);
            self.short.remember(text);
        }
    }

    fn is_made_from(&mut self, text: &str) {
        for (_, default) in defaults(text) {
            self.found.remember_password(default);
        }
        for (at, _) in text.match_indices("${") {
            let rest = &text[at..];
            let end = rest.find(['}', ',', ')']).unwrap_or(rest.len());
            match PROPERTIES.iter().find_map(|function| rest[..end].strip_prefix(function)) {
                Some(property) => self.properties.insert(property.trim().to_owned()),
                None => self.variables.insert(rest["${".len()..end].trim().to_owned()),
            };
        }
    }

    fn walk(&mut self, key: &str, node: &Node) {
        match &node.value {
            Value::Scalar { text, .. } => self.scalar(key, text),
            Value::List(nodes) => nodes.iter().for_each(|node| self.walk(key, node)),
            Value::Map(entries) => {
                if let Some(variable) = entry(node, "as").and_then(scalar) {
                    if entries.iter().filter_map(|(_, node)| scalar(node)).any(tells) {
                        self.variables.insert(variable.to_owned());
                    }
                    // The values of `for_each`, and what stands in for one that is not found.
                    let values = ["in", "default"].into_iter().filter_map(|key| entry(node, key));
                    for value in values {
                        each_scalar(value, &mut |text| {
                            self.definitions.push((variable.to_owned(), text.to_owned()));
                        });
                    }
                }
                let tells_at = |key| entry(node, key).and_then(scalar).filter(|text| tells(text));
                let is_told = tells_at("path").is_some_and(|path| path.starts_with('$'));
                // As some write headers and variables.
                if tells_at("name").is_some()
                    && let Some(value) = entry(node, "value").and_then(scalar)
                {
                    self.secret(value);
                }
                for (key, node) in entries {
                    if is_secret(&key.text)
                        && let Some(value) = entry(node, "value").and_then(scalar)
                    {
                        self.secret(value);
                    }
                    match (key.text.as_str(), &node.value) {
                        (key, Value::Scalar { text, .. }) if is_told && !OTHERS.contains(&key) => {
                            self.secret(text);
                        }
                        ("cookies", _) => each_scalar(node, &mut |text| self.secret(text)),
                        ("headers", Value::Map(headers)) => self.headers(headers),
                        ("variables" | "set" | "with" | "parameters", Value::Map(entries)) => {
                            self.define(entries);
                            self.walk("", node);
                        }
                        (key, _) => self.walk(key, node),
                    }
                }
            }
        }
    }

    fn define(&mut self, entries: &[(Key, Node)]) {
        let texts = entries.iter().filter_map(|(name, node)| Some((&name.text, scalar(node)?)));
        self.definitions.extend(texts.map(|(name, text)| (name.clone(), text.to_owned())));
    }

    /// A text under a key: of the plan, or of JSON that is sent.
    fn scalar(&mut self, key: &str, text: &str) {
        self.found.remember_url(text);
        if key == "url"
            && !text.contains("://")
            && let Some((_, password)) =
                text.rsplit_once('@').and_then(|(own, _)| own.rsplit_once(':'))
        {
            // One that lacks its scheme is refused, but may have a password.
            self.found.remember_password(password);
        }
        for (name, default) in defaults(text) {
            if is_secret(name) {
                self.found.remember_password(default);
            }
        }
        if is_template(text) {
            let mut values = Vec::new();
            each_value(text, |value| values.push(value.to_owned()));
            for value in values {
                self.is_made_from(&value);
            }
            if let Some(user_info) = user_info(text) {
                self.is_made_from(&text[user_info]);
            }
        } else {
            self.found.remember_body(text.as_bytes());
        }
        let is_file = key.eq_ignore_ascii_case("key");
        if is_secret(key) && !is_file {
            if !is_template(text) {
                self.found.remember_field(key, text);
            }
            self.is_made_from(text);
        }
    }

    fn headers(&mut self, headers: &[(Key, Node)]) {
        for (name, value) in headers {
            let is_own = is_secret(&name.text);
            each_scalar(value, &mut |text| {
                self.found.remember_url(text);
                if is_own {
                    if !is_template(text) {
                        self.found.remember_header(&name.text, text);
                    }
                    self.is_made_from(text);
                }
            });
        }
    }
}

/// Hides them, and what the texts themselves tell.
pub fn hide(diagnostics: &mut [Diagnostic], secrets: &[&Secrets]) {
    for diagnostic in diagnostics {
        diagnostic.rewrite(|text| without_telling(&mask(secrets, text)).into_owned());
    }
}

/// The diagnostic of a text that is no YAML, without what may be a secret there: what stands on the line after a
/// telling name, and in the lines below that are indented more.
pub(super) fn hidden(diagnostic: Diagnostic, text: &str) -> Diagnostic {
    let (mut found, mut below) = (Found::default(), None);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let indent = line.len() - line.trim_start().len();
        if below.is_some_and(|above| indent > above) {
            found.remember_password(line.trim());
        } else {
            below = None;
        }
        let Some(rest) = after_telling(line) else { continue };
        below = Some(indent);
        let rest = rest.trim_matches(|c: char| c.is_whitespace() || "'\"{}[],".contains(c));
        found.remember_password(rest);
        for part in rest.split([':', ',', '\'', '"', '{', '}', '[', ']', ' ']) {
            found.remember_password(part);
        }
    }
    let mut diagnostics = [diagnostic];
    hide(&mut diagnostics, &[&Secrets::from(found)]);
    let [diagnostic] = diagnostics;
    diagnostic
}

/// What follows the colon after the first telling word of a line.
fn after_telling(line: &str) -> Option<&str> {
    let words = line.match_indices(':').find(|(at, _)| tells(&line[..*at]));
    words.map(|(at, _)| &line[at + 1..])
}

/// Templates are no secrets themselves.
fn is_template(text: &str) -> bool {
    text.contains("${")
}

/// The properties that a text names with their defaults.
fn defaults(text: &str) -> impl Iterator<Item = (&str, &str)> {
    PROPERTIES.into_iter().flat_map(move |function| {
        text.match_indices(function).filter_map(move |(at, _)| {
            let (name, rest) = text[at + function.len()..].split_once(',')?;
            let default = rest.split([')', '}']).next().unwrap_or(rest);
            (!name.contains([')', '}'])).then(|| (name.trim(), default.trim()))
        })
    })
}

fn each_scalar(node: &Node, take: &mut impl FnMut(&str)) {
    match &node.value {
        Value::Scalar { kind: ScalarKind::Null, .. } => {}
        Value::Scalar { text, .. } => take(text),
        Value::List(nodes) => nodes.iter().for_each(|node| each_scalar(node, take)),
        Value::Map(entries) => entries.iter().for_each(|(_, node)| each_scalar(node, take)),
    }
}

fn entry<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    let Value::Map(entries) = &node.value else { return None };
    entries.iter().find(|(key, _)| key.text == name).map(|(_, value)| value)
}

fn scalar(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Scalar { text, .. } => Some(text),
        _ => None,
    }
}

//! The secrets that stand in a plan itself, wherever they stand and whatever else is wrong with it, and what
//! secrets are made from: the variables and properties that are put where one is. What variables hold in the
//! end is known to `compile`.

use std::collections::BTreeSet;

use crate::diag::Diagnostic;
use crate::plan::document::{Key, Node, ScalarKind, Value};
use crate::secrets::{Found, Secrets, each_value, is_secret, tells, user_info, without_telling};

/// Shorter cookies are not even hidden in what is said about the plan.
const SHORT: usize = 4;

/// The functions that give the value of a property, or of a variable of the environment.
const PROPERTIES: [&str; 3] = ["${__P(", "${__property(", "${__env("];

/// The keys of an assertion about what a JSON path finds that hold a part of it.
const WANTED: [&str; 4] = ["equals", "regex", "less_than", "greater_than"];

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
    /// Variables and the texts that give them their values.
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
                return;
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
                if let Some(variable) = entry(node, "as").and_then(scalar)
                    && entries.iter().filter_map(|(_, node)| scalar(node)).any(tells)
                {
                    self.variables.insert(variable.to_owned());
                }
                let is_told = entry(node, "path").and_then(scalar).is_some_and(tells);
                for (key, node) in entries {
                    match (key.text.as_str(), &node.value) {
                        (key, Value::Scalar { text, .. }) if is_told && WANTED.contains(&key) => {
                            self.secret(text);
                        }
                        ("cookies", _) => each_scalar(node, &mut |text| self.secret(text)),
                        ("headers", Value::Map(headers)) => self.headers(headers),
                        ("variables" | "set", Value::Map(entries)) => {
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
        if key == "url" && !text.contains("://") {
            // One that lacks its scheme is refused, but may have a password.
            self.found.remember_url(&format!("://{text}"));
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
pub(super) fn hide(diagnostics: &mut [Diagnostic], secrets: &Secrets) {
    for diagnostic in diagnostics {
        diagnostic.rewrite(|text| without_telling(&secrets.mask(text)).into_owned());
    }
}

/// Templates are no secrets themselves.
fn is_template(text: &str) -> bool {
    text.contains("${")
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

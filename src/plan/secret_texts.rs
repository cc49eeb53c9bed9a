//! The secrets that stand in a plan itself, wherever they stand and whatever else is wrong with it:
//! nothing that is said about the plan shows them. What variables hold in the end is known to `compile`.

use crate::diag::Diagnostic;
use crate::plan::document::{Node, ScalarKind, Value};
use crate::secrets::{Secrets, without_telling};

/// Shorter texts are hidden where their names stand before them, but not everywhere.
const SHORT: usize = 4;

/// The values of the variables that `secrets` names; all cookies, and the headers and passwords whose
/// names tell that they are secret.
pub(super) fn secrets_of(root: &Node) -> Secrets {
    let mut secrets = Secrets::default();
    let named: Vec<&str> = match entry(root, "secrets").map(|names| &names.value) {
        Some(Value::Scalar { text, .. }) => vec![text],
        Some(Value::List(names)) => names.iter().filter_map(scalar).collect(),
        _ => Vec::new(),
    };
    let values = named.iter().filter_map(|name| scalar(entry(entry(root, "variables")?, name)?));
    values.for_each(|value| secrets.remember(value));
    walk(root, &mut secrets);
    secrets
}

/// Hides them, and what the texts themselves tell.
pub(super) fn hide(diagnostics: &mut [Diagnostic], secrets: &Secrets) {
    for diagnostic in diagnostics {
        diagnostic.rewrite(|text| without_telling(&secrets.mask(text)).into_owned());
    }
}

fn walk(node: &Node, secrets: &mut Secrets) {
    match &node.value {
        Value::Scalar { text, .. } => secrets.remember_url(text),
        Value::List(nodes) => nodes.iter().for_each(|node| walk(node, secrets)),
        Value::Map(entries) => {
            for (key, node) in entries {
                match key.text.as_str() {
                    "cookies" => each_scalar(node, &mut |text| remember(secrets, text)),
                    "headers" => headers(node, secrets),
                    "basic_auth" => {
                        if let Some(password) = entry(node, "password").and_then(scalar) {
                            remember(secrets, password);
                        }
                    }
                    _ => walk(node, secrets),
                }
            }
        }
    }
}

fn headers(node: &Node, secrets: &mut Secrets) {
    let Value::Map(headers) = &node.value else { return };
    for (name, value) in headers {
        each_scalar(value, &mut |text| secrets.remember_header(&name.text, text));
    }
}

/// A text that is no template: those are no secrets themselves.
fn remember(secrets: &mut Secrets, text: &str) {
    if text.len() >= SHORT && !text.contains("${") {
        secrets.remember(text);
    }
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

//! The plan and the command as a report may show them: without secrets.

use std::fmt::Write as _;

use crate::cli::args::RunArguments;
use crate::net;
use crate::plan::Loaded;
use crate::program::{Program, VariableId};
use crate::report::html::PlanText;
use crate::secrets::{Found, MASK, Secrets, mask, without_telling};

/// A secret of fewer bytes is hidden where it stands, but not in other words that hold the same letters.
const TELLING: usize = 4;

/// The texts of the plan's files.
pub(crate) fn texts(loaded: &Loaded, program: &Program) -> Vec<PlanText> {
    // A comment may tell what a key hides.
    let mut found = Found::default();
    let mut rewrite = |key: &str, text: &str| {
        if program.show_secrets {
            return None;
        }
        let mut fields = Found::default();
        fields.remember_body(text.as_bytes());
        let hidden = if hides(program, key) && !is_reference(text) {
            if text.len() >= TELLING {
                found.remember(text);
            }
            MASK.to_owned()
        } else {
            Secrets::from(fields).mask(&net::shown(text)).into_owned()
        };
        (hidden != text).then_some(hidden)
    };
    let texts = loaded.shown(&mut rewrite);
    let found = Secrets::from(found);
    let masked = |text: String| {
        if program.show_secrets {
            return text;
        }
        without_telling(&mask(&[&found, &program.secrets], &text)).into_owned()
    };
    texts.into_iter().map(|(path, text)| PlanText { path, text: masked(text) }).collect()
}

/// Whether what stands under this key is a secret.
fn hides(program: &Program, key: &str) -> bool {
    net::is_secret(key) || is_variable(program, key)
}

/// Whether this is the name of a secret variable.
fn is_variable(program: &Program, name: &str) -> bool {
    let is_named = |id: &VariableId| program.variable_names[id.0 as usize] == name;
    program.secret_variables.iter().any(is_named)
}

/// Whether a text only says where a value comes from: `${name}`, `${__P(name)}`.
fn is_reference(text: &str) -> bool {
    let Some(inner) = text.strip_prefix("${").and_then(|text| text.strip_suffix('}')) else {
        return false;
    };
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|one| one.is_alphanumeric() || "_.-".contains(one))
    };
    let argument = ["__P(", "__property(", "__env("]
        .iter()
        .find_map(|call| inner.strip_prefix(call)?.strip_suffix(')'));
    is_name(argument.unwrap_or(inner))
}

/// A property's value without secrets: those of the plan, and what the name or a URL tells to be one.
pub(crate) fn property(program: &Program, name: &str, value: &str) -> String {
    if program.show_secrets {
        value.to_owned()
    } else if net::is_secret(name) || is_variable(program, name) {
        MASK.to_owned()
    } else {
        net::shown(&without_telling(&program.secrets.mask(value)))
    }
}

/// The command line that does the same again.
pub(crate) fn command(arguments: &RunArguments, program: &Program) -> String {
    let mut words = vec![arguments.plan.display().to_string()];
    for (name, value) in &arguments.properties {
        words.push("-J".to_owned());
        words.push(format!("{name}={}", property(program, name, value)));
    }
    let paths =
        [("-o", &arguments.output), ("-l", &arguments.jtl), ("--baseline", &arguments.baseline)];
    for (flag, path) in paths {
        if let Some(path) = path {
            words.extend([flag.to_owned(), path.display().to_string()]);
        }
    }
    for (name, value) in &arguments.tolerances.tolerances {
        words.extend(["--tolerance".to_owned(), format!("{name}={value}")]);
    }
    if let Some(limit) = arguments.time_limit {
        words.extend(["--time-limit".to_owned(), format!("{limit:?}")]);
    }
    let flags = [
        ("--serve", arguments.serve),
        ("--show-secrets", arguments.show_secrets),
        ("--force", arguments.force),
    ];
    words.extend(flags.into_iter().filter(|(_, is_set)| *is_set).map(|(flag, _)| flag.to_owned()));
    words.iter().fold("wsmeter run".to_owned(), |mut line, word| {
        // Writing to a text does not fail.
        write!(line, " {}", quoted(word)).ok();
        line
    })
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |one: char| one.is_alphanumeric() || "-_./:=,@%+".contains(one);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_where_a_value_comes_from_is_a_reference() {
        for text in ["${token}", "${__P(token)}", "${__env(API_KEY)}"] {
            assert!(is_reference(text), "{text}");
        }
        for text in
            ["${__P(token, hunter2)}", "${__digest(MD5, hunter2)}", "x${a}", "${a}${b}", "${}"]
        {
            assert!(!is_reference(text), "{text}");
        }
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("plans/a.yaml"), "plans/a.yaml");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("***"), "'***'");
        assert_eq!(quoted(""), "''");
    }
}

//! What the YAML parser says, in words that help.

use crate::diag::{Diagnostic, Severity};
use crate::plan::document::{BadKey, KeyProblem, problem};
use crate::plan::file::Role;
use crate::plan::place::{Span, offset, place};

use std::path::Path as FilePath;

/// Text of a diagnostic: title, label, advice.
type Words = (String, &'static str, Option<String>);

/// The diagnostic for an error of the YAML parser.
pub(super) fn diagnostic(
    file: &FilePath,
    source: &str,
    error: &serde_yaml::Error,
    role: Role,
) -> Diagnostic {
    let message = error.to_string();
    if message.contains(problem::EMPTY) || message.starts_with("EOF while parsing") {
        return nothing(file, role);
    }
    if message.contains("more than one document") {
        return second_document(file, source);
    }
    let start = error
        .location()
        .map_or(0, |mark| offset(source, mark.line(), mark.column()))
        .min(source.len());
    let start = control_character(&message, source)
        .or_else(|| open_quote(&message, source))
        .unwrap_or(start);
    let (title, label, help) = words(&message, source, start);
    let length = source[start..].split(char::is_whitespace).next().map_or(1, str::len);
    let span = if label.is_empty() { Span { start, length: 1 } } else { Span { start, length } };
    Diagnostic {
        severity: Severity::Error,
        title,
        place: error.location().map(|_| place(file, source, span)),
        label: label.to_owned(),
        help,
    }
}

/// The diagnostic for a file with nothing in it.
pub(super) fn nothing(file: &FilePath, role: Role) -> Diagnostic {
    let help = match role {
        Role::Plan => "a plan has at least `thread_groups` with one group and its `steps`",
        Role::Steps => "a file to include is a list of steps, such as `- open: /chat`",
    };
    Diagnostic {
        severity: Severity::Error,
        title: format!("`{}` is empty", file.display()),
        place: None,
        label: String::new(),
        help: Some(help.to_owned()),
    }
}

/// The diagnostic for a key that cannot be there.
pub(crate) fn bad_key(file: &FilePath, source: &str, bad: &BadKey) -> Diagnostic {
    let name = &bad.key.text;
    let (title, help) = match bad.problem {
        KeyProblem::Duplicate => {
            (format!("the key `{name}` is here twice"), "remove one of them".to_owned())
        }
        KeyProblem::Merge => (
            "`<<` does not merge maps here".to_owned(),
            "give settings in common as `defaults` of the plan, a group or a `block`".to_owned(),
        ),
    };
    Diagnostic {
        severity: Severity::Error,
        title,
        place: bad.key.start.map(|start| place(file, source, Span { start, length: name.len() })),
        label: String::new(),
        help: Some(help),
    }
}

fn second_document(file: &FilePath, source: &str) -> Diagnostic {
    // The first `---` may begin the only document that is wanted.
    let mut start = 0;
    let mut content = false;
    let mut found = None;
    for line in source.split_inclusive('\n') {
        if line.starts_with("---") && content {
            found = Some(start);
            break;
        }
        content |= !line.trim().is_empty() && !line.starts_with('#') && !line.starts_with("---");
        start += line.len();
    }
    let title = "a plan is one YAML document, and here a second one begins".to_owned();
    let help = match found {
        Some(_) => "remove the line `---`",
        None => "indent all keys of the plan's top alike",
    };
    Diagnostic {
        severity: Severity::Error,
        title,
        place: found.map(|start| place(file, source, Span { start, length: 3 })),
        label: String::new(),
        help: Some(help.to_owned()),
    }
}

/// Where a quoted text begins that has no end: the end of the file helps nobody.
fn open_quote(message: &str, source: &str) -> Option<usize> {
    let (_, mark) = message.split_once("while scanning a quoted scalar at line ")?;
    let (line, column) = mark.split_once(" column ")?;
    Some(offset(source, line.parse().ok()?, column.parse().ok()?).min(source.len()))
}

/// libyaml gives such a character's position in bytes, and no mark.
fn control_character(message: &str, source: &str) -> Option<usize> {
    if !message.starts_with("control characters are not allowed") {
        return None;
    }
    source.find(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}'))
}

fn words(message: &str, source: &str, start: usize) -> Words {
    let rest = &source[start..];
    let line_start = source[..start].rfind('\n').map_or(0, |end| end + 1);
    let line = source[line_start..].split('\n').next().unwrap_or_default();
    let text = |title: &str, label, help: &str| (title.to_owned(), label, Some(help.to_owned()));
    if message.contains(problem::TAG) {
        return text(
            "a value that begins with `!` is a YAML tag, which plans do not have",
            "",
            "quote the text",
        );
    }
    if message.contains(problem::COMPLEX_KEY) {
        return text("a key must be a single word or text", "", "quote it if it holds `{` or `[`");
    }
    if message.contains(problem::TOO_DEEP) || message.starts_with("recursion limit") {
        return text(
            "the plan nests more than 64 levels deep",
            "",
            "look for an anchor (`&name`) that holds its own alias (`*name`)",
        );
    }
    if message.contains(problem::TOO_LARGE) || message.starts_with("repetition limit") {
        return text(
            "the plan has more than 1,000,000 values or 64 MiB of text once its aliases are replaced",
            "",
            "use fewer aliases (`*name`)",
        );
    }
    if message.starts_with("unknown anchor") {
        return text(
            "a value that begins with `*` is a YAML alias, and there is no such anchor before it",
            "",
            "quote the text",
        );
    }
    if message.starts_with("found character that cannot start any token") {
        return cannot_start(rest);
    }
    // `{ id: ${id} }`: the braces of the variable look like a map of their own.
    if line.contains("${")
        && (message.contains("flow mapping") || message.contains("flow sequence"))
    {
        return text(
            "`${` within `{ … }` or `[ … ]` must be quoted",
            "",
            "write `'${name}'`, or put the value on a line of its own",
        );
    }
    // `{ condition: x in [1, 2] }` and `condition: "a" == x`.
    let value = line.split_once("condition: ").map(|(_, value)| value);
    if value.is_some_and(|value| value.starts_with(['"', '\'']) || rest.starts_with('[')) {
        return text(
            "a condition that begins with quotes, or holds `[` within `{ … }`, must be quoted whole",
            "",
            "write `condition: 'x in [1, \"two\"]'`",
        );
    }
    if message.contains("found a tab character that violates indentation") {
        return text("a tab in the indentation", "", "indent with spaces");
    }
    if message.starts_with("mapping values are not allowed in this context") {
        return colon(line, start - line_start);
    }
    if message.starts_with("control characters are not allowed") {
        return text("a control character", "", "remove it, or write it as an escape: \"\\x07\"");
    }
    syntax(message)
}

fn cannot_start(rest: &str) -> Words {
    match rest.chars().next() {
        Some('\t') => (
            "a tab where indentation is read".to_owned(),
            "",
            Some("indent with spaces".to_owned()),
        ),
        // Tabs after blanks are reported where the line begins.
        _ if rest.trim_start_matches(' ').starts_with('\t') => {
            ("a tab in the indentation".to_owned(), "", Some("indent with spaces".to_owned()))
        }
        first => {
            let first = first.map_or_else(String::new, |c| c.to_string());
            let word = rest.split('\n').next().unwrap_or_default().trim_end();
            (
                format!("a text that begins with `{first}` must be quoted"),
                "",
                Some(if word.contains('\'') || word.chars().count() > 40 {
                    "put it between quotes".to_owned()
                } else {
                    format!("write `'{word}'`")
                }),
            )
        }
    }
}

/// A `: ` where no key can be, at this byte of its line.
fn colon(line: &str, at: usize) -> Words {
    match line.get(..at).and_then(|before| before.split_once(": ")) {
        Some((_, value)) => {
            let value = format!("{value}{}", &line[at..]);
            let value = value.trim();
            let quoted = if value.contains('\'') || value.chars().count() > 40 {
                "quote the value".to_owned()
            } else {
                format!("quote the value, `'{value}'`")
            };
            let help = format!("{quoted}, or put the second key on a line of its own");
            ("a second `: ` on one line".to_owned(), "", Some(help))
        }
        None => (
            "this key is indented further than the one above it, which has a value".to_owned(),
            "",
            Some("indent keys that belong together alike".to_owned()),
        ),
    }
}

/// Everything else the parser says, without its own account of the place.
fn syntax(message: &str) -> Words {
    let (what, context) = message.split_once(", ").unwrap_or((message, ""));
    let what = what.split(" at line ").next().unwrap_or(what);
    let (context, opened) = context.split_once(" at line ").unwrap_or((context, ""));
    let opened = opened.split(' ').next().filter(|line| !line.is_empty());
    let within = if context.is_empty() { String::new() } else { format!(" {context}") };
    let help = if message.contains("flow mapping") || message.contains("flow sequence") {
        let bracket = if message.contains("flow mapping") { '{' } else { '[' };
        match opened {
            Some(line) => {
                format!("close the `{bracket}` of line {line}, or put a comma before this")
            }
            None => format!("close every `{bracket}`, and put commas between the entries"),
        }
    } else if message.contains("quoted scalar") {
        "close the quotes".to_owned()
    } else if message.contains("block mapping") || message.contains("block collection") {
        "look at the indentation of this line and the lines above".to_owned()
    } else {
        "see whether the text must be quoted".to_owned()
    };
    (format!("not valid YAML: {what}{within}"), "", Some(help))
}

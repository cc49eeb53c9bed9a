//! Reading a plan's file.

use std::cell::RefCell;
use std::io::{self, Read};
use std::path::{Path as FilePath, PathBuf};

use crate::diag::{Diagnostic, Place, Severity};
use crate::plan::document::{self, Node, Value};
use crate::plan::error::{At, ShapeError};
use crate::plan::left_out::LeftOut;
use crate::plan::path::Path;
use crate::plan::place::{find, place};
use crate::plan::problem::Problem;
use crate::plan::reader;
use crate::plan::syntax;
use crate::plan::thread_group::Plan;

/// A larger file is refused.
const MAX_BYTES: u64 = 8 << 20;
/// Brackets open at once, counted in the raw text; the parser gets slow long before it gives up.
const MAX_BRACKETS: usize = 10_000;
/// Lists opened in a row on one line, as `- - - `.
const MAX_DASHES: usize = 10_000;
/// Diagnostics that are shown.
const MAX_SHOWN: usize = 20;
/// Problems whose place is looked up.
const MAX_PLACED: usize = 40;

/// A plan with the file it came from.
#[derive(Debug)]
pub struct Loaded {
    /// The file, as the user named it.
    pub path: PathBuf,
    /// The file's text.
    pub source: String,
    /// What it says; without what has the wrong shape, if there are mistakes.
    pub plan: Plan,
    /// What is wrong with its shape: the plan cannot be run, but what is left of it can be looked at.
    pub mistakes: Vec<Diagnostic>,
    root: Node,
    left_out: LeftOut,
}

/// Reads a plan from its file. Fails with what is wrong with the file, and where nothing of the plan
/// is left to look at; else [`compile`](crate::compile) tells what is wrong with its shape.
pub fn load(path: &FilePath) -> Result<Loaded, Vec<Diagnostic>> {
    let source = read_text(path).map_err(|error| vec![*error])?;
    parse(path, source)
}

/// As [`load`], for text that is there already.
pub(crate) fn parse(path: &FilePath, source: String) -> Result<Loaded, Vec<Diagnostic>> {
    if too_deep(&source) {
        let title =
            format!("`{}` opens more than 10,000 lists or maps within each other", path.display());
        return Err(vec![without_place(title, "close every `{` and `[`; is this the right file?")]);
    }
    if source.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(vec![syntax::no_plan(path)]);
    }
    let (root, bad_keys) =
        document::read(&source).map_err(|error| vec![syntax::diagnostic(path, &source, &error)])?;
    top_is_a_map(path, &source, &root)?;
    let problems = RefCell::new(Vec::new());
    let plan = reader::read(&root, &problems);
    let keys = bad_keys.iter().map(|bad| syntax::bad_key(path, &source, bad));
    let mut diagnostics: Vec<Diagnostic> = keys.collect();
    let (noted, problems): (Vec<_>, Vec<_>) =
        problems.into_inner().into_iter().partition(ShapeError::is_noted);
    let left_out = LeftOut::new(noted.into_iter().filter_map(|error| error.path));
    let shapes = problems.into_iter().map(into_problem).collect();
    diagnostics.extend(placed(path, &source, &root, shapes));
    hide_secrets(&mut diagnostics, &root);
    match plan {
        Some(plan) => {
            let path = path.to_owned();
            Ok(Loaded { path, source, plan, mistakes: diagnostics, root, left_out })
        }
        None => Err(in_order(diagnostics)),
    }
}

impl Loaded {
    /// The mistakes and further problems as diagnostics with their places, in the order of the file, at most 20 of them and a
    /// word on how many more there are.
    pub fn diagnostics(&self, mut problems: Vec<Problem>) -> Vec<Diagnostic> {
        let mut diagnostics = self.mistakes.clone();
        for problem in &mut problems {
            problem.path = self.left_out.in_file(&problem.path);
        }
        diagnostics.extend(placed(&self.path, &self.source, &self.root, problems));
        in_order(diagnostics)
    }
}

/// Hides the secrets that stand in the plan itself. Where more is known of it, `compile` does this.
fn hide_secrets(diagnostics: &mut [Diagnostic], root: &Node) {
    let named: Vec<&str> = match entry(root, "secrets").map(|names| &names.value) {
        Some(Value::Scalar { text, .. }) => vec![text],
        Some(Value::List(names)) => names.iter().filter_map(scalar).collect(),
        _ => return,
    };
    let values = named.iter().filter_map(|name| scalar(entry(entry(root, "variables")?, name)?));
    for value in values.filter(|value| !value.is_empty()) {
        for diagnostic in &mut *diagnostics {
            diagnostic.rewrite(|text| text.replace(value, "***"));
        }
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

fn into_problem(error: ShapeError) -> Problem {
    Problem {
        severity: Severity::Error,
        path: error.path.unwrap_or_else(Path::root),
        at: error.at,
        title: error.title,
        label: error.label,
        help: error.help,
    }
}

fn placed(file: &FilePath, source: &str, root: &Node, problems: Vec<Problem>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for (index, problem) in problems.into_iter().enumerate() {
        let place = (index < MAX_PLACED)
            .then(|| place(file, source, find(source, root, &problem.path, problem.at)));
        if problem.at == At::Block && !place.as_ref().is_some_and(is_block_text) {
            continue;
        }
        let help = match &place {
            Some(place) if problem.title.ends_with("has no value") => {
                Some(hidden_value(&place.text).to_owned())
            }
            _ => problem.help,
        };
        diagnostics.push(Diagnostic {
            severity: problem.severity,
            title: problem.title,
            place,
            label: problem.label,
            help,
        });
    }
    diagnostics
}

/// Whether the value at the place is written as a block, line by line below its key.
fn is_block_text(place: &Place) -> bool {
    place.text.chars().nth(place.column - 1).is_some_and(|c| matches!(c, '|' | '>'))
}

/// Why YAML may have seen no value on a line that has one.
fn hidden_value(line: &str) -> &'static str {
    match line.split_once(": ").map(|(_, value)| value.trim_start()) {
        Some(value) if value.starts_with('#') => {
            "`#` after a blank begins a comment; quote the text"
        }
        Some(value) if value.starts_with('&') => "`&` begins a YAML anchor; quote the text",
        _ => "give a value or remove the key; the empty text is `\"\"`",
    }
}

/// Sorted by place; what is not placed was found late and is only counted.
fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(|diagnostic| {
        let place = diagnostic.place.as_ref();
        (place.is_none(), place.map(|place| (place.line, place.column)))
    });
    // A mistake behind an anchor is met at each of its aliases.
    diagnostics.dedup_by(|later, earlier| later.place.is_some() && later == earlier);
    let more = diagnostics.len().saturating_sub(MAX_SHOWN);
    if more > 0 {
        diagnostics.truncate(MAX_SHOWN);
        let severity = diagnostics[0].severity;
        let title = format!("{more} more of these are not shown");
        diagnostics.push(Diagnostic {
            severity,
            title,
            place: None,
            label: String::new(),
            help: None,
        });
    }
    diagnostics
}

fn without_place(title: String, help: &str) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        title,
        place: None,
        label: String::new(),
        help: Some(help.to_owned()),
    }
}

fn read_text(path: &FilePath) -> Result<String, Box<Diagnostic>> {
    let name = path.display();
    let failed = |error: &io::Error| {
        Box::new(match error.kind() {
            io::ErrorKind::NotFound => {
                without_place(format!("there is no file `{name}`"), "check the path of the plan")
            }
            io::ErrorKind::IsADirectory => is_a_directory(path),
            _ => {
                let reason = plain_reason(error);
                let title = format!("failed to read `{name}`: {reason}");
                without_place(title, "check its permissions")
            }
        })
    };
    let file = fs_err::File::open(path).map_err(|error| failed(&error))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(Box::new(is_a_directory(path)));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Box::new(without_place(
            format!("`{name}` is larger than 8 MiB"),
            "a plan is a text of some kilobytes; is this the right file?",
        )));
    }
    String::from_utf8(bytes).map_err(|error| Box::new(not_utf8(path, &error)))
}

/// The system's words without the path, which the title has already.
fn plain_reason(error: &io::Error) -> String {
    if let Some(code) = error.raw_os_error() {
        return io::Error::from_raw_os_error(code).to_string();
    }
    // The error of fs_err has the system's as its source.
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

fn is_a_directory(path: &FilePath) -> Diagnostic {
    without_place(format!("`{}` is a directory", path.display()), "name the plan's file")
}

fn not_utf8(path: &FilePath, error: &std::string::FromUtf8Error) -> Diagnostic {
    let bytes = error.as_bytes();
    let start = error.utf8_error().valid_up_to();
    let text = String::from_utf8_lossy(bytes);
    let help = if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        "this is UTF-16; save the file as UTF-8"
    } else {
        "save the file as UTF-8"
    };
    // Up to here the lossy text is the same, byte by byte.
    let span = crate::plan::place::Span { start, length: 1 };
    Diagnostic {
        severity: Severity::Error,
        title: format!("`{}` is not UTF-8 text", path.display()),
        place: Some(place(path, &text, span)),
        label: format!("byte 0x{:02x}", bytes.get(start).copied().unwrap_or_default()),
        help: Some(help.to_owned()),
    }
}

fn too_deep(source: &str) -> bool {
    let mut open = 0_usize;
    for byte in source.bytes() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open > MAX_BRACKETS {
            return true;
        }
    }
    source.contains(&"- ".repeat(MAX_DASHES)) || source.contains(&"? ".repeat(MAX_DASHES))
}

fn top_is_a_map(path: &FilePath, source: &str, root: &Node) -> Result<(), Vec<Diagnostic>> {
    let found = match &root.value {
        Value::Map(_) => return Ok(()),
        Value::List(_) => "a list",
        Value::Scalar { text, .. } if text.is_empty() => return Err(vec![syntax::no_plan(path)]),
        Value::Scalar { .. } => "a single text",
    };
    let error = Problem::error(&Path::root(), format!("a plan is keys with values, not {found}"))
        .help("begin with `thread_groups:`");
    Err(placed(path, source, root, vec![error]))
}

//! `send_file`: a payload that is read from a file, once, before the run.

use std::io::{self, Read};

use crate::compile::compiler::{Compiler, When};
use crate::plan::{At, Path, Problem, SendFile, TextOr};
use crate::program::{BadValue, FromText, Payload};

/// A larger file is refused: each thread that sends it needs room for the whole frame.
const MAX_BYTES: u64 = 64 << 20;

/// Where paths begin.
const RELATIVE: &str = "the path begins in the folder of the file in which it stands";

/// What the file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileType {
    Text,
    Binary,
}

impl FromText for FileType {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        match text {
            "text" => Ok(Self::Text),
            "binary" => Ok(Self::Binary),
            _ => Err(BadValue::new(format!("`{text}` is none of `text`, `binary`"))),
        }
    }
}

/// Why a file cannot be sent: what is wrong, and how to mend it.
type Refusal = (String, &'static str);

impl Compiler<'_> {
    /// The payload that the setting at `path` names.
    pub(super) fn send_file(&mut self, file: &TextOr<SendFile>, path: &Path) -> Option<Payload> {
        let settings = match file {
            TextOr::Text(name) => {
                let name = self.fixed_text(name, path)?;
                return self.file(&name, path, FileType::Text, false);
            }
            TextOr::Settings(settings) => settings,
        };
        let kind = match &settings.kind {
            Some(kind) => self.fixed(kind, &path.key("type")),
            None => Some(FileType::Text),
        };
        let template = match &settings.template {
            Some(template) => self.fixed(template, &path.key("template")),
            None => Some(false),
        };
        let Some(name) = &settings.path else {
            let problem = Problem::error(path, "`send_file` has no `path`").at(At::Key);
            self.note(problem.help("name the file: `path: message.json`"));
            return None;
        };
        let at = path.key("path");
        let name = self.fixed_text(name, &at)?;
        let (kind, template) = (kind?, template?);
        if template && kind == FileType::Binary {
            let title = "`template` is for a file with text";
            let problem = Problem::error(&path.key("template"), title).at(At::Key);
            self.note(problem.help("leave out `type: binary`, or `template`"));
            return None;
        }
        self.file(&name, &at, kind, template)
    }

    fn file(&mut self, name: &str, path: &Path, kind: FileType, template: bool) -> Option<Payload> {
        let bytes = match read(&self.loaded.folder(path).join(name), name) {
            Ok(bytes) => bytes,
            Err((title, help)) => {
                self.note(Problem::error(path, title).help(help));
                return None;
            }
        };
        self.secrets.remember_body(&bytes);
        if kind == FileType::Binary {
            return Some(Payload::FixedBinary(bytes));
        }
        let Ok(text) = String::from_utf8(bytes) else {
            let title = format!("`{name}` is not UTF-8 text");
            let help = format!("write `send_file: {{ path: {name}, type: binary }}`");
            self.note(Problem::error(path, title).help(help));
            return None;
        };
        if !template {
            return Some(Payload::FixedText(text));
        }
        let before = self.problems.len();
        self.in_a_file = true;
        let compiled = self.template(&text, path, When::InTheRun);
        self.in_a_file = false;
        for problem in &mut self.problems[before..] {
            "in this file".clone_into(&mut problem.label);
        }
        let mut compiled = compiled?;
        if let Some(text) = compiled.as_constant() {
            return Some(Payload::FixedText(text.to_owned()));
        }
        // Where errors would show the text, they name the file: it may be long.
        compiled.source = format!("the file {name}");
        Some(Payload::Text(compiled))
    }
}

/// How large a file may be, and what is said of a larger one.
pub(super) struct Limit {
    pub(super) bytes: u64,
    pub(super) title: &'static str,
    pub(super) help: &'static str,
}

/// Reads a file that is sent at once; `name` is what the plan calls it.
pub(super) fn read(file: &std::path::Path, name: &str) -> Result<Vec<u8>, Refusal> {
    let help = "a message of this size is not sent at once; take a smaller file";
    read_at_most(file, name, &Limit { bytes: MAX_BYTES, title: "is larger than 64 MiB", help })
}

/// Reads a file; `name` is what the plan calls it.
pub(super) fn read_at_most(
    file: &std::path::Path,
    name: &str,
    limit: &Limit,
) -> Result<Vec<u8>, Refusal> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => (format!("there is no file `{name}`"), RELATIVE),
        io::ErrorKind::PermissionDenied => {
            (format!("`{name}` may not be read"), "check its permissions")
        }
        _ => (format!("failed to read `{name}`: {error}"), "check the path and the disk"),
    };
    if name.is_empty() {
        return Err(("the path is empty".to_owned(), RELATIVE));
    }
    let metadata = fs_err::metadata(file).map_err(failed)?;
    if metadata.is_dir() {
        return Err((format!("`{name}` is a directory"), "name a file in it"));
    }
    // A pipe or a device may never end.
    if !metadata.is_file() {
        return Err((format!("`{name}` is no ordinary file"), "copy what it gives into a file"));
    }
    let mut bytes = Vec::new();
    let opened = fs_err::File::open(file).map_err(failed)?;
    opened.take(limit.bytes + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit.bytes {
        return Err((format!("`{name}` {}", limit.title), limit.help));
    }
    Ok(bytes)
}

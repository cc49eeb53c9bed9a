//! Reading one YAML file, a plan or one that a plan includes: from disk to a tree, with what is wrong
//! with the file as such.

use std::cell::RefCell;
use std::io::{self, Read};
use std::path::{Path as FilePath, PathBuf};

use crate::diag::{Diagnostic, Place, Severity};
use crate::plan::document::{self, BadKey, Node, Value};
use crate::plan::error::{At, ShapeError};
use crate::plan::left_out::LeftOut;
use crate::plan::path::{Path, Segment};
use crate::plan::place::{Span, find, place};
use crate::plan::problem::Problem;
use crate::plan::secret_texts::hidden;
use crate::plan::syntax;

/// A larger file is refused.
const MAX_BYTES: u64 = 8 << 20;
/// Brackets open at once, counted in the raw text; the parser gets slow long before it gives up.
const MAX_BRACKETS: usize = 10_000;
/// Lists opened in a row on one line, as `- - - `.
const MAX_DASHES: usize = 10_000;

/// What a file is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A whole plan.
    Plan,
    /// Steps that a plan includes.
    Steps,
}

impl Role {
    /// Advice for a file that is not there.
    fn missing(self) -> &'static str {
        match self {
            Self::Plan => "check the path of the plan",
            Self::Steps => "the path begins in the folder of the file that includes it",
        }
    }
}

/// A file that is YAML.
#[derive(Debug)]
pub(super) struct File {
    /// As the user named it, or as the names in the including files lead to it.
    pub(super) path: PathBuf,
    pub(super) source: String,
    pub(super) root: Node,
    bad_keys: Vec<BadKey>,
    left_out: LeftOut,
}

impl File {
    /// Reads and parses it. A diagnostic without a place is about the file as a whole.
    pub(super) fn read(path: &FilePath, role: Role) -> Result<Self, Box<Diagnostic>> {
        let source = read_text(path, role)?;
        Self::parse(path, source, role)
    }

    /// As [`Self::read`], for text that is there already.
    pub(super) fn parse(
        path: &FilePath,
        source: String,
        role: Role,
    ) -> Result<Self, Box<Diagnostic>> {
        if too_deep(&source) {
            let title = format!(
                "`{}` opens more than 10,000 lists or maps within each other",
                path.display()
            );
            let help = "close every `{` and `[`; is this the right file?";
            return Err(Box::new(without_place(title, help)));
        }
        if source.trim_start_matches('\u{feff}').trim().is_empty() {
            return Err(Box::new(syntax::nothing(path, role)));
        }
        let (root, bad_keys) = document::read(&source).map_err(|error| {
            let diagnostic = syntax::diagnostic(path, &source, &error, role);
            Box::new(hidden(diagnostic, &source))
        })?;
        let left_out = LeftOut::default();
        Ok(Self { path: path.to_owned(), source, root, bad_keys, left_out })
    }

    /// Stands for a file of which nothing can be read.
    pub(super) fn empty(path: PathBuf) -> Self {
        let value = Value::List(Vec::new());
        let root = Node { start: None, value };
        let left_out = LeftOut::default();
        Self { path, source: String::new(), root, bad_keys: Vec::new(), left_out }
    }

    /// Reads its shape with `read`, and gives what is wrong with that, and the keys that their maps
    /// cannot have. The elements that lists go on without are kept in mind for [`Self::place`].
    pub(super) fn shape<T>(
        &mut self,
        read: impl FnOnce(&Node, &RefCell<Vec<ShapeError>>) -> T,
    ) -> (T, Vec<Diagnostic>, Vec<Problem>) {
        let problems = RefCell::new(Vec::new());
        let value = read(&self.root, &problems);
        let bad_keys = std::mem::take(&mut self.bad_keys);
        let keys = bad_keys.iter().map(|bad| syntax::bad_key(&self.path, &self.source, bad));
        let (noted, problems): (Vec<_>, Vec<_>) =
            problems.into_inner().into_iter().partition(ShapeError::is_noted);
        self.left_out = LeftOut::new(noted.into_iter().filter_map(|error| error.path));
        (value, keys.collect(), problems.into_iter().map(into_problem).collect())
    }

    /// The place of the value to which these segments of a path lead: as they are in the file, or, with
    /// `as_read`, in what was read of it.
    pub(super) fn place(&self, segments: &[&Segment], at: At, as_read: bool) -> Place {
        let segments = if as_read {
            self.left_out.in_file(segments)
        } else {
            segments.iter().map(|segment| (*segment).clone()).collect()
        };
        place(&self.path, &self.source, find(&self.source, &self.root, &segments, at))
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

fn without_place(title: String, help: &str) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        title,
        place: None,
        label: String::new(),
        help: Some(help.to_owned()),
    }
}

fn read_text(path: &FilePath, role: Role) -> Result<String, Box<Diagnostic>> {
    let name = path.display();
    let failed = |error: &io::Error| {
        Box::new(match error.kind() {
            io::ErrorKind::NotFound => {
                without_place(format!("there is no file `{name}`"), role.missing())
            }
            io::ErrorKind::IsADirectory => is_a_directory(path, role),
            _ => {
                let reason = plain_reason(error);
                let title = format!("failed to read `{name}`: {reason}");
                without_place(title, "check its permissions")
            }
        })
    };
    // A pipe may never end, nor begin; a plan may come out of one, from `<(…)`.
    if role == Role::Steps && !fs_err::metadata(path).map_err(|error| failed(&error))?.is_file() {
        return Err(Box::new(if path.is_dir() {
            is_a_directory(path, role)
        } else {
            let title = format!("`{name}` is no ordinary file");
            without_place(title, "copy what it gives into a file")
        }));
    }
    let file = fs_err::File::open(path).map_err(|error| failed(&error))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(Box::new(is_a_directory(path, role)));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Box::new(without_place(
            format!("`{name}` is larger than 8 MiB"),
            "a text of some kilobytes is meant; is this the right file?",
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

fn is_a_directory(path: &FilePath, role: Role) -> Diagnostic {
    let help = match role {
        Role::Plan => "name the plan's file",
        Role::Steps => "name a file with steps",
    };
    without_place(format!("`{}` is a directory", path.display()), help)
}

fn not_utf8(path: &FilePath, error: &std::string::FromUtf8Error) -> Diagnostic {
    let bytes = error.as_bytes();
    let start = error.utf8_error().valid_up_to();
    let text = String::from_utf8_lossy(bytes);
    let help = if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        "this is UTF-16; save the file as UTF-8"
    } else if bytes.contains(&0) {
        "this is no text at all; is it the right file?"
    } else {
        "save the file as UTF-8"
    };
    // Up to here the lossy text is the same, byte by byte.
    let span = Span { start, length: 1 };
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

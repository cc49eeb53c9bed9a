//! Why results cannot be read at all, and what is odd about those that can.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Results that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file system said no; the text names the path.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is there, and it is not what it should be.
    #[error("{}: {what}", place(path, *line))]
    Wrong {
        /// The file or folder.
        path: PathBuf,
        /// From 1; `None` where the file as a whole is meant.
        line: Option<u64>,
        /// What is wrong.
        what: String,
        /// How to mend it.
        help: Option<String>,
    },
}

impl ReadError {
    /// How to mend it.
    pub fn help(&self) -> Option<&str> {
        match self {
            Self::Wrong { help, .. } => help.as_deref(),
            Self::Io(_) => None,
        }
    }

    pub(super) fn wrong(path: &Path, line: Option<u64>, what: impl Into<String>) -> Self {
        Self::Wrong { path: path.to_owned(), line, what: what.into(), help: None }
    }

    pub(super) fn advise(self, advice: impl Into<String>) -> Self {
        match self {
            Self::Wrong { path, line, what, .. } => {
                Self::Wrong { path, line, what, help: Some(advice.into()) }
            }
            other @ Self::Io(_) => other,
        }
    }
}

/// `samples.jtl:7`, or without a line.
fn place(path: &Path, line: Option<u64>) -> String {
    match line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    }
}

/// Something odd about results that were read all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Oddity {
    /// The file or folder.
    pub path: PathBuf,
    /// From 1; `None` where the file as a whole is meant.
    pub line: Option<u64>,
    /// What is odd, and what was made of it.
    pub what: String,
}

impl Oddity {
    pub(super) fn new(path: &Path, line: Option<u64>, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", place(&self.path, self.line), self.what)
    }
}

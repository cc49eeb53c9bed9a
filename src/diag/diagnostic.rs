//! One diagnostic.

use std::path::PathBuf;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The plan cannot be run.
    Error,
    /// The plan can be run; this is advice.
    Warning,
}

/// Where in a file it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, as the user named it.
    pub file: PathBuf,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// How many characters to underline, at least 1.
    pub length: usize,
    /// The whole line, without its end.
    pub text: String,
}

/// One thing to tell the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong and with which value; lower case, no full stop, backticks round names.
    pub title: String,
    /// Where; `None` where the file as a whole or no file is meant.
    pub place: Option<Place>,
    /// What stands under the caret; may be empty.
    pub label: String,
    /// How to mend it.
    pub help: Option<String>,
}

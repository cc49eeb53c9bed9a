//! A mistake in a plan, named by path; it becomes a diagnostic when its place is looked up.

use crate::diag::Severity;
use crate::plan::error::At;
use crate::plan::path::Path;

/// Something to tell about one value of a plan.
#[derive(Debug)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Which value.
    pub path: Path,
    /// Which part of it.
    pub at: At,
    /// What is wrong and with which value; lower case, no full stop.
    pub title: String,
    /// What stands under the caret; may be empty.
    pub label: String,
    /// How to mend it.
    pub help: Option<String>,
}

impl Problem {
    /// An error about the value at `path`.
    pub fn error(path: &Path, title: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            path: path.clone(),
            at: At::Value,
            title: title.into(),
            label: String::new(),
            help: None,
        }
    }

    /// Points at another part of the value.
    #[must_use]
    pub fn at(mut self, at: At) -> Self {
        self.at = at;
        self
    }

    /// Adds what stands under the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

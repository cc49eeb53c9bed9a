//! What can be wrong with the shape of a plan, before its place is looked up.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use crate::plan::path::Path;

/// Which part of an entry an error points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// The key.
    Key,
    /// The value; its key where the value is a map or a list.
    Value,
    /// The value, and only if it is a block text (`|` or `>`): there is nothing to tell otherwise.
    Block,
    /// A part of a single value.
    Within {
        /// Byte offset in the value's text.
        start: usize,
        /// Bytes to underline.
        length: usize,
    },
}

/// A value that does not have the shape its key wants.
#[derive(Debug)]
pub(crate) struct ShapeError {
    /// `None` until a reader notes it.
    pub(crate) path: Option<Path>,
    pub(crate) at: At,
    pub(crate) title: String,
    pub(crate) label: String,
    pub(crate) help: Option<String>,
}

impl ShapeError {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self { path: None, at: At::Value, title: title.into(), label: String::new(), help: None }
    }

    /// Stands for an error that is among the problems already, on the way out of serde.
    pub(crate) fn noted() -> Self {
        Self::new("")
    }

    /// Stands for an element that its list goes on without, because it is wrong.
    pub(crate) fn left_out(path: &Path) -> Self {
        Self::noted().at(path, At::Value)
    }

    pub(crate) fn is_noted(&self) -> bool {
        self.title.is_empty()
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn at(mut self, path: &Path, at: At) -> Self {
        if self.path.is_none() {
            self.path = Some(path.clone());
            self.at = at;
        }
        self
    }
}

impl std::error::Error for ShapeError {}

impl fmt::Display for ShapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)
    }
}

impl de::Error for ShapeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Map => "settings (`key: value`)",
            Unexpected::Seq => "a list",
            _ => "a single value",
        };
        Self::new(format!("expected {expected}, found {found}"))
    }

    fn missing_field(name: &'static str) -> Self {
        Self::new(format!("`{name}` is missing"))
    }
}

//! Data sets, as written.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::setting::{Flag, List, Setting, Text, Word, given};

/// A CSV file (RFC 4180) of which each iteration of a thread gets a line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataSet {
    /// The file, relative to the plan; UTF-8.
    #[serde(default, deserialize_with = "given")]
    pub file: Option<Setting<Text>>,
    /// The variables of its columns; without these the first line names them.
    #[serde(default, deserialize_with = "given")]
    pub variables: Option<List<Setting<Text>>>,
    /// What stands between two fields: one character, or `tab`.
    #[serde(default, deserialize_with = "given")]
    pub delimiter: Option<Setting<Text>>,
    /// Whether it begins again behind its last line; else a thread ends that finds no more.
    #[serde(default, deserialize_with = "given")]
    pub recycle: Option<Setting<Flag>>,
    /// Who takes from the same lines: `all` threads, those of a `group`, or each `thread` by itself.
    #[serde(default, deserialize_with = "given")]
    pub share: Option<Setting<Word>>,
}

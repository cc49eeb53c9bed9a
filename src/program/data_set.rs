//! Data sets: a file in memory, and where its lines begin.

use crate::program::VariableId;

/// A CSV file that was read and checked.
#[derive(Debug)]
pub struct DataSet {
    /// What the plan calls it.
    pub name: String,
    /// The whole file.
    pub bytes: Vec<u8>,
    /// Where each line with data begins and ends: one number each, so that a million lines cost
    /// eight million bytes beside the file and no allocation of their own.
    pub rows: Vec<Row>,
    /// What stands between two fields.
    pub delimiter: u8,
    /// The variables of the columns, in their order.
    pub variables: Vec<VariableId>,
    /// Whether the first line follows the last one.
    pub recycle: bool,
    /// Who takes from the same lines.
    pub share: Share,
}

/// A line: where it begins in the file, and its length, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// From the file's start.
    pub start: u32,
    /// With its line break.
    pub length: u32,
}

/// Who takes from the same lines; each is handed out once, in the order of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// All threads.
    All,
    /// The threads of a group.
    Group,
    /// A thread by itself.
    Thread,
}

impl DataSet {
    /// The fields of the `nth` line from 0; `None` behind the last one.
    pub fn fields(&self, nth: u64) -> Option<csv::StringRecord> {
        let count = self.rows.len() as u64;
        let nth = if self.recycle { nth.checked_rem(count)? } else { nth };
        let row = self.rows.get(usize::try_from(nth).ok()?)?;
        let (start, length) = (row.start as usize, row.length as usize);
        let line = self.bytes.get(start..start + length)?;
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .delimiter(self.delimiter)
            .buffer_capacity(length.max(1))
            .from_reader(line);
        // It was read so when the plan was checked.
        reader.records().next()?.ok()
    }
}

//! Joins JTLs into one, without loss and row by row.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};
use std::path::Path;

use crate::results::columns::{Column, Layout};
use crate::results::input::Jtl;
use crate::results::row::Row;
use crate::results::{Oddity, ReadError, Source};

/// What came of merging.
#[derive(Debug)]
pub struct Merged {
    /// Rows that were written.
    pub rows: u64,
    /// What was odd about the files.
    pub oddities: Vec<Oddity>,
}

/// Why JTLs were not merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// One of them cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// What they come to cannot be written.
    #[error("failed to write the rows")]
    Write(#[source] io::Error),
}

/// Writes the rows of all files to `out`, with the columns of all of them: JMeter's in its order, then
/// sample variables. Each file's rows stay in their order; among files the row with the earliest time stamp
/// comes first, so that files in order of time become one in order of time. What a file has no column for is
/// 0, empty or `null`, as JMeter would write it.
///
/// Rows that make no sense are left out and told.
pub fn merge(sources: &[Source], out: &mut dyn Write) -> Result<Merged, MergeError> {
    let mut files = Vec::new();
    for source in sources {
        files.push(File { jtl: Jtl::open(&source.jtl)?, good: 0, time_ms: 0, success: true });
    }
    let columns = Columns::of_all(files.iter().map(|file| &file.jtl.layout));
    let mut line = columns.header();
    let mut heads = BinaryHeap::new();
    for (number, file) in files.iter_mut().enumerate() {
        if file.advance()? {
            heads.push(Reverse((file.time_ms, number)));
        }
    }
    let mut rows = 0;
    out.write_all(&line).map_err(MergeError::Write)?;
    while let Some(Reverse((_, number))) = heads.pop() {
        let file = &mut files[number];
        line.clear();
        columns.row(file, &mut line);
        out.write_all(&line).map_err(MergeError::Write)?;
        rows += 1;
        if file.advance()? {
            heads.push(Reverse((file.time_ms, number)));
        }
    }
    out.flush().map_err(MergeError::Write)?;
    let mut oddities = Vec::new();
    for File { mut jtl, good, .. } in files {
        if good == 0 {
            jtl.note(None, "there is no row");
        }
        oddities.extend(jtl.finish(good)?);
    }
    Ok(Merged { rows, oddities })
}

struct File {
    jtl: Jtl,
    good: u64,
    /// Of the current row.
    time_ms: u64,
    /// Of the current row, by its code where no column says so.
    success: bool,
}

impl File {
    /// Goes on to the next row that makes sense.
    fn advance(&mut self) -> Result<bool, ReadError> {
        while self.jtl.advance()? {
            let why = match Row::of(&self.jtl.record(), &self.jtl.layout) {
                Ok(row) => {
                    (self.time_ms, self.success) = (row.time_ms, row.success);
                    self.good += 1;
                    return Ok(true);
                }
                Err(why) => why,
            };
            self.jtl.leave_out_current(why);
        }
        Ok(false)
    }
}

/// The columns of the merged file.
struct Columns {
    known: Vec<Column>,
    variables: Vec<String>,
}

impl Columns {
    fn of_all<'a>(layouts: impl Iterator<Item = &'a Layout>) -> Self {
        let (mut has, mut variables) = (vec![false; Column::ALL.len()], Vec::new());
        for layout in layouts {
            for column in Column::ALL {
                has[*column as usize] |= layout.place(*column).is_some();
            }
            for (name, _) in &layout.variables {
                if !variables.contains(name) {
                    variables.push(name.clone());
                }
            }
        }
        let known = Column::ALL.iter().copied().filter(|column| has[*column as usize]).collect();
        Self { known, variables }
    }

    fn header(&self) -> Vec<u8> {
        let mut line = Vec::new();
        for column in &self.known {
            line.extend_from_slice(column.name().as_bytes());
            line.push(b',');
        }
        for name in &self.variables {
            // Always in quotes, which is how JMeter's readers tell variables.
            line.push(b'"');
            line.extend_from_slice(name.replace('"', "\"\"").as_bytes());
            line.extend_from_slice(b"\",");
        }
        end(line)
    }

    fn row(&self, file: &File, line: &mut Vec<u8>) {
        let (record, layout) = (file.jtl.record(), &file.jtl.layout);
        for column in &self.known {
            match layout.place(*column) {
                Some(place) => write_field(line, record.bytes(place)),
                None => write_field(line, absent(*column, file.success)),
            }
        }
        for name in &self.variables {
            let found = layout.variables.iter().find(|(known, _)| known == name);
            write_field(line, found.map_or(b"null", |(_, place)| record.bytes(*place)));
        }
        *line = end(std::mem::take(line));
    }
}

/// What JMeter's readers take where there is nothing.
fn absent(column: Column, success: bool) -> &'static [u8] {
    match column {
        Column::Url => b"null",
        Column::Success => {
            if success {
                b"true"
            } else {
                b"false"
            }
        }
        Column::SampleCount => b"1",
        Column::ErrorCount if !success => b"1",
        column if column.is_number() => b"0",
        _ => b"",
    }
}

/// A field with a comma behind it, in quotes where it needs them.
fn write_field(line: &mut Vec<u8>, field: &[u8]) {
    if memchr::memchr3(b',', b'"', b'\n', field).is_none() && !field.contains(&b'\r') {
        line.extend_from_slice(field);
    } else {
        line.push(b'"');
        for byte in field {
            if *byte == b'"' {
                line.push(b'"');
            }
            line.push(*byte);
        }
        line.push(b'"');
    }
    line.push(b',');
}

/// A line break in place of the last comma.
fn end(mut line: Vec<u8>) -> Vec<u8> {
    line.pop();
    line.push(b'\n');
    line
}

/// Whether a file is one of those that are merged.
pub fn is_a_source(path: &Path, sources: &[Source]) -> bool {
    let real = fs_err::canonicalize(path).ok();
    real.is_some_and(|real| {
        sources.iter().any(|source| fs_err::canonicalize(&source.jtl).is_ok_and(|jtl| jtl == real))
    })
}

//! One row of a JTL, as far as figures need it.

use std::borrow::Cow;

use crate::results::columns::{Column, Layout};
use crate::results::records::Record;
use crate::results::time_stamp::{count, milliseconds, time_stamp};

/// How JMeter, and we, mark a row that sums up others.
const TRANSACTION: &str = "Number of samples in transaction : ";

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row<'a> {
    /// Its start, in milliseconds since 1970.
    pub(super) time_ms: u64,
    /// In nanoseconds, as `latency` and the other times.
    pub(super) elapsed: u64,
    pub(super) latency: u64,
    pub(super) idle: u64,
    pub(super) connect: u64,
    pub(super) label: Cow<'a, str>,
    pub(super) code: Cow<'a, str>,
    pub(super) message: Cow<'a, str>,
    pub(super) thread: Cow<'a, str>,
    pub(super) data_type: &'a [u8],
    pub(super) success: bool,
    pub(super) failure_message: Cow<'a, str>,
    pub(super) bytes: u64,
    pub(super) sent_bytes: u64,
    pub(super) group_threads: u32,
    pub(super) all_threads: u32,
    pub(super) url: Cow<'a, str>,
}

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Sample,
    /// It sums up other rows.
    Transaction,
    /// It would sum up others, and there are none.
    EmptyTransaction,
}

impl<'a> Row<'a> {
    /// Reads a record; the error says what is wrong with it.
    pub(super) fn of(record: &Record<'a>, layout: &Layout) -> Result<Self, String> {
        if record.len() != layout.fields {
            return Err(miscounted(record, layout));
        }
        let bytes = |column| layout.place(column).map_or(&b""[..], |place| record.bytes(place));
        let text = |column| String::from_utf8_lossy(bytes(column));
        let wrong =
            |column: Column| format!("`{}` is no `{}`", shortened(&text(column)), column.name());
        let field = bytes(Column::TimeStamp);
        let time_ms = time_stamp(field).ok_or_else(|| wrong(Column::TimeStamp))?;
        let elapsed = milliseconds(bytes(Column::Elapsed)).ok_or_else(|| wrong(Column::Elapsed))?;
        let time = |column| milliseconds(bytes(column)).unwrap_or(0);
        let threads = |column| u32::try_from(count(bytes(column))).unwrap_or(u32::MAX);
        let success = match layout.place(Column::Success) {
            Some(place) => record.bytes(place).trim_ascii().eq_ignore_ascii_case(b"true"),
            None => is_success(&text(Column::ResponseCode)),
        };
        Ok(Self {
            time_ms,
            elapsed,
            latency: time(Column::Latency),
            idle: time(Column::IdleTime),
            connect: time(Column::Connect),
            label: text(Column::Label),
            code: text(Column::ResponseCode),
            message: text(Column::ResponseMessage),
            thread: text(Column::ThreadName),
            data_type: bytes(Column::DataType),
            success,
            failure_message: text(Column::FailureMessage),
            bytes: count(bytes(Column::Bytes)),
            sent_bytes: count(bytes(Column::SentBytes)),
            group_threads: threads(Column::GroupThreads),
            all_threads: threads(Column::AllThreads),
            url: text(Column::Url),
        })
    }

    /// What it is, by its message: nothing else tells.
    pub(super) fn kind(&self) -> Kind {
        match self.message.strip_prefix(TRANSACTION) {
            None => Kind::Sample,
            Some(rest) if rest.starts_with("0,") => Kind::EmptyTransaction,
            Some(_) => Kind::Transaction,
        }
    }

    /// Its end, in milliseconds since 1970.
    pub(super) fn end_ms(&self) -> u64 {
        self.time_ms.saturating_add((self.elapsed + self.idle) / 1_000_000)
    }
}

/// Where no column says so: an HTTP status below 400, as JMeter's HTTP samplers have it.
fn is_success(code: &str) -> bool {
    code.is_empty() || code.parse().is_ok_and(|code: u16| (100..400).contains(&code))
}

fn miscounted(record: &Record<'_>, layout: &Layout) -> String {
    let (found, wanted) = (record.len(), layout.fields);
    if record.whole {
        let plural = if found == 1 { "" } else { "s" };
        format!("{found} field{plural}, and the file has {wanted} columns")
    } else {
        format!("the file ends in the middle of the row, after {found} of {wanted} columns")
    }
}

fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    let line: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.chars().nth(MOST).is_some() { format!("{line}…") } else { line }
}

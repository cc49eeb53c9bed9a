//! A JTL file: opened, uncompressed, its layout known, its mistakes collected.

use std::io::{self, Chain, Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::results::columns::{Layout, delimiter};
use crate::results::records::{Advance, Record, Records};
use crate::results::{Oddity, ReadError};

/// What is looked at to tell what a file is.
const HEAD: u64 = 64 * 1024;

/// Bad rows that are told one by one.
const MOST_TOLD: u64 = 5;

/// A JTL that is being read.
pub(super) struct Jtl {
    pub(super) path: PathBuf,
    pub(super) layout: Layout,
    records: Records<Box<dyn Read>>,
    /// The first record is a row, and was not yet given out.
    first_is_row: bool,
    compressed: bool,
    /// Records given out.
    given: u64,
    bad: u64,
    oddities: Vec<Oddity>,
}

impl Jtl {
    /// Opens a file and reads its header.
    pub(super) fn open(path: &Path) -> Result<Self, ReadError> {
        let (head, input) = peek(fs_err::File::open(path)?)?;
        let compressed = head.starts_with(&[0x1f, 0x8b]);
        let (head, input): (Vec<u8>, Box<dyn Read>) = if compressed {
            let decoder = MultiGzDecoder::new(input);
            let (head, input) = peek(decoder).map_err(|error| damaged(path, &error))?;
            (head, Box::new(input))
        } else {
            (head, Box::new(input))
        };
        let skipped = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let text = &head[skipped..];
        refuse(path, text)?;
        let mut input = input;
        io::copy(&mut input.by_ref().take(skipped as u64), &mut io::sink())?;
        let line = first_line(text);
        let mut records = Records::new(input, delimiter(&line));
        let layout = match records.advance()? {
            Advance::Record => Layout::of(&records.record(), path)?,
            Advance::Broken(why) => {
                return Err(ReadError::wrong(path, Some(records.line()), why));
            }
            Advance::End => return Err(ReadError::wrong(path, None, "the file is empty")),
        };
        let first_is_row = !layout.has_header;
        let mut oddities = Vec::new();
        if first_is_row {
            let what = format!("there is no header: JMeter's default {} columns", layout.fields);
            oddities.push(Oddity::new(path, None, what));
        }
        let path = path.to_owned();
        let (given, bad) = (0, 0);
        Ok(Self { path, layout, records, first_is_row, compressed, given, bad, oddities })
    }

    /// Goes on to the next record, if there is one; lines that are none are noted and passed over.
    pub(super) fn advance(&mut self) -> Result<bool, ReadError> {
        if std::mem::take(&mut self.first_is_row) {
            self.given += 1;
            return Ok(true);
        }
        loop {
            match self.records.advance() {
                Ok(Advance::Record) => {
                    self.given += 1;
                    return Ok(true);
                }
                Ok(Advance::Broken(why)) => self.leave_out(self.records.line(), why),
                Ok(Advance::End) => return Ok(false),
                // What was uncompressed so far is good.
                Err(error) if self.compressed && self.given > 0 => {
                    let what = format!("{}; what follows is lost", damage(&error));
                    self.oddities.push(Oddity::new(&self.path, Some(self.records.line()), what));
                    return Ok(false);
                }
                Err(error) if self.compressed => return Err(damaged(&self.path, &error)),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The current record, after [`Jtl::advance`] gave true.
    pub(super) fn record(&self) -> Record<'_> {
        self.records.record()
    }

    /// The line of the current record.
    pub(super) fn line(&self) -> u64 {
        self.records.line()
    }

    /// Notes a row that is left out.
    pub(super) fn leave_out(&mut self, line: u64, why: impl Into<String>) {
        self.bad += 1;
        if self.bad <= MOST_TOLD {
            let what = format!("{}; the row is left out", why.into());
            self.oddities.push(Oddity::new(&self.path, Some(line), what));
        }
    }

    /// Notes the current record, which makes no sense, unless it is the header once more: that is how files
    /// look that were joined by hand, and no row is lost.
    pub(super) fn leave_out_current(&mut self, why: String) {
        let record = self.record();
        let is_header = self.layout.has_header
            && Layout::of(&record, &self.path).is_ok_and(|layout| layout == self.layout);
        if !is_header {
            self.leave_out(self.line(), why);
        }
    }

    /// Notes something else.
    pub(super) fn note(&mut self, line: Option<u64>, what: impl Into<String>) {
        self.oddities.push(Oddity::new(&self.path, line, what));
    }

    /// What was odd. An error if no row was `good`, though there were some.
    pub(super) fn finish(mut self, good: u64) -> Result<Vec<Oddity>, ReadError> {
        if good == 0 && self.bad > 0 {
            let first = self.oddities.into_iter().find(|oddity| oddity.line.is_some());
            let (line, why) = first.map_or((None, String::new()), |first| (first.line, first.what));
            let why = why.strip_suffix("; the row is left out").unwrap_or(&why);
            let what = format!("none of {} rows can be read: {why}", self.bad);
            return Err(ReadError::wrong(&self.path, line, what));
        }
        if let Some(more) = self.bad.checked_sub(MOST_TOLD).filter(|more| *more > 0) {
            self.note(None, format!("{more} more rows are left out"));
        }
        Ok(self.oddities)
    }
}

type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

/// The first bytes of an input, and the whole input.
fn peek<R: Read>(mut input: R) -> io::Result<(Vec<u8>, Peeked<R>)> {
    let mut head = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(input)))
}

/// The first line that is not empty.
fn first_line(head: &[u8]) -> String {
    let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    String::from_utf8_lossy(line.unwrap_or_default()).trim_end().to_owned()
}

/// Refuses what can be no CSV file.
fn refuse(path: &Path, head: &[u8]) -> Result<(), ReadError> {
    let wrong = |what: &str| ReadError::wrong(path, None, what);
    if head.trim_ascii().is_empty() {
        return Err(wrong("the file is empty"));
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(wrong("the file is UTF-16").advise("save it as UTF-8"));
    }
    let start = head.trim_ascii_start();
    let start = start[..start.len().min(512)].to_ascii_lowercase();
    if start.starts_with(b"<!doctype html") || start.starts_with(b"<html") {
        let help = "name the JTL or the run folder that the page was made from";
        return Err(wrong("this is an HTML page, and no JTL").advise(help));
    }
    if memchr::memchr(b'\n', head).is_none() && memchr::memchr(b'\r', head.trim_ascii()).is_some() {
        let what = "its lines end in CR alone, and those of a JTL in LF or CR LF";
        return Err(wrong(what).advise("`tr '\\r' '\\n' < FILE` mends that"));
    }
    if start.starts_with(b"<") {
        let what = "this is a JTL in XML; only those in CSV are read";
        let help = "JMeter writes CSV with `-Jjmeter.save.saveservice.output_format=csv`; a listener of its GUI \
                    that loads the file can write it as CSV";
        return Err(wrong(what).advise(help));
    }
    if head.contains(&0) {
        return Err(wrong("this is no text file"));
    }
    Ok(())
}

fn damage(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the compressed file ends too early".to_owned(),
        _ => format!("the compressed file is damaged ({error})"),
    }
}

fn damaged(path: &Path, error: &io::Error) -> ReadError {
    ReadError::wrong(path, None, damage(error))
}

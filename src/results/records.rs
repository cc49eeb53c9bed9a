//! Splits a CSV file into records and fields, as JMeter's reader does, and goes on after a mistake.
//!
//! By hand, because the CSV libraries take anything for a record: a quote that is never closed would
//! swallow the rest of the file without a word. Lines without a quote, nearly all of a JTL, are split at
//! their delimiters alone, many bytes at a time.

use std::borrow::Cow;
use std::io::{self, Read};
use std::ops::Range;

/// Bytes that are read at once, and are kept at least.
const CHUNK: usize = 256 * 1024;

/// A record that is longer, in bytes, has a quote that is never closed.
const LONGEST: usize = 1024 * 1024;

/// The records of a file, one at a time.
pub(super) struct Records<R> {
    input: R,
    delimiter: u8,
    buffer: Vec<u8>,
    /// Of the buffer: where the next record begins.
    next: usize,
    /// Of the buffer: what is filled.
    filled: usize,
    /// Whether the input has ended.
    ended: bool,
    /// The line at which the next record begins, from 1.
    next_line: u64,
    /// The line of the current record.
    line: u64,
    /// Whether the current record ends in a line break.
    whole: bool,
    /// Of the buffer, or of `unquoted`: the fields of the current record.
    fields: Vec<Range<usize>>,
    /// The text of a record with quotes, without them.
    unquoted: Vec<u8>,
    has_quotes: bool,
}

/// What came next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Advance {
    /// A record.
    Record,
    /// A line that is none; the record after it begins with the next line.
    Broken(&'static str),
    /// Nothing more.
    End,
}

/// The current record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    /// Where it begins, from 1.
    pub(super) line: u64,
    /// Whether it ends in a line break; only the last of a file may not.
    pub(super) whole: bool,
    text: &'a [u8],
    fields: &'a [Range<usize>],
}

impl<'a> Record<'a> {
    /// How many fields it has.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field's bytes; empty if there is none at this place.
    pub(super) fn bytes(&self, at: usize) -> &'a [u8] {
        self.fields.get(at).map_or(&[], |field| &self.text[field.clone()])
    }

    /// A field's text; what is not UTF-8 is replaced.
    pub(super) fn text(&self, at: usize) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes(at))
    }
}

/// How a scan of a record with quotes ended.
enum Scan {
    /// It ends here, within the buffer; the line breaks within it are counted.
    Done {
        end: usize,
        breaks: u64,
    },
    /// The buffer ends first.
    More,
    Broken(&'static str),
}

impl<R: Read> Records<R> {
    /// Reads records from `input`, which begins at the first line of a file.
    pub(super) fn new(input: R, delimiter: u8) -> Self {
        Self {
            input,
            delimiter,
            buffer: vec![0; CHUNK],
            next: 0,
            filled: 0,
            ended: false,
            next_line: 1,
            line: 1,
            whole: true,
            fields: Vec::new(),
            unquoted: Vec::new(),
            has_quotes: false,
        }
    }

    /// Goes on to the next record; empty lines are passed over.
    pub(super) fn advance(&mut self) -> io::Result<Advance> {
        loop {
            let Some(end) = self.line_end()? else { return Ok(Advance::End) };
            // No line break was found so far.
            if end == self.filled && !self.ended {
                return self.pass_over_line();
            }
            let line = without_return(&self.buffer[self.next..end]);
            if line.is_empty() {
                self.pass(end, 1);
                continue;
            }
            if memchr::memchr(b'"', line).is_some() {
                return self.quoted();
            }
            self.has_quotes = false;
            self.fields.clear();
            let (mut from, to) = (self.next, self.next + line.len());
            for at in memchr::memchr_iter(self.delimiter, line) {
                self.fields.push(from..self.next + at);
                from = self.next + at + 1;
            }
            self.fields.push(from..to);
            self.pass(end, 1);
            return Ok(Advance::Record);
        }
    }

    /// The current record, after an [`Advance::Record`].
    pub(super) fn record(&self) -> Record<'_> {
        let text = if self.has_quotes { &self.unquoted } else { &self.buffer };
        Record { line: self.line, whole: self.whole, text, fields: &self.fields }
    }

    /// The line of what came last.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Makes what ends at `end` the current record; it has so many lines.
    fn pass(&mut self, end: usize, lines: u64) {
        self.line = self.next_line;
        self.whole = end < self.filled;
        self.next_line += lines;
        self.next = (end + 1).min(self.filled);
    }

    /// The end of the next line within the buffer, its line break or the end of the input; `None` if
    /// there is no more.
    fn line_end(&mut self) -> io::Result<Option<usize>> {
        let mut searched = self.next;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[searched..self.filled]) {
                return Ok(Some(searched + at));
            }
            // A line of this length is none; what follows is read as the next.
            if self.ended || self.filled - self.next > LONGEST {
                return Ok((self.next < self.filled).then_some(self.filled));
            }
            let have = self.filled - self.next;
            self.fill()?;
            searched = self.next + have;
        }
    }

    /// Reads on, behind what is not used up.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.copy_within(self.next..self.filled, 0);
        self.filled -= self.next;
        self.next = 0;
        if self.buffer.len() < self.filled + CHUNK / 2 {
            self.buffer.resize(self.filled + CHUNK, 0);
        }
        loop {
            match self.input.read(&mut self.buffer[self.filled..]) {
                Ok(length) => {
                    self.ended = length == 0;
                    self.filled += length;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Passes over a line that is too long to be a row, to its end.
    fn pass_over_line(&mut self) -> io::Result<Advance> {
        self.line = self.next_line;
        self.next_line += 1;
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.next..self.filled]) {
                self.next += at + 1;
                break;
            }
            self.next = self.filled;
            if self.ended {
                break;
            }
            self.fill()?;
        }
        Ok(Advance::Broken("the line is longer than 1 MiB"))
    }

    /// The next record, which has quotes and may have line breaks in them.
    fn quoted(&mut self) -> io::Result<Advance> {
        loop {
            let why = match self.scan() {
                Scan::Done { end, breaks } => {
                    self.has_quotes = true;
                    self.pass(end, breaks + 1);
                    return Ok(Advance::Record);
                }
                Scan::More if !self.ended && self.filled - self.next <= LONGEST => {
                    self.fill()?;
                    continue;
                }
                Scan::More if self.ended => "a quote is never closed",
                Scan::More => "a quote is not closed within 1 MiB",
                Scan::Broken(why) => why,
            };
            // The line's end was found before.
            let end = self.line_end()?.unwrap_or(self.filled);
            self.pass(end, 1);
            return Ok(Advance::Broken(why));
        }
    }

    fn scan(&mut self) -> Scan {
        let bytes = &self.buffer[..self.filled];
        self.fields.clear();
        self.unquoted.clear();
        let (mut at, mut breaks) = (self.next, 0);
        loop {
            let begin = self.unquoted.len();
            if bytes.get(at) == Some(&b'"') {
                at += 1;
                loop {
                    let Some(length) = memchr::memchr(b'"', &bytes[at..]) else {
                        return Scan::More;
                    };
                    self.unquoted.extend_from_slice(&bytes[at..at + length]);
                    at += length + 1;
                    if bytes.get(at) != Some(&b'"') {
                        break;
                    }
                    self.unquoted.push(b'"');
                    at += 1;
                }
                let inside = &self.unquoted[begin..];
                breaks += memchr::memchr_iter(b'\n', inside).count() as u64;
            } else {
                let rest = &bytes[at..];
                let length = memchr::memchr2(self.delimiter, b'\n', rest).unwrap_or(rest.len());
                let field = &rest[..length];
                let last = rest.get(length) != Some(&self.delimiter);
                let field = if last { without_return(field) } else { field };
                self.unquoted.extend_from_slice(field);
                at += length;
            }
            self.fields.push(begin..self.unquoted.len());
            if bytes.get(at) == Some(&b'\r') && matches!(bytes.get(at + 1), Some(b'\n') | None) {
                at += 1;
            }
            match bytes.get(at) {
                Some(byte) if *byte == self.delimiter => at += 1,
                Some(b'\n') => return Scan::Done { end: at, breaks },
                Some(_) => return Scan::Broken("text follows a closing quote"),
                None if self.ended => return Scan::Done { end: at, breaks },
                None => return Scan::More,
            }
        }
    }
}

/// A line that ends in CR LF, without the CR.
fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives a few bytes at a time.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    /// Each record as its line and its fields, each broken line as its number and what is wrong.
    fn read(text: &[u8], step: usize) -> Vec<(u64, Vec<String>)> {
        let mut records = Records::new(Trickle(text, step), b',');
        let mut all = Vec::new();
        loop {
            match records.advance().unwrap() {
                Advance::End => return all,
                Advance::Broken(why) => all.push((records.line(), vec![format!("! {why}")])),
                Advance::Record => {
                    let record = records.record();
                    let fields = (0..record.len()).map(|at| record.text(at).into_owned());
                    all.push((record.line, fields.collect()));
                }
            }
        }
    }

    fn expect(text: &str, expected: &[(u64, &[&str])]) {
        for step in [1, 2, 7, 1_000] {
            let found = read(text.as_bytes(), step);
            let found: Vec<(u64, Vec<&str>)> = found
                .iter()
                .map(|(line, fields)| (*line, fields.iter().map(String::as_str).collect()))
                .collect();
            let expected: Vec<_> =
                expected.iter().map(|(line, fields)| (*line, fields.to_vec())).collect();
            assert_eq!(found, expected, "{text:?} by {step}");
        }
    }

    #[test]
    fn lines_are_records_with_their_numbers() {
        expect("a,b\nc,\r\n\n,d", &[(1, &["a", "b"]), (2, &["c", ""]), (4, &["", "d"])]);
        expect("", &[]);
        expect("\n\n", &[]);
    }

    #[test]
    fn quotes_hold_delimiters_quotes_and_line_breaks() {
        expect(
            "\"a,\"\"b\"\"\",x\r\n1,\"two\nlines\"\r\n\"\",3\n",
            &[(1, &["a,\"b\"", "x"]), (2, &["1", "two\nlines"]), (4, &["", "3"])],
        );
        expect("1,\"last\"", &[(1, &["1", "last"])]);
        expect("say \"hi\",1\n", &[(1, &["say \"hi\"", "1"])]);
    }

    #[test]
    fn a_broken_quote_costs_its_line_and_no_other() {
        expect(
            "a,\"b\nc,d\ne,\"f,g\"\nh\n",
            &[
                (1, &["! text follows a closing quote"]),
                (2, &["c", "d"]),
                (3, &["e", "f,g"]),
                (4, &["h"]),
            ],
        );
        expect("a,\"b\nc,d\n", &[(1, &["! a quote is never closed"]), (2, &["c", "d"])]);
        expect("a,\"b\"c\nd\n", &[(1, &["! text follows a closing quote"]), (2, &["d"])]);
    }

    #[test]
    fn a_quote_that_is_never_closed_does_not_fill_the_memory() {
        let text = format!("a,\"b\n{}", "c,d\n".repeat(LONGEST));
        let mut records = Records::new(text.as_bytes(), b',');
        assert_eq!(
            records.advance().unwrap(),
            Advance::Broken("a quote is not closed within 1 MiB")
        );
        let mut rest = 0;
        while records.advance().unwrap() == Advance::Record {
            rest += 1;
        }
        assert_eq!(rest, LONGEST);
        assert!(records.buffer.len() < 2 * LONGEST, "{}", records.buffer.len());
    }

    #[test]
    fn a_line_that_is_too_long_is_one_mistake_and_no_other() {
        let long = "b".repeat(3 * LONGEST);
        for field in [format!("\"{long}\""), long] {
            let text = format!("a\n{field},c\nd\n");
            let mut records = Records::new(text.as_bytes(), b',');
            assert_eq!(records.advance().unwrap(), Advance::Record);
            let broken = Advance::Broken("the line is longer than 1 MiB");
            assert_eq!((records.advance().unwrap(), records.line()), (broken, 2));
            assert_eq!((records.advance().unwrap(), records.line()), (Advance::Record, 3));
            assert_eq!(records.advance().unwrap(), Advance::End);
        }
    }

    #[test]
    fn only_the_last_record_may_lack_its_line_break() {
        let mut records = Records::new(&b"a\nb"[..], b',');
        let mut whole = Vec::new();
        while records.advance().unwrap() == Advance::Record {
            whole.push(records.record().whole);
        }
        assert_eq!(whole, [true, false]);
    }

    proptest! {
        #[test]
        fn what_a_csv_writer_writes_is_read_back(
            rows in prop::collection::vec(prop::collection::vec("[a\",\n\r ]{0,6}", 3), 1..6),
            step in 1usize..9,
        ) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let text = writer.into_inner().unwrap();
            let found: Vec<Vec<String>> =
                read(&text, step).into_iter().map(|(_, fields)| fields).collect();
            prop_assert_eq!(found, rows);
        }
    }
}

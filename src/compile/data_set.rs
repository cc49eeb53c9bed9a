//! Data sets: the file is read and every line of it checked before anything is sent.

use crate::compile::compiler::Compiler;
use crate::compile::send_file::{Limit, read_at_most};
use crate::compile::variables::is_variable_name;
use crate::plan::{self, At, Path, Problem};
use crate::program::{BadValue, DataSet, FromText, Row, Share, VariableId};

/// The largest file.
const LIMIT: Limit = Limit {
    bytes: 1 << 30,
    title: "is larger than 1 GiB",
    help: "a data set is kept in memory; take a part of it",
};

/// What Excel and others put before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// `delimiter`.
struct Delimiter(u8);

impl FromText for Delimiter {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        match text.as_bytes() {
            b"tab" | b"\\t" | b"\t" => Ok(Self(b'\t')),
            [byte] if !matches!(byte, b'"' | b'\n' | b'\r') => Ok(Self(*byte)),
            _ => Err(BadValue::new(format!("`{text}` is no delimiter"))
                .with_help("write one character such as `;`, or `tab`")),
        }
    }
}

/// A wrong line: its number, from 1, and what is wrong with it.
struct WrongLine {
    line: u64,
    what: String,
}

impl Compiler<'_> {
    pub(super) fn data_sets(&mut self, sets: &[plan::DataSet]) -> Vec<DataSet> {
        let top = Path::root().key("data_sets");
        let compile = |(index, set)| self.data_set(set, &top.index(index));
        sets.iter().enumerate().filter_map(compile).collect()
    }

    fn data_set(&mut self, own: &plan::DataSet, path: &Path) -> Option<DataSet> {
        let delimiter = match &own.delimiter {
            Some(text) => self.fixed::<_, Delimiter>(text, &path.key("delimiter"))?.0,
            None => b',',
        };
        let recycle = match &own.recycle {
            Some(flag) => self.fixed(flag, &path.key("recycle"))?,
            None => true,
        };
        let share = match &own.share {
            Some(word) => self.fixed(word, &path.key("share"))?,
            None => Share::All,
        };
        let Some(name) = &own.file else {
            let problem = Problem::error(path, "the data set has no `file`").at(At::Key);
            self.note(problem.help("name a CSV file: `file: users.csv`"));
            return None;
        };
        let at = path.key("file");
        let name = self.fixed_text(name, &at)?;
        let bytes = match read_at_most(&self.loaded.folder(path).join(&name), &name, &LIMIT) {
            Ok(bytes) => bytes,
            Err((title, help)) => {
                self.note(Problem::error(&at, title).help(help));
                return None;
            }
        };
        let mut lines = Lines::new(&bytes, delimiter);
        let columns = match &own.variables {
            Some(names) => self.column_names(&names.0, &path.key("variables"))?,
            None => self.header(&mut lines, &name, &at)?,
        };
        let variables: Vec<VariableId> =
            columns.iter().map(|column| self.variables.define(column)).collect();
        match lines.rows(variables.len()) {
            Ok(rows) if rows.is_empty() => {
                let problem = Problem::error(&at, format!("`{name}` has no lines with data"));
                self.note(problem.help("each iteration takes one line: add some"));
                None
            }
            Ok(rows) => Some(DataSet { name, bytes, rows, delimiter, variables, recycle, share }),
            Err(WrongLine { line, what }) => {
                self.note(Problem::error(&at, format!("line {line} of `{name}` {what}")));
                None
            }
        }
    }

    fn column_names(
        &mut self,
        names: &[plan::Setting<plan::Text>],
        path: &Path,
    ) -> Option<Vec<String>> {
        let mut columns = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let path = path.index(index);
            let name = self.fixed_text(name, &path)?;
            if !is_variable_name(&name) {
                self.bad_variable_name(&name, &path, At::Value);
                return None;
            }
            columns.push(name);
        }
        if columns.is_empty() {
            let problem = Problem::error(path, "the data set has no variables").at(At::Key);
            self.note(problem.help("name one for each column, or leave it out for a header line"));
            return None;
        }
        Some(columns)
    }

    /// The first line, which names the columns.
    fn header(&mut self, lines: &mut Lines<'_>, name: &str, at: &Path) -> Option<Vec<String>> {
        let problem = match lines.next() {
            None => Problem::error(at, format!("`{name}` is empty"))
                .help("its first line names the columns, such as `user,token`"),
            Some(Err(WrongLine { line, what })) => {
                Problem::error(at, format!("line {line} of `{name}` {what}"))
            }
            Some(Ok((fields, _))) => {
                let columns: Vec<String> =
                    fields.iter().map(|field| field.trim().to_owned()).collect();
                let Some(bad) = columns.iter().find(|column| !is_variable_name(column)) else {
                    return Some(columns);
                };
                Problem::error(
                    at,
                    format!(
                        "`{name}` has a column called `{bad}`, which is no name for a variable"
                    ),
                )
                .help("name the columns by `variables: [user, token]` if it has no header line")
            }
        };
        self.note(problem);
        None
    }
}

/// The lines of a file, blank ones passed over.
struct Lines<'b> {
    reader: csv::Reader<&'b [u8]>,
    record: csv::ByteRecord,
    text: &'b [u8],
    /// What stands before the text.
    skipped: u64,
    /// The number of the line that was read last, from 1.
    line: u64,
}

impl<'b> Lines<'b> {
    fn new(bytes: &'b [u8], delimiter: u8) -> Self {
        let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .from_reader(text);
        let skipped = (bytes.len() - text.len()) as u64;
        Self { reader, record: csv::ByteRecord::new(), text, skipped, line: 0 }
    }

    /// The fields of the next line, and its place.
    fn next(&mut self) -> Option<Result<(csv::StringRecord, Row), WrongLine>> {
        let before = self.reader.position().clone();
        let read = self.reader.read_byte_record(&mut self.record);
        // Blank lines are passed over on the way to the record.
        let start = usize::try_from(before.byte()).unwrap_or(usize::MAX);
        let blank = self
            .text
            .get(start..)
            .unwrap_or_default()
            .iter()
            .take_while(|byte| matches!(byte, b'\r' | b'\n'));
        self.line = before.line() + blank.filter(|byte| **byte == b'\n').count() as u64;
        match read {
            Ok(false) => return None,
            Ok(true) => {}
            Err(error) => return Some(Err(self.wrong(format!("cannot be read: {error}")))),
        }
        let length = self.reader.position().byte() - before.byte();
        let place = (u32::try_from(before.byte() + self.skipped), u32::try_from(length));
        let (Ok(start), Ok(length)) = place else {
            return Some(Err(self.wrong("is too far in the file".to_owned())));
        };
        Some(match csv::StringRecord::from_byte_record(self.record.clone()) {
            Ok(fields) => Ok((fields, Row { start, length })),
            Err(_) => Err(self.wrong("is not UTF-8 text".to_owned())),
        })
    }

    fn wrong(&self, what: String) -> WrongLine {
        WrongLine { line: self.line, what }
    }

    /// The places of all further lines, each of which must have so many fields.
    fn rows(&mut self, fields: usize) -> Result<Vec<Row>, WrongLine> {
        let mut rows = Vec::new();
        while let Some(next) = self.next() {
            let (record, row) = next?;
            if record.len() < fields {
                return Err(self.wrong(format!("has {} of {fields} fields", record.len())));
            }
            rows.push(row);
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &[u8], recycle: bool) -> DataSet {
        let rows = Lines::new(text, b';').rows(2).unwrap_or_default();
        let (bytes, name) = (text.to_vec(), String::new());
        let variables = vec![VariableId(0), VariableId(1)];
        DataSet { name, bytes, rows, delimiter: b';', variables, recycle, share: Share::All }
    }

    #[test]
    fn lines_are_found_again_whatever_they_hold() {
        let text = "\u{feff}ann;1\r\n\r\n\"b;o\"\"b\";\"two\nlines\"\n\ncäsar;3;more".as_bytes();
        let set = set(text, true);
        let fields = |nth| set.fields(nth).unwrap().iter().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(set.rows.len(), 3);
        assert_eq!(fields(0), ["ann", "1"]);
        assert_eq!(fields(1), ["b;o\"b", "two\nlines"]);
        assert_eq!(fields(2), ["cäsar", "3", "more"]);
        assert_eq!(fields(3), fields(0), "it begins again");
    }

    #[test]
    fn without_recycling_the_last_line_is_the_last() {
        let set = set(b"a;1\nb;2\n", false);
        assert!(set.fields(1).is_some() && set.fields(2).is_none());
    }
}

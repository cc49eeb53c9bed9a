//! Which columns a JTL has, and where.

use std::path::Path;

use crate::results::ReadError;
use crate::results::records::Record;

macro_rules! columns {
    ($($(#[$doc:meta])* $column:ident = $name:literal,)*) => {
        /// The columns that JMeter knows, in its order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Column {
            $($(#[$doc])* $column,)*
        }

        impl Column {
            /// All of them.
            pub(super) const ALL: &[Self] = &[$(Self::$column,)*];

            /// As headers have it.
            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$column => $name,)*
                }
            }
        }
    };
}

columns! {
    /// The start, in milliseconds since 1970 or as a date.
    TimeStamp = "timeStamp",
    /// In milliseconds.
    Elapsed = "elapsed",
    Label = "label",
    ResponseCode = "responseCode",
    ResponseMessage = "responseMessage",
    ThreadName = "threadName",
    DataType = "dataType",
    Success = "success",
    FailureMessage = "failureMessage",
    Bytes = "bytes",
    SentBytes = "sentBytes",
    GroupThreads = "grpThreads",
    AllThreads = "allThreads",
    Url = "URL",
    Filename = "Filename",
    Latency = "Latency",
    Encoding = "Encoding",
    SampleCount = "SampleCount",
    ErrorCount = "ErrorCount",
    Hostname = "Hostname",
    IdleTime = "IdleTime",
    Connect = "Connect",
}

const COLUMNS: usize = Column::ALL.len();

impl Column {
    /// What JMeter writes by default since 5.0.
    const DEFAULT: [Self; 17] = [
        Self::TimeStamp,
        Self::Elapsed,
        Self::Label,
        Self::ResponseCode,
        Self::ResponseMessage,
        Self::ThreadName,
        Self::DataType,
        Self::Success,
        Self::FailureMessage,
        Self::Bytes,
        Self::SentBytes,
        Self::GroupThreads,
        Self::AllThreads,
        Self::Url,
        Self::Latency,
        Self::IdleTime,
        Self::Connect,
    ];

    /// Whether a file is unreadable without it.
    const NEEDED: [Self; 3] = [Self::TimeStamp, Self::Elapsed, Self::Label];

    /// The column of this name, in whatever case and within blanks.
    fn from_name(name: &str) -> Option<Self> {
        let name = name.trim();
        Self::ALL.iter().copied().find(|column| column.name().eq_ignore_ascii_case(name))
    }

    /// Whether its fields are whole numbers, of which none may be empty for JMeter's readers.
    pub(super) fn is_number(self) -> bool {
        matches!(
            self,
            Self::TimeStamp
                | Self::Elapsed
                | Self::Bytes
                | Self::SentBytes
                | Self::GroupThreads
                | Self::AllThreads
                | Self::Latency
                | Self::SampleCount
                | Self::ErrorCount
                | Self::IdleTime
                | Self::Connect
        )
    }
}

/// Where each column of a file stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    places: [Option<usize>; COLUMNS],
    /// How many fields a record has.
    pub(super) fields: usize,
    /// Columns that JMeter does not know: sample variables, by name and place.
    pub(super) variables: Vec<(String, usize)>,
    /// Whether the first record is the header, and no row.
    pub(super) has_header: bool,
}

impl Layout {
    /// Looks at the first record of a file.
    pub(super) fn of(first: &Record<'_>, path: &Path) -> Result<Self, ReadError> {
        let names: Vec<String> = (0..first.len()).map(|at| first.text(at).into_owned()).collect();
        let known = |column| names.iter().any(|name| Column::from_name(name) == Some(column));
        if known(Column::TimeStamp) || known(Column::Elapsed) {
            Self::of_header(&names, first.line, path)
        } else {
            Self::without_header(&names, first.line, path)
        }
    }

    fn of_header(names: &[String], line: u64, path: &Path) -> Result<Self, ReadError> {
        let mut layout = Self::empty(names.len(), true);
        for (place, name) in names.iter().enumerate() {
            match Column::from_name(name) {
                Some(column) if layout.place(column).is_some() => {
                    let what = format!("the header names `{}` twice", column.name());
                    return Err(ReadError::wrong(path, Some(line), what));
                }
                Some(column) => layout.places[column as usize] = Some(place),
                None => layout.variables.push((name.clone(), place)),
            }
        }
        for column in Column::NEEDED {
            if layout.place(column).is_none() {
                let what = format!("there is no column `{}`", column.name());
                let help = "without it there is nothing to count: the columns that are needed are \
                            `timeStamp`, `elapsed` and `label`";
                return Err(ReadError::wrong(path, Some(line), what).advise(help));
            }
        }
        Ok(layout)
    }

    /// JMeter's default columns, if the fields can be theirs: JMeter had no `URL` before version 5.
    fn without_header(fields: &[String], line: u64, path: &Path) -> Result<Self, ReadError> {
        let is_number = |at: usize| fields[at].trim().parse::<u64>().is_ok();
        let columns: Vec<Column> = match fields.len() {
            17 => Column::DEFAULT.to_vec(),
            16 => Column::DEFAULT.into_iter().filter(|column| *column != Column::Url).collect(),
            count => {
                let what = format!("there is no header, and {count} columns");
                let help = "JMeter's defaults are 17 columns, or 16 without `URL`; put a line with the names \
                            of the columns before the first row";
                return Err(ReadError::wrong(path, Some(line), what).advise(help));
            }
        };
        let odd = columns.iter().enumerate().find(|(at, column)| {
            column.is_number() && **column != Column::TimeStamp && !is_number(*at)
        });
        if let Some((at, column)) = odd {
            let what = format!(
                "this is no JTL: there is no header, and by JMeter's defaults `{}` should be `{}`",
                fields[at],
                column.name()
            );
            let help = "put a line with the names of the columns before the first row";
            return Err(ReadError::wrong(path, Some(line), what).advise(help));
        }
        let mut layout = Self::empty(fields.len(), false);
        for (place, column) in columns.into_iter().enumerate() {
            layout.places[column as usize] = Some(place);
        }
        Ok(layout)
    }

    fn empty(fields: usize, has_header: bool) -> Self {
        Self { places: [None; COLUMNS], fields, variables: Vec::new(), has_header }
    }

    /// Where a column stands.
    pub(super) fn place(&self, column: Column) -> Option<usize> {
        self.places[column as usize]
    }
}

/// Delimiters that JTLs are found with.
const DELIMITERS: &[u8] = b",;\t|";

/// The delimiter of a file, by its first line: the one that gives most names of columns, or else the most
/// fields.
pub(super) fn delimiter(line: &str) -> u8 {
    let worth = |delimiter: u8| {
        let cells = || line.split(char::from(delimiter));
        let named = cells()
            .filter(|cell| Column::from_name(cell.trim_matches(['"', ' '])).is_some())
            .count();
        // A single name is a name with any delimiter.
        (if named > 1 { named } else { 0 }, cells().count())
    };
    DELIMITERS.iter().copied().rev().max_by_key(|delimiter| worth(*delimiter)).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::records::{Advance, Records};

    const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,\
        failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect";

    fn layout(line: &str) -> Result<Layout, ReadError> {
        let mut records = Records::new(line.as_bytes(), delimiter(line));
        assert_eq!(records.advance().unwrap(), Advance::Record);
        Layout::of(&records.record(), Path::new("x.jtl"))
    }

    #[test]
    fn columns_are_found_by_name_in_any_order_and_case() {
        let layout = layout("label;Elapsed; TIMESTAMP ;\"room\";success").unwrap();
        assert_eq!(layout.place(Column::TimeStamp), Some(2));
        assert_eq!(layout.place(Column::Url), None);
        assert_eq!((layout.fields, layout.has_header), (5, true));
        assert_eq!(layout.variables, [("room".to_owned(), 3)]);
    }

    #[test]
    fn the_default_columns_need_no_header() {
        let row = "1700000000000,5,say,200,OK,G 1-1,text,true,,7,11,1,1,ws://h/,4,0,0";
        let by_default = layout(row).unwrap();
        assert_eq!((by_default.place(Column::Connect), by_default.has_header), (Some(16), false));
        let older = layout("1700000000000,5,say,200,OK,G 1-1,text,true,,7,11,1,1,4,0,0").unwrap();
        assert_eq!((older.place(Column::Latency), older.place(Column::Url)), (Some(13), None));
        assert_eq!(layout(HEADER).unwrap().place(Column::Connect), Some(16));
    }

    #[test]
    fn what_is_no_jtl_is_told() {
        for (line, text) in [
            ("elapsed,label\n", "x.jtl:1: there is no column `timeStamp`"),
            ("1,2,3\n", "there is no header, and 3 columns"),
            ("timeStamp,elapsed,label,elapsed", "the header names `elapsed` twice"),
            ("a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p", "`b` should be `elapsed`"),
        ] {
            let error = layout(line).unwrap_err();
            assert!(error.to_string().contains(text), "{error}");
        }
    }

    #[test]
    fn the_delimiter_is_the_one_that_makes_sense() {
        let header = |delimiter: &str| HEADER.replace(',', delimiter);
        for (text, expected) in [(",", b','), (";", b';'), ("\t", b'\t'), ("|", b'|')] {
            assert_eq!(delimiter(&header(text)), expected);
        }
        assert_eq!(delimiter("1,2,\"a;b;c;d\",4,5"), b',');
        assert_eq!(delimiter("label"), b',');
    }
}

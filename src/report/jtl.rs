//! Rows of a JTL, as JMeter's readers take them.
//!
//! Formatted by hand: a row is most of what a sample costs besides its frames, and field by field
//! through a CSV writer it took more than twice as long.

use std::io;

use crate::clock::{Clock, round_ms};
use crate::sample::{Code, DataType, Sample, TEXT_CHARS, may_be_control, one_line};

/// The columns, as JMeter writes them by default.
pub(crate) const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,\
    dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,\
    Connect\n";

/// How many bytes of a line are looked at at once.
const LANES: usize = 16;

/// How many fields there are, each with a comma behind it.
const HEADER_COMMAS: usize = 17;

/// The header line, with sample variables last: their quotes tell JMeter's readers what they are.
pub(crate) fn header(variables: &[&str]) -> String {
    let mut header = HEADER.trim_end().to_owned();
    for variable in variables {
        header.extend([",\"", variable, "\""]);
    }
    header.push('\n');
    header
}

/// Formats rows into any writer, each with one write.
///
/// Nearly no row has anything to quote: it is written as if, then looked over as a whole, which costs
/// less than a look at each of its texts.
#[derive(Debug)]
pub(crate) struct Rows<W: io::Write> {
    out: W,
    line: Line,
    clock: Clock,
}

impl<W: io::Write> Rows<W> {
    pub(crate) fn new(out: W, clock: Clock) -> Self {
        Self { out, line: Line::default(), clock }
    }

    /// Adds one row.
    pub(crate) fn row(&mut self, sample: &Sample<'_>) -> io::Result<()> {
        self.fields(sample, Line::plain);
        if !self.line.is_plain(HEADER_COMMAS + sample.variables.len()) {
            self.line.0.clear();
            self.fields(sample, Line::quoted);
        }
        self.out.write_all(self.line.end())?;
        self.line.0.clear();
        Ok(())
    }

    /// All fields; `text` writes those that may hold anything.
    fn fields(&mut self, sample: &Sample<'_>, text: impl Fn(&mut Line, &str)) {
        let elapsed = round_ms(sample.elapsed);
        let line = &mut self.line;
        line.number(self.clock.epoch_ms(sample.start).max(1));
        line.number(elapsed);
        text(line, sample.label);
        match sample.code {
            Code::Number(code) => line.number(u64::from(code)),
            code => line.plain(&code.to_string()),
        }
        text(line, sample.message);
        text(line, sample.thread);
        line.plain(match sample.data_type {
            DataType::None => "",
            DataType::Text => "text",
            DataType::Binary => "bin",
        });
        line.plain(if sample.success { "true" } else { "false" });
        text(line, sample.failure_message);
        line.number(sample.bytes);
        line.number(sample.sent_bytes);
        line.number(u64::from(sample.group_threads));
        line.number(u64::from(sample.all_threads));
        text(line, if sample.url.is_empty() { "null" } else { sample.url });
        line.number(round_ms(sample.latency).min(elapsed));
        line.number(round_ms(sample.idle));
        line.number(round_ms(sample.connect).min(elapsed));
        for variable in sample.variables {
            text(line, variable.as_deref().unwrap_or("null"));
        }
    }

    /// Flushes the writer below.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The row in the making, each field with a comma behind it.
#[derive(Debug, Default)]
struct Line(Vec<u8>);

impl Line {
    /// Most numbers of a row are short, and written faster by hand.
    #[inline]
    fn number(&mut self, number: u64) {
        let digit = |power: u64| b'0' + (number / power % 10) as u8;
        match number {
            0..10 => self.0.extend_from_slice(&[digit(1), b',']),
            10..100 => self.0.extend_from_slice(&[digit(10), digit(1), b',']),
            100..1_000 => self.0.extend_from_slice(&[digit(100), digit(10), digit(1), b',']),
            _ => self.long_number(number),
        }
    }

    #[inline(never)]
    fn long_number(&mut self, number: u64) {
        self.plain(itoa::Buffer::new().format(number));
    }

    /// A field without anything to quote.
    fn plain(&mut self, text: &str) {
        self.0.extend_from_slice(text.as_bytes());
        self.0.push(b',');
    }

    /// Whether the fields hold nothing that must be quoted, replaced or cut. Written so that it is done
    /// for [`LANES`] bytes at once.
    fn is_plain(&mut self, commas: usize) -> bool {
        let length = self.0.len();
        // A longer line may hold a text that is too long.
        if length > TEXT_CHARS {
            return false;
        }
        self.0.resize(length.next_multiple_of(LANES), b' ');
        let (mut special, mut found) = ([0_u8; LANES], [0_u8; LANES]);
        for bytes in self.0.as_chunks::<LANES>().0 {
            for (lane, byte) in bytes.iter().enumerate() {
                special[lane] |= u8::from((*byte == b'"') | may_be_control(*byte));
                found[lane] += u8::from(*byte == b',');
            }
        }
        self.0.truncate(length);
        let found: usize = found.iter().map(|count| usize::from(*count)).sum();
        special == [0; LANES] && found == commas
    }

    /// Any text, on one line. Quoting is minimal: JMeter refuses a header or number in quotes.
    fn quoted(&mut self, text: &str) {
        let text = one_line(text);
        if !text.contains([',', '"']) {
            return self.plain(&text);
        }
        self.plain(&format!("\"{}\"", text.replace('"', "\"\"")));
    }

    /// The whole line: the last comma becomes the line's end.
    fn end(&mut self) -> &[u8] {
        if let Some(last) = self.0.last_mut() {
            *last = b'\n';
        }
        &self.0
    }
}

#[cfg(test)]
mod tests {

    use proptest::prelude::*;

    use super::*;

    fn rows(samples: &[Sample<'_>]) -> String {
        let mut bytes = Vec::new();
        let mut rows = Rows::new(&mut bytes, Clock::start());
        for sample in samples {
            rows.row(sample).unwrap();
        }
        rows.flush().unwrap();
        drop(rows);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_row_has_the_seventeen_columns_in_jmeters_order() {
        assert_eq!(HEADER.trim_end().split(',').count(), 17);
        let row = rows(&[Sample::plain()]);
        let (time, rest) = row.split_once(',').unwrap();
        assert!(time.len() == 13 && time.bytes().all(|digit| digit.is_ascii_digit()), "{time}");
        assert_eq!(
            rest,
            "3,say,200,OK,Chatters 1-1,text,true,,7,11,1,2,ws://127.0.0.1:9000/echo,2,0,0\n"
        );
    }

    #[test]
    fn sample_variables_come_last_and_null_stands_for_none() {
        assert_eq!(header(&[]), HEADER);
        assert!(header(&["room", "a.b"]).ends_with(",Connect,\"room\",\"a.b\"\n"));
        let row = rows(&[Sample { variables: &[Some("a,b".into()), None], ..Sample::plain() }]);
        assert!(row.ends_with(",2,0,0,\"a,b\",null\n"), "{row}");
    }

    #[test]
    fn only_what_must_be_quoted_is_quoted() {
        let said = Sample { message: "he said \"x\"", success: false, ..Sample::plain() };
        let row = rows(&[Sample { label: "a,b", url: "", ..said }]);
        assert!(row.contains(",\"a,b\",200,\"he said \"\"x\"\"\","), "{row}");
        assert!(row.contains(",null,"), "{row}");
        // The message of a transaction has a comma where it passed too.
        let row = rows(&[Sample { message: "1, 0", transaction: true, ..Sample::plain() }]);
        assert!(row.contains(",200,\"1, 0\",Chatters"), "{row}");
    }

    proptest! {
        #[test]
        fn rows_survive_a_csv_reader_and_are_one_line(
            label in "\\PC{0,20}|[\",\n\r\0a]{0,9}", failure_message in "[\",\n\r\0 é<>a]{0,30}",
        ) {
            let sample = Sample { label: &label, failure_message: &failure_message, ..Sample::plain() };
            let text = rows(&[sample.clone(), sample]);
            prop_assert_eq!(text.matches('\n').count(), 2);
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
            for record in reader.records() {
                let record = record.unwrap();
                prop_assert_eq!(record.len(), 17);
                prop_assert_eq!(&record[2], &*one_line(&label));
                prop_assert_eq!(&record[8], &*one_line(&failure_message));
            }
        }
    }
}

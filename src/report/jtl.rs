//! Rows of a JTL, as JMeter's readers take them.

use std::io;
use std::time::Duration;

use csv::{Terminator, Writer, WriterBuilder};

use crate::clock::{Clock, round_ms};
use crate::sample::{DataType, Sample, one_line};

/// The columns, as JMeter writes them by default.
pub(crate) const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,\
    dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,\
    Connect\n";

/// The header line, with sample variables last: their quotes tell JMeter's readers what they are.
pub(crate) fn header(variables: &[&str]) -> String {
    let mut header = HEADER.trim_end().to_owned();
    for variable in variables {
        header.extend([",\"", variable, "\""]);
    }
    header.push('\n');
    header
}

/// Formats rows into any writer; a row is whole once it has been flushed.
#[derive(Debug)]
pub(crate) struct Rows<W: io::Write> {
    csv: Writer<W>,
    clock: Clock,
}

impl<W: io::Write> Rows<W> {
    pub(crate) fn new(out: W, clock: Clock) -> Self {
        let csv = WriterBuilder::new()
            .has_headers(false)
            .terminator(Terminator::Any(b'\n'))
            .buffer_capacity(64 * 1024)
            .from_writer(out);
        Self { csv, clock }
    }

    /// Adds one row. Quoting is minimal: JMeter refuses a header or number in quotes.
    pub(crate) fn row(&mut self, sample: &Sample<'_>) -> csv::Result<()> {
        let milliseconds = |time: Duration| round_ms(time);
        let elapsed = milliseconds(sample.elapsed);
        self.number(self.clock.epoch_ms(sample.start).max(1))?;
        self.number(elapsed)?;
        self.text(sample.label)?;
        match sample.code {
            crate::sample::Code::Number(code) => self.number(u64::from(code))?,
            code => self.csv.write_field(code.to_string())?,
        }
        self.text(sample.message)?;
        self.text(sample.thread)?;
        self.csv.write_field(match sample.data_type {
            DataType::None => "",
            DataType::Text => "text",
            DataType::Binary => "bin",
        })?;
        self.csv.write_field(if sample.success { "true" } else { "false" })?;
        self.text(sample.failure_message)?;
        self.number(sample.bytes)?;
        self.number(sample.sent_bytes)?;
        self.number(u64::from(sample.group_threads))?;
        self.number(u64::from(sample.all_threads))?;
        self.text(if sample.url.is_empty() { "null" } else { sample.url })?;
        self.number(milliseconds(sample.latency).min(elapsed))?;
        self.number(milliseconds(sample.idle))?;
        self.number(milliseconds(sample.connect).min(elapsed))?;
        for variable in sample.variables {
            self.text(variable.as_deref().unwrap_or("null"))?;
        }
        self.csv.write_record(None::<&[u8]>)
    }

    /// Moves all rows to the writer below, and flushes that.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.csv.flush()
    }

    fn number(&mut self, number: u64) -> csv::Result<()> {
        self.csv.write_field(itoa::Buffer::new().format(number))
    }

    fn text(&mut self, text: &str) -> csv::Result<()> {
        self.csv.write_field(one_line(text).as_ref())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock;
    use crate::sample::Code;

    /// A successful row with nothing special.
    pub(crate) fn sample() -> Sample<'static> {
        Sample {
            label: "say",
            start: clock::now(),
            elapsed: Duration::from_micros(2_500),
            connect: Duration::ZERO,
            latency: Duration::from_micros(2_499),
            idle: Duration::ZERO,
            code: Code::OK,
            message: "OK",
            failure_message: "",
            cause: "",
            success: true,
            data_type: DataType::Text,
            bytes: 7,
            sent_bytes: 11,
            thread: "Chatters 1-1",
            group_threads: 1,
            all_threads: 2,
            url: "ws://127.0.0.1:9000/echo",
            variables: &[],
            first_exchange: false,
        }
    }

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
        let row = rows(&[sample()]);
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
        let row = rows(&[Sample { variables: &[Some("a,b".into()), None], ..sample() }]);
        assert!(row.ends_with(",2,0,0,\"a,b\",null\n"), "{row}");
    }

    #[test]
    fn only_what_must_be_quoted_is_quoted() {
        let row = rows(&[Sample { label: "a,b", message: "he said \"x\"", url: "", ..sample() }]);
        assert!(row.contains(",\"a,b\",200,\"he said \"\"x\"\"\","), "{row}");
        assert!(row.contains(",null,"), "{row}");
    }

    proptest! {
        #[test]
        fn rows_survive_a_csv_reader_and_are_one_line(
            label in "\\PC{0,20}|[\",\n\r\0a]{0,9}", failure_message in "[\",\n\r\0 é<>a]{0,30}",
        ) {
            let sample = Sample { label: &label, failure_message: &failure_message, ..sample() };
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

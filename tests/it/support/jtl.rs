//! Reads a JTL as JMeter's tools do, and checks what they rely on.

use std::path::Path;

use serde::Deserialize;

/// The header line, exactly.
pub(crate) const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,\
    dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,\
    Connect";

/// One row.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    #[serde(rename = "timeStamp")]
    pub(crate) time_stamp: u64,
    pub(crate) elapsed: u64,
    pub(crate) label: String,
    #[serde(rename = "responseCode")]
    pub(crate) code: String,
    #[serde(rename = "responseMessage")]
    pub(crate) message: String,
    #[serde(rename = "threadName")]
    pub(crate) thread: String,
    #[serde(rename = "dataType")]
    pub(crate) data_type: String,
    pub(crate) success: bool,
    #[serde(rename = "failureMessage")]
    pub(crate) failure: String,
    pub(crate) bytes: u64,
    #[serde(rename = "sentBytes")]
    pub(crate) sent_bytes: u64,
    #[serde(rename = "grpThreads")]
    pub(crate) group_threads: u32,
    #[serde(rename = "allThreads")]
    pub(crate) all_threads: u32,
    #[serde(rename = "URL")]
    pub(crate) url: String,
    #[serde(rename = "Latency")]
    pub(crate) latency: u64,
    #[serde(rename = "IdleTime")]
    pub(crate) idle: u64,
    #[serde(rename = "Connect")]
    pub(crate) connect: u64,
    /// The values of sample variables.
    #[serde(skip)]
    pub(crate) variables: Vec<String>,
}

/// The rows of a file, or none if it does not exist.
pub(crate) fn read_if_there(path: &Path) -> Vec<Row> {
    if path.exists() { read(path) } else { Vec::new() }
}

/// The rows of a file. Panics where it is not what JMeter's readers expect.
pub(crate) fn read(path: &Path) -> Vec<Row> {
    let text = fs_err::read_to_string(path).expect("a JTL is UTF-8");
    assert!(text.ends_with('\n'), "the last line is cut: {:?}", text.lines().last());
    assert!(!text.contains('\r'), "lines end in LF alone");
    let added = text.lines().next().and_then(|header| header.strip_prefix(HEADER));
    let added = added.expect("the header begins with JMeter's columns");
    let names = added.split(',').skip(1);
    assert!(names.clone().all(|name| name.len() > 2 && name.starts_with('"')), "{added}");
    let columns = 17 + names.count();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header: csv::StringRecord = HEADER.split(',').collect();
    let row = |record: Result<csv::StringRecord, csv::Error>| {
        let mut record = record?;
        assert_eq!(record.len(), columns, "{record:?}");
        let variables = record.iter().skip(17).map(str::to_owned).collect();
        record.truncate(17);
        Ok(Row { variables, ..record.deserialize(Some(&header))? })
    };
    let rows: Result<Vec<Row>, csv::Error> = reader.records().map(row).collect();
    let rows = rows.expect("every row has 17 columns of the right type");
    for row in &rows {
        assert!(row.time_stamp > 1_600_000_000_000, "no real start time: {row:?}");
        assert!(row.connect <= row.elapsed && row.latency <= row.elapsed, "{row:?}");
        assert!(!row.message.contains('\n') && !row.failure.contains('\n'), "{row:?}");
        assert!(!row.code.is_empty() && !row.message.is_empty(), "{row:?}");
        assert!(!row.success || row.failure.is_empty(), "{row:?}");
    }
    rows
}

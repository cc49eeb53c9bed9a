//! Results as figures.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::DateTime;

use crate::results::input::Jtl;
use crate::results::outliers::{Cluster, Clusters, Outliers};
use crate::results::row::{Kind, Row};
use crate::results::sub_results::SubResults;
use crate::results::{Oddity, ReadError, RunInfo, Source};
use crate::sample::{Code, DataType, Sample};
use crate::stats::{Blocks, LabelNames, Stats};

/// Time stamps before this many milliseconds since 1970 (September 2001) are not of any run.
const EARLIEST_MS: u64 = 1_000_000_000_000;

/// A sample that takes longer, in nanoseconds, is one of another unit: a day.
const LONG_NS: u64 = 86_400_000_000_000;

/// What one or more JTLs come to.
#[derive(Debug)]
pub struct Results {
    /// All figures. Transactions, and sub-results as JMeter writes them, are apart from the samplers.
    pub stats: Stats,
    /// The same over time.
    pub blocks: Blocks,
    /// Rows that were read.
    pub rows: u64,
    /// The first start, in milliseconds since 1970.
    pub started_ms: u64,
    /// The last end.
    pub ended_ms: u64,
    /// Whether all elapsed times of rows are whole milliseconds, whatever summaries tell beside that.
    pub rows_in_whole_ms: bool,
    /// Where the first second of the figures' series begins, in milliseconds since 1970.
    pub origin_ms: u64,
    /// What was odd.
    pub oddities: Vec<Oddity>,
    /// For each source what its summary says, if it has one.
    pub runs: Vec<Option<RunInfo>>,
    /// Summaries that do not belong to the rows beside them: their verdicts may still be worse than that of
    /// the rows.
    pub left_aside: Vec<RunInfo>,
}

/// Reads JTLs, and what the summaries beside them tell, into one set of figures. `origin` is the moment that
/// stands for the start of the first of them, or for its first row where that is not known. A summary that is
/// of other rows is left aside, and told as an oddity.
///
/// Fails if one of them cannot be read at all, or if there is no row in any.
pub fn read(sources: &[Source], origin: Instant) -> Result<Results, ReadError> {
    let mut reader = Reader::new(origin);
    reader.sources(sources)?;
    if !reader.contradictions.is_empty() || !reader.found.is_empty() {
        // Where the series begins, and what is a sub-result, was by summaries or times that do not count.
        let (aside, outliers) = (reader.contradictions, reader.found);
        reader = Reader { aside, outliers, ..Reader::new(origin) };
        reader.sources(sources)?;
    }
    let Reader { mut results, fractions, .. } = reader;
    if let [first, ..] = sources
        && results.rows == 0
    {
        let what = "there is no row: the run took no sample, or broke off before its first";
        return Err(ReadError::wrong(&first.jtl, None, what));
    }
    results.origin_ms = reader.first_ms.unwrap_or(0);
    results.rows_in_whole_ms = !fractions;
    if !fractions {
        results.stats.in_whole_ms();
    }
    if let [Some(run)] = &results.runs[..] {
        run.refine(&mut results.stats, &mut results.blocks);
    }
    Ok(results)
}

struct Reader {
    results: Results,
    origin: Instant,
    /// The time that `origin` stands for.
    first_ms: Option<u64>,
    /// Whether any elapsed time is not in whole milliseconds.
    fractions: bool,
    /// By place of the source, why its summary is left aside.
    aside: BTreeMap<usize, String>,
    /// By place of the source, why its summary cannot be of its rows.
    contradictions: BTreeMap<usize, String>,
    /// By place of the source, the times that do not count.
    outliers: BTreeMap<usize, Outliers>,
    /// The same, as they were found.
    found: BTreeMap<usize, Outliers>,
}

impl Reader {
    fn new(origin: Instant) -> Self {
        let results = Results {
            stats: Stats::default(),
            blocks: Blocks::default(),
            rows: 0,
            started_ms: u64::MAX,
            ended_ms: 0,
            rows_in_whole_ms: false,
            origin_ms: 0,
            oddities: Vec::new(),
            runs: Vec::new(),
            left_aside: Vec::new(),
        };
        Self {
            results,
            origin,
            first_ms: None,
            fractions: false,
            aside: BTreeMap::new(),
            contradictions: BTreeMap::new(),
            outliers: BTreeMap::new(),
            found: BTreeMap::new(),
        }
    }

    fn sources(&mut self, sources: &[Source]) -> Result<(), ReadError> {
        let names = Arc::new(LabelNames::default());
        let mut all = Stats::sharing(Arc::clone(&names));
        all.begin(self.origin);
        for (place, source) in sources.iter().enumerate() {
            // Apart, for the summary is of these rows alone.
            self.results.stats = Stats::sharing(Arc::clone(&names));
            self.results.stats.begin(self.origin);
            self.source(place, source)?;
            all.merge(std::mem::take(&mut self.results.stats));
        }
        self.results.stats = all;
        Ok(())
    }

    fn source(&mut self, place: usize, source: &Source) -> Result<(), ReadError> {
        let run = self.run(place, source);
        if self.first_ms.is_none() {
            self.first_ms = run.as_ref().and_then(RunInfo::started_ms);
        }
        let mut jtl = Jtl::open(&source.jtl)?;
        let rows = self.rows(place, &mut jtl, run.as_ref())?;
        if rows == 0 {
            jtl.note(None, "there is no row");
        }
        self.results.rows += rows;
        self.results.oddities.extend(jtl.finish(rows)?);
        if let Some(run) = &run {
            if let Some(why) = run.contradiction(&self.results.stats) {
                self.contradictions.insert(place, why);
            }
            run.add_to(&mut self.results.stats);
        }
        self.results.runs.push(run);
        Ok(())
    }

    /// What the summary of a source tells, unless it does not count.
    fn run(&mut self, place: usize, source: &Source) -> Option<RunInfo> {
        let path = source.summary.as_deref()?;
        let oddity = if let Some(why) = self.aside.get(&place) {
            let what = format!("this summary is left aside: {why}");
            self.results.left_aside.extend(RunInfo::read(path).ok());
            Oddity::new(path, None, what)
        } else {
            match RunInfo::read(path) {
                Ok(run) => return Some(run),
                // The rows are what counts.
                Err(error) => Oddity::new(&source.path, None, error.to_string()),
            }
        };
        self.results.oddities.push(oddity);
        None
    }

    /// Adds all rows of a file; gives their number.
    fn rows(
        &mut self,
        place: usize,
        jtl: &mut Jtl,
        run: Option<&RunInfo>,
    ) -> Result<u64, ReadError> {
        let (mut rows, mut early, mut subs) = (0, None, SubResults::default());
        let mut long = None;
        let (mut clusters, mut outliers) = (Clusters::default(), self.outliers.remove(&place));
        while jtl.advance()? {
            let why = match Row::of(&jtl.record(), &jtl.layout) {
                Ok(mut row) => {
                    rows += 1;
                    clusters.add(row.time_ms, jtl.line());
                    if let Some(outliers) = &mut outliers {
                        row.time_ms = outliers.counted(row.time_ms);
                    }
                    if row.time_ms < EARLIEST_MS {
                        early.get_or_insert_with(|| (jtl.line(), row.time_ms));
                    }
                    if row.elapsed > LONG_NS {
                        long.get_or_insert_with(|| (jtl.line(), row.elapsed / 1_000_000));
                    }
                    // A plan of ours may have labels that look like those of sub-results.
                    let is_sub_result =
                        subs.is_one(&row) && !run.is_some_and(|run| run.has_sampler(&row.label));
                    self.row(&row, is_sub_result);
                    continue;
                }
                Err(why) => why,
            };
            jtl.leave_out_current(why);
        }
        for Cluster { first_ms, rows, line, .. } in outliers.iter().flat_map(|own| &own.clusters) {
            let time =
                DateTime::from_timestamp_millis(i64::try_from(*first_ms).unwrap_or(i64::MAX));
            let time = time.map_or_else(
                || first_ms.to_string(),
                |time| time.format("%Y-%m-%d %H:%M:%S").to_string(),
            );
            let what = match rows {
                1 => format!(
                    "the time {time} is a day or more from all others: the row counts, at the time of the one before"
                ),
                rows => format!(
                    "the time {time} and those of {} more rows are a day or more from all others: the rows \
                     count, at the time of the one before",
                    rows - 1
                ),
            };
            jtl.note(Some(*line), what);
        }
        if let Some((line, ms)) = long {
            let what = format!(
                "`elapsed` is {ms} ms, which is more than a day: rates and means are worth nothing if that is in \
                 another unit"
            );
            jtl.note(Some(line), what);
        }
        if let Some(found) = clusters.outliers() {
            self.found.insert(place, found);
        }
        if let Some((line, time_ms)) = early {
            let what = format!(
                "the time stamp {time_ms} is no time of a run in milliseconds since 1970: rates and times of \
                 day are wrong if it is in seconds or counts from the start"
            );
            jtl.note(Some(line), what);
        }
        Ok(rows)
    }

    fn row(&mut self, row: &Row<'_>, is_sub_result: bool) {
        let transaction = match row.kind() {
            // It took no sample, and JMeter's report leaves it out too.
            Kind::EmptyTransaction => return,
            Kind::Transaction => true,
            Kind::Sample => is_sub_result,
        };
        let end_ms = row.end_ms();
        self.fractions |= !row.elapsed.is_multiple_of(1_000_000);
        let results = &mut self.results;
        results.started_ms = results.started_ms.min(row.time_ms);
        results.ended_ms = results.ended_ms.max(end_ms);
        let first_ms = *self.first_ms.get_or_insert(row.time_ms);
        let code = code(row);
        let (cause, failure_message) = if row.success { ("", "") } else { cause(row) };
        let sample = Sample {
            label: &row.label,
            start: moment(self.origin, first_ms, row.time_ms),
            elapsed: Duration::from_nanos(row.elapsed),
            connect: Duration::from_nanos(row.connect),
            latency: Duration::from_nanos(row.latency),
            idle: Duration::from_nanos(row.idle),
            code,
            message: &row.message,
            failure_message,
            // A code that is none of ours is all that tells it from others.
            cause: if code == Code::Other && !row.code.is_empty() { &row.code } else { cause },
            success: row.success,
            data_type: match row.data_type {
                b"text" => DataType::Text,
                b"bin" => DataType::Binary,
                _ => DataType::None,
            },
            bytes: row.bytes,
            sent_bytes: row.sent_bytes,
            thread: &row.thread,
            group_threads: row.group_threads,
            all_threads: row.all_threads,
            url: if row.url == "null" { "" } else { &row.url },
            variables: &[],
            first_exchange: false,
            delay: None,
            transaction,
        };
        results.stats.sample(&sample);
        results.blocks.record(&sample, end_ms);
    }
}

/// The moment that a time stamp stands for. One that no moment can stand for (years before the first row)
/// counts as the first row's.
fn moment(origin: Instant, first_ms: u64, time_ms: u64) -> Instant {
    let apart = Duration::from_millis(time_ms.abs_diff(first_ms));
    let moment =
        if time_ms >= first_ms { origin.checked_add(apart) } else { origin.checked_sub(apart) };
    moment.unwrap_or(origin)
}

fn code(row: &Row<'_>) -> Code {
    match row.code.as_bytes() {
        b"200" => Code::OK,
        // JMeter has no code for a transaction with failures.
        b"" => Code::Number(if row.success { 200 } else { 0 }),
        _ => Code::from_text(&row.code),
    }
}

/// What failures are grouped by, and an example: as in JMeter's dashboard the failed assertion where the
/// code says that all went well, and the response message elsewhere.
fn cause<'a>(row: &'a Row<'_>) -> (&'a str, &'a str) {
    let (message, failure): (&str, &str) = (&row.message, &row.failure_message);
    let went_well = row.code.is_empty() || row.code.starts_with(['2', '3']) || row.code == "101";
    let cause = match (went_well, failure, message) {
        (true, "", "") => "Assertion failed",
        (true, "", message) | (false, _, message @ (_ | "")) if !message.is_empty() => message,
        (_, failure, _) => failure,
    };
    (cause, if failure.is_empty() { cause } else { failure })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock;

    fn read_text(text: &[u8], summary: Option<&str>) -> Result<Results, ReadError> {
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("samples.jtl"), text).unwrap();
        if let Some(summary) = summary {
            fs_err::write(folder.path().join("summary.json"), summary).unwrap();
        }
        read(&[Source::find(folder.path()).unwrap()], clock::now())
    }

    const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,success\n";

    #[test]
    fn a_summary_that_is_none_is_told_and_the_rows_are_counted() {
        let text = format!("{HEADER}1700000000000,1,say,200,OK,true\n");
        for summary in ["", "{", "[1]", "{\"cores\": -1}", "{\"labels\": 3}"] {
            let results = read_text(text.as_bytes(), Some(summary)).unwrap();
            assert_eq!((results.rows, results.oddities.len()), (1, 1), "{summary}");
            assert!(results.oddities[0].to_string().contains("no summary of a run"), "{summary}");
        }
    }

    #[test]
    fn counts_of_a_summary_never_overflow() {
        let text = format!("{HEADER}1700000000000,1,say,200,OK,true\n");
        let summary = format!(
            "{{\"missed\": {0}, \"labels\": {{\"say\": {{\"count\": 1, \"late\": {0}, \"cut\": {0}, \"late_times\": \
             {{\"min_ms\": 1e300, \"mean_ms\": 1e15, \"max_ms\": 1e18}}}}}}, \"connections\": {{\"opened\": {0}}}}}",
            u64::MAX
        );
        let folder = tempfile::tempdir().unwrap();
        fs_err::write(folder.path().join("samples.jtl"), text).unwrap();
        fs_err::write(folder.path().join("summary.json"), summary).unwrap();
        let source = Source::find(folder.path()).unwrap();
        let results = read(&vec![source; 9], clock::now()).unwrap();
        assert_eq!(results.stats.missed, 9 << 53);
    }

    #[test]
    fn times_of_all_ages_are_no_reason_to_panic() {
        let rows = [
            "0,0,a,200,OK,true",
            "99999999999999,1000000000000,a,200,OK,true",
            "1700000000000,999999999999,a,x,m,false",
        ];
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
            let text = order.map(|at: usize| format!("{}\n", rows[at])).concat();
            let results = read_text(format!("{HEADER}{text}").as_bytes(), None).unwrap();
            assert_eq!((results.rows, results.stats.all().failed), (3, 1));
            assert!(results.stats.all().rate().is_some());
        }
    }

    #[test]
    fn a_time_far_from_all_others_is_told_and_spoils_no_rate() {
        let row = |time_ms: u64| format!("{time_ms},10,say,200,OK,true\n");
        let rows: String = (0..100).map(|number| row(1_700_000_000_000 + number * 10)).collect();
        for far_ms in [1_800_000_000_000, 5] {
            for text in [format!("{rows}{}", row(far_ms)), format!("{}{rows}", row(far_ms))] {
                let results = read_text(format!("{HEADER}{text}").as_bytes(), None).unwrap();
                let all = results.stats.all();
                let rate = all.rate().unwrap();
                assert_eq!(all.count, 101);
                assert!((100.0..=101.0).contains(&rate), "{far_ms}: {rate}");
                assert!(results.stats.course().intervals.len() <= 2);
                let told: Vec<String> = results.oddities.iter().map(ToString::to_string).collect();
                assert_eq!(told.len(), 1, "{told:?}");
                assert!(told[0].contains("is a day or more from all others"), "{told:?}");
            }
        }
    }

    #[test]
    fn a_sample_of_more_than_a_day_is_told() {
        let row = "1700000000000,86400001,say,200,OK,true\n";
        let results = read_text(format!("{HEADER}{row}").as_bytes(), None).unwrap();
        let told = results.oddities[0].to_string();
        assert!(told.contains("samples.jtl:2: `elapsed` is 86400001 ms"), "{told}");
    }

    proptest! {
        #[test]
        fn whatever_is_in_a_file_it_is_read_or_refused(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            lines in "([0-9]{0,14}[,;\"\n.-]{0,2}|true|a-0){0,40}",
        ) {
            read_text(&bytes, None).ok();
            read_text(format!("{HEADER}{lines}").as_bytes(), None).ok();
            let whole = "1700000000000,1,say,200,OK,true\n";
            let results = read_text(format!("{HEADER}{whole}{lines}\n{whole}").as_bytes(), None);
            prop_assert!(results.is_ok_and(|results| results.rows >= 1));
        }
    }
}

//! `latency.hlog`: the times of each interval as an interval log of `HdrHistogram`, which its tools plot,
//! join and compare.
//!
//! The lines without a tag are those of all samplers together; those with one are of the labels that
//! have a course of their own, with blanks, commas and the like percent-encoded.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use data_encoding::BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{
    IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializer};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::report::html::Page;
use crate::report::whole_file;
use crate::stats::Course;

/// Intervals of a label at most, as many as of all samplers together.
const MOST_INTERVALS: usize = 1_200;

/// What stands encoded in a tag: what it may not hold, and what the encoding begins with.
const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b',').add(b'%');

/// Values are microseconds; the largest of each line is told in milliseconds.
const MAXIMUM_DIVISOR: f64 = 1_000.0;

/// Writes the file under a temporary name and renames it. The error names the path.
pub(crate) fn write(path: &Path, page: &Page<'_>) -> io::Result<()> {
    whole_file::write(path, &render(page)?)
}

fn render(page: &Page<'_>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let all = page.stats.course();
    // Of results whose clock jumped the first interval is before the origin.
    let courses = page.stats.courses(MOST_INTERVALS);
    let first = courses.iter().map(|(_, course)| course).chain([&all]).filter_map(first_second);
    let before = first.min().unwrap_or(0).min(0);
    let start = start(page, before);
    let mut log = IntervalLogWriterBuilder::new();
    log.add_comment(&format!("[wsmeter {}]", env!("CARGO_PKG_VERSION")))
        .add_comment("[Histogram values are in microseconds; Interval_Max is in milliseconds]")
        .with_start_time(start)
        .with_base_time(start)
        .with_max_value_divisor(MAXIMUM_DIVISOR);
    let mut log = log.begin_log_with(&mut bytes, &mut serializer)?;
    let courses = courses.iter().map(|(label, course)| (Some(*label), course));
    for (label, course) in std::iter::once((None, &all)).chain(courses) {
        let tag = label.map(|label| utf8_percent_encode(label, ENCODED).to_string());
        for interval in &course.intervals {
            let times = interval.times();
            if times.histogram().is_empty() {
                continue;
            }
            let from = Duration::from_secs(interval.from.abs_diff(before));
            let tag = tag.as_deref().and_then(Tag::new);
            log.write_histogram(times.histogram(), from, interval.covered, tag)
                .map_err(|error| io::Error::other(format!("{error:?}")))?;
        }
    }
    Ok(bytes)
}

/// How many times the lines without a tag have; `None` if that is no such log.
pub(crate) fn count(log: &[u8]) -> Option<u64> {
    let mut deserializer = Deserializer::new();
    let mut count = 0_u64;
    for entry in IntervalLogIterator::new(log) {
        let LogEntry::Interval(line) = entry.ok()? else { continue };
        if line.tag().is_none() {
            let bytes = BASE64.decode(line.encoded_histogram().as_bytes()).ok()?;
            let histogram: Histogram<u64> = deserializer.deserialize(&mut &*bytes).ok()?;
            count = count.checked_add(histogram.len())?;
        }
    }
    Some(count)
}

fn first_second(course: &Course) -> Option<i64> {
    course.intervals.first().map(|interval| interval.from)
}

/// When the first interval begins, so many seconds from the start of the run; 1970 where that is not known.
fn start(page: &Page<'_>, second: i64) -> SystemTime {
    let started = page.started.map_or(SystemTime::UNIX_EPOCH, SystemTime::from);
    let distance = Duration::from_secs(second.unsigned_abs());
    let moved = if second < 0 { started.checked_sub(distance) } else { Some(started) };
    moved.filter(|moved| *moved >= SystemTime::UNIX_EPOCH).unwrap_or(SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use crate::sample::Sample;
    use crate::stats::Stats;

    fn decoded(text: &str) -> Vec<u8> {
        BASE64.decode(text.as_bytes()).unwrap()
    }

    /// Tag, start, duration and histogram of each line.
    fn read(bytes: &[u8]) -> Vec<(Option<String>, f64, f64, Histogram<u64>)> {
        let entry = |entry| match entry {
            Ok(LogEntry::Interval(line)) => {
                let bytes = decoded(line.encoded_histogram());
                let histogram = Deserializer::new().deserialize(&mut &*bytes).unwrap();
                let tag = line.tag().map(|tag| tag.as_str().to_owned());
                let [from, long] = [line.start_timestamp(), line.duration()];
                Some((tag, from.as_secs_f64(), long.as_secs_f64(), histogram))
            }
            Ok(_) => None,
            Err(error) => panic!("{error:?}"),
        };
        IntervalLogIterator::new(bytes).filter_map(entry).collect()
    }

    #[test]
    fn all_samples_are_in_the_untagged_lines_and_those_of_a_label_in_its_own() {
        let mut stats = Stats::default();
        let origin = clock::now();
        stats.begin(origin);
        let labels = ["say, all", "push\nü 100%"];
        for number in 0..90_u32 {
            let start = origin + Duration::from_millis(50) * number;
            let label = labels[usize::from(number % 3 == 0)];
            let elapsed = Duration::from_millis(u64::from(number) + 1);
            stats.sample(&Sample { label, start, elapsed, ..Sample::plain() });
        }
        let started = chrono::DateTime::from_timestamp(1_800_000_000, 500_000_000);
        let page = Page { started, ..Page::of("plan", &stats) };
        let bytes = render(&page).unwrap();
        let text = String::from_utf8(bytes.clone()).unwrap();
        assert!(text.starts_with("#[wsmeter "), "{text}");
        assert!(text.contains("#[StartTime: 1800000000.500"), "{text}");
        let lines = read(&bytes);
        let of = |tag: Option<&str>| {
            let mut all = Histogram::<u64>::new(2).unwrap();
            let own = lines.iter().filter(|line| line.0.as_deref() == tag);
            own.for_each(|line| all.add(&line.3).unwrap());
            all
        };
        assert_eq!(of(None).len(), 90);
        assert_eq!((count(&bytes), count(b"#[x]\n1,2,3,none\n")), (Some(90), None));
        assert_eq!(of(Some("say%2C%20all")).len(), 60);
        assert_eq!(of(Some(r"push\n%C3%BC%20100%25")).len(), 30);
        let p99 = of(None).value_at_quantile(0.99);
        assert!((89_000..=91_000).contains(&p99), "{p99}");
        let untagged: Vec<f64> =
            lines.iter().filter(|line| line.0.is_none()).map(|line| line.1).collect();
        assert_eq!(untagged, [0.0, 1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn a_clock_that_was_before_the_start_gives_no_negative_time() {
        let mut stats = Stats::default();
        let origin = clock::now() + Duration::from_secs(100);
        stats.begin(origin);
        let elapsed = Duration::from_millis(1);
        for seconds in [0, 30] {
            let start = origin.checked_sub(Duration::from_secs(seconds)).unwrap();
            stats.sample(&Sample { start, elapsed, ..Sample::plain() });
        }
        let started = chrono::DateTime::from_timestamp(1_000, 0);
        let bytes = render(&Page { started, ..Page::of("plan", &stats) }).unwrap();
        let times: Vec<f64> = read(&bytes).iter().map(|line| line.1).collect();
        assert_eq!(times[..2], [0.0, 30.0]);
        assert!(String::from_utf8(bytes).unwrap().contains("#[StartTime: 970.000"));
    }

    #[test]
    fn without_samples_there_are_only_the_headers() {
        let stats = Stats::default();
        let bytes = render(&Page::of("plan", &stats)).unwrap();
        assert!(read(&bytes).is_empty());
    }
}

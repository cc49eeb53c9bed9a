//! What is known of one label.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::clock::nanoseconds;
use crate::sample::{Code, Delay, Sample, one_line};
use crate::stats::{Times, ToldTimes};

/// Different causes of failure that one label keeps apart.
const MAX_CAUSES: usize = 100;

/// The cause under which further ones are counted.
const OTHER_CAUSES: &str = "(other causes)";

/// Why samples of a label failed: the code and the text before variables were expanded.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CauseKey {
    /// The rows' code.
    pub code: Code,
    /// The unexpanded text, or the response message where there is none; as a row would hold it.
    pub text: String,
}

impl CauseKey {
    /// The code as rows have it: the text tells one that is none of ours.
    pub fn shown_code(&self) -> Cow<'_, str> {
        match self.code {
            Code::Other => Cow::Borrowed(&self.text),
            code => Cow::Owned(code.to_string()),
        }
    }
}

/// So many causes of a label keep what the server answered.
const MAX_ANSWERS: usize = 20;

/// How often a cause came, and one of its failure messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// Rows.
    pub count: u64,
    /// The first one's message.
    pub example: String,
}

/// All figures of one label.
#[derive(Debug, Clone, Default)]
pub struct LabelStats {
    /// Rows.
    pub count: u64,
    /// Rows that failed.
    pub failed: u64,
    /// Executions without a row because an earlier sampler failed, by its code.
    pub skipped: HashMap<Code, u64>,
    /// Round trips of replies that came after their request had failed, and were told apart.
    pub late: Option<Box<Times>>,
    /// Messages that fitted no matcher and that no step could read.
    pub unmatched: u64,
    /// Messages that `read` steps took.
    pub messages: u64,
    /// Times between the messages of a `read`.
    pub gaps: Option<Box<Times>>,
    /// Messages whose server claims to have sent them after they arrived.
    pub clock_skew: u64,
    /// Messages that arrived before their request was written.
    pub early: u64,
    /// Requests whose reply did not come.
    pub unanswered: u64,
    /// Messages that filters discarded, by the filter as written, in order of first appearance.
    pub filtered: Vec<(String, u64)>,
    /// Reads that the end of the run cut off.
    pub cut: u64,
    /// Why rows failed, in order of first appearance.
    pub causes: Vec<(CauseKey, Cause)>,
    /// What HTTP servers answered, the first time for each cause.
    answers: Vec<(CauseKey, String)>,
    /// Elapsed times of all rows but those with code `NO_MESSAGE`.
    pub all: Times,
    /// Elapsed times of the rows that passed, where some failed; else `all` tells the same.
    ok: Option<Box<Times>>,
    /// Elapsed times of the first exchange on each connection.
    first: Option<Box<Times>>,
    /// Times from the intended start to the end, of rows that a schedule began: what they would have
    /// taken for someone who did not wait for the ones before (coordinated omission). Those that a
    /// delay left out are among them, each with the time that was still left of it, as with
    /// HdrHistogram's `recordValueWithExpectedInterval`.
    pub intended: Option<Box<Times>>,
    /// From the first start to the last end.
    span: Option<(Instant, Instant)>,
}

/// Figures of a label as a summary tells them.
#[derive(Debug, Clone, Default)]
pub struct ToldLabel {
    /// Rows a second.
    pub rate: Option<f64>,
    /// Elapsed times of all rows.
    pub all: ToldTimes,
    /// Those of the rows that passed.
    pub ok: ToldTimes,
    /// The median of the first exchange on each connection.
    pub first: Option<Duration>,
    /// Times between the messages of a `read`.
    pub gaps: Option<ToldTimes>,
    /// Times from the intended start.
    pub intended: Option<ToldTimes>,
}

impl LabelStats {
    /// Takes figures of the same rows from one who knew their times better.
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no 53 bits")]
    pub fn refine(&mut self, told: &ToldLabel) {
        if let Some(ok) = &mut self.ok {
            ok.refine(&told.ok);
        }
        self.all.refine(&told.all);
        let count = self.count;
        let times = |told: &ToldTimes| Box::new(Times::told(count, told));
        if let Some(median) = told.first {
            let [min, mean, max] = [Some(median); 3];
            let percentiles = vec![(0.5, median)];
            self.first = Some(times(&ToldTimes { min, mean, max, percentiles }));
        }
        let parts = [(&mut self.gaps, &told.gaps), (&mut self.intended, &told.intended)];
        for (own, told) in parts {
            match (own, told) {
                // Of these there may be more or fewer than rows.
                (Some(own), Some(told)) => own.refine(told),
                (own @ None, Some(told)) => *own = Some(times(told)),
                (_, None) => {}
            }
        }
        let long = told.rate.filter(|rate| *rate > 0.0).map(|rate| count as f64 / rate);
        let long = long.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        if let (Some((start, _)), Some(long)) = (self.span, long)
            && let Some(end) = start.checked_add(long)
        {
            self.span = Some((start, end));
        }
    }

    /// Says that the times of its rows were rounded to whole milliseconds.
    pub fn in_whole_ms(&mut self) {
        self.all.in_whole_ms();
        if let Some(ok) = &mut self.ok {
            ok.in_whole_ms();
        }
    }

    /// Adds a row.
    pub fn record(&mut self, sample: &Sample<'_>) {
        self.count += 1;
        let end = sample.start + sample.elapsed + sample.idle;
        self.extend_span(sample.start, end);
        if !sample.success {
            self.fail(sample);
        }
        if sample.code == Code::NoMessage {
            return;
        }
        if let Some(ok) = &mut self.ok
            && sample.success
        {
            ok.record(sample.elapsed);
        }
        self.all.record(sample.elapsed);
        if let Some(delay) = sample.delay {
            record_intended(self.intended.get_or_insert_default(), sample.elapsed, delay);
        }
        if sample.first_exchange {
            self.first.get_or_insert_default().record(sample.elapsed);
        }
    }

    /// A copy of what is counted, and of the elapsed times of all rows: their percentiles only if they are
    /// wanted, for they take most of the memory.
    pub(super) fn outline(&self, percentiles: bool) -> Self {
        Self {
            count: self.count,
            failed: self.failed,
            skipped: self.skipped.clone(),
            late: self.late.as_ref().map(|late| Box::new(late.without_quantiles())),
            causes: self.causes.clone(),
            all: if percentiles { self.all.clone() } else { self.all.without_quantiles() },
            ..Self::default()
        }
    }

    /// Adds all that another has seen.
    pub fn merge(&mut self, other: &Self) {
        if self.ok.is_some() || other.ok.is_some() {
            let mut ok = self.ok().clone();
            ok.merge(other.ok());
            self.ok = Some(Box::new(ok));
        }
        self.count += other.count;
        self.failed += other.failed;
        if let Some(late) = &other.late {
            self.late.get_or_insert_default().merge(late);
        }
        if let Some(gaps) = &other.gaps {
            self.gaps.get_or_insert_default().merge(gaps);
        }
        self.messages += other.messages;
        self.unmatched += other.unmatched;
        self.clock_skew += other.clock_skew;
        self.early += other.early;
        self.unanswered += other.unanswered;
        self.cut += other.cut;
        for (filter, count) in &other.filtered {
            self.add_filtered(filter, *count);
        }
        for (code, count) in &other.skipped {
            *self.skipped.entry(*code).or_default() += count;
        }
        for (key, cause) in &other.causes {
            self.add_cause(key.code, &key.text, &cause.example, cause.count);
        }
        for (key, answer) in &other.answers {
            self.add_answer(key.code, &key.text, answer);
        }
        self.all.merge(&other.all);
        if let Some(first) = &other.first {
            self.first.get_or_insert_default().merge(first);
        }
        if let Some(intended) = &other.intended {
            self.intended.get_or_insert_default().merge(intended);
        }
        if let Some((start, end)) = other.span {
            self.extend_span(start, end);
        }
    }

    /// Elapsed times of the rows that passed.
    pub fn ok(&self) -> &Times {
        self.ok.as_deref().unwrap_or(&self.all)
    }

    /// The median of the first exchange on each connection.
    pub fn first(&self) -> Option<Duration> {
        self.first.as_ref()?.percentile(50.0)
    }

    /// Replies that came after their request had failed, and were told apart.
    pub fn late(&self) -> u64 {
        self.late.as_ref().map_or(0, |late| late.count())
    }

    /// Failed rows among all, from 0 to 1; `None` without rows.
    #[expect(clippy::cast_precision_loss, reason = "a ratio needs no 53 bits")]
    pub fn error_rate(&self) -> Option<f64> {
        (self.count > 0).then(|| self.failed as f64 / self.count as f64)
    }

    /// Rows a second, from the first start to the last end as in JMeter's dashboard; `None` where
    /// no time passed.
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no 53 bits")]
    pub fn rate(&self) -> Option<f64> {
        let (start, end) = self.span?;
        let seconds = end.saturating_duration_since(start).as_secs_f64();
        (seconds > 0.0).then(|| self.count as f64 / seconds)
    }

    /// Adds messages that a filter discarded.
    pub fn add_filtered(&mut self, filter: &str, count: u64) {
        match self.filtered.iter_mut().find(|(known, _)| known == filter) {
            Some((_, sum)) => *sum += count,
            None => self.filtered.push((filter.to_owned(), count)),
        }
    }

    /// Executions that were skipped, for whatever cause.
    pub fn skips(&self) -> u64 {
        self.skipped.values().sum()
    }

    /// Skipped executions among rows and skipped ones, from 0 to 1; `None` without any.
    #[expect(clippy::cast_precision_loss, reason = "a ratio needs no 53 bits")]
    pub fn skip_rate(&self) -> Option<f64> {
        let (skips, all) = (self.skips(), self.count + self.skips());
        (all > 0).then(|| skips as f64 / all as f64)
    }

    fn fail(&mut self, sample: &Sample<'_>) {
        self.failed += 1;
        if self.ok.is_none() {
            self.ok = Some(Box::new(self.all.clone()));
        }
        let text = if sample.cause.is_empty() { sample.message } else { sample.cause };
        let example = match sample.failure_message {
            "" => sample.message,
            message => message,
        };
        self.add_cause(sample.code, &one_line(text), example, 1);
    }

    /// Keeps what a server answered, if it is the first time for this cause.
    pub(crate) fn add_answer(&mut self, code: Code, cause: &str, answer: &str) {
        let key = CauseKey { code, text: one_line(cause).into_owned() };
        if self.answers.len() < MAX_ANSWERS && self.answer(&key).is_none() {
            self.answers.push((key, answer.to_owned()));
        }
    }

    /// What the server answered when a sample failed with this cause, if that was HTTP.
    pub fn answer(&self, cause: &CauseKey) -> Option<&str> {
        let found = self.answers.iter().find(|(known, _)| known == cause);
        found.map(|(_, answer)| answer.as_str())
    }

    fn add_cause(&mut self, code: Code, text: &str, example: &str, count: u64) {
        let known = |causes: &[(CauseKey, Cause)], text: &str| {
            causes.iter().position(|(key, _)| key.code == code && key.text == text)
        };
        let mut text = text;
        let mut at = known(&self.causes, text);
        if at.is_none() && self.causes.len() >= MAX_CAUSES {
            text = OTHER_CAUSES;
            at = known(&self.causes, text);
        }
        match at {
            Some(at) => self.causes[at].1.count += count,
            None => self.causes.push((
                CauseKey { code, text: text.to_owned() },
                Cause { count, example: one_line(example).into_owned() },
            )),
        }
    }

    fn extend_span(&mut self, start: Instant, end: Instant) {
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
    }
}

/// So many of those that a delay left out are recorded each for itself; of more, one stands for several.
const MOST_LEFT_OUT: u64 = 10_000;

/// What a sample would have taken from its intended start, and what those would have taken that its delay
/// left out: each was to begin an interval after the one before, and would have waited as long less.
fn record_intended(times: &mut Times, elapsed: Duration, delay: Delay) {
    times.record(delay.by.saturating_add(elapsed));
    let Some(interval) = delay.interval.filter(|interval| !interval.is_zero()) else { return };
    let (by, interval) = (nanoseconds(delay.by), nanoseconds(interval));
    let left_out = by.saturating_sub(1) / interval;
    let each = left_out.div_ceil(MOST_LEFT_OUT).max(1);
    let mut number = 1;
    while number <= left_out {
        let rest = Duration::from_nanos(by - number * interval);
        let count = u32::try_from(each.min(left_out + 1 - number)).unwrap_or(u32::MAX);
        times.record_many(rest.saturating_add(elapsed), count);
        number += each;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_delay_left_out_counts_with_the_time_that_was_left_of_it() {
        let [ms_1, ms_10] = [1, 10].map(Duration::from_millis);
        let delay = |by_ms| Delay { by: Duration::from_millis(by_ms), interval: Some(ms_10) };
        let mut times = Times::default();
        record_intended(&mut times, ms_1, delay(10));
        assert_eq!(times.count(), 1, "the next begins when it was to");
        record_intended(&mut times, ms_1, delay(35));
        // 11; and 36, 26, 16, 6.
        assert_eq!((times.count(), times.mean()), (5, Some(Duration::from_millis(19))));
        // Beyond all measure, and done at once.
        let interval = Some(Duration::from_nanos(1));
        record_intended(&mut times, ms_1, Delay { by: Duration::from_hours(1_000), interval });
        assert!(times.count() > 3_000_000_000_000, "{}", times.count());
    }
}

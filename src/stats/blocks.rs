//! What happened in each of some equal spans of a run, label by label: what comparing runs needs.
//!
//! Samples that follow each other are alike (a pause of the server's garbage collector slows down hundreds of
//! them), so thousands of samples are not thousands of witnesses. How much figures of whole spans differ from
//! each other tells how far those of the run can be trusted.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hdrhistogram::Histogram;

use crate::clock::round_ms;
use crate::sample::{Code, Sample, one_line};
use crate::stats::OTHER_LABELS;
use crate::stats::label_names::LABELS;

/// Spans that a run is divided into, at most; when there are more, pairs of them become one.
const BLOCKS: usize = 64;

/// The first span's length, and the shortest there is.
const SHORTEST_MS: u64 = 250;

/// A run divided into spans of equal length.
#[derive(Debug, Clone)]
pub struct Blocks {
    /// The end of the first row, from which spans are counted.
    first_ms: Option<u64>,
    length_ms: u64,
    /// The last end that was seen, from `first_ms`.
    last_ms: u64,
    /// By label, transactions apart.
    index: [HashMap<Arc<str>, usize>; 2],
    labels: Vec<LabelBlocks>,
    /// The one that was asked for last.
    last: usize,
}

/// The spans of a label.
#[derive(Debug, Clone)]
pub struct LabelBlocks {
    /// The label.
    pub label: Arc<str>,
    /// Whether it is a transaction's.
    pub transaction: bool,
    blocks: Vec<Block>,
    /// Percentiles that are better known than from the rows: shares, and the time that each does not exceed.
    told: Vec<(f64, Duration)>,
}

/// What happened in a span.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// Rows that ended in it.
    pub count: u64,
    /// Those of them that failed.
    pub failed: u64,
    times: Option<Box<Histogram<u32>>>,
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            first_ms: None,
            length_ms: SHORTEST_MS,
            last_ms: 0,
            index: Default::default(),
            labels: Vec::new(),
            last: 0,
        }
    }
}

impl Blocks {
    /// Adds a row that ended at `end_ms`, in milliseconds since whenever.
    pub fn record(&mut self, sample: &Sample<'_>, end_ms: u64) {
        let first_ms = *self.first_ms.get_or_insert(end_ms);
        let after_ms = end_ms.saturating_sub(first_ms);
        self.last_ms = self.last_ms.max(after_ms);
        while after_ms / self.length_ms >= BLOCKS as u64 {
            self.merge_pairs();
        }
        let place = usize::try_from(after_ms / self.length_ms).unwrap_or(BLOCKS - 1);
        let at = self.find(sample.label, sample.transaction);
        let blocks = &mut self.labels[at].blocks;
        if blocks.len() <= place {
            blocks.resize(place + 1, Block::default());
        }
        blocks[place].record(sample);
    }

    /// The labels in order of first appearance.
    pub fn labels(&self) -> &[LabelBlocks] {
        &self.labels
    }

    /// Takes percentiles of labels from one who knew the times better than rows tell them; `told` has them by
    /// label and whether it is a transaction's.
    pub fn refine(&mut self, told: impl Fn(&str, bool) -> Option<Vec<(f64, Duration)>>) {
        for label in &mut self.labels {
            label.told = told(&label.label, label.transaction).unwrap_or_default();
        }
    }

    /// How many spans the run has.
    pub fn count(&self) -> usize {
        usize::try_from(self.last_ms / self.length_ms).map_or(BLOCKS, |last| last + 1)
    }

    /// How long each is, in seconds; the last ends with the run.
    #[expect(clippy::cast_precision_loss, reason = "a run has fewer than 2^53 milliseconds")]
    pub fn seconds(&self) -> Vec<f64> {
        let count = self.count();
        let mut seconds = vec![self.length_ms as f64 / 1e3; count];
        let rest_ms = self.last_ms - self.length_ms * (count as u64 - 1);
        // A run that ends just when a span begins has had a moment of it.
        seconds[count - 1] = rest_ms.max(1) as f64 / 1e3;
        seconds
    }

    fn find(&mut self, label: &str, transaction: bool) -> usize {
        let is_it =
            |known: &LabelBlocks| known.transaction == transaction && *known.label == *label;
        if self.labels.get(self.last).is_some_and(is_it) {
            return self.last;
        }
        // The label as the JTL writes it.
        let name = one_line(label);
        let index = &mut self.index[usize::from(transaction)];
        let full = index.len() >= LABELS && !index.contains_key(&*name);
        let name = if full { OTHER_LABELS } else { &*name };
        self.last = index.get(name).copied().unwrap_or_else(|| {
            let (label, at): (Arc<str>, _) = (name.into(), self.labels.len());
            index.insert(Arc::clone(&label), at);
            self.labels.push(LabelBlocks {
                label,
                transaction,
                blocks: Vec::new(),
                told: Vec::new(),
            });
            at
        });
        self.last
    }

    fn merge_pairs(&mut self) {
        self.length_ms = self.length_ms.saturating_mul(2);
        for label in &mut self.labels {
            let mut halves = std::mem::take(&mut label.blocks).into_iter();
            while let Some(mut block) = halves.next() {
                if let Some(second) = halves.next() {
                    block.merge(&second);
                }
                label.blocks.push(block);
            }
        }
    }
}

impl LabelBlocks {
    /// Its spans, up to the last in which something happened.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The time that a share of all, from 0 to 1, does not exceed, if it is known better than from the spans.
    pub fn told(&self, share: f64) -> Option<Duration> {
        let found = self.told.iter().find(|(known, _)| (known - share).abs() < 1e-9);
        found.map(|(_, time)| *time)
    }
}

impl Block {
    fn record(&mut self, sample: &Sample<'_>) {
        self.count += 1;
        self.failed += u64::from(!sample.success);
        if sample.code != Code::NoMessage {
            // In milliseconds, as rows have them. Two digits: a time is within 1 % of the truth.
            let times = self.times.get_or_insert_with(|| {
                Box::new(Histogram::new(2).expect("1 to 5 digits are valid"))
            });
            // A histogram that grows takes every value that a row can have.
            times.record(round_ms(sample.elapsed)).ok();
        }
    }

    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.failed += other.failed;
        match (&mut self.times, &other.times) {
            (Some(own), Some(theirs)) => {
                own.add(&**theirs).ok();
            }
            (own @ None, Some(theirs)) => *own = Some(theirs.clone()),
            (_, None) => {}
        }
    }

    /// Elapsed times as the histogram has them, shortest first: of each group of like ones the least and the
    /// greatest, in milliseconds, and how many there were.
    pub fn times(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.times.iter().flat_map(|times| {
            times.iter_recorded().map(|step| {
                let value = step.value_iterated_to();
                let (lowest, highest) =
                    (times.lowest_equivalent(value), times.highest_equivalent(value));
                (lowest, highest, u64::from(step.count_at_value()))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(elapsed_ms: u64, success: bool) -> Sample<'static> {
        Sample { elapsed: Duration::from_millis(elapsed_ms), success, ..Sample::plain() }
    }

    #[test]
    fn rows_are_counted_in_the_span_in_which_they_ended() {
        let mut blocks = Blocks::default();
        for (end_ms, success) in [(1_000, true), (1_249, false), (1_250, true), (900, true)] {
            blocks.record(&sample(3, success), end_ms);
        }
        let [say] = blocks.labels() else { unreachable!("there is one label") };
        let counts: Vec<_> = say.blocks().iter().map(|block| (block.count, block.failed)).collect();
        assert_eq!(counts, [(3, 1), (1, 0)]);
        assert_eq!(say.blocks()[0].times().collect::<Vec<_>>(), [(3, 3, 3)]);
        assert_eq!(blocks.seconds(), [0.25, 0.001]);
    }

    #[test]
    fn a_long_run_has_no_more_spans_than_a_short_one_and_loses_nothing() {
        let mut blocks = Blocks::default();
        for second in 0..10_000 {
            blocks.record(&sample(second % 7, true), second * 1_000);
        }
        assert!((BLOCKS / 2..=BLOCKS).contains(&blocks.count()), "{}", blocks.count());
        let say = &blocks.labels()[0];
        assert_eq!(say.blocks().iter().map(|block| block.count).sum::<u64>(), 10_000);
        let timed = say.blocks().iter().flat_map(Block::times).map(|(_, _, count)| count);
        assert_eq!(timed.sum::<u64>(), 10_000);
        assert!((blocks.seconds().iter().sum::<f64>() - 9_999.0).abs() < 0.001);
    }

    #[test]
    fn transactions_are_apart_and_times_of_no_message_are_none() {
        let mut blocks = Blocks::default();
        blocks.record(&sample(1, true), 1);
        blocks.record(&Sample { transaction: true, ..sample(1, true) }, 1);
        blocks.record(&Sample { code: Code::NoMessage, ..sample(9, true) }, 1);
        let [say, transaction] = blocks.labels() else { unreachable!("there are two") };
        assert!(transaction.transaction && !say.transaction);
        assert_eq!((say.blocks()[0].count, say.blocks()[0].times().count()), (2, 1));
    }
}

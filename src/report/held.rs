//! Samples that wait to be worked off together.
//!
//! Rows and figures are a quarter of the instructions that a sample costs, and after a turn of the
//! runtime none of them is in the processor's cache. For many samples in a row they are fetched once.

use std::time::{Duration, Instant};

use crate::sample::{Code, DataType, Delay, Sample};

/// How many are worked off together: they and their texts fit into the innermost cache.
const MOST: usize = 64;

/// Samples in the order in which they came, without a failure or anything else that is rare.
#[derive(Debug, Default)]
pub(crate) struct Held {
    kept: Vec<Kept>,
    /// Label, message, thread and URL of each.
    texts: String,
}

/// A [`Sample`], but for its texts.
#[derive(Debug)]
struct Kept {
    start: Instant,
    elapsed: Duration,
    connect: Duration,
    latency: Duration,
    idle: Duration,
    bytes: u64,
    sent_bytes: u64,
    delay: Option<Delay>,
    group_threads: u32,
    all_threads: u32,
    /// Where its label ends in the texts, and so on.
    label: usize,
    message: usize,
    thread: usize,
    url: usize,
    code: Code,
    data_type: DataType,
    first_exchange: bool,
}

impl Held {
    /// Keeps a sample, unless there is something rare about it.
    pub(crate) fn keep(&mut self, sample: &Sample<'_>) -> bool {
        let Sample { success, variables, transaction, cause, failure_message, .. } = sample;
        let is_rare = !success || *transaction || !variables.is_empty();
        if is_rare || !cause.is_empty() || !failure_message.is_empty() {
            return false;
        }
        let mut add = |text: &str| {
            self.texts.push_str(text);
            self.texts.len()
        };
        let [label, message, thread, url] =
            [sample.label, sample.message, sample.thread, sample.url].map(&mut add);
        self.kept.push(Kept {
            start: sample.start,
            elapsed: sample.elapsed,
            connect: sample.connect,
            latency: sample.latency,
            idle: sample.idle,
            bytes: sample.bytes,
            sent_bytes: sample.sent_bytes,
            delay: sample.delay,
            group_threads: sample.group_threads,
            all_threads: sample.all_threads,
            label,
            message,
            thread,
            url,
            code: sample.code,
            data_type: sample.data_type,
            first_exchange: sample.first_exchange,
        });
        true
    }

    /// Whether they are to be worked off before more are kept.
    pub(crate) fn is_full(&self) -> bool {
        self.kept.len() >= MOST
    }

    /// Hands out all, in their order.
    pub(crate) fn work_off(&mut self, mut each: impl FnMut(&Sample<'_>)) {
        let mut begin = 0;
        for kept in self.kept.drain(..) {
            let mut next = |end| {
                let start = std::mem::replace(&mut begin, end);
                self.texts.get(start..end).unwrap_or_default()
            };
            each(&Sample {
                label: next(kept.label),
                message: next(kept.message),
                thread: next(kept.thread),
                url: next(kept.url),
                start: kept.start,
                elapsed: kept.elapsed,
                connect: kept.connect,
                latency: kept.latency,
                idle: kept.idle,
                code: kept.code,
                failure_message: "",
                cause: "",
                success: true,
                data_type: kept.data_type,
                bytes: kept.bytes,
                sent_bytes: kept.sent_bytes,
                group_threads: kept.group_threads,
                all_threads: kept.all_threads,
                variables: &[],
                first_exchange: kept.first_exchange,
                delay: kept.delay,
                transaction: false,
            });
        }
        self.texts.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_out_as_it_was_and_in_order() {
        let mut held = Held::default();
        let delay = Some(Delay { by: Duration::from_millis(3), interval: None });
        let all = [
            Sample { delay, ..Sample::plain() },
            Sample { label: "", url: "", first_exchange: true, ..Sample::plain() },
            Sample { label: "grüße", data_type: DataType::None, ..Sample::plain() },
        ];
        for round in 0..2 {
            for sample in &all {
                assert!(held.keep(sample), "{round}");
            }
            let mut came = 0;
            held.work_off(|sample| {
                assert_eq!(*sample, all[came]);
                came += 1;
            });
            assert_eq!(came, all.len());
        }
    }

    #[test]
    fn what_is_rare_is_not_kept() {
        let mut held = Held::default();
        let plain = Sample::plain;
        for rare in [
            Sample { success: false, ..plain() },
            Sample { transaction: true, ..plain() },
            Sample { variables: &[None], ..plain() },
            Sample { cause: "why", ..plain() },
            Sample { failure_message: "why", ..plain() },
        ] {
            assert!(!held.keep(&rare), "{rare:?}");
        }
        held.work_off(|sample| panic!("{sample:?}"));
    }
}

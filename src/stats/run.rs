//! All figures of a run, or of one worker's part of it.

use std::collections::{BTreeMap, HashMap};

use crate::sample::{EndCause, Note, Sample};
use crate::stats::{ConnectionStats, LabelStats};

/// Labels with figures of their own.
const MAX_LABELS: usize = 1_000;

/// The label under which the rows of further ones are counted.
pub const OTHER_LABELS: &str = "(other labels)";

/// All figures of a run, or of one worker's part of it.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    index: HashMap<String, usize>,
    /// In order of first appearance.
    labels: Vec<(String, LabelStats)>,
    /// Of connections.
    pub connections: ConnectionStats,
    /// Threads that were started.
    pub threads_started: u64,
    /// Threads that ended before their loops or time were used up, with one of them.
    pub ended_early: BTreeMap<EndCause, (u64, String)>,
}

impl Stats {
    /// Adds a row.
    pub fn sample(&mut self, sample: &Sample<'_>) {
        self.label_mut(sample.label).record(sample);
    }

    /// Adds what has no row.
    pub fn note(&mut self, note: &Note<'_>) {
        let connections = &mut self.connections;
        match note {
            Note::Skipped { label, cause } => {
                *self.label_mut(label).skipped.entry(*cause).or_default() += 1;
            }
            Note::Cut { label } => self.label_mut(label).cut += 1,
            Note::Early { label, count } => self.label_mut(label).early += u64::from(*count),
            Note::Unanswered { label } => self.label_mut(label).unanswered += 1,
            Note::InboxDropped { count } => connections.inbox_dropped += count,
            Note::LostWhileIdle { cause } => {
                *connections.lost_while_idle.entry(*cause).or_default() += 1;
            }
            Note::Opened { phases } => connections.open(phases),
            Note::OpenFailed => connections.refused += 1,
            Note::CloseReceived { code } => {
                *connections.close_codes.entry(*code).or_default() += 1;
            }
            Note::ThreadStarted => self.threads_started += 1,
            Note::ThreadEndedEarly { thread, cause } => {
                self.ended_early.entry(*cause).or_insert_with(|| (0, (*thread).to_owned())).0 += 1;
            }
            Note::ConnectionEnded | Note::ThreadFinished => {}
        }
    }

    /// Adds all that another has seen.
    pub fn merge(&mut self, other: &Self) {
        for (label, stats) in &other.labels {
            self.label_mut(label).merge(stats);
        }
        self.connections.merge(&other.connections);
        self.threads_started += other.threads_started;
        for (cause, (count, example)) in &other.ended_early {
            self.ended_early.entry(*cause).or_insert_with(|| (0, example.clone())).0 += count;
        }
    }

    /// The labels in order of first appearance.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &LabelStats)> {
        self.labels.iter().map(|(label, stats)| (label.as_str(), stats))
    }

    /// All labels together.
    pub fn all(&self) -> LabelStats {
        let mut all = LabelStats::default();
        self.labels.iter().for_each(|(_, stats)| all.merge(stats));
        all
    }

    fn label_mut(&mut self, label: &str) -> &mut LabelStats {
        let index = match self.index.get(label) {
            Some(index) => *index,
            None => self.add_label(label),
        };
        &mut self.labels[index].1
    }

    fn add_label(&mut self, label: &str) -> usize {
        let label = if self.labels.len() < MAX_LABELS { label } else { OTHER_LABELS };
        if let Some(index) = self.index.get(label) {
            return *index;
        }
        let index = self.labels.len();
        self.index.insert(label.to_owned(), index);
        self.labels.push((label.to_owned(), LabelStats::default()));
        index
    }
}

//! All figures of a run, or of one worker's part of it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::sample::{EndCause, Note, Sample, one_line};
use crate::stats::label_names::{Admission, Names};
use crate::stats::{ConnectionStats, LabelNames, LabelStats, OTHER_LABELS};

/// All figures of a run, or of one worker's part of it. For a label that it knows it neither locks
/// nor allocates.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    names: Arc<LabelNames>,
    /// All labels that have figures of their own, once there can be no more.
    full: Option<Arc<Names>>,
    index: HashMap<Arc<str>, usize>,
    labels: Vec<Label>,
    /// Of connections.
    pub connections: ConnectionStats,
    /// Threads that were started.
    pub threads_started: u64,
    /// Threads that ended before their loops or time were used up, with one of them.
    pub ended_early: BTreeMap<EndCause, (u64, String)>,
}

#[derive(Debug, Clone)]
struct Label {
    name: Arc<str>,
    /// Place in the order of first appearance over all workers.
    order: u32,
    stats: LabelStats,
}

impl Stats {
    /// Starts one of several that will be merged.
    pub fn sharing(names: Arc<LabelNames>) -> Self {
        Self { names, ..Self::default() }
    }

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
            Note::Filtered { label, filter, count } => {
                self.label_mut(label).add_filtered(filter, *count);
            }
            Note::Late { label, round_trip } => {
                self.label_mut(label).late.get_or_insert_default().record(*round_trip);
            }
            Note::Unmatched { label, count } => self.label_mut(label).unmatched += count,
            Note::Read { label, messages } => self.label_mut(label).messages += messages,
            Note::Gap { label, gap } => {
                self.label_mut(label).gaps.get_or_insert_default().record(*gap);
            }
            Note::ClockSkew { label } => self.label_mut(label).clock_skew += 1,
            Note::Unanswered { label } => self.label_mut(label).unanswered += 1,
            Note::InboxDropped { count } => connections.inbox_dropped += count,
            Note::LostWhileIdle { cause } => {
                *connections.lost_while_idle.entry(*cause).or_default() += 1;
            }
            Note::Opened { phases } => connections.open(phases),
            Note::OpenFailed { received_bytes, sent_bytes } => {
                connections.refused += 1;
                connections.add_traffic(*received_bytes, *sent_bytes);
            }
            Note::ConnectionEnded { received_bytes, sent_bytes, beats } => {
                connections.add_traffic(*received_bytes, *sent_bytes);
                connections.add_beats(beats);
            }
            Note::CloseReceived { code } => {
                *connections.close_codes.entry(*code).or_default() += 1;
            }
            Note::ThreadStarted => self.threads_started += 1,
            Note::ThreadEndedEarly { thread, cause } => {
                self.ended_early.entry(*cause).or_insert_with(|| (0, (*thread).to_owned())).0 += 1;
            }
            Note::ThreadFinished => {}
        }
    }

    /// Adds all that another has seen.
    pub fn merge(&mut self, other: Self) {
        for label in other.labels {
            let at = self.find(&label.name);
            self.labels[at].stats.merge(&label.stats);
        }
        self.connections.merge(&other.connections);
        self.threads_started += other.threads_started;
        for (cause, (count, example)) in other.ended_early {
            self.ended_early.entry(cause).or_insert_with(|| (0, example)).0 += count;
        }
    }

    /// The labels in order of first appearance; [`OTHER_LABELS`], if there are any, last.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &LabelStats)> {
        let mut labels: Vec<&Label> = self.labels.iter().collect();
        labels.sort_by_key(|label| label.order);
        labels.into_iter().map(|label| (&*label.name, &label.stats))
    }

    /// All labels together.
    pub fn all(&self) -> LabelStats {
        let mut all = LabelStats::default();
        self.labels.iter().for_each(|label| all.merge(&label.stats));
        all
    }

    fn label_mut(&mut self, label: &str) -> &mut LabelStats {
        let at = self.find(label);
        &mut self.labels[at].stats
    }

    fn find(&mut self, label: &str) -> usize {
        // The label as the JTL writes it: what reads both must find the same.
        let name = one_line(label);
        match self.index.get(&*name) {
            Some(at) => *at,
            None => self.meet(&name),
        }
    }

    /// A label that is new here, or has no figures of its own.
    fn meet(&mut self, name: &str) -> usize {
        if self.full.is_none() {
            match self.names.admit(name) {
                Admission::Own(name, order) => return self.add(name, order),
                Admission::Full(names) => self.full = Some(names),
            }
        }
        let own = self.full.as_ref().and_then(|names| names.get_key_value(name));
        match own.map(|(name, order)| (Arc::clone(name), *order)) {
            Some((name, order)) => self.add(name, order),
            None => self.others(),
        }
    }

    fn others(&mut self) -> usize {
        match self.index.get(OTHER_LABELS) {
            Some(at) => *at,
            None => self.add(OTHER_LABELS.into(), u32::MAX),
        }
    }

    fn add(&mut self, name: Arc<str>, order: u32) -> usize {
        let at = self.labels.len();
        self.index.insert(Arc::clone(&name), at);
        self.labels.push(Label { name, order, stats: LabelStats::default() });
        at
    }
}

#[cfg(test)]
mod tests;

//! Figures by label.

use std::collections::HashMap;
use std::sync::Arc;

use crate::sample::one_line;
use crate::stats::label_names::{Admission, Names};
use crate::stats::{LabelNames, LabelStats, OTHER_LABELS};

/// Figures by label, of one worker or of the whole run. For a label that it knows it neither locks
/// nor allocates.
#[derive(Debug, Clone, Default)]
pub(super) struct LabelSet {
    names: Arc<LabelNames>,
    /// All labels that have figures of their own, once there can be no more.
    full: Option<Arc<Names>>,
    index: HashMap<Arc<str>, usize>,
    labels: Vec<Label>,
    /// The label that was asked for last: loops ask for it again and again.
    last: usize,
}

#[derive(Debug, Clone)]
struct Label {
    name: Arc<str>,
    /// Place in the order of first appearance over all workers.
    order: u32,
    stats: LabelStats,
}

impl LabelSet {
    /// One of several that will be merged.
    pub(super) fn sharing(names: Arc<LabelNames>) -> Self {
        Self { names, ..Self::default() }
    }

    /// Adds all that another has seen.
    pub(super) fn merge(&mut self, other: Self) {
        for label in other.labels {
            let at = self.find(&label.name);
            self.labels[at].stats.merge(&label.stats);
        }
    }

    /// The labels in order of first appearance; [`OTHER_LABELS`], if there are any, last.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &LabelStats)> + use<'_> {
        let mut labels: Vec<&Label> = self.labels.iter().collect();
        labels.sort_by_key(|label| label.order);
        labels.into_iter().map(|label| (&*label.name, &label.stats))
    }

    /// All labels together.
    pub(super) fn all(&self) -> LabelStats {
        let mut all = LabelStats::default();
        self.labels.iter().for_each(|label| all.merge(&label.stats));
        all
    }

    pub(super) fn label_mut(&mut self, label: &str) -> &mut LabelStats {
        let at = self.find(label);
        &mut self.labels[at].stats
    }

    fn find(&mut self, label: &str) -> usize {
        if self.labels.get(self.last).is_some_and(|last| *last.name == *label) {
            return self.last;
        }
        // The label as the JTL writes it: what reads both must find the same.
        let name = one_line(label);
        self.last = match self.index.get(&*name) {
            Some(at) => *at,
            None => self.meet(&name),
        };
        self.last
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

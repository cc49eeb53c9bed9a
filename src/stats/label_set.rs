//! Figures by label.

use std::collections::HashMap;
use std::sync::Arc;

use crate::sample::{Sample, one_line};
use crate::stats::label_names::{Admission, Names};
use crate::stats::series::Series;
use crate::stats::{LabelNames, LabelStats, OTHER_LABELS};

/// So many labels, the first ones, have a series of their own: each takes 10 KiB while an interval is
/// under way and some hundred bytes for each that is over, and a reader cannot tell more of them apart.
const WITH_SERIES: u32 = 20;

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
    /// How it went on, of a label that has a series of its own.
    series: Option<Box<Series>>,
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
            let own = &mut self.labels[at];
            own.stats.merge(&label.stats);
            if let Some(series) = label.series {
                own.series.get_or_insert_default().merge([*series]);
            }
        }
    }

    /// A copy without any series, which take most of the memory.
    pub(super) fn without_series(&self) -> Self {
        self.copy(|label| label.stats.clone())
    }

    /// A copy of the outlines, of the first so many labels with percentiles.
    pub(super) fn outline(&self, with_percentiles: u32) -> Self {
        self.copy(|label| label.stats.outline(label.order < with_percentiles))
    }

    fn copy(&self, stats: impl Fn(&Label) -> LabelStats) -> Self {
        let label = |label: &Label| Label {
            name: Arc::clone(&label.name),
            order: label.order,
            stats: stats(label),
            series: None,
        };
        Self {
            names: Arc::clone(&self.names),
            full: self.full.clone(),
            index: self.index.clone(),
            labels: self.labels.iter().map(label).collect(),
            last: self.last,
        }
    }

    /// The labels in order of first appearance; [`OTHER_LABELS`], if there are any, last.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &LabelStats)> + use<'_> {
        let mut labels: Vec<&Label> = self.labels.iter().collect();
        labels.sort_by_key(|label| label.order);
        labels.into_iter().map(|label| (&*label.name, &label.stats))
    }

    /// The same, to change them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut LabelStats)> {
        self.labels.iter_mut().map(|label| (&*label.name, &mut label.stats))
    }

    /// All labels together.
    pub(super) fn all(&self) -> LabelStats {
        let mut all = LabelStats::default();
        self.labels.iter().for_each(|label| all.merge(&label.stats));
        all
    }

    /// The series of the labels that have one of their own, in the order of the labels.
    pub(super) fn series(&self) -> impl Iterator<Item = (&str, &Series)> {
        let mut labels: Vec<&Label> = self.labels.iter().collect();
        labels.sort_by_key(|label| label.order);
        labels.into_iter().filter_map(|label| Some((&*label.name, label.series.as_deref()?)))
    }

    /// Adds a row of a sampler to the figures of its label and to its series, or to that of the `rest`.
    pub(super) fn record(&mut self, sample: &Sample<'_>, rest: &mut Series) {
        let at = self.find(sample.label);
        let label = &mut self.labels[at];
        label.stats.record(sample);
        let series = match &mut label.series {
            Some(series) => &mut **series,
            none if label.order < WITH_SERIES => {
                let series = none.get_or_insert_default();
                series.begin(rest.origin().unwrap_or(sample.start));
                series
            }
            _ => rest,
        };
        series.sample(sample);
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
        self.labels.push(Label { name, order, stats: LabelStats::default(), series: None });
        at
    }
}

//! All figures of a run, or of one worker's part of it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Instant;

use crate::clock;
use crate::sample::{EndCause, Note, Sample};
use crate::stats::label_set::LabelSet;
use crate::stats::series::{MOST, Series};
use crate::stats::{ConnectionStats, Course, Health, LabelNames, LabelStats, Times, ToldLabel};

/// All figures of a run, or of one worker's part of it.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    samplers: LabelSet,
    /// Apart, because they sum up what others have counted; one may even have the label of a
    /// sampler.
    transactions: LabelSet,
    /// Of connections.
    pub connections: ConnectionStats,
    /// Threads that were started.
    pub threads_started: u64,
    /// Arrivals that found as many threads as there may be.
    pub missed: u64,
    /// How long after they were due threads started.
    pub lag: Times,
    /// How well the generator kept up.
    pub health: Health,
    /// How it went on: connections, and the rows of labels that have no series of their own.
    series: Series,
    /// Times that a thread waited in vain at a `rendezvous`.
    pub rendezvous_missed: u64,
    /// Threads that ended before their loops or time were used up, with one of them.
    pub ended_early: BTreeMap<EndCause, (u64, String)>,
    /// Main thread groups that have taken a sample.
    pub groups_begun: BTreeSet<String>,
    /// Main thread groups that have samplers and have taken no sample; known at the end.
    pub idle_groups: Vec<String>,
    /// All samplers together, where a summary knows their times better than they are known here.
    told: Option<Box<LabelStats>>,
}

/// Figures under a name of their own.
#[derive(Debug, Clone)]
pub struct Named<'a> {
    /// As tables and summaries have it.
    pub name: Cow<'a, str>,
    /// Whether it sums up other labels' samples.
    pub transaction: bool,
    /// As rows have it.
    pub label: &'a str,
    /// What is known of it.
    pub figures: &'a LabelStats,
}

impl Stats {
    /// Starts one of several that will be merged.
    pub fn sharing(names: Arc<LabelNames>) -> Self {
        let samplers = LabelSet::sharing(Arc::clone(&names));
        Self { samplers, transactions: LabelSet::sharing(names), ..Self::default() }
    }

    /// A copy of all figures but those of the course, for looking at a run that goes on.
    #[must_use]
    pub fn without_course(&self) -> Self {
        self.copy(self.samplers.without_series(), self.transactions.without_series())
    }

    /// A smaller copy, which a worker makes in no time: of labels what is counted and the elapsed times of all
    /// rows, with percentiles those of the first `with_percentiles` labels.
    #[must_use]
    pub fn outline(&self, with_percentiles: u32) -> Self {
        let outline = |labels: &LabelSet| labels.outline(with_percentiles);
        self.copy(outline(&self.samplers), outline(&self.transactions))
    }

    fn copy(&self, samplers: LabelSet, transactions: LabelSet) -> Self {
        Self {
            samplers,
            transactions,
            connections: self.connections.clone(),
            threads_started: self.threads_started,
            missed: self.missed,
            lag: self.lag.clone(),
            health: self.health.clone(),
            series: Series::default(),
            rendezvous_missed: self.rendezvous_missed,
            ended_early: self.ended_early.clone(),
            groups_begun: self.groups_begun.clone(),
            idle_groups: self.idle_groups.clone(),
            told: None,
        }
    }

    /// Says where the first second of the course begins; else it is with the first row. Those that are
    /// merged should agree.
    pub fn begin(&mut self, origin: Instant) {
        self.series.begin(origin);
    }

    /// Adds to the course that a connection was opened.
    pub fn opened(&mut self, at: Instant) {
        self.series.opened(at);
    }

    /// Adds to the course that an attempt to open a connection failed.
    pub fn refused(&mut self, at: Instant) {
        self.series.refused(at);
    }

    /// Adds to the course that a connection is gone.
    pub fn ended(&mut self, at: Instant) {
        self.series.ended(at);
    }

    /// How it went on: all samplers, in intervals of a second or, so that there are at most 1,200, of
    /// more.
    pub fn course(&self) -> Course {
        let mut all = self.series.clone();
        all.merge(self.samplers.series().map(|(_, series)| series.clone()));
        all.course(MOST)
    }

    /// How it went on for the first labels, which have a course of their own, in at most so many
    /// intervals.
    pub fn courses(&self, most: usize) -> Vec<(&str, Course)> {
        let labels = self.samplers.series();
        labels.map(|(label, series)| (label, series.clone().course(most))).collect()
    }

    /// Adds a row.
    pub fn sample(&mut self, sample: &Sample<'_>) {
        if sample.transaction {
            self.transactions.label_mut(sample.label).record(sample);
        } else {
            if self.series.origin().is_none() {
                self.series.begin(sample.start);
            }
            self.samplers.record(sample, &mut self.series);
        }
    }

    /// Adds what has no row.
    pub fn note(&mut self, note: &Note<'_>) {
        let connections = &mut self.connections;
        match note {
            Note::Skipped { label, cause } => {
                *self.label_mut(label).skipped.entry(*cause).or_default() += 1;
            }
            Note::Answer { label, code, cause, answer } => {
                self.label_mut(label).add_answer(*code, cause, answer);
            }
            Note::Cut { label } => self.label_mut(label).cut += 1,
            Note::CutTransaction { label } => self.transactions.label_mut(label).cut += 1,
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
            Note::Opened { phases } => {
                connections.open(phases);
                self.series.opened(clock::now());
            }
            Note::OpenFailed { received_bytes, sent_bytes } => {
                connections.refused += 1;
                self.series.refused(clock::now());
                connections.add_traffic(*received_bytes, *sent_bytes);
            }
            Note::ConnectionEnded {
                received_bytes,
                sent_bytes,
                write_stalls,
                inbox_peak,
                beats,
            } => {
                connections.add_traffic(*received_bytes, *sent_bytes);
                connections.write_stalls += write_stalls;
                connections.inbox_peak = connections.inbox_peak.max(*inbox_peak);
                connections.add_beats(beats);
                self.series.ended(clock::now());
            }
            Note::CloseReceived { code } => {
                *connections.close_codes.entry(*code).or_default() += 1;
            }
            Note::RendezvousMissed => self.rendezvous_missed += 1,
            Note::ThreadStarted { late } => {
                self.threads_started += 1;
                self.lag.record(*late);
            }
            Note::Missed => self.missed += 1,
            Note::Second(second) => self.health.record(second),
            Note::ThreadEndedEarly { thread, cause } => {
                self.ended_early.entry(*cause).or_insert_with(|| (0, (*thread).to_owned())).0 += 1;
            }
            Note::GroupBegan { group } => {
                self.groups_begun.insert((*group).to_owned());
            }
            Note::ThreadFinished | Note::Log { .. } => {}
        }
    }

    /// Adds all that another has seen.
    pub fn merge(&mut self, other: Self) {
        self.told = None;
        self.samplers.merge(other.samplers);
        self.transactions.merge(other.transactions);
        self.connections.merge(&other.connections);
        self.threads_started += other.threads_started;
        self.missed += other.missed;
        self.lag.merge(&other.lag);
        self.health.merge(other.health);
        self.series.merge([other.series]);
        self.rendezvous_missed += other.rendezvous_missed;
        self.groups_begun.extend(other.groups_begun);
        self.idle_groups.extend(other.idle_groups);
        for (cause, (count, example)) in other.ended_early {
            self.ended_early.entry(cause).or_insert_with(|| (0, example)).0 += count;
        }
    }

    /// The samplers' labels in order of first appearance; [`OTHER_LABELS`](crate::stats::OTHER_LABELS),
    /// if there are any, last.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &LabelStats)> {
        self.samplers.iter()
    }

    /// The samplers' labels, then those of transactions, each under a name that no other has: none is `all`,
    /// which is all samplers together.
    pub fn named(&self) -> Vec<Named<'_>> {
        const ALL: &str = "all";
        let samplers = self.labels().map(|(label, figures)| {
            // Reserved, so a plan has no such label; but a template may come to it.
            let name = if label == ALL { "all (a label)" } else { label };
            Named { name: name.into(), transaction: false, label, figures }
        });
        let mut named: Vec<_> = samplers.collect();
        let taken: HashSet<Cow<'_, str>> = named.iter().map(|one| one.name.clone()).collect();
        named.extend(self.transactions().map(|(label, figures)| {
            let taken = label == ALL || taken.contains(label);
            let name = if taken { format!("{label} (transaction)").into() } else { label.into() };
            Named { name, transaction: true, label, figures }
        }));
        named
    }

    /// The same of transactions.
    pub fn transactions(&self) -> impl Iterator<Item = (&str, &LabelStats)> {
        self.transactions.iter()
    }

    /// All samplers together.
    pub fn all(&self) -> LabelStats {
        self.told.as_deref().cloned().unwrap_or_else(|| self.samplers.all())
    }

    /// Takes figures of the same rows from one who knew their times better; nothing is to be added after
    /// that. `told` has them by label and whether it is a transaction's; those of `None` are all samplers'.
    pub fn refine(&mut self, told: impl Fn(Option<&str>, bool) -> Option<ToldLabel>) {
        let sets = [(&mut self.samplers, false), (&mut self.transactions, true)];
        for (labels, transaction) in sets {
            for (name, label) in labels.iter_mut() {
                if let Some(told) = told(Some(name), transaction) {
                    label.refine(&told);
                }
            }
        }
        let mut all = self.samplers.all();
        if let Some(told) = told(None, false) {
            all.refine(&told);
        }
        self.told = Some(Box::new(all));
    }

    /// Says that the times of all rows were rounded to whole milliseconds.
    pub fn in_whole_ms(&mut self) {
        let labels = self.samplers.iter_mut().chain(self.transactions.iter_mut());
        labels.for_each(|(_, label)| label.in_whole_ms());
    }

    /// Whether times were rounded to whole milliseconds.
    pub fn are_in_whole_ms(&self) -> bool {
        let mut labels = self.labels().chain(self.transactions());
        labels.any(|(_, label)| label.all.are_in_whole_ms())
    }

    /// The figures of a sampler's label, to add to them what has no row and no note.
    pub fn label_mut(&mut self, label: &str) -> &mut LabelStats {
        self.samplers.label_mut(label)
    }
}

#[cfg(test)]
mod tests;

//! The plan itself and its thread groups, as written.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::assertion::Check;
use crate::plan::data_set::DataSet;
use crate::plan::extractor::Extractor;
use crate::plan::sampler::Defaults;
use crate::plan::schedule::{Arrivals, Stage};
use crate::plan::scoped::{Scoped, scopes};
use crate::plan::setting::{
    Count, Entries, List, Passes, Setting, Text, TextOr, Time, Word, given,
};
use crate::plan::threshold::{Compare, Threshold};
use crate::plan::timer::Pause;

/// A whole plan.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What the plan is called in reports; the file's name if it has none.
    #[serde(default, deserialize_with = "given")]
    pub name: Option<Setting<Text>>,
    /// Variables, evaluated for each thread when it starts, in order.
    #[serde(default)]
    pub variables: Entries<Setting<Text>>,
    /// CSV files of which each iteration gets a line.
    #[serde(default)]
    pub data_sets: List<DataSet>,
    /// Variables whose values are `***` in every output.
    #[serde(default)]
    pub secrets: List<Setting<Text>>,
    /// Variables that are further columns of the rows.
    #[serde(default)]
    pub sample_variables: List<Setting<Text>>,
    /// Settings of all samplers.
    #[serde(default, deserialize_with = "given")]
    pub defaults: Option<Defaults>,
    /// Checks that must hold for the samplers below that they can look at, before their own.
    #[serde(default)]
    pub assert: List<Check>,
    /// What passed samplers below give to variables.
    #[serde(default)]
    pub extract: List<Extractor>,
    /// Messages that the reading samplers below discard, before their own filters.
    #[serde(default)]
    pub filters: List<Check>,
    /// Pauses before each sampler; one after the other, outside the sampler's time.
    #[serde(default)]
    pub timers: List<TextOr<Pause>>,
    /// Conditions that the run must meet, by label; `all` is all samplers together.
    #[serde(default)]
    pub thresholds: Entries<List<TextOr<Threshold>>>,
    /// What may change from one run to another without being a regression, for `wsmeter compare` and
    /// `run --baseline`.
    #[serde(default, deserialize_with = "given")]
    pub compare: Option<Compare>,
    /// How long samplers at work may go on when their group's time is over, or the run is told to stop;
    /// and how long a thread that is asked to leave may take for its iteration.
    #[serde(default, deserialize_with = "given")]
    pub graceful_stop: Option<Setting<Time>>,
    /// When the run is ended at the latest, as one that broke off (exit code 3).
    #[serde(default, deserialize_with = "given")]
    pub time_limit: Option<Setting<Time>>,
    /// Thread groups that are done before the others begin.
    #[serde(default)]
    pub setup: List<ThreadGroup>,
    /// The thread groups: who does what.
    #[serde(default)]
    pub thread_groups: List<ThreadGroup>,
    /// Thread groups that begin when the others are done, also where the run was stopped or
    /// interrupted, but not where it had to end at once.
    #[serde(default)]
    pub teardown: List<ThreadGroup>,
}

scopes! {
    /// One thread group.
    ThreadGroup {
        /// What it is called in the rows.
        name: Setting<Text>,
        /// The number of virtual threads, from 1 to 1,000,000.
        threads: Setting<Count>,
        /// The time over which the threads start, evenly spread.
        ramp_up: Setting<Time>,
        /// How many threads there are at which time, in place of `threads`, `ramp_up` and `duration`.
        stages: List<Stage>,
        /// How many threads arrive at which time, each to do the steps once, in place of `threads`,
        /// `ramp_up`, `loops` and `duration`: they come whether or not earlier ones are done.
        arrivals: List<Arrivals>,
        /// How arrivals are spaced: `even`, or `poisson`, as independent events are.
        spacing: Setting<Word>,
        /// Of arrivals, how many threads there may be at once, from 1 to 1,000,000; those that come
        /// while there are so many are counted as missed.
        max_threads: Setting<Count>,
        /// The time before the first thread starts.
        delay: Setting<Time>,
        /// How many iterations each thread does, or `forever`.
        loops: Setting<Passes>,
        /// The time after which no new step starts.
        duration: Setting<Time>,
    }
    steps:
        /// What each iteration does.
        steps;
}

impl Plan {
    /// What reaches all samplers.
    pub fn scoped(&self) -> Scoped<'_> {
        Scoped {
            defaults: self.defaults.as_ref(),
            on_error: None,
            assert: &self.assert.0,
            extract: &self.extract.0,
            filters: &self.filters.0,
            timers: &self.timers.0,
        }
    }
}

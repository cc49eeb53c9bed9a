//! The plan itself and its thread groups, as written.

use serde::Deserialize;

use crate::plan::assertion::Check;
use crate::plan::extractor::Extractor;
use crate::plan::sampler::Defaults;
use crate::plan::scoped::{Scoped, scopes};
use crate::plan::setting::{Count, Entries, Flag, List, Passes, Setting, Text, Time, Word, given};
use crate::plan::step::Step;

/// A whole plan.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// What the plan is called in reports; the file's name where there is none.
    #[serde(default, deserialize_with = "given")]
    pub name: Option<Setting<Text>>,
    /// Variables, evaluated for each thread when it starts, in order.
    #[serde(default)]
    pub variables: Entries<Setting<Text>>,
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
    /// Conditions that the run must meet, by label; `all` is all samplers together.
    #[serde(default)]
    pub thresholds: Entries<List<Setting<Text>>>,
    /// Who does what.
    #[serde(default)]
    pub thread_groups: List<ThreadGroup>,
}

/// One thread group.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadGroup {
    /// What it is called in the rows.
    #[serde(default, deserialize_with = "given")]
    pub name: Option<Setting<Text>>,
    /// Number of virtual threads, from 1 to 1,000,000; 1 where there is none.
    #[serde(default, deserialize_with = "given")]
    pub threads: Option<Setting<Count>>,
    /// Time over which the threads start.
    #[serde(default, deserialize_with = "given")]
    pub ramp_up: Option<Setting<Time>>,
    /// Time before the first thread starts.
    #[serde(default, deserialize_with = "given")]
    pub delay: Option<Setting<Time>>,
    /// Iterations of each thread, or `forever`.
    #[serde(default, deserialize_with = "given")]
    pub loops: Option<Setting<Passes>>,
    /// Time after which no new step starts.
    #[serde(default, deserialize_with = "given")]
    pub duration: Option<Setting<Time>>,
    /// Settings of the group's samplers.
    #[serde(default, deserialize_with = "given")]
    pub defaults: Option<Defaults>,
    /// What a failure of a sampler does.
    #[serde(default, deserialize_with = "given")]
    pub on_error: Option<Setting<Word>>,
    /// Checks that must hold for the samplers below that they can look at, before their own.
    #[serde(default)]
    pub assert: List<Check>,
    /// What passed samplers below give to variables.
    #[serde(default)]
    pub extract: List<Extractor>,
    /// Messages that the reading samplers below discard, before their own filters.
    #[serde(default)]
    pub filters: List<Check>,
    /// `false` leaves it out, with everything below.
    #[serde(default, deserialize_with = "given")]
    pub enabled: Option<Setting<Flag>>,
    /// What each iteration does.
    #[serde(default)]
    pub steps: List<Step>,
}

scopes!(ThreadGroup);

impl Plan {
    /// What reaches all samplers.
    pub fn scoped(&self) -> Scoped<'_> {
        Scoped {
            defaults: self.defaults.as_ref(),
            on_error: None,
            assert: &self.assert.0,
            extract: &self.extract.0,
            filters: &self.filters.0,
        }
    }
}

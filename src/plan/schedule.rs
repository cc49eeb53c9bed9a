//! When threads start and leave, as written: stages of a closed group, arrivals of an open one.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::setting::{Count, Rate, Setting, Time, given};

/// An entry of `stages`: `ramp_to` with `over`, or `hold`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// How many threads there are at the end of the stage, from 0 to 1,000,000; they start, or are
    /// asked to leave, one after the other. The first stage begins with none.
    #[serde(default, deserialize_with = "given")]
    pub ramp_to: Option<Setting<Count>>,
    /// How long the ramp takes.
    #[serde(default, deserialize_with = "given")]
    pub over: Option<Setting<Time>>,
    /// How long the number of threads stays what it is.
    #[serde(default, deserialize_with = "given")]
    pub hold: Option<Setting<Time>>,
}

/// An entry of `arrivals`: a rate that stays, or changes evenly.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arrivals {
    /// How many threads arrive; with `from`, at the end of the time.
    #[serde(default, deserialize_with = "given")]
    pub rate: Option<Setting<Rate>>,
    /// How many arrive at its beginning; from there the rate changes evenly.
    #[serde(default, deserialize_with = "given")]
    pub from: Option<Setting<Rate>>,
    /// How long it goes on.
    #[serde(default, deserialize_with = "given")]
    pub over: Option<Setting<Time>>,
}

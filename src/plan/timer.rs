//! What makes a thread wait, as written: pauses, paces and rendezvous.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::setting::{Count, List, Rate, Setting, Time, Word, given};

/// `pause`, or an entry of `timers`: exactly one of its settings.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// The pause always takes this long.
    #[serde(default, deserialize_with = "given")]
    pub constant: Option<Setting<Time>>,
    /// The pause takes a time evenly distributed between two durations.
    #[serde(default, deserialize_with = "given")]
    pub uniform: Option<List<Setting<Time>>>,
    /// The pause takes a time around a mean, most often near it.
    #[serde(default, deserialize_with = "given")]
    pub gaussian: Option<Gaussian>,
    /// The pause takes a time as between events that happen at random and independently: often short,
    /// seldom long, and this on average.
    #[serde(default, deserialize_with = "given")]
    pub exponential: Option<Setting<Time>>,
    /// The pause takes a Poisson-distributed number of milliseconds: this on average, and never far
    /// from it, as JMeter's Poisson Random Timer has it.
    #[serde(default, deserialize_with = "given")]
    pub poisson: Option<Setting<Time>>,
}

/// `gaussian`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gaussian {
    /// The time in the middle.
    #[serde(default, deserialize_with = "given")]
    pub mean: Option<Setting<Time>>,
    /// The standard deviation: two of three pauses differ less than this from the mean. A pause that
    /// would be negative takes no time.
    #[serde(default, deserialize_with = "given")]
    pub deviation: Option<Setting<Time>>,
}

/// `pace`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// How often the step is passed at most: `10/m`. The time that the other steps take counts, and
    /// what is late goes on at once.
    #[serde(default, deserialize_with = "given")]
    pub rate: Option<Setting<Rate>>,
    /// Whose rate it is: that of each `thread`, or of all threads of the `group` together.
    #[serde(default, deserialize_with = "given")]
    pub share: Option<Setting<Word>>,
}

/// `rendezvous`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rendezvous {
    /// How many threads wait for each other here.
    #[serde(default, deserialize_with = "given")]
    pub threads: Option<Setting<Count>>,
    /// How long a thread waits for the others; then it goes on without them.
    #[serde(default, deserialize_with = "given")]
    pub timeout: Option<Setting<Time>>,
}

//! `pause`.

use std::time::Duration;

use crate::program::Setting;

/// A wait outside any row, during which the thread's connections stay alive.
#[derive(Debug, Clone, PartialEq)]
pub enum Pause {
    /// Always as long.
    Constant(Setting<Duration>),
    /// Evenly distributed between both ends.
    Uniform(Setting<Duration>, Setting<Duration>),
}

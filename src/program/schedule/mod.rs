//! When the threads of a group start and leave: pure arithmetic, without a clock.

mod arrivals;
mod stages;

use std::time::Duration;

pub use arrivals::{ArrivalTimes, Arrivals, PerSecond, Spacing, Stretch};
pub use stages::{Stage, Stages, Stay};

/// When the threads of a group start and leave.
#[derive(Debug, Clone, PartialEq)]
pub enum Schedule {
    /// All of them, evenly over this time, to stay: thread i of n starts at `i * ramp_up / n`.
    Ramp(Duration),
    /// As many as the line says at each moment.
    Stages(Stages),
    /// A fresh one for each arrival, which does the steps once.
    Arrivals(Arrivals),
}

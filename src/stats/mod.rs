//! What the samples and notes of a run add up to. Each worker keeps its own [`Stats`] without
//! locks; they are merged at the end.

mod connections;
mod label;
mod run;
mod times;

pub use connections::{ConnectionStats, Gauge};
pub use label::{Cause, CauseKey, LabelStats};
pub use run::{OTHER_LABELS, Stats};
pub use times::Times;

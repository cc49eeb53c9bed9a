//! What the samples and notes of a run add up to. Each worker keeps its own [`Stats`] without
//! locks; they are merged at the end. They share only [`LabelNames`], so that all agree which labels
//! have figures of their own.

mod blocks;
mod connections;
mod health;
mod label;
mod label_names;
mod label_set;
mod quantiles;
mod run;
mod series;
mod thousands;
mod times;

pub use blocks::{Block, Blocks, LabelBlocks};
pub use connections::{ConnectionStats, Gauge};
pub use health::{Health, Span};
pub use label::{Cause, CauseKey, LabelStats, ToldLabel};
pub(crate) use label_names::LABELS;
pub use label_names::{LabelNames, OTHER_LABELS};
pub use run::{Named, Stats};
pub use series::{Course, Distribution, Interval};
pub use thousands::thousands;
pub use times::{Times, ToldTimes};

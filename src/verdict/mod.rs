//! Judges a run: what its exit code is and why.
//!
//! A [`Threshold`] names a label, a [`Statistic`] and a bound. A run passes if all of them hold, if it
//! took at least one sample, and if every label whose failures no threshold bounds has none.

pub mod compare;
mod conclusion;
mod judge;
mod statistic;
mod threshold;

pub use conclusion::{Conclusion, Verdict};
pub use judge::{Evidence, Judged, Judgement, failures, first_broken, judge};
pub use statistic::{Figure, Phase, Statistic, Unit};
pub use threshold::{ALL, Condition, Operator, Threshold};

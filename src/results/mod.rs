//! Reads results back into figures: JTLs of ours or of any JMeter, and run folders.
//!
//! Row by row, so that a file of any size needs no more memory than one of ten rows. A row that makes no
//! sense is left out and told with its line; a file of which nothing can be read is an error.

mod columns;
mod comparison_info;
mod error;
mod input;
mod merge;
mod outliers;
mod reading;
mod records;
mod row;
mod run_info;
mod source;
mod sub_results;
mod time_stamp;

pub use comparison_info::{ChangeInfo, ComparedLabelInfo, ComparisonInfo};
pub use error::{Oddity, ReadError};
pub use merge::{MergeError, Merged, is_a_source, merge};
pub use reading::{Results, read};
pub use run_info::{GeneratorInfo, GroupInfo, PlanInfo, RunInfo, ThresholdInfo, WorkerInfo};
pub use source::Source;

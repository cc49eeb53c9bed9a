//! What a run leaves behind: the JTL while it goes on, the summary at its end, progress meanwhile.
//! One file for each format.

mod asides;
pub mod compare;
mod hdr;
mod held;
pub mod html;
pub mod json;
mod jtl;
mod junit;
mod latest;
mod live;
mod markdown;
pub mod metrics;
mod outputs;
pub mod progress;
mod recorder;
mod reports;
mod snapshots;
pub mod summary;
mod texts;
pub mod thresholds;
mod trial;
mod units;
mod whole_file;
mod writer;

pub use latest::point_latest;
pub use live::{Interval, Live};
pub use outputs::{OutputError, Outputs, Wanted};
pub use recorder::{Finished, Recorder};
pub use reports::{Reports, Unwritten};
pub use snapshots::Snapshots;
pub use trial::Trial;
pub use whole_file::write as write_whole;
pub use writer::{WriteError, outlive_file_size_limit};

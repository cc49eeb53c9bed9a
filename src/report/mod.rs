//! What a run leaves behind: the JTL while it goes on, the summary at its end, progress meanwhile.
//! One file for each format.

mod asides;
mod held;
pub mod html;
pub mod json;
mod jtl;
mod live;
mod outputs;
pub mod progress;
mod recorder;
pub mod summary;
pub mod thresholds;
mod trial;
mod units;
mod whole_file;
mod writer;

pub use live::{Interval, Live};
pub use outputs::{OutputError, Outputs, Wanted};
pub use recorder::{Finished, Recorder};
pub use trial::Trial;
pub use writer::WriteError;

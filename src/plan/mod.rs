//! The plan as written, and the only reader of YAML.
//!
//! [`load()`] reads a file into types that keep every scalar's text; what the texts mean, and whether
//! they are right, is decided by [`crate::compile`]. A [`Loaded`] plan can say where in the file
//! any of its values stands, so that an error found late still has line and column.

mod assertion;
mod controller;
mod data_set;
mod document;
mod error;
mod extractor;
mod file;
mod heartbeat;
mod http;
mod include;
mod json;
mod keys;
mod left_out;
mod load;
mod nested;
mod path;
mod place;
mod placing;
mod problem;
mod reader;
mod sampler;
mod schedule;
mod schema;
mod scoped;
mod secret_texts;
mod setting;
mod shown;
mod step;
mod syntax;
mod thread_group;
mod threshold;
mod timer;
mod tls;

pub use assertion::{Check, HeaderCheck, HexCheck, JsonCheck, PingPongFilter, SizeCheck};
pub use controller::{
    Block, Chance, ForEach, If, Include, Interleave, Loop, Once, Random, Range, RunFor,
    Transaction, Values, While,
};
pub use data_set::DataSet;
pub use error::At;
pub use extractor::{
    BetweenExtractor, CommonExtractor, Extractor, HeaderExtractor, JsonExtractor, RegexExtractor,
};
pub use heartbeat::{Heartbeat, HeartbeatAnswer, HeartbeatPing, HeartbeatSend};
pub use http::{Body, Http};
pub use include::{Included, Steps};
pub use json::Json;
#[cfg(test)]
pub(crate) use load::parse;
pub use load::{Loaded, load};
pub use nested::{Backoff, BasicAuth, Correlate, Inbox, PushDelay, SendFile};
pub use path::{FileId, Path, Segment};
pub use problem::Problem;
pub use sampler::{
    Close, Common, Connect, Defaults, Open, PingPong, Read, RequestResponse, SingleRead,
    SingleWrite,
};
pub use schedule::{Arrivals, Stage};
pub use schema::{schema, steps_schema};
pub use scoped::Scoped;
pub use secret_texts::{SecretTexts, hide};
pub use setting::{
    Count, Entries, Flag, Kind, List, Number, Passes, Rate, Removable, Setting, Size, Text, TextOr,
    Time, Version, Word,
};
pub use step::Step;
pub use thread_group::{Plan, ThreadGroup};
pub use threshold::{Compare, Threshold};
pub use timer::{Gaussian, Pace, Pause, Rendezvous};
pub use tls::Tls;

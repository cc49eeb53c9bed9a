//! wsmeter: a load tester for WebSocket servers.
//!
//! Data flows one way:
//!
//! ```text
//! plan file -> plan (as written) -> compile -> program (resolved) -> exec -> Sample, Note
//!           -> stats -> verdict, report
//! ```
//!
//! - [`plan`] reads YAML into types that keep what was written; [`compile`] turns them into a
//!   [`program`], or into diagnostics ([`diag`]) that say where, what and how to mend.
//! - [`exec`] runs the program: a worker for each core, each virtual thread a task that interprets
//!   the steps over its own connections ([`net`], [`ws`]).
//! - Every sampler execution becomes a [`sample::Sample`], everything without a row a
//!   [`sample::Note`]; that is all that the engine and [`report`] share.
//! - [`secrets`] keeps what no output shows, in all that is said about a plan or a run.
//! - [`stats`] adds up, [`verdict`] judges, [`report`] writes.
//! - [`target`] is the embedded server for the quick start, tests and calibration.
//! - [`console`] and [`cli`] are the only code that prints.

pub mod cli;
pub mod clock;
pub mod compile;
pub mod console;
pub mod diag;
pub mod exec;
pub mod net;
pub mod plan;
pub mod program;
pub mod report;
pub mod sample;
pub mod secrets;
pub mod stats;
pub mod target;
pub mod verdict;
pub mod ws;

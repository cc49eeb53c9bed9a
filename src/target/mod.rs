//! The embedded server: a real WebSocket server for the quick start, for tests and for calibration.
//!
//! One OS thread with one current-thread runtime serves all connections. What a connection does is
//! chosen by its path and query (see [`PATHS`]); the server counts what it does, so that a run's
//! figures can be checked against it. As the calibration target it is fast: many frames a read, all
//! answered by one write, and nothing kept for an idle connection but its task and its socket.

mod behaviour;
mod counters;
mod login;
mod outbox;
mod request;
mod room;
mod route;
mod server;
mod session;
mod upgrade;

pub use counters::Counters;
pub use route::PATHS;
pub use server::{Server, StartError};

//! All integration tests, in one binary.

mod attribution;
mod bad_peers;
mod check;
mod extract;
mod frames;
mod heartbeat;
mod jmeter;
mod layers;
mod matchers;
mod memory;
mod plan_errors;
mod regressions;
mod run;
mod schema;
mod secrets;
mod support;
mod target;
mod thresholds;

//! All integration tests, in one binary.

mod attribution;
mod bad_peers;
mod chaos;
mod check;
mod codec;
mod extract;
mod floods;
mod frames;
mod heartbeat;
mod hostile;
mod jmeter;
mod layers;
mod matchers;
mod memory;
mod plan_errors;
mod push_delay;
mod read;
mod regressions;
mod run;
mod schema;
mod secrets;
mod support;
mod target;
mod thresholds;

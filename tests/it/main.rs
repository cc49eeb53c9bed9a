//! All integration tests, in one binary.

mod attribution;
mod bad_peers;
mod check;
mod codec;
mod controllers;
mod extract;
mod floods;
mod hostile;
mod include;
mod jmeter;
mod layers;
mod matchers;
mod memory;
mod phases;
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
mod transactions;

//! All integration tests, in one binary.

mod attribution;
mod bad_peers;
mod check;
mod controllers;
mod codec;
mod extract;
mod floods;
mod hostile;
mod jmeter;
mod layers;
mod matchers;
mod memory;
mod plan_errors;
mod push_delay;
mod regressions;
mod run;
mod schema;
mod secrets;
mod support;
mod target;
mod thresholds;
mod transactions;

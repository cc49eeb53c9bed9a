//! All integration tests, in one binary.

mod bad_peers;
mod check;
mod controllers;
mod extract;
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
mod transactions;

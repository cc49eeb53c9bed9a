//! All integration tests, in one binary.

mod bad_peers;
mod extract;
mod layers;
mod matchers;
mod plan_errors;
mod regressions;
mod run;
mod secrets;
mod support;
mod target;
mod thresholds;

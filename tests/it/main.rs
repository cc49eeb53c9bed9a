//! All integration tests, in one binary.

mod bad_peers;
mod layers;
mod plan_errors;
mod run;
mod schema;
mod support;
mod target;

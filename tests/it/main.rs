//! All integration tests, in one binary.

mod layers;
mod plan_errors;
mod support;
mod target;

//! All integration tests, in one binary.

mod plan_errors;

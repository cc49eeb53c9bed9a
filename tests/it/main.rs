//! All integration tests, in one binary.

mod support;
mod target;

//! All integration tests, in one binary.

mod layers;
mod support;
mod target;

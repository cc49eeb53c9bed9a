//! compile.

//! Whole plans through the compiler.

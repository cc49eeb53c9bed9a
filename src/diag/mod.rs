//! Diagnostics for people who edit plans: what is wrong, where, and how to mend it.

mod diagnostic;

pub use diagnostic::{Diagnostic, Place, Severity};

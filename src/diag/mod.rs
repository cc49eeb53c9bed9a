//! Diagnostics for people who edit plans: what is wrong, where, and how to mend it.

mod diagnostic;
mod render;
mod suggest;

pub use diagnostic::{Diagnostic, Inclusion, Place, Severity};
pub use render::render;
pub use suggest::nearest;

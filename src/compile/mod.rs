//! From a plan to a program, in passes:
//!
//! 1. the plan's variables, in order;
//! 2. the plan's defaults, the outermost scope (`scope`);
//! 3. each group: its schedule (`group`), then its steps with their scopes (`step`,
//!    `sampler`, `assertion`, `extractor`), every text through `template`;
//! 4. what needs a whole group: variables that nothing defines (`variables`) and connections that
//!    nothing opens (`connections`);
//! 5. `thresholds`, which need the labels of all groups (`threshold`).
//!
//! What is odd but can be run is a `warning`, noted where it is found.
//!
//! No pass stops at an error: it is noted with the path of its value, and the plan is refused at the
//! end with all of them.

mod assertion;
mod check;
mod compiler;
mod connections;
mod extractor;
mod group;
mod header;
mod pattern;
mod payload;
mod properties;
mod reach;
mod sampler;
mod scope;
mod secrets;
mod source;
mod step;
mod swallow;
mod template;
mod threshold;
mod url;
mod variables;
mod warning;

use crate::diag::{Diagnostic, Severity};
use crate::plan::Loaded;
use crate::program::Program;

pub use properties::Properties;

/// A plan that can be run.
#[derive(Debug)]
pub struct Compiled {
    /// What to run.
    pub program: Program,
    /// Advice; the plan runs nevertheless.
    pub warnings: Vec<Diagnostic>,
}

/// Resolves a plan. Fails with everything that is wrong with it, at most 20 errors in the order of
/// their places and a word on how many more there are.
pub fn compile(loaded: &Loaded, properties: &Properties) -> Result<Compiled, Vec<Diagnostic>> {
    let mut compiler = compiler::Compiler::new(properties);
    let program = group::program(&mut compiler, loaded);
    let (errors, warnings): (Vec<_>, Vec<_>) =
        compiler.problems.into_iter().partition(|problem| problem.severity == Severity::Error);
    let is_whole = errors.is_empty();
    let mut diagnostics = loaded.diagnostics(if is_whole { warnings } else { errors });
    secrets::hide(&mut diagnostics, &program.secrets);
    if is_whole { Ok(Compiled { program, warnings: diagnostics }) } else { Err(diagnostics) }
}

#[cfg(test)]
mod tests;

//! From a plan to a program, in passes:
//!
//! 1. the plan's variables, in order;
//! 2. the plan's defaults, the outermost scope (`scope`);
//! 3. each group: its schedule (`group`), then its steps with their scopes (`step`,
//!    `controller`, `include`, `sampler`, `assertion`, `extractor`), every text through `template`, conditions
//!    through `condition`;
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
mod condition;
mod connections;
mod controller;
mod data_set;
mod endless;
mod extractor;
mod group;
mod header;
mod heartbeat;
mod http;
mod include;
mod opening;
mod pattern;
mod payload;
mod properties;
mod push_delay;
mod reach;
mod read;
mod reply;
mod sampler;
mod schedule;
mod scope;
mod secrets;
mod send_file;
mod source;
mod step;
mod swallow;
mod template;
mod threshold;
mod timer;
mod tls;
mod tolerances;
mod url;
mod variables;
mod warning;

use crate::diag::{Diagnostic, Severity};
use crate::plan::{self, At, Loaded, Problem};
use crate::program::Program;

pub use properties::Properties;
pub use template::{FUNCTIONS, FunctionInfo};
pub use threshold::threshold;
pub use tolerances::set_tolerance;

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
    let mut compiler = compiler::Compiler::new(loaded, properties);
    let program = group::program(&mut compiler, loaded);
    let (mut errors, warnings): (Vec<_>, Vec<_>) =
        compiler.problems.into_iter().partition(|problem| problem.severity == Severity::Error);
    // Those in included files are known only now.
    let mistakes = loaded.mistakes();
    if !mistakes.is_empty() {
        let hidden = mistakes.iter().any(may_hide_variables);
        errors.retain(|problem| stands_alone(problem, hidden));
    }
    let is_whole = errors.is_empty() && mistakes.is_empty();
    let mut diagnostics = loaded.diagnostics(if is_whole { warnings } else { errors });
    if !diagnostics.is_empty() {
        let written = loaded.secret_texts().secrets();
        plan::hide(&mut diagnostics, &[&written, &program.secrets]);
    }
    if is_whole { Ok(Compiled { program, warnings: diagnostics }) } else { Err(diagnostics) }
}

/// Whether a problem is one of its own, in a plan of which some parts have the wrong shape. What
/// points at a key says that something is missing, and it may be there under a wrong name.
fn stands_alone(problem: &Problem, variables_may_be_hidden: bool) -> bool {
    let of_variable = problem.title.starts_with("undefined variable");
    problem.at != At::Key && !(of_variable && variables_may_be_hidden)
}

/// Whether a mistake may have hidden what gives a variable its value: a whole step or extractor, or a
/// misspelt key.
fn may_hide_variables(mistake: &Diagnostic) -> bool {
    let help = mistake.help.as_deref().unwrap_or_default();
    let title = mistake.title.as_str();
    ["unknown step", "unknown extractor", "expected"].iter().any(|start| title.starts_with(start))
        || ["`extract`", "`variables`", "`as`"].iter().any(|key| help.contains(key))
        || title.contains("is not in this version")
}

#[cfg(test)]
mod tests;

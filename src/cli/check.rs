//! `wsmeter check`: reads plans, sends nothing.

use crate::cli::args::CheckArguments;
use crate::cli::drive::properties;
use crate::cli::error::{CliError, PLAN_WRONG};
use crate::cli::explain::explain;
use crate::compile::{self, Compiled};
use crate::console::Console;
use crate::diag::Severity;
use crate::plan;

/// Checks every plan, also after one that is wrong.
pub(crate) fn check(console: Console, arguments: &CheckArguments) -> Result<u8, CliError> {
    let properties = properties(&arguments.properties);
    let mut code = 0;
    for path in &arguments.plans {
        let compiled = plan::load(path).and_then(|loaded| compile::compile(&loaded, &properties));
        match compiled {
            Ok(Compiled { mut warnings, .. }) if arguments.strict && !warnings.is_empty() => {
                for warning in &mut warnings {
                    warning.severity = Severity::Error;
                }
                console.diagnostics(&warnings);
                code = PLAN_WRONG;
            }
            Ok(compiled) => {
                console.diagnostics(&compiled.warnings);
                console.data(&format!("{}: ok\n", path.display())).map_err(CliError::Print)?;
                if arguments.explain {
                    console.data(&explain(&compiled.program)).map_err(CliError::Print)?;
                }
            }
            Err(diagnostics) => {
                console.diagnostics(&diagnostics);
                code = PLAN_WRONG;
            }
        }
    }
    Ok(code)
}

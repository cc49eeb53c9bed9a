//! The command line: arguments, wiring, exit codes.

mod args;
mod caveats;
mod check;
mod compare;
mod drive;
mod ending;
mod error;
mod explain;
mod functions;
mod host;
mod leaving;
mod merge;
mod new;
mod preflight;
mod progress;
mod report;
mod retold;
mod run;
mod schema;
mod serve;
mod shown_plan;
mod signals;
mod told_comparison;
mod try_plan;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::cli::args::{Arguments, Command};
use crate::console::Console;

/// Runs the program with the process's own arguments.
pub fn main() -> ExitCode {
    ExitCode::from(run_with(std::env::args_os()))
}

/// Parses the arguments, runs the command, and reports what went wrong. Gives the exit code.
fn run_with(arguments: impl Iterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help goes to standard output and usage errors to standard error, as clap knows.
            error.print().ok();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let quiet = matches!(&arguments.command, Command::Run(run) if run.quiet);
    let console = Console::detect(quiet);
    let outcome = match arguments.command {
        Command::Run(arguments) => run::run(console, &arguments),
        Command::Try(arguments) => try_plan::try_plan(console, &arguments),
        Command::New(arguments) => new::new(console, &arguments),
        Command::Check(arguments) => check::check(console, &arguments),
        Command::Functions => functions::functions(console),
        Command::Schema(arguments) => schema::schema(console, &arguments),
        Command::Report(arguments) => report::report(console, &arguments),
        Command::Compare(arguments) => compare::compare(console, &arguments),
        Command::Merge(arguments) => merge::merge(console, &arguments),
        Command::Serve(arguments) => serve::serve(console, &arguments),
    };
    outcome.unwrap_or_else(|error| error.report(console))
}

//! `wsmeter functions`: what `${__name()}` there is, each with an example.

use std::fmt::Write as _;

use crate::cli::error::CliError;
use crate::compile::FUNCTIONS;
use crate::console::Console;

/// Prints the list.
pub(crate) fn functions(console: Console) -> Result<u8, CliError> {
    let mut text = String::new();
    for one in FUNCTIONS {
        // Its result is that of the writer, and writing to a `String` does not fail.
        writeln!(text, "{}\n    {}", one.usage, one.summary).ok();
        writeln!(text, "    {} gives, for example, {}", one.example, one.sample).ok();
    }
    text.push_str(
        "\nWhat is in [ ] may be left out; a variable also gets the result. Arguments may hold `${…}`.\n\
         In settings that are fixed before the run only __P, __property and __env can be used.\n",
    );
    console.data(&text).map_err(CliError::Print)?;
    Ok(0)
}

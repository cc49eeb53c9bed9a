//! `wsmeter schema`: the JSON schemas of plans and of the files that they include.

use crate::cli::args::SchemaArguments;
use crate::cli::error::CliError;
use crate::console::Console;
use crate::plan;

/// Prints the schema, or writes it to a file.
pub(crate) fn schema(console: Console, arguments: &SchemaArguments) -> Result<u8, CliError> {
    let schema = if arguments.steps { plan::steps_schema() } else { plan::schema() };
    match &arguments.output {
        Some(file) => fs_err::write(file, schema).map_err(CliError::Schema)?,
        None => console.data(&schema),
    }
    Ok(0)
}

//! `wsmeter schema`: the JSON schemas of plans, of the files that they include, and of summaries.

use crate::cli::args::SchemaArguments;
use crate::cli::error::CliError;
use crate::console::Console;
use crate::plan;
use crate::report::json;

/// Prints the schema, or writes it to a file.
pub(crate) fn schema(console: Console, arguments: &SchemaArguments) -> Result<u8, CliError> {
    let schema = match arguments {
        SchemaArguments { steps: true, .. } => plan::steps_schema(),
        SchemaArguments { summary: true, .. } => json::schema(),
        _ => plan::schema(),
    };
    match &arguments.output {
        Some(file) => fs_err::write(file, schema).map_err(CliError::Schema)?,
        None => console.data(&schema).map_err(CliError::Print)?,
    }
    Ok(0)
}

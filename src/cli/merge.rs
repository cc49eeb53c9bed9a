//! `wsmeter merge`: the results of several runs as one.

use std::io::BufWriter;
use std::path::Path;

use crate::cli::args::MergeArguments;
use crate::cli::error::CliError;
use crate::cli::leaving::places;
use crate::cli::report::{find, warn, write};
use crate::cli::retold::{self, Retold};
use crate::clock;
use crate::console::Console;
use crate::report::{Outputs, Wanted, outlive_file_size_limit};
use crate::results::{self, is_a_source};
use crate::stats::thousands;

/// Joins results.
pub(crate) fn merge(console: Console, arguments: &MergeArguments) -> Result<u8, CliError> {
    let sources = find(console, &arguments.results)?;
    // Before anything is written: what cannot be read is known then.
    let results = results::read(&sources, clock::now())?;
    let remarks = retold::remarks(&sources, &results);
    warn(console, &remarks);
    let own: Vec<_> = sources.iter().map(|source| source.jtl.clone()).collect();
    let jtl =
        arguments.jtl.clone().or_else(|| Some(arguments.output.as_ref()?.join("samples.jtl")));
    if let Some(path) = jtl.filter(|path| is_a_source(path, &sources)) {
        return Err(CliError::IsSource { path });
    }
    let outputs = Outputs::open(
        Wanted {
            folder: arguments.output.as_deref(),
            jtl: arguments.jtl.as_deref(),
            force: arguments.force,
            plan: Path::new(""),
            included: &own,
        },
        clock::Clock::start().wall(clock::now()).into(),
    )?;
    outlive_file_size_limit().map_err(CliError::Runtime)?;
    let Outputs { jtl, jtl_path, reports } = outputs;
    let mut out = BufWriter::new(fs_err::File::from_parts(jtl, &jtl_path));
    let merged = match results::merge(&sources, &mut out) {
        Ok(merged) => merged,
        Err(error) => {
            // Half of the rows look like all of them.
            fs_err::remove_file(&jtl_path).ok();
            return Err(error.into());
        }
    };
    write(&Retold::of(&sources, &results, remarks), &sources, &reports)?;
    console.info(&places("results", Some(&jtl_path), &reports));
    let (rows, files) = (thousands(merged.rows), sources.len());
    console.important(&format!("{rows} rows of {files} results joined\n"));
    Ok(0)
}

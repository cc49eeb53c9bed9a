//! `wsmeter report`: results in, a table, a summary and a page out.

use std::path::{Path, PathBuf};

use crate::cli::args::ReportArguments;
use crate::cli::error::CliError;
use crate::cli::retold::{self, Retold};
use crate::clock;
use crate::console::Console;
use crate::report::html;
use crate::report::json;
use crate::report::{OutputError, summary};
use crate::results::{self, Source};
use crate::stats::thousands;
use crate::verdict;

/// The summary's name in the folder.
const SUMMARY: &str = "summary.json";
/// The page's name in the folder.
const PAGE: &str = "report.html";

/// Reads results and reports them together.
pub(crate) fn report(console: Console, arguments: &ReportArguments) -> Result<u8, CliError> {
    let sources = find(&arguments.results)?;
    let results = results::read(&sources, clock::now())?;
    let remarks = retold::remarks(&sources, &results);
    warn(console, &remarks);
    let retold = Retold::of(&sources, &results, remarks);
    console.info(&format!("{}\n", summary::render(&results.stats, retold.peak_connections())));
    if let Some(folder) = &arguments.output {
        let paths = [SUMMARY, PAGE].map(|name| folder.join(name));
        for path in &paths {
            take(path, arguments.force)?;
        }
        write(&retold, &sources, &paths[0], &paths[1])?;
        let paths = paths.map(|path| path.display().to_string());
        console.info(&format!("{:<16}{}\n\n", "report", paths.join(", ")));
    }
    let rows = thousands(results.rows);
    console.important(&format!("{rows} rows read; {}\n", verdict::failures(&results.stats)));
    Ok(0)
}

/// What the paths of a command line stand for.
pub(crate) fn find(paths: &[PathBuf]) -> Result<Vec<Source>, CliError> {
    paths.iter().map(|path| Ok(Source::find(path)?)).collect()
}

/// Shows what is to be said of results.
pub(crate) fn warn(console: Console, remarks: &[String]) {
    for remark in remarks {
        console.info(&format!("warning: {remark}\n"));
    }
}

/// Makes room for a file that must not overwrite another without leave.
fn take(path: &Path, force: bool) -> Result<(), CliError> {
    if path.exists() && !force {
        return Err(OutputError::Exists { path: path.to_owned() }.into());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs_err::create_dir_all(parent).map_err(OutputError::Io)?;
    }
    Ok(())
}

/// Writes summary and page. The summary of a single run stays as the run wrote it: it knows times to the
/// microsecond where rows have milliseconds.
pub(crate) fn write(
    retold: &Retold<'_>,
    sources: &[Source],
    summary: &Path,
    page: &Path,
) -> Result<(), CliError> {
    if let (Some(_), [Source { summary: Some(own), .. }]) = (retold.only_run(), sources) {
        let text = fs_err::read(own).map_err(CliError::Summary)?;
        fs_err::write(summary, text).map_err(CliError::Summary)?;
    } else {
        json::write(summary, &retold.contents()).map_err(CliError::Summary)?;
    }
    let failed = |source| CliError::Report { path: page.to_owned(), source };
    html::write(page, &retold.page(&retold.contents())).map_err(failed)
}

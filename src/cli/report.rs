//! `wsmeter report`: results in, a table, a summary and a page out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::cli::args::ReportArguments;
use crate::cli::error::CliError;
use crate::cli::leaving::places;
use crate::cli::retold::{self, Retold};
use crate::clock;
use crate::console::Console;
use crate::report::{OutputError, Reports, Unwritten, summary, write_whole};
use crate::results::{self, Source};
use crate::stats::thousands;
use crate::verdict;

/// Reads results and reports them together.
pub(crate) fn report(console: Console, arguments: &ReportArguments) -> Result<u8, CliError> {
    let sources = find(console, &arguments.results)?;
    let results = results::read(&sources, clock::now())?;
    let remarks = retold::remarks(&sources, &results);
    warn(console, &remarks);
    let retold = Retold::of(&sources, &results, remarks);
    let table = summary::render(&results.stats, retold.peak_connections());
    let printed = console.data(&format!("{table}\n"));
    if let Some(folder) = &arguments.output {
        let reports = Reports::in_folder(folder);
        for (path, _) in reports.all() {
            take(path, arguments.force)?;
        }
        write(&retold, &sources, &reports)?;
        console.info(&places("report", None, &reports));
    }
    printed.map_err(CliError::Print)?;
    let rows = thousands(results.rows);
    let plural = if results.rows == 1 { "" } else { "s" };
    console.important(&format!("{rows} row{plural} read; {}\n", verdict::failures(&results.stats)));
    Ok(0)
}

/// What the paths of a command line stand for. Results that several paths lead to, as `results/latest` and
/// another of `results/*` do, are there once.
pub(crate) fn find(console: Console, paths: &[PathBuf]) -> Result<Vec<Source>, CliError> {
    let mut found: BTreeMap<PathBuf, Source> = BTreeMap::new();
    let mut order = Vec::new();
    for path in paths {
        let source = Source::find(path)?;
        let real = fs_err::canonicalize(&source.jtl).unwrap_or_else(|_| source.jtl.clone());
        let Some(same) = found.get_mut(&real) else {
            order.push(real.clone());
            found.insert(real, source);
            continue;
        };
        let (one, other) = (same.path.display(), path.display());
        warn(console, &[format!("{other} is the same as {one}, and is counted once")]);
        // Links are moved; the run is known by its own name.
        if fs_err::symlink_metadata(&same.path).is_ok_and(|path| path.is_symlink()) {
            *same = source;
        }
    }
    Ok(order.iter().filter_map(|real| found.remove(real)).collect())
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

/// Writes all reports. The summary of a single run stays as the run wrote it: it knows times to the
/// microsecond where rows have milliseconds.
pub(crate) fn write(
    retold: &Retold<'_>,
    sources: &[Source],
    reports: &Reports,
) -> Result<(), CliError> {
    let contents = retold.contents();
    let page = retold.page(&contents);
    if let (Some(_), [Source { summary: Some(own), .. }]) = (retold.only_run(), sources) {
        let text = fs_err::read(own).map_err(Unwritten::Summary)?;
        write_whole(&reports.summary, &text).map_err(Unwritten::Summary)?;
        reports.write_others(&contents, &page)?;
        reports.keep_distributions(own, contents.stats.all().all.count())?;
    } else {
        reports.write(&contents, &page)?;
    }
    Ok(())
}

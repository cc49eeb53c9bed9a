//! The files that stand beside the rows of a run, one for each kind of reader.

use std::io;
use std::path::{Path, PathBuf};

use crate::report::html::Page;
use crate::report::json::{self, Contents};
use crate::report::{hdr, html, junit, markdown, metrics, whole_file};

/// The summary's name in a run folder.
const SUMMARY: &str = "summary.json";
/// The page's.
const PAGE: &str = "report.html";
/// That of the test cases.
const JUNIT: &str = "junit.xml";
/// That of the summary for the pages of CI servers.
const MARKDOWN: &str = "summary.md";
/// That of the histograms.
const HISTOGRAMS: &str = "latency.hlog";
/// That of the metrics.
const METRICS: &str = "metrics.txt";

/// Where they go.
#[derive(Debug, Clone)]
pub struct Reports {
    /// Everything, for machines.
    pub summary: PathBuf,
    /// For people.
    pub page: PathBuf,
    /// For CI servers: test cases.
    pub junit: PathBuf,
    /// For the pages of CI servers.
    pub markdown: PathBuf,
    /// For the tools of `HdrHistogram`.
    pub histograms: PathBuf,
    /// For the tools of Prometheus.
    pub metrics: PathBuf,
}

/// One of them cannot be written; the others are there, as far as they can be.
#[derive(Debug, thiserror::Error)]
pub enum Unwritten {
    /// The summary.
    #[error("failed to write the summary")]
    Summary(#[source] io::Error),
    /// Another one; the summary and the rows are there.
    #[error("failed to write `{}`", path.display())]
    Other {
        /// Where it goes.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl Reports {
    /// Those of a run folder.
    pub fn in_folder(folder: &Path) -> Self {
        Self::at(|name| folder.join(name))
    }

    /// Those of a JTL that is in no run folder: `night.summary.json` beside `night.jtl`, and so on.
    pub(crate) fn beside(jtl: &Path) -> Self {
        Self::at(|name| jtl.with_extension(name))
    }

    fn at(place: impl Fn(&str) -> PathBuf) -> Self {
        Self {
            summary: place(SUMMARY),
            page: place(PAGE),
            junit: place(JUNIT),
            markdown: place(MARKDOWN),
            histograms: place(HISTOGRAMS),
            metrics: place(METRICS),
        }
    }

    /// Takes over the log of histograms and the metrics that a run left beside its summary, if it has so many
    /// times: they are the run's own, and not of the rows' whole milliseconds.
    pub fn keep_distributions(&self, summary: &Path, times: u64) -> Result<(), Unwritten> {
        let name = summary.file_name().and_then(|name| name.to_str()?.strip_suffix(SUMMARY));
        let own = name.map(|name| summary.with_file_name(format!("{name}{HISTOGRAMS}")));
        let Some(text) = own.and_then(|own| fs_err::read(own).ok()) else { return Ok(()) };
        if hdr::count(&text) != Some(times) {
            return Ok(());
        }
        let keep = |path: &PathBuf, text: &[u8]| {
            whole_file::write(path, text)
                .map_err(|source| Unwritten::Other { path: path.clone(), source })
        };
        keep(&self.histograms, &text)?;
        let own = name.map(|name| summary.with_file_name(format!("{name}{METRICS}")));
        let metrics = own.and_then(|own| fs_err::read(own).ok());
        metrics.map_or(Ok(()), |text| keep(&self.metrics, &text))
    }

    /// All of them, with the word for each.
    pub fn all(&self) -> [(&Path, &'static str); 6] {
        [
            (&self.summary, "summary"),
            (&self.page, "report"),
            (&self.junit, "JUnit report"),
            (&self.markdown, "Markdown summary"),
            (&self.histograms, "log of histograms"),
            (&self.metrics, "metrics"),
        ]
    }

    /// Writes all: each that can be written is, whatever becomes of the others. The error is the first one.
    pub fn write(&self, contents: &Contents<'_>, page: &Page<'_>) -> Result<(), Unwritten> {
        let summary = json::write(&self.summary, contents).map_err(Unwritten::Summary);
        let others = self.write_others(contents, page);
        summary.and(others)
    }

    /// Writes all but the summary, in the same way.
    pub fn write_others(&self, contents: &Contents<'_>, page: &Page<'_>) -> Result<(), Unwritten> {
        let written = [
            (&self.page, html::write(&self.page, page)),
            (&self.junit, junit::write(&self.junit, contents.judgement, page)),
            (&self.markdown, markdown::write(&self.markdown, page)),
            (&self.histograms, hdr::write(&self.histograms, page)),
            (&self.metrics, metrics::write(&self.metrics, contents)),
        ];
        let fail = |(path, written): (&PathBuf, io::Result<()>)| {
            written.map_err(|source| Unwritten::Other { path: path.clone(), source })
        };
        // This stops at the first error; by then all were tried.
        written.into_iter().try_for_each(fail)
    }
}

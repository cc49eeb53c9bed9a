//! What a run leaves behind at its end: on the terminal and in its folder.

use std::path::Path;

use chrono::{DateTime, Utc};

use crate::cli::compare::Baseline;
use crate::cli::error::CliError;
use crate::console::Console;
use crate::report::html::{self, Page, PlanText};
use crate::report::json::{self, Contents};
use crate::report::{point_latest, summary, thresholds};
use crate::verdict::{Conclusion, Judgement, Verdict};

/// Where results go, and what only the page tells.
pub(crate) struct Leaving<'a> {
    pub(crate) console: Console,
    pub(crate) jtl: &'a Path,
    pub(crate) summary: &'a Path,
    pub(crate) report: &'a Path,
    pub(crate) title: &'a str,
    pub(crate) started: DateTime<Utc>,
    pub(crate) ended: DateTime<Utc>,
    pub(crate) texts: &'a [PlanText],
    pub(crate) command: &'a str,
}

impl Leaving<'_> {
    /// Shows and writes everything; the last judgement counts.
    pub(crate) fn leave(&self, contents: &Contents<'_>, baseline: Option<&Baseline>) -> Judgement {
        let mut judgement = contents.judgement.clone();
        let mut written = self.write(contents);
        self.show(contents);
        if let Some(baseline) = baseline
            && written.is_ok()
            && baseline.judge(self.console, &mut judgement.verdict, self.jtl, self.summary)
        {
            written = self.write(&Contents { judgement: &judgement, ..contents.clone() });
        }
        if let Err(error) = written {
            // The last line is the verdict, and a run without its results has not passed.
            if judgement.verdict.conclusion != Conclusion::BrokeOff {
                judgement.verdict = Verdict::new(Conclusion::BrokeOff, error.to_string());
            }
            // The summary may be there, and may not say that the run went well. Where there is no room
            // for another, the first one stays.
            let contents = Contents { judgement: &judgement, ..contents.clone() };
            json::write(self.summary, &contents).ok();
            self.console.error(&error, None);
        }
        if let Err(error) = self.summary.parent().map_or(Ok(()), point_latest) {
            let text = format!("warning: `results/latest` does not lead to this run: {error}\n\n");
            self.console.info(&text);
        }
        judgement
    }

    fn write(&self, contents: &Contents<'_>) -> Result<(), CliError> {
        json::write(self.summary, contents).map_err(CliError::Summary)?;
        let page = Page {
            started: Some(self.started),
            ended: Some(self.ended),
            texts: self.texts,
            command: Some(self.command),
            ..contents.page(self.title)
        };
        let failed = |source| CliError::Report { path: self.report.to_owned(), source };
        html::write(self.report, &page).map_err(failed)
    }

    fn show(&self, contents: &Contents<'_>) {
        let summary = summary::render(contents.stats, contents.peak_connections);
        let paths = [self.jtl, self.summary, self.report].map(|path| path.display().to_string());
        self.console.info(&format!("\n{summary}{:<16}{}\n\n", "results", paths.join(", ")));
        let thresholds = thresholds::render(&contents.judgement.thresholds);
        if !thresholds.is_empty() {
            self.console.info(&format!("{thresholds}\n"));
        }
    }
}

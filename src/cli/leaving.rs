//! What a run leaves behind at its end: on the terminal and in its folder.

use std::path::Path;

use chrono::{DateTime, Utc};

use crate::cli::compare::{Baseline, Told};
use crate::console::Console;
use crate::report::html::{Page, PlanText};
use crate::report::json::Contents;
use crate::report::{Reports, Unwritten, point_latest, summary, thresholds};
use crate::verdict::{Conclusion, Judgement, Verdict};

/// Where results go, and what only the page tells.
pub(crate) struct Leaving<'a> {
    pub(crate) console: Console,
    pub(crate) jtl: &'a Path,
    pub(crate) reports: &'a Reports,
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
        let mut told = Told::Nothing;
        if let Some(baseline) = baseline
            && written.is_ok()
        {
            let verdict = &mut judgement.verdict;
            told = baseline.judge(self.console, verdict, self.jtl, &self.reports.summary);
        }
        let comparison = match &told {
            Told::Comparison(compared) => Some(&**compared),
            Told::Nothing | Told::Verdict => None,
        };
        if !matches!(told, Told::Nothing) {
            let last = Contents { judgement: &judgement, comparison, ..contents.clone() };
            written = self.write(&last);
        }
        if let Err(error) = written {
            // The last line is the verdict, and a run without its results has not passed.
            if judgement.verdict.conclusion != Conclusion::BrokeOff {
                judgement.verdict = Verdict::new(Conclusion::BrokeOff, error.to_string());
            }
            // What is there may not say that the run went well, and may need the room.
            for (path, _) in self.reports.all() {
                fs_err::remove_file(path).ok();
            }
            self.write(&Contents { judgement: &judgement, comparison, ..contents.clone() }).ok();
            self.console.error(&error, None);
        }
        if let Err(error) = self.reports.summary.parent().map_or(Ok(()), point_latest) {
            let text = format!("warning: `results/latest` does not lead to this run: {error}\n\n");
            self.console.info(&text);
        }
        judgement
    }

    fn write(&self, contents: &Contents<'_>) -> Result<(), Unwritten> {
        let page = Page {
            started: Some(self.started),
            ended: Some(self.ended),
            texts: self.texts,
            command: Some(self.command),
            ..contents.page(self.title)
        };
        self.reports.write(contents, &page)
    }

    fn show(&self, contents: &Contents<'_>) {
        let summary = summary::render(contents.stats, contents.peak_connections);
        let places = places("results", Some(self.jtl), self.reports);
        self.console.info(&format!("\n{summary}{places}"));
        let thresholds = thresholds::render(&contents.judgement.thresholds);
        if !thresholds.is_empty() {
            self.console.info(&format!("{thresholds}\n"));
        }
    }
}

/// Where everything is, for people: the first three with their paths, of the others the names.
pub(crate) fn places(name: &str, jtl: Option<&Path>, reports: &Reports) -> String {
    let all = reports.all().map(|(path, _)| path);
    let (paths, others) = all.split_at(2);
    let paths: Vec<_> = jtl
        .into_iter()
        .chain(paths.iter().copied())
        .map(|path| path.display().to_string())
        .collect();
    let names: Vec<_> =
        others.iter().filter_map(|path| Some(path.file_name()?.to_string_lossy())).collect();
    format!("{name:<16}{}\n{:<16}{}\n\n", paths.join(", "), "beside them", names.join(", "))
}

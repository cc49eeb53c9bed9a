//! `wsmeter compare`: is a run worse than another?

use std::path::{Path, PathBuf};

use crate::cli::args::{CompareArguments, ToleranceArguments};
use crate::cli::caveats::caveats;
use crate::cli::error::CliError;
use crate::clock;
use crate::compile::set_tolerance;
use crate::console::Console;
use crate::report::compare::{self as comparison, Compared};
use crate::results::{self, Results, Source};
use crate::verdict::compare::{Tolerances, compare as compare_runs};
use crate::verdict::{Conclusion, Verdict};

/// The exit code of a comparison that found a regression.
const WORSE: u8 = 1;

/// Compares two runs; exit code 1 if the new one is worse.
pub(crate) fn compare(console: Console, arguments: &CompareArguments) -> Result<u8, CliError> {
    let (base, new) = (read(&arguments.base)?, read(&arguments.new)?);
    let tolerances = tolerances(&[&new, &base], &arguments.tolerances)?;
    let found = compare_runs(&base.blocks, &new.blocks, &tolerances);
    let caveats = caveats(&base, &new);
    if found.labels.is_empty() {
        return Err(CliError::NothingInCommon {
            base: arguments.base.clone(),
            new: arguments.new.clone(),
        });
    }
    let [path, new] = [&arguments.base, &arguments.new].map(|path| path.display().to_string());
    let compared = Compared { base: path, new: Some(new), caveats, found };
    let printed = console.data(&shown(&compared));
    if let Some(path) = &arguments.json {
        comparison::write(path, &compared).map_err(CliError::Comparison)?;
    }
    printed.map_err(CliError::Print)?;
    let found = &compared.found;
    let (word, code) = if found.is_worse() { ("REGRESSION", WORSE) } else { ("NO REGRESSION", 0) };
    console.important(&format!("{word}: {}\n", comparison::conclusion(found)));
    Ok(code)
}

/// Reads one run.
pub(crate) fn read(path: &Path) -> Result<Results, CliError> {
    Ok(results::read(&[Source::find(path)?], clock::now())?)
}

/// What is tolerated: by the command line, else by the first run whose plan says something, else by default.
pub(crate) fn tolerances(
    runs: &[&Results],
    arguments: &ToleranceArguments,
) -> Result<Tolerances, CliError> {
    let mut tolerances = Tolerances::default();
    let plans = runs.iter().flat_map(|run| &run.runs).flatten().map(|run| &run.plan.compare);
    for (key, value) in plans.into_iter().find(|plan| !plan.is_empty()).into_iter().flatten() {
        // A later version may have more of them.
        if let Some(text) = value.as_str() {
            set_tolerance(&mut tolerances, key, text).ok();
        }
    }
    apply(&mut tolerances, arguments)?;
    Ok(tolerances)
}

/// Sets what the command line says.
pub(crate) fn apply(
    tolerances: &mut Tolerances,
    arguments: &ToleranceArguments,
) -> Result<(), CliError> {
    for (key, text) in &arguments.tolerances {
        set_tolerance(tolerances, key, text)
            .map_err(|bad| CliError::Tolerance { what: bad.what, help: bad.help })?;
    }
    Ok(())
}

/// The comparison for people.
pub(crate) fn shown(compared: &Compared) -> String {
    let Compared { base, caveats, found, .. } = compared;
    let mut text = format!("compared with {base}\n\n");
    text.push_str(&comparison::render(found));
    for caveat in caveats {
        text.extend(["\nnote: ", caveat]);
    }
    text.push_str(if caveats.is_empty() { "\n" } else { "\n\n" });
    text
}

/// A baseline that was read before the run, and with which the run is compared at its end.
pub(crate) struct Baseline {
    path: PathBuf,
    results: Results,
    tolerances: Tolerances,
}

impl Baseline {
    /// Reads the baseline; `plan` is what the plan tolerates.
    pub(crate) fn read(
        path: &Path,
        plan: Option<&Tolerances>,
        arguments: &ToleranceArguments,
    ) -> Result<Self, CliError> {
        let results = read(path)?;
        let mut tolerances = plan.cloned().unwrap_or_default();
        apply(&mut tolerances, arguments)?;
        // `results/latest` will be another run soon.
        let path = fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Ok(Self { path, results, tolerances })
    }

    /// Compares a run that went to its end, whose results are written, with it. A regression fails the run.
    pub(crate) fn judge(
        &self,
        console: Console,
        verdict: &mut Verdict,
        jtl: &Path,
        summary: &Path,
    ) -> Told {
        if matches!(verdict.conclusion, Conclusion::BrokeOff | Conclusion::Interrupted) {
            console.info("not compared with the baseline: the run did not go to its end\n\n");
            return Told::Nothing;
        }
        let (path, summary) = (jtl.to_owned(), Some(summary.to_owned()));
        let source = Source { path, jtl: jtl.to_owned(), summary };
        let new = match results::read(&[source], clock::now()) {
            Ok(new) => new,
            Err(error) => {
                console.error(&error, error.help());
                // A run that was to be compared and was not has not passed.
                fail(verdict, Conclusion::BrokeOff, "the run was not compared".to_owned());
                return Told::Verdict;
            }
        };
        let found = compare_runs(&self.results.blocks, &new.blocks, &self.tolerances);
        let caveats = caveats(&self.results, &new);
        let base = self.path.display().to_string();
        let compared = Compared { base, new: None, caveats, found };
        console.info(&shown(&compared));
        let Compared { base, found, .. } = &compared;
        if found.labels.is_empty() {
            fail(verdict, Conclusion::Failed, format!("no label is also in {base}"));
        } else if found.is_worse() {
            let reason = format!("compared with {base}, {}", comparison::conclusion(found));
            fail(verdict, Conclusion::Failed, reason);
        }
        Told::Comparison(Box::new(compared))
    }
}

/// What there is to be told of a run once it was compared.
#[derive(Debug)]
pub(crate) enum Told {
    /// It was not.
    Nothing,
    /// It could not be, which is its verdict.
    Verdict,
    /// What that found.
    Comparison(Box<Compared>),
}

/// Makes a run that has passed one that has not; one that has not keeps its reason.
fn fail(verdict: &mut Verdict, conclusion: Conclusion, reason: String) {
    if verdict.conclusion == Conclusion::Passed {
        *verdict = Verdict::new(conclusion, reason);
    }
}

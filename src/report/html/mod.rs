//! `report.html`: the summary for people who were not there. One file that needs nothing else.
//!
//! What is shown is text until the template has escaped it; numbers for the charts go into a block of
//! JSON that cannot end its element. A content security policy lets nothing run but the page's own
//! script, and nothing be fetched. Without a script, tables and figures are all there.

mod charts;
mod comparison;
mod connections;
mod failures;
mod figures;
mod generator;
mod labels;
mod name;
mod stretch;
mod text;
mod view;

use std::io;
use std::path::Path;

use chrono::{DateTime, Utc};
use data_encoding::BASE64;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, context};
use sha2::{Digest, Sha256};

use crate::report::compare::Compared;
use crate::report::json::{Generator, Group, Plan};
use crate::report::whole_file;
use crate::stats::Stats;
use crate::verdict::Judgement;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = concat!(include_str!("tables.js"), include_str!("page.js"));
/// Chooses the theme before anything is painted.
const THEME: &str = include_str!("theme.js");
/// uPlot: the smallest library that draws as many points and lets one zoom into them.
const CHARTS: &str = include_str!("vendor/uplot/uPlot.iife.min.js");
const CHARTS_STYLE: &str = include_str!("vendor/uplot/uPlot.min.css");
const CHARTS_LICENSE: &str = include_str!("vendor/uplot/LICENSE");

/// Everything that a page is made of. Only the figures must be there: of a run that was made by another
/// program little more is known.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// What was run: the name of a plan, or of a file of results.
    pub title: &'a str,
    /// All figures.
    pub stats: &'a Stats,
    /// The judgement; without one the page does not speak of passing or failing.
    pub judgement: Option<&'a Judgement>,
    /// The comparison with an earlier run, if there was one.
    pub comparison: Option<&'a Compared>,
    /// When the first second of the series began. Without it times are told from the start only.
    pub started: Option<DateTime<Utc>>,
    /// When the run ended.
    pub ended: Option<DateTime<Utc>>,
    /// The files that were read, of a page that is made of results.
    pub sources: &'a [String],
    /// What the reader should know before he believes the figures, each a sentence.
    pub remarks: &'a [String],
    /// Connections that were open at once, at most.
    pub peak_connections: Option<u64>,
    /// What the load generator itself used.
    pub generator: Option<&'a Generator>,
    /// The plan.
    pub plan: Option<&'a Plan>,
    /// The plan's groups.
    pub groups: &'a [Group],
    /// The texts that the plan is made of, without secrets; its own first.
    pub texts: &'a [PlanText],
    /// The command, without secrets.
    pub command: Option<&'a str>,
    /// The generator's name.
    pub host: Option<&'a str>,
    /// Its cores.
    pub cores: Option<usize>,
    /// The version of wsmeter that made the run.
    pub wsmeter: Option<&'a str>,
}

impl<'a> Page<'a> {
    /// A page of which nothing but the figures is known.
    pub fn of(title: &'a str, stats: &'a Stats) -> Self {
        Self {
            title,
            stats,
            judgement: None,
            comparison: None,
            started: None,
            ended: None,
            sources: &[],
            remarks: &[],
            peak_connections: None,
            generator: None,
            plan: None,
            groups: &[],
            texts: &[],
            command: None,
            host: None,
            cores: None,
            wsmeter: None,
        }
    }
}

/// One file of a plan.
#[derive(Debug, Clone)]
pub struct PlanText {
    /// Its name, as given.
    pub path: String,
    /// What is in it, without secrets.
    pub text: String,
}

/// Writes the page under a temporary name and renames it, so that it is never half there. The error
/// names the path.
pub fn write(path: &Path, page: &Page<'_>) -> io::Result<()> {
    let html = render(page).map_err(io::Error::other)?;
    whole_file::write(path, html.as_bytes())
}

/// The page as a text.
fn render(page: &Page<'_>) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_template("page.html", TEMPLATE)?;
    let data = text::in_script(&charts::data(page));
    let scripts = [THEME, CHARTS, SCRIPT];
    environment.get_template("page.html")?.render(context! {
        page => Value::from(Serde(&view::View::of(page))),
        data => Value::from_safe_string(data),
        style => Value::from_safe_string([CHARTS_STYLE, STYLE].join("\n")),
        theme => Value::from_safe_string(THEME.to_owned()),
        charts => Value::from_safe_string(CHARTS.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        charts_license => CHARTS_LICENSE,
        hashes => Value::from_safe_string(scripts.map(hash).join(" ")),
    })
}

/// What a content security policy calls a script that it allows.
fn hash(script: &str) -> String {
    format!("'sha256-{}'", BASE64.encode(&Sha256::digest(script.as_bytes())))
}

#[cfg(test)]
mod tests;

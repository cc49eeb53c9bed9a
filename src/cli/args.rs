//! The command line as typed.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use crate::program::FromText;

/// A load tester for WebSocket servers: YAML plans in, JMeter-compatible results and a verdict out.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a plan; ends with a verdict.
    ///
    /// Exit codes: 0 passed; 1 the verdict failed; 2 the command line or the plan is wrong and nothing
    /// was sent; 3 the run broke off or results could not be written; 130 interrupted, results kept.
    Run(RunArguments),
    /// Try a plan: each group with one thread and one iteration, every frame shown.
    ///
    /// Shows what is sent and received, what filters and matchers make of it, assertions with the
    /// value found, and extracted variables. Writes no files and judges no thresholds; the exit codes
    /// are those of `run`.
    Try(TryArguments),
    /// Write a commented plan to start from, and the schema beside it for editors.
    New(NewArguments),
    /// Read plans and report every mistake, without sending anything.
    Check(CheckArguments),
    /// List the functions that a plan can call, such as `${__UUID()}`, with an example of each.
    Functions,
    /// Print the JSON schema of plans, for editors, or of other files.
    Schema(SchemaArguments),
    /// Read results, of JMeter too, and report them: a table, summary.json, report.html and others.
    ///
    /// Takes run folders and JTLs in CSV: any columns, order and delimiter, compressed by gzip or not.
    /// Several are reported together. Exit codes: 0 reported; 2 something cannot be read; 3 something
    /// cannot be written.
    Report(ReportArguments),
    /// Compare a run with an earlier one, label by label: is it worse?
    ///
    /// Rate, error rate and percentiles. A change counts if it is beyond the tolerance with its whole
    /// confidence interval, which comes from how much the spans of each run differ. Exit codes: 0 no
    /// regression; 1 a regression; 2 something cannot be read; 3 something cannot be written.
    Compare(CompareArguments),
    /// Join the results of several runs, without loss.
    ///
    /// The rows of all, in order of time if each file is, with the columns of all of them.
    Merge(MergeArguments),
    /// Run the embedded target: a WebSocket server for trying things out.
    ///
    /// Its paths: /echo, /push?hz=2, /slow?ms=1500, /stall?every=10000&ms=1000, /drop?after=5&code=1011, /cap?max=100, /binary,
    /// /fragment?n=3, /silent, /rooms/NAME, /flood, /reject?status=403, and /count for its counters.
    Serve(ServeArguments),
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct RunArguments {
    /// The plan, a YAML file.
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,

    /// Set a property that the plan reads with `${__P(name)}`.
    #[arg(short = 'J', value_name = "NAME=VALUE", value_parser = property, help_heading = "Plan")]
    pub(crate) properties: Vec<(String, String)>,

    /// Start the embedded target on a free port and set property `target` to its URL.
    #[arg(long, help_heading = "Load")]
    pub(crate) serve: bool,

    /// Write samples.jtl, summary.json, report.html, junit.xml, summary.md, latency.hlog and
    /// metrics.txt into this folder, made if missing.
    #[arg(short = 'o', long = "output", value_name = "DIR", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,

    /// Compare the run with this one at its end, as `wsmeter compare` does; a regression fails it.
    /// `results/latest` is the last run.
    #[arg(long, value_name = "RESULTS", help_heading = "Verdict")]
    pub(crate) baseline: Option<PathBuf>,

    #[command(flatten, next_help_heading = "Verdict")]
    pub(crate) tolerances: ToleranceArguments,

    /// End the run after this time as one that broke off, exit code 3; in place of the plan's
    /// `time_limit`.
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Load")]
    pub(crate) time_limit: Option<Duration>,

    /// While the run goes on, serve its metrics at `http://ADDRESS/metrics` for Prometheus; `127.0.0.1:9464` is usual.
    /// Anyone who can reach the address can read them.
    #[arg(long, value_name = "ADDRESS", value_parser = address, help_heading = "Output")]
    pub(crate) metrics_addr: Option<SocketAddr>,

    /// Write the JTL to this file.
    #[arg(short = 'l', long = "jtl", value_name = "FILE", help_heading = "Output")]
    pub(crate) jtl: Option<PathBuf>,

    /// Show secrets in all outputs, also those of `secrets` in the plan.
    #[arg(long, help_heading = "Output")]
    pub(crate) show_secrets: bool,

    /// Overwrite results of an earlier run, deleting nothing else; and run even if the machine has
    /// too little for it.
    #[arg(long, help_heading = "Output")]
    pub(crate) force: bool,

    /// Print only errors and the verdict.
    #[arg(short, long, help_heading = "Output")]
    pub(crate) quiet: bool,

    /// Show no progress while running.
    #[arg(long, help_heading = "Output")]
    pub(crate) no_progress: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TryArguments {
    /// The plan, a YAML file.
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,

    /// Set a property that the plan reads with `${__P(name)}`.
    #[arg(short = 'J', value_name = "NAME=VALUE", value_parser = property, help_heading = "Plan")]
    pub(crate) properties: Vec<(String, String)>,

    /// Try only this thread group; may be given several times.
    #[arg(long = "group", value_name = "NAME", help_heading = "Plan")]
    pub(crate) groups: Vec<String>,

    /// Start the embedded target on a free port and set property `target` to its URL.
    #[arg(long, help_heading = "Load")]
    pub(crate) serve: bool,

    /// Show secrets, also those of `secrets` in the plan.
    #[arg(long, help_heading = "Output")]
    pub(crate) show_secrets: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// The address of the server: `ws://host[:port][/path][?query]`.
    #[arg(value_name = "URL")]
    pub(crate) url: String,

    /// Write the plan to this file; without it, the host's name gives one.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Overwrite a plan that exists.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The plans, YAML files.
    #[arg(value_name = "PLAN", required = true)]
    pub(crate) plans: Vec<PathBuf>,

    /// Take warnings for errors.
    #[arg(long)]
    pub(crate) strict: bool,

    /// Print each plan as understood: defaults filled in, schedule, rows expected.
    #[arg(long)]
    pub(crate) explain: bool,

    /// Set a property that the plan reads with `${__P(name)}`.
    #[arg(short = 'J', value_name = "NAME=VALUE", value_parser = property)]
    pub(crate) properties: Vec<(String, String)>,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// Print the schema of files that plans include with `include`.
    #[arg(long)]
    pub(crate) steps: bool,

    /// Print the schema of summary.json.
    #[arg(long, conflicts_with = "steps")]
    pub(crate) summary: bool,

    /// Write the schema to this file; an existing one is replaced.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// Run folders and JTLs.
    #[arg(value_name = "RESULTS", required = true)]
    pub(crate) results: Vec<PathBuf>,

    /// Write summary.json, report.html, junit.xml, summary.md, latency.hlog and metrics.txt into
    /// this folder, made if missing; without it only the table is shown.
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,

    /// Overwrite an earlier report, deleting nothing else.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The run to compare with: a run folder or a JTL.
    #[arg(value_name = "BASE")]
    pub(crate) base: PathBuf,

    /// The run that may be worse.
    #[arg(value_name = "NEW")]
    pub(crate) new: PathBuf,

    /// Write the comparison to this file as JSON; an existing one is replaced.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) tolerances: ToleranceArguments,
}

/// What may change from run to run.
#[derive(Debug, Args)]
pub(crate) struct ToleranceArguments {
    /// Tolerate this change, whatever the plan's `compare` says: `p99=50%`, `rate=5%`,
    /// `error_rate=0.1%`, `at_least=2ms` (no percentile is worse by less), `confidence=99%`.
    #[arg(long = "tolerance", value_name = "NAME=VALUE", value_parser = property)]
    pub(crate) tolerances: Vec<(String, String)>,
}

#[derive(Debug, Args)]
pub(crate) struct MergeArguments {
    /// Run folders and JTLs.
    #[arg(value_name = "RESULTS", required = true, num_args = 2..)]
    pub(crate) results: Vec<PathBuf>,

    /// Write samples.jtl, summary.json, report.html, junit.xml, summary.md, latency.hlog and
    /// metrics.txt into this folder, made if missing.
    #[arg(short = 'o', long = "output", value_name = "DIR", required_unless_present = "jtl")]
    pub(crate) output: Option<PathBuf>,

    /// Write the JTL to this file.
    #[arg(short = 'l', long = "jtl", value_name = "FILE")]
    pub(crate) jtl: Option<PathBuf>,

    /// Overwrite earlier results, deleting nothing else.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// The port on 127.0.0.1; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 9000)]
    pub(crate) port: u16,
}

/// An address of this machine with its port; of a name its first address, one of IPv4 if it has any.
fn address(text: &str) -> Result<SocketAddr, String> {
    const HELP: &str = "write an address and a port, as in `127.0.0.1:9464` or `localhost:9464`";
    let known: Vec<SocketAddr> =
        text.to_socket_addrs().map_err(|error| format!("{HELP} ({error})"))?.collect();
    let found = known.iter().find(|address| address.is_ipv4()).or_else(|| known.first());
    found.copied().ok_or_else(|| HELP.to_owned())
}

/// A duration as plans have them, and not zero.
fn time(text: &str) -> Result<Duration, String> {
    match Duration::from_text(text) {
        Ok(time) if time.is_zero() => Err("a run needs some time; write `10m`".to_owned()),
        Ok(time) => Ok(time),
        Err(bad) => {
            Err(bad.help.map_or_else(|| bad.what.clone(), |help| format!("{}; {help}", bad.what)))
        }
    }
}

fn property(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_property_may_be_empty_and_may_hold_equals_signs() {
        assert_eq!(property("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert_eq!(property("a="), Ok(("a".to_owned(), String::new())));
        assert!(property("a").is_err());
        assert!(property("=a").is_err());
    }
}

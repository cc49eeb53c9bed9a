//! What can go wrong with a command, and its exit code and advice.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::cli::new::NewError;
use crate::cli::preflight::Shortage;
use crate::console::Console;
use crate::diag::Diagnostic;
use crate::exec::StartError;
use crate::report::{OutputError, Unwritten};
use crate::results::{MergeError, ReadError};
use crate::target;

/// Exit code: the command line or the plan is wrong; nothing was sent.
pub(crate) const PLAN_WRONG: u8 = 2;
/// Exit code: the run broke off, or results could not be written.
pub(crate) const BROKE_OFF: u8 = 3;

/// A command that could not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The plan is wrong.
    #[error("the plan is wrong")]
    Plan(Vec<Diagnostic>),
    /// A group that the plan does not have.
    #[error("no thread group is called `{name}`")]
    NoGroup {
        /// What was asked for.
        name: String,
        /// What may have been meant.
        similar: Option<String>,
        /// What there is.
        known: Vec<String>,
    },
    /// The first plan cannot be written.
    #[error(transparent)]
    New(#[from] NewError),
    /// The machine has too little for the run.
    #[error("the machine has too little for the run")]
    Preflight(Vec<Shortage>),
    /// Results cannot go where they should.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The address for metrics cannot be taken.
    #[error("failed to listen on {address} for metrics")]
    Metrics {
        /// What was asked for.
        address: SocketAddr,
        /// What the operating system said.
        source: io::Error,
    },
    /// The embedded target does not start.
    #[error(transparent)]
    Target(#[from] target::StartError),
    /// The workers do not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A runtime or thread of the command itself does not start.
    #[error("failed to start")]
    Runtime(#[source] io::Error),
    /// What stands beside the rows cannot be written, though the run went well.
    #[error(transparent)]
    Unwritten(#[from] Unwritten),
    /// Results cannot be read.
    #[error(transparent)]
    Results(#[from] ReadError),
    /// A tolerance of the command line is wrong.
    #[error("{what}")]
    Tolerance {
        /// What is wrong.
        what: String,
        /// How to mend it.
        help: Option<String>,
    },
    /// Two runs that cannot be compared.
    #[error("no label is both in {} and in {}", base.display(), new.display())]
    NothingInCommon {
        /// The base.
        base: PathBuf,
        /// The new run.
        new: PathBuf,
    },
    /// The comparison cannot be written.
    #[error("failed to write the comparison")]
    Comparison(#[source] io::Error),
    /// Joined rows cannot be written.
    #[error("failed to write the joined rows")]
    Merge(#[source] io::Error),
    /// What would overwrite what it is made of.
    #[error("`{}` is one of the results to be joined", path.display())]
    IsSource {
        /// The file.
        path: PathBuf,
    },
    /// What was asked for cannot be printed.
    #[error("failed to write to standard output")]
    Print(#[source] io::Error),
    /// The schema cannot go where it should.
    #[error("failed to write the schema")]
    Schema(#[source] io::Error),
}

impl From<MergeError> for CliError {
    fn from(error: MergeError) -> Self {
        match error {
            MergeError::Read(error) => Self::Results(error),
            MergeError::Write(error) => Self::Merge(error),
        }
    }
}

impl CliError {
    /// Prints the error; gives the exit code.
    pub(crate) fn report(&self, console: Console) -> u8 {
        match self {
            Self::Plan(diagnostics) => console.diagnostics(diagnostics),
            Self::New(error) => console.error(error, error.help()),
            Self::Output(error) => console.error(error, error.help()),
            Self::Results(error) => console.error(error, error.help()),
            Self::Tolerance { help, .. } => console.error(self, help.as_deref()),
            Self::Metrics { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                console.error(self, Some("choose another port; 0 takes a free one"));
            }
            Self::IsSource { .. } => console.error(self, Some("choose another place")),
            Self::Preflight(shortages) => {
                for shortage in shortages {
                    console.error(shortage, Some(shortage.help()));
                }
            }
            Self::NoGroup { similar: Some(similar), .. } => {
                console.error(self, Some(&format!("a similar group exists: `{similar}`")));
            }
            Self::NoGroup { known, .. } => {
                console.error(self, Some(&format!("the groups are {}", known.join(", "))));
            }
            other => console.error(other, None),
        }
        match self {
            Self::Plan(_)
            | Self::NoGroup { .. }
            | Self::New(_)
            | Self::Preflight(_)
            | Self::Output(_)
            | Self::Results(_)
            | Self::IsSource { .. }
            | Self::Tolerance { .. }
            | Self::NothingInCommon { .. }
            | Self::Metrics { .. }
            | Self::Target(_) => PLAN_WRONG,
            Self::Start(_)
            | Self::Runtime(_)
            | Self::Unwritten(_)
            | Self::Merge(_)
            | Self::Comparison(_)
            | Self::Print(_)
            | Self::Schema(_) => BROKE_OFF,
        }
    }
}

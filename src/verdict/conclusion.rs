//! What a run came to.

/// The exit codes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conclusion {
    /// Exit code 0.
    Passed,
    /// Exit code 1: it ran, and the server did not do what the plan wants.
    Failed,
    /// Exit code 3: the run broke off, or results could not be written.
    BrokeOff,
    /// Exit code 130: a signal ended it.
    Interrupted,
}

impl Conclusion {
    /// The process's exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::BrokeOff => 3,
            Self::Interrupted => 130,
        }
    }

    /// The conclusion of this word; `None` for any other.
    pub fn from_word(word: &str) -> Option<Self> {
        let all = [Self::Passed, Self::Failed, Self::BrokeOff, Self::Interrupted];
        all.into_iter().find(|conclusion| conclusion.word() == word)
    }

    /// The word for it in the summary.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::BrokeOff => "broke off",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A conclusion and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What it is.
    pub conclusion: Conclusion,
    /// Why, in one line.
    pub reason: String,
}

impl Verdict {
    /// A verdict with its reason.
    pub fn new(conclusion: Conclusion, reason: impl Into<String>) -> Self {
        Self { conclusion, reason: reason.into() }
    }
}

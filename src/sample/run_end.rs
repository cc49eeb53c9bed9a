//! Why a run ended.

/// Why a run ended; the verdict follows from it and from the samples.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum RunEnd {
    /// All threads did what the plan says.
    #[default]
    Completed,
    /// `on_error: stop_test` or `stop_test_now`.
    StoppedByOnError {
        /// The label of the sampler that failed.
        label: String,
    },
    /// A threshold that ends the run as soon as it does not hold.
    StoppedByThreshold {
        /// Which, and what was measured.
        what: String,
    },
    /// A signal.
    Interrupted,
    /// The run could not go on; says why.
    BrokeOff(String),
}

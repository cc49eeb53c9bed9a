//! Conditions that a plan sets.

use std::time::Duration;

use crate::verdict::Statistic;

/// The label that stands for all samplers together.
pub const ALL: &str = "all";

/// How a measured value is compared with the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
}

impl Operator {
    /// All with their signs, those of two characters first.
    pub const ALL: [(&'static str, Self); 6] = [
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("==", Self::Equal),
        ("!=", Self::Unequal),
        ("<", Self::Below),
        (">", Self::Above),
    ];

    /// Whether it keeps a value from growing.
    pub(crate) fn is_upper_limit(self) -> bool {
        matches!(self, Self::Below | Self::AtMost | Self::Equal)
    }

    /// Whether `measured` stands so to `bound`.
    #[expect(clippy::float_cmp, reason = "the plan asks for equality")]
    pub fn holds(self, measured: f64, bound: f64) -> bool {
        match self {
            Self::Below => measured < bound,
            Self::AtMost => measured <= bound,
            Self::Above => measured > bound,
            Self::AtLeast => measured >= bound,
            Self::Equal => measured == bound,
            Self::Unequal => measured != bound,
        }
    }
}

/// `p95 < 50ms`
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// What is measured.
    pub statistic: Statistic,
    /// How it is compared.
    pub operator: Operator,
    /// With what, in the statistic's unit; times in seconds, shares from 0 to 1.
    pub bound: f64,
    /// As written, for people.
    pub text: String,
}

impl Condition {
    /// Whether it is an upper limit of failures.
    pub(crate) fn limits_failures(&self) -> bool {
        self.statistic.bounds_failures() && self.operator.is_upper_limit()
    }
}

/// A condition on a label.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The label, or [`ALL`].
    pub label: String,
    /// What must hold for it.
    pub condition: Condition,
    /// The time from the start of the run after which it ends the run as soon as it does not hold; `None`
    /// if it never does.
    pub abort: Option<Duration>,
}

impl Threshold {
    /// Whether it says how many failures of `label` are acceptable: only an upper limit does.
    pub(crate) fn covers_failures_of(&self, label: &str) -> bool {
        self.condition.limits_failures() && (self.label == ALL || self.label == label)
    }
}

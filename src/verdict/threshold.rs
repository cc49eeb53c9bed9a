//! Conditions that a plan sets.

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

/// A condition on a label.
#[derive(Debug, Clone, PartialEq)]
pub struct Threshold {
    /// The label, or [`ALL`].
    pub label: String,
    /// What must hold for it.
    pub condition: Condition,
}

impl Threshold {
    /// Whether it says how many failures of `label` are acceptable.
    pub(crate) fn covers_failures_of(&self, label: &str) -> bool {
        self.condition.statistic.bounds_failures() && (self.label == ALL || self.label == label)
    }
}

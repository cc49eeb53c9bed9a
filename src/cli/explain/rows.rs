//! How many rows steps write if nothing fails.

use std::fmt;

use crate::program::{IfOpen, SamplerKind, Setting, Step, Times};

/// A number of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    /// So many.
    Exactly(u64),
    /// Time or a value of the run decides, or there are more than fit.
    Unknown,
}

impl Rows {
    pub(super) fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Exactly(one), Self::Exactly(other)) => {
                one.checked_add(other).map_or(Self::Unknown, Self::Exactly)
            }
            _ => Self::Unknown,
        }
    }

    pub(super) fn times(self, times: u64) -> Self {
        match self {
            Self::Exactly(rows) => rows.checked_mul(times).map_or(Self::Unknown, Self::Exactly),
            Self::Unknown => Self::Unknown,
        }
    }
}

impl fmt::Display for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(rows) => write!(f, "{rows} if nothing fails"),
            Self::Unknown => f.write_str("not known before the run"),
        }
    }
}

/// The rows of one pass through `steps`.
pub(super) fn rows(steps: &[Step]) -> Rows {
    steps.iter().fold(Rows::Exactly(0), |total, step| {
        total.plus(match step {
            Step::Sampler(sampler) => match &sampler.kind {
                // One that is open already gets no row.
                SamplerKind::Open(open) if open.if_open != Setting::Fixed(IfOpen::Replace) => {
                    Rows::Unknown
                }
                _ => Rows::Exactly(1),
            },
            Step::Pause(_) => Rows::Exactly(0),
            Step::Loop(own) => match own.times {
                Setting::Fixed(Times::Count(times)) => rows(&own.steps).times(times),
                _ => Rows::Unknown,
            },
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_does_not_fit_is_unknown() {
        assert_eq!(Rows::Exactly(u64::MAX).times(2), Rows::Unknown);
        assert_eq!(Rows::Exactly(u64::MAX).plus(Rows::Exactly(1)), Rows::Unknown);
        assert_eq!(Rows::Exactly(2).times(3).plus(Rows::Exactly(1)), Rows::Exactly(7));
        assert_eq!(Rows::Unknown.times(0), Rows::Unknown);
    }
}

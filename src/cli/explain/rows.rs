//! How many rows steps write if nothing fails.

use std::fmt;

use crate::program::{Controller, IfOpen, SamplerKind, Setting, Step, Times};

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
            Step::Pause(_) | Step::Pace(_) | Step::Rendezvous(_) | Step::Set(_) | Step::Log(_) => {
                Rows::Exactly(0)
            }
            Step::Controller(own) => of_controller(own),
            // What follows may be left out.
            Step::Jump(_) => Rows::Unknown,
        })
    })
}

fn of_controller(controller: &Controller) -> Rows {
    let parts = controller.parts();
    match controller {
        Controller::Loop(own) => match own.times {
            Setting::Fixed(Times::Count(times)) => rows(&own.steps).times(times),
            _ => Rows::Unknown,
        },
        Controller::ForEach(own) => {
            own.passes().map_or(Rows::Unknown, |passes| rows(&own.steps).times(passes))
        }
        // Known only if it makes no difference which part is done.
        Controller::If(_) | Controller::Random(_) | Controller::Interleave(_) => {
            let mut each = parts.into_iter().map(rows);
            let first = each.next().unwrap_or(Rows::Unknown);
            if each.all(|rows| rows == first) { first } else { Rows::Unknown }
        }
        Controller::Transaction(own) => match rows(&own.steps) {
            Rows::Exactly(0) => Rows::Exactly(0),
            rows => rows.plus(Rows::Exactly(1)),
        },
        Controller::While(_)
        | Controller::RunFor(_)
        | Controller::Once(_)
        | Controller::Chance(_) => Rows::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Jump, Template, Transaction};

    #[test]
    fn controllers_count_where_it_is_the_same_whatever_they_decide() {
        let steps = |count: usize| -> Vec<Step> {
            (0..count).map(|_| Step::Controller(Box::new(transaction(Vec::new())))).collect()
        };
        assert_eq!(rows(&steps(3)), Rows::Exactly(0), "a transaction without samplers has no row");
        let random = |one, other| Controller::Random(vec![steps(one), steps(other)]);
        assert_eq!(of_controller(&random(1, 2)), Rows::Exactly(0));
        let jump = || vec![Step::Jump(Jump::Break)];
        assert_eq!(of_controller(&transaction(jump())), Rows::Unknown);
        assert_eq!(of_controller(&Controller::Random(vec![jump(), steps(1)])), Rows::Unknown);
    }

    fn transaction(steps: Vec<Step>) -> Controller {
        let include_pauses = Setting::Fixed(false);
        Controller::Transaction(Transaction {
            name: Template::constant("t"),
            include_pauses,
            steps,
        })
    }

    #[test]
    fn a_number_that_does_not_fit_is_unknown() {
        assert_eq!(Rows::Exactly(u64::MAX).times(2), Rows::Unknown);
        assert_eq!(Rows::Exactly(u64::MAX).plus(Rows::Exactly(1)), Rows::Unknown);
        assert_eq!(Rows::Exactly(2).times(3).plus(Rows::Exactly(1)), Rows::Exactly(7));
        assert_eq!(Rows::Unknown.times(0), Rows::Unknown);
    }
}

//! Controllers: steps that decide which other steps are done, and how often.

use std::time::Duration;

use crate::program::{Condition, CounterId, Setting, Step, Template, Times, VariableId};

/// One controller. A `block` is none: its settings have been applied to the samplers below it.
#[derive(Debug)]
pub enum Controller {
    /// `loop`
    Loop(Loop),
    /// `while`
    While(While),
    /// `for_each`
    ForEach(ForEach),
    /// `run_for`
    RunFor(RunFor),
    /// `if`
    If(If),
    /// `once`
    Once(Once),
    /// `random`: the steps of one choice, chosen anew each time. There is at least one.
    Random(Vec<Vec<Step>>),
    /// `interleave`
    Interleave(Interleave),
    /// `chance`
    Chance(Chance),
    /// `transaction`
    Transaction(Transaction),
}

/// `loop: {times, steps}`.
#[derive(Debug)]
pub struct Loop {
    /// Evaluated when the loop is entered.
    pub times: Setting<Times>,
    /// What each pass does.
    pub steps: Vec<Step>,
}

/// `while: {condition, steps}`.
#[derive(Debug)]
pub struct While {
    /// Evaluated before each pass.
    pub condition: Condition,
    /// What each pass does.
    pub steps: Vec<Step>,
}

/// `for_each: {in, as, steps}`.
#[derive(Debug)]
pub struct ForEach {
    /// One for each pass.
    pub values: Values,
    /// `as`: gets the value of the pass.
    pub variable: VariableId,
    /// What each pass does.
    pub steps: Vec<Step>,
}

impl ForEach {
    /// How many passes it has, if the plan alone decides that.
    pub fn passes(&self) -> Option<u64> {
        match &self.values {
            Values::Listed(values) => Some(values.len() as u64),
            Values::Range { from: Setting::Fixed(from), to: Setting::Fixed(to) } => {
                Some(if to < from { 0 } else { from.abs_diff(*to).saturating_add(1) })
            }
            Values::Numbered { .. } | Values::Range { .. } => None,
        }
    }
}

/// What `for_each` goes through.
#[derive(Debug)]
pub enum Values {
    /// Each is evaluated when its pass begins.
    Listed(Vec<Template>),
    /// `x_1`, `x_2` and so on, up to the first without a value. Of those that the plan names
    /// [`Program::numbered`](crate::program::Program::numbered) knows the variables; an extractor
    /// of `x` keeps all its values in `all`.
    Numbered {
        /// The name without number.
        base: VariableId,
        /// Holds what `match: all` found.
        all: VariableId,
    },
    /// Whole numbers, evaluated when the loop is entered. When both are fixed, `to` is not below `from`.
    Range {
        /// The first.
        from: Setting<u64>,
        /// The last; below `from` there is none.
        to: Setting<u64>,
    },
}

/// `run_for: {duration, steps}`.
#[derive(Debug)]
pub struct RunFor {
    /// Evaluated when it is entered; never zero when fixed.
    pub duration: Setting<Duration>,
    /// What each pass does.
    pub steps: Vec<Step>,
}

/// `if: {condition, then, else}`.
#[derive(Debug)]
pub struct If {
    /// Evaluated when it is reached.
    pub condition: Condition,
    /// Done where it holds.
    pub then: Vec<Step>,
    /// Done where it does not; may be empty.
    pub otherwise: Vec<Step>,
}

/// `once: {steps}`.
#[derive(Debug)]
pub struct Once {
    /// How often a thread has reached it.
    pub reached: CounterId,
    /// Done the first time.
    pub steps: Vec<Step>,
}

/// `interleave: {steps}`.
#[derive(Debug)]
pub struct Interleave {
    /// How often a thread has reached it.
    pub reached: CounterId,
    /// The steps of each choice, in turn. There is at least one.
    pub choices: Vec<Vec<Step>>,
}

/// `chance: {percent, steps}`.
#[derive(Debug)]
pub struct Chance {
    /// From 0 to 100 when fixed.
    pub percent: Setting<f64>,
    /// How often all threads of the group have reached it.
    pub reached: CounterId,
    /// Done then.
    pub steps: Vec<Step>,
}

impl Chance {
    /// Whether the steps are done at the time `nth`, from 1, that they are reached, spread evenly so
    /// that after any number of times the nearest whole number of them were done. This is what
    /// JMeter's Throughput Controller decides by comparing `(100 * done + 50) / nth` with the
    /// percentage, without the need to know how often it was done.
    pub fn is_due(percent: f64, nth: u64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "nobody gets to 2^53")]
        let done = |times: u64| ((percent * times as f64 - 50.0) / 100.0).ceil().max(0.0);
        done(nth) > done(nth - 1)
    }
}

/// `transaction: {name, steps}`.
#[derive(Debug)]
pub struct Transaction {
    /// The label of its row.
    pub name: Template,
    /// Whether pauses within it count as its time.
    pub include_pauses: Setting<bool>,
    /// What it sums up.
    pub steps: Vec<Step>,
}

impl Controller {
    /// The lists of steps within it.
    pub fn parts(&self) -> Vec<&[Step]> {
        match self {
            Self::Loop(own) => vec![&own.steps],
            Self::While(own) => vec![&own.steps],
            Self::ForEach(own) => vec![&own.steps],
            Self::RunFor(own) => vec![&own.steps],
            Self::If(own) => vec![&own.then, &own.otherwise],
            Self::Once(own) => vec![&own.steps],
            Self::Random(choices) => choices.iter().map(Vec::as_slice).collect(),
            Self::Interleave(own) => own.choices.iter().map(Vec::as_slice).collect(),
            Self::Chance(own) => vec![&own.steps],
            Self::Transaction(own) => vec![&own.steps],
        }
    }

    /// The same, to be changed.
    pub fn parts_mut(&mut self) -> Vec<&mut [Step]> {
        match self {
            Self::Loop(own) => vec![&mut own.steps],
            Self::While(own) => vec![&mut own.steps],
            Self::ForEach(own) => vec![&mut own.steps],
            Self::RunFor(own) => vec![&mut own.steps],
            Self::If(own) => vec![&mut own.then, &mut own.otherwise],
            Self::Once(own) => vec![&mut own.steps],
            Self::Random(choices) => choices.iter_mut().map(Vec::as_mut_slice).collect(),
            Self::Interleave(own) => own.choices.iter_mut().map(Vec::as_mut_slice).collect(),
            Self::Chance(own) => vec![&mut own.steps],
            Self::Transaction(own) => vec![&mut own.steps],
        }
    }

    /// Whether it does its steps again and again, so that `break` and `next_pass` act on it.
    pub fn is_loop(&self) -> bool {
        matches!(self, Self::Loop(_) | Self::While(_) | Self::ForEach(_) | Self::RunFor(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// JMeter's rule, with its own count of what was done.
    fn jmeter(percent: f64, times: u32) -> Vec<bool> {
        let mut done = 0.0;
        (0..times)
            .map(|iteration| {
                let due = (100.0 * done + 50.0) / f64::from(iteration + 1) < percent;
                done += f64::from(u8::from(due));
                due
            })
            .collect()
    }

    #[test]
    fn chance_decides_as_jmeters_throughput_controller() {
        for percent in [0.0, 1.0, 10.0, 25.0, 33.0, 50.0, 66.0, 75.0, 99.0, 100.0, 12.5] {
            let ours: Vec<bool> = (1..=1_000).map(|nth| Chance::is_due(percent, nth)).collect();
            assert_eq!(ours, jmeter(percent, 1_000), "{percent}");
        }
    }

    #[test]
    fn ten_percent_are_ten_of_a_hundred() {
        let done = |from: u64| (from..from + 100).filter(|nth| Chance::is_due(10.0, *nth)).count();
        assert_eq!((done(1), done(37)), (10, 10));
    }
}

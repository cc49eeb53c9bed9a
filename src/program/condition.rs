//! Conditions of `if` and `while`, compiled.

use std::cmp::Ordering;

use crate::program::VariableId;

/// A condition: what must hold, and the text it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// As written in the plan: what names it in errors.
    pub source: String,
    /// What must hold.
    pub test: Test,
}

/// What is true or false.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// At least one holds; those after the first that holds are not looked at.
    Any(Vec<Self>),
    /// All hold; those after the first that does not are not looked at.
    All(Vec<Self>),
    /// It does not hold.
    Not(Box<Self>),
    /// Two values compare so.
    Compare(Operand, Comparison, Operand),
    /// A value is equal to one of several.
    In(Operand, Vec<Operand>),
    /// The variable has a value.
    Defined(VariableId),
    /// The value is `true`; it fails where it is not `false` either.
    Truth(Operand),
}

/// What is compared. All values are text; two that read as numbers compare as numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A variable's value.
    Variable(VariableId),
    /// A constant.
    Text(String),
    /// `last_ok`: whether the thread's last sample passed; true before its first.
    LastOk,
    /// `iteration`: which of the thread it is, from 1.
    Iteration,
    /// `thread`: its number in the group, from 1.
    Thread,
}

/// How two values must compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

impl Comparison {
    /// Whether the left value may stand so to the right one.
    pub fn holds(self, left_to_right: Ordering) -> bool {
        match self {
            Self::Equal => left_to_right.is_eq(),
            Self::Unequal => left_to_right.is_ne(),
            Self::Below => left_to_right.is_lt(),
            Self::AtMost => left_to_right.is_le(),
            Self::Above => left_to_right.is_gt(),
            Self::AtLeast => left_to_right.is_ge(),
        }
    }
}

/// How two values compare: as numbers if both read as such, else as text, byte by byte. Whole
/// numbers compare exactly, so that identifiers of many digits differ.
pub fn compare(left: &str, right: &str) -> Ordering {
    if let (Ok(left), Ok(right)) = (left.parse::<i128>(), right.parse::<i128>()) {
        return left.cmp(&right);
    }
    let number = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
    match (number(left), number(right)) {
        (Some(one), Some(other)) => one.partial_cmp(&other).unwrap_or(Ordering::Equal),
        _ => left.cmp(right),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_as_numbers_and_all_else_as_text() {
        for (left, right, ordering) in [
            ("10", "9", Ordering::Greater),
            ("10", "9x", Ordering::Less),
            ("1", "1.0", Ordering::Equal),
            ("007", "7", Ordering::Equal),
            ("-1", "0.5", Ordering::Less),
            ("1e3", "1000", Ordering::Equal),
            ("12345678901234567891", "12345678901234567890", Ordering::Greater),
            ("nan", "nan", Ordering::Equal),
            ("inf", "1", Ordering::Greater),
            ("", "0", Ordering::Less),
            ("b", "a", Ordering::Greater),
        ] {
            assert_eq!(compare(left, right), ordering, "{left} {right}");
        }
    }
}

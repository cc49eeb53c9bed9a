//! Whether a condition holds, for one thread.

use std::borrow::Cow;

use crate::exec::evaluate::{Scope, bad_value};
use crate::exec::outcome::Failure;
use crate::program::{Condition, Operand, Test, compare};

/// Fails where a variable has no value, or where what should be true or false is neither.
pub(crate) fn holds(scope: &Scope, condition: &Condition) -> Result<bool, Failure> {
    test(scope, &condition.test, &condition.source)
}

fn test(scope: &Scope, what: &Test, source: &str) -> Result<bool, Failure> {
    match what {
        Test::Any(tests) => {
            for one in tests {
                if test(scope, one, source)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Test::All(tests) => {
            for one in tests {
                if !test(scope, one, source)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Test::Not(inner) => Ok(!test(scope, inner, source)?),
        Test::Compare(left, comparison, right) => {
            let (left, right) = (value(scope, left)?, value(scope, right)?);
            Ok(comparison.holds(compare(&left, &right)))
        }
        Test::In(left, list) => {
            let left = value(scope, left)?;
            for one in list {
                if compare(&left, &value(scope, one)?).is_eq() {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Test::Defined(variable) => Ok(scope.is_defined(*variable)),
        Test::Truth(operand) => match value(scope, operand)?.as_ref() {
            "true" => Ok(true),
            "false" => Ok(false),
            text => Err(bad_value(&format!("`{text}` is neither `true` nor `false`"), source)),
        },
    }
}

fn value<'s>(scope: &'s Scope, operand: &'s Operand) -> Result<Cow<'s, str>, Failure> {
    Ok(match operand {
        Operand::Variable(variable) => Cow::Borrowed(scope.variable(*variable)?),
        Operand::Text(text) => Cow::Borrowed(text),
        Operand::LastOk => Cow::Borrowed(if scope.last_ok { "true" } else { "false" }),
        Operand::Iteration => Cow::Owned(scope.iteration.to_string()),
        Operand::Thread => Cow::Owned(scope.number.to_string()),
    })
}

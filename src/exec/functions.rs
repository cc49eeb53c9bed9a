//! The functions of a plan, as JMeter's of the same names behave.

use std::fmt::Write as _;

use chrono::{DateTime, Local};
use rand::RngExt;
use uuid::Uuid;

use crate::clock::Clock;
use crate::exec::evaluate::{Scope, bad_value};
use crate::exec::outcome::Failure;
use crate::program::{CounterScope, FromText, Function, Shift, Template, TimeFormat, VariableId};

/// What `__RandomString` chooses from where the plan names no characters.
const LETTERS_AND_DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The longest `__RandomString`, in characters.
const MAX_RANDOM_STRING: u64 = 1_000_000;

/// Appends the result of a call.
pub(crate) fn call(
    scope: &mut Scope,
    function: &Function,
    out: &mut String,
) -> Result<(), Failure> {
    let before = out.len();
    let store = match function {
        Function::Counter { id, scope: whose, store } => {
            let value = match whose {
                CounterScope::Run => scope.shared.count(*id),
                CounterScope::Thread => scope.count(*id),
            };
            append(out, value);
            *store
        }
        Function::ThreadNum => {
            append(out, scope.number);
            None
        }
        Function::ThreadGroupName => {
            out.push_str(&scope.shared.program.groups[scope.group].name);
            None
        }
        Function::Uuid => {
            append(out, Uuid::new_v4());
            None
        }
        Function::Time { format, store } => {
            format.write(now(), out);
            *store
        }
        Function::TimeShift { format, date, shift, store } => {
            time_shift(scope, format, (date, shift), out)?;
            *store
        }
        Function::Text { function, arguments, store } => {
            let texts: Result<Vec<_>, _> = arguments.iter().map(|one| scope.text(one)).collect();
            let source = arguments.first().map_or("", |first| first.source.as_str());
            out.push_str(&function.apply(&texts?).map_err(|bad| bad_value(&bad.what, source))?);
            *store
        }
        Function::Constant { text, store } => {
            out.push_str(text);
            Some(*store)
        }
        Function::Random { min, max, store } => {
            let (low, high): (i64, i64) = (number(scope, min)?, number(scope, max)?);
            if low > high {
                let what = format!("`{low}` is above `{high}`");
                return Err(bad_value(&what, &min.source));
            }
            append(out, rand::rng().random_range(low..=high));
            *store
        }
        Function::RandomString { length, characters, store } => {
            random_string(scope, length, characters, out)?;
            *store
        }
    };
    keep(scope, store, &out[before..]);
    Ok(())
}

fn append(out: &mut String, value: impl std::fmt::Display) {
    // Its result is that of the writer, and writing to a `String` does not fail.
    write!(out, "{value}").ok();
}

fn keep(scope: &mut Scope, store: Option<VariableId>, value: &str) {
    if let Some(variable) = store {
        scope.set(variable, value);
    }
}

fn number<T: FromText>(scope: &mut Scope, template: &Template) -> Result<T, Failure> {
    let text = scope.text(template)?;
    T::from_text(text.trim()).map_err(|bad| bad_value(&bad.what, &template.source))
}

fn now() -> DateTime<Local> {
    let now = Clock::start();
    now.wall(now.started()).into()
}

fn time_shift(
    scope: &mut Scope,
    format: &TimeFormat,
    (date, shift): (&Template, &Template),
    out: &mut String,
) -> Result<(), Failure> {
    let text = scope.text(date)?;
    let from = match text.trim() {
        "" => now(),
        text => format.read(text).map_err(|bad| bad_value(&bad.what, &date.source))?,
    };
    let text = scope.text(shift)?;
    let to = match text.trim() {
        "" => Some(from),
        text => {
            let shift =
                Shift::from_text(text).map_err(|bad| bad_value(&bad.what, &shift.source))?;
            from.checked_add_signed(shift.0)
        }
    };
    let to = to.ok_or_else(|| bad_value("there is no such date", &shift.source))?;
    format.write(to, out);
    Ok(())
}

fn random_string(
    scope: &mut Scope,
    length: &Template,
    characters: &Template,
    out: &mut String,
) -> Result<(), Failure> {
    let wanted: u64 = number(scope, length)?;
    if wanted > MAX_RANDOM_STRING {
        let what = format!("`{wanted}` is more than {MAX_RANDOM_STRING} characters");
        return Err(bad_value(&what, &length.source));
    }
    let characters = scope.text(characters)?;
    let choice: Vec<char> =
        if characters.is_empty() { LETTERS_AND_DIGITS } else { &characters }.chars().collect();
    let mut random = rand::rng();
    for _ in 0..wanted {
        out.push(choice[random.random_range(0..choice.len())]);
    }
    Ok(())
}

//! Compiled `${…}` text. Evaluation needs a thread's state and so lives in `exec`.

use crate::program::TextFunction;

/// Index into [`Program::variable_names`](crate::program::Program::variable_names).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);

/// One occurrence of `__counter` or of a controller that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CounterId(pub u32);

/// Text with variables and function calls. Constant parts are merged, so that a template without
/// `${…}` is one [`Part::Text`] (or none, for the empty text).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Template {
    /// The text as written in the plan: what groups equal causes and names the field in errors.
    pub source: String,
    /// What to put together.
    pub parts: Vec<Part>,
}

/// A piece of a [`Template`].
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Literal text, escapes already undone.
    Text(String),
    /// A variable's value.
    Variable(VariableId),
    /// A function's result.
    Call(Box<Function>),
}

/// A function call (JMeter's functions of the same names), arguments as templates where they may
/// hold variables. `store` is the variable that also gets the result.
#[derive(Debug, Clone, PartialEq)]
pub enum Function {
    /// `__counter(TRUE|FALSE[, variable])`: 1 at its first call.
    Counter {
        /// Which counter.
        id: CounterId,
        /// Whose counter.
        scope: CounterScope,
        /// Also stored here.
        store: Option<VariableId>,
    },
    /// `__threadNum`: from 1 within the group.
    ThreadNum,
    /// `__threadGroupName`.
    ThreadGroupName,
    /// `__UUID`: random, version 4.
    Uuid,
    /// `__time([format[, variable]])`.
    Time {
        /// How to write the time.
        format: TimeFormat,
        /// Also stored here.
        store: Option<VariableId>,
    },
    /// `__timeShift([format[, date[, shift[, locale[, variable]]]]])`.
    TimeShift {
        /// How the date is written, before and after.
        format: TimeFormat,
        /// The date; now, if it is empty.
        date: Template,
        /// A [`Shift`](crate::program::Shift); none, if it is empty.
        shift: Template,
        /// Also stored here.
        store: Option<VariableId>,
    },
    /// A text made of others alone; of constants only if it is stored.
    Text {
        /// What is made of them.
        function: TextFunction,
        /// The others.
        arguments: Vec<Template>,
        /// Also stored here.
        store: Option<VariableId>,
    },
    /// `__FileToString` with a variable: the same text each time.
    Constant {
        /// The text.
        text: String,
        /// Also stored here.
        store: VariableId,
    },
    /// `__Random(min, max[, variable])`: both ends included.
    Random {
        /// A whole number.
        min: Template,
        /// A whole number, not below `min`.
        max: Template,
        /// Also stored here.
        store: Option<VariableId>,
    },
    /// `__RandomString(length[, characters[, variable]])`.
    RandomString {
        /// A whole number, at most 1,000,000.
        length: Template,
        /// What to choose from; letters and digits where none are given.
        characters: Template,
        /// Also stored here.
        store: Option<VariableId>,
    },
}

/// Whose `__counter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterScope {
    /// `TRUE`: each thread has its own.
    Thread,
    /// `FALSE`: one for the whole run.
    Run,
}

/// The first argument of `__time`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeFormat {
    /// No format: milliseconds since 1970.
    EpochMs,
    /// `/1000` and the like: milliseconds since 1970 divided, rounded down; never zero.
    EpochDivided(u64),
    /// A pattern in local time, as a `chrono` format string.
    Pattern(String),
}

impl Template {
    /// A template of constant text.
    pub fn constant(text: impl Into<String>) -> Self {
        let text = text.into();
        let parts = if text.is_empty() { Vec::new() } else { vec![Part::Text(text.clone())] };
        Self { source: text, parts }
    }

    /// The text, if it is the same at each execution.
    pub fn as_constant(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// Appends `text` to `out` as the inside of a JSON string (RFC 8259 7), without quotes.
pub fn json_escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 => {
                const HEX: [char; 16] = [
                    '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
                ];
                out.push_str("\\u00");
                out.push(HEX[(u32::from(c) >> 4) as usize]);
                out.push(HEX[(u32::from(c) & 15) as usize]);
            }
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_strings_survive_a_json_parser() {
        let text = "a\"b\\c\n\r\t\u{1}\u{1f}é😀";
        let mut escaped = String::from("\"");
        json_escape(text, &mut escaped);
        escaped.push('"');
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
    }
}

//! Templates to text, settings to values, with one thread's variables.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::exec::functions;
use crate::exec::outcome::Failure;
use crate::exec::shared::Shared;
use crate::net::Cookies;
use crate::program::{
    CounterId, FromText, JsonPart, Part, Program, Setting, Template, VariableId, json_escape,
};
use crate::sample::{Code, Trace};
use crate::secrets::{self, Found, Known, Own};

/// What a variable holds.
#[derive(Debug, Clone, Default)]
pub(crate) enum Held {
    /// Nothing yet.
    #[default]
    Nothing,
    /// Nothing, because what should have given it a value failed with this code: what needs it is
    /// skipped.
    Missing(Code),
    /// A value.
    Text(Rc<str>),
    /// All values of an extractor, for `for_each`; no text can name such a variable.
    List(Rc<[Option<Rc<str>>]>),
}

impl Held {
    fn texts(&self) -> impl Iterator<Item = &str> {
        let (text, list) = match self {
            Self::Text(text) => (Some(&**text), &[][..]),
            Self::List(values) => (None, &**values),
            Self::Nothing | Self::Missing(_) => (None, &[][..]),
        };
        text.into_iter().chain(list.iter().flatten().map(|value| &**value))
    }
}

/// The variables and counters of one virtual thread, and who it is.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) shared: Arc<Shared>,
    pub(crate) group: usize,
    /// From 1 within the group.
    pub(crate) number: u32,
    /// Which it is, from 1.
    pub(crate) iteration: u64,
    /// Whether the last sample passed; true before the first.
    pub(crate) last_ok: bool,
    variables: Vec<Held>,
    /// Secrets that are too short to be hidden from other threads; `None` if there was none yet.
    own_secrets: Option<Box<Own>>,
    /// See [`Known::turns`].
    turns: Cell<u64>,
    /// What servers have set, kept as long as the thread lives, as JMeter does by default.
    pub(crate) cookies: Cookies,
    pub(crate) counters: Vec<u64>,
}

impl Scope {
    pub(crate) fn new(shared: Arc<Shared>, group: usize, number: u32) -> Self {
        let variables = vec![Held::Nothing; shared.program.variable_names.len()];
        let counters = vec![0; shared.program.counters];
        let (iteration, last_ok) = (0, true);
        Self {
            shared,
            group,
            number,
            iteration,
            last_ok,
            variables,
            own_secrets: None,
            turns: Cell::default(),
            cookies: Cookies::default(),
            counters,
        }
    }

    pub(crate) fn set(&mut self, variable: VariableId, value: &str) {
        self.hold(variable, Held::Text(value.into()));
    }

    pub(crate) fn hold(&mut self, variable: VariableId, held: Held) {
        let program = &self.shared.program;
        if program.secret_variables.contains(&variable)
            || program.telling_variables.contains(&variable)
        {
            let mut found = Found::default();
            remember(&mut found, program, variable, &held);
            self.shared.secrets.add(&found, &mut self.own_secrets);
        }
        self.variables[variable.0 as usize] = held;
    }

    /// A variable and its value, for those who look on.
    pub(crate) fn trace_of(&self, variable: VariableId) -> Trace {
        let name = self.shared.program.variable_names[variable.0 as usize].clone();
        let value = match &self.variables[variable.0 as usize] {
            Held::Text(text) => Some(text.to_string()),
            Held::List(values) => {
                let value = |value: &Option<_>| value.as_deref().unwrap_or("null").to_owned();
                Some(values.iter().map(value).collect::<Vec<String>>().join(", "))
            }
            Held::Nothing | Held::Missing(_) => None,
        };
        Trace::Variable { name, value }
    }

    /// Lets secrets be added to those that are hidden from now on.
    pub(crate) fn hide(&mut self, find: impl FnOnce(&mut Found)) {
        let mut found = Found::default();
        find(&mut found);
        if !found.is_empty() {
            self.shared.secrets.add(&found, &mut self.own_secrets);
        }
    }

    /// Whether the text holds a secret, whether secrets are shown or not.
    pub(crate) fn is_secret(&self, text: &str) -> bool {
        self.secrets().are_in(self.own_secrets.as_deref(), text)
    }

    /// As [`Self::is_secret`]; or whether the text tells by itself that something in it is one.
    pub(crate) fn holds_secret(&self, text: &str) -> bool {
        self.is_secret(text) || matches!(secrets::without_telling(text), Cow::Owned(_))
    }

    /// All that are known, with those that this thread holds: old ones are forgotten in the course of
    /// time.
    pub(crate) fn secrets(&self) -> &Known {
        let known = &self.shared.secrets;
        let turns = known.turns();
        if self.turns.replace(turns) != turns {
            let mut found = Found::default();
            for (variable, held) in (0..).map(VariableId).zip(&self.variables) {
                remember(&mut found, &self.shared.program, variable, held);
            }
            self.cookies.values().iter().for_each(|value| found.remember_telling(value));
            // What is short is not forgotten in this way.
            known.add(&found, &mut None);
        }
        known
    }

    /// The text without secrets, as it may be shown.
    pub(crate) fn shown<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        if self.shared.program.show_secrets {
            return text;
        }
        match self.secrets().mask(self.own_secrets.as_deref(), &text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => Cow::Owned(masked),
        }
    }

    /// As [`Self::shown`], for a text that quotes what was sent or received: it may tell by itself
    /// what is a secret.
    pub(crate) fn shown_quote(&self, text: String) -> String {
        if self.shared.program.show_secrets {
            return text;
        }
        // By names first: what is masked already tells no more where it ends.
        let text = secrets::without_telling(&text).into_owned();
        self.shown(text.into()).into_owned()
    }

    /// Where secrets stand in bytes, in order; `goes_on`: whether they were cut off.
    pub(crate) fn places(&self, bytes: &[u8], goes_on: bool) -> Vec<Range<usize>> {
        if self.shared.program.show_secrets {
            return Vec::new();
        }
        self.secrets().places(self.own_secrets.as_deref(), bytes, goes_on)
    }

    /// The values of the plan's `sample_variables`; `None` for those that have none.
    pub(crate) fn sample_variables(&self) -> Vec<Option<Cow<'_, str>>> {
        let value = |variable: &VariableId| match &self.variables[variable.0 as usize] {
            Held::Text(text) if text.contains([':', '=']) => {
                Some(Cow::Owned(self.shown_quote(text.to_string())))
            }
            Held::Text(text) => Some(self.shown(Cow::Borrowed(text))),
            Held::Nothing | Held::Missing(_) | Held::List(_) => None,
        };
        self.shared.program.sample_variables.iter().map(value).collect()
    }

    /// Why one of these variables has no value, if that is because something failed.
    pub(crate) fn missing(&self, variables: &[VariableId]) -> Option<Code> {
        variables.iter().find_map(|variable| match self.variables[variable.0 as usize] {
            Held::Missing(cause) => Some(cause),
            _ => None,
        })
    }

    /// The text of a template; constants are borrowed.
    pub(crate) fn text<'t>(&mut self, template: &'t Template) -> Result<Cow<'t, str>, Failure> {
        if let Some(constant) = template.as_constant() {
            return Ok(Cow::Borrowed(constant));
        }
        let mut text = String::new();
        self.expand(template, &mut text)?;
        Ok(Cow::Owned(text))
    }

    /// Appends the text of a template.
    pub(crate) fn expand(&mut self, template: &Template, out: &mut String) -> Result<(), Failure> {
        for part in &template.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Variable(variable) => out.push_str(self.variable(*variable)?),
                Part::Call(function) => functions::call(self, function, out)?,
            }
        }
        Ok(())
    }

    /// Appends a JSON text with its templates filled in.
    pub(crate) fn json(&mut self, parts: &[JsonPart], out: &mut String) -> Result<(), Failure> {
        for part in parts {
            match part {
                JsonPart::Raw(text) => out.push_str(text),
                JsonPart::String(template) => quote(&self.text(template)?, out),
                JsonPart::Value(template) => {
                    let text = self.text(template)?;
                    if is_json_number(&text) { out.push_str(&text) } else { quote(&text, out) }
                }
            }
        }
        Ok(())
    }

    /// The value of a setting.
    pub(crate) fn value<T: FromText + Copy>(&mut self, setting: &Setting<T>) -> Result<T, Failure> {
        match setting {
            Setting::Fixed(value) => Ok(*value),
            Setting::Template(template) => {
                let text = self.text(template)?;
                T::from_text(text.trim()).map_err(|bad| bad_value(&bad.what, &template.source))
            }
        }
    }

    pub(crate) fn variable(&self, variable: VariableId) -> Result<&str, Failure> {
        let name = || &self.shared.program.variable_names[variable.0 as usize];
        match &self.variables[variable.0 as usize] {
            Held::Text(text) => Ok(text),
            Held::Nothing | Held::List(_) => Err(Failure::plain(
                Code::UndefinedVariable,
                &format!("variable `{}` has no value yet", name()),
            )),
            Held::Missing(cause) => Err(Failure::unmet(*cause, name())),
        }
    }

    pub(crate) fn is_defined(&self, variable: VariableId) -> bool {
        matches!(self.variables[variable.0 as usize], Held::Text(_))
    }

    /// The value at `index`, from 0, of the numbered variables `base_1`, `base_2` and so on; `None`
    /// at the first that has none. Of those that the plan does not name, `all` has the values.
    pub(crate) fn numbered(
        &self,
        base: VariableId,
        all: VariableId,
        index: usize,
    ) -> Result<Option<Rc<str>>, Failure> {
        let program = &self.shared.program;
        let named = program.numbered.get(&base).and_then(|ids| ids.get(index));
        Ok(match &self.variables[named.unwrap_or(&all).0 as usize] {
            Held::Text(text) => Some(Rc::clone(text)),
            Held::List(values) => values.get(index).cloned().flatten(),
            Held::Nothing => None,
            Held::Missing(cause) => {
                let name = &program.variable_names[base.0 as usize];
                return Err(Failure::unmet(*cause, name));
            }
        })
    }

    /// The next value of the thread's own count: 1 first.
    pub(crate) fn count(&mut self, counter: CounterId) -> u64 {
        let count = &mut self.counters[counter.0 as usize];
        *count += 1;
        *count
    }
}

/// Adds what a variable holds, if it is a secret.
fn remember(found: &mut Found, program: &Program, variable: VariableId, held: &Held) {
    if program.secret_variables.contains(&variable) {
        held.texts().for_each(|text| found.remember(text));
    } else if program.telling_variables.contains(&variable) {
        held.texts().for_each(|text| found.remember_password(text));
    }
}

/// A template gave something that does not read as what is wanted.
pub(crate) fn bad_value(what: &str, source: &str) -> Failure {
    Failure::new(
        Code::BadValue,
        format!("{what}, from `{source}`"),
        format!("bad value from `{source}`"),
    )
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    json_escape(text, out);
    out.push('"');
}

/// RFC 8259 6: no leading zeros or plus sign, so that identifiers such as `007` stay strings.
fn is_json_number(text: &str) -> bool {
    text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_numbers_are_inserted_bare() {
        for text in ["0", "-1", "1.50", "1e400", "12345678901234567890123"] {
            assert!(is_json_number(text), "{text}");
        }
        for text in ["", "007", "+1", "1.", ".5", "0x1", "1 2", "- 1", "NaN", "-Infinity", "true"] {
            assert!(!is_json_number(text), "{text}");
        }
    }
}

//! How many connections a thread has open at once, as far as its steps tell.

use std::collections::{BTreeSet, HashMap};

use crate::program::{
    Controller, ForEach, Function, Part, SamplerKind, Step, Template, Values, VariableId,
};

/// A number of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConnectionCount {
    /// Those whose names are known before the run.
    pub known: u64,
    /// How many of these are over TLS, as far as their addresses are known.
    pub secure: u64,
    /// There may be more: values of the run are in a name.
    pub or_more: bool,
}

impl ConnectionCount {
    /// Those that `steps` leave open. A name from a `for_each` over a list or a range counts once for
    /// each value, unless a `close` in the same pass closes it again.
    pub fn of(steps: &[Step]) -> Self {
        let mut counter = Counter::default();
        counter.steps(steps, &mut Vec::new());
        // The same name, opened at several places, is one connection.
        let sum = |counts: &mut dyn Iterator<Item = u64>| counts.fold(0, u64::saturating_add);
        let known = sum(&mut counter.names.values().map(|(count, _)| *count));
        let secure = counter.names.values().filter(|(_, is_secure)| *is_secure);
        let secure = sum(&mut secure.map(|(count, _)| *count));
        Self { known, secure, or_more: counter.or_more }
    }
}

#[derive(Default)]
struct Counter<'p> {
    /// How many connections a text stands for, and whether they are over TLS.
    names: HashMap<&'p str, (u64, bool)>,
    or_more: bool,
}

impl<'p> Counter<'p> {
    fn steps(&mut self, steps: &'p [Step], around: &mut Vec<&'p ForEach>) {
        for step in steps {
            match step {
                Step::Sampler(sampler) => {
                    if let Some(open) = sampler.kind.opening() {
                        self.opened(&sampler.connection, is_secure(&open.url), around);
                    }
                }
                Step::Controller(controller) => {
                    let own = match controller.as_ref() {
                        Controller::ForEach(own) => Some(own),
                        _ => None,
                    };
                    around.extend(own);
                    controller.parts().into_iter().for_each(|part| self.steps(part, around));
                    around.truncate(around.len() - usize::from(own.is_some()));
                }
                _ => {}
            }
        }
    }

    fn opened(&mut self, name: &'p Template, is_secure: bool, around: &[&'p ForEach]) {
        let mut variables = BTreeSet::new();
        for part in &name.parts {
            match part {
                Part::Variable(id) => {
                    variables.insert(*id);
                }
                // The same in each execution.
                Part::Text(_) => {}
                Part::Call(function)
                    if matches!(**function, Function::ThreadNum | Function::ThreadGroupName) => {}
                Part::Call(_) => self.or_more = true,
            }
        }
        let mut count: u64 = 1;
        for id in variables {
            match values_of(id, around, name) {
                Some(values) => count = count.saturating_mul(values),
                None => self.or_more = true,
            }
        }
        let most = self.names.entry(&name.source).or_default();
        *most = (count.max(most.0), is_secure || most.1);
    }
}

/// Whether the address is known to be one of TLS.
fn is_secure(url: &Template) -> bool {
    matches!(url.parts.first(), Some(Part::Text(start)) if start.starts_with("wss://"))
}

/// How many values the variable brings into the name, of connections that stay open; `None` if the run
/// decides.
fn values_of(variable: VariableId, around: &[&ForEach], name: &Template) -> Option<u64> {
    let own = around.iter().rev().find(|own| own.variable == variable)?;
    if closes(&own.steps, &name.source) {
        return Some(1);
    }
    match &own.values {
        Values::Listed(values) if values.iter().all(|value| value.as_constant().is_some()) => {
            let distinct: BTreeSet<&str> = values.iter().map(|value| &*value.source).collect();
            Some(distinct.len() as u64)
        }
        Values::Listed(_) | Values::Numbered { .. } => None,
        Values::Range { .. } => own.passes(),
    }
}

/// Whether some step closes the connection of this name.
fn closes(steps: &[Step], name: &str) -> bool {
    steps.iter().any(|step| match step {
        Step::Sampler(sampler) => {
            matches!(sampler.kind, SamplerKind::Close(_)) && sampler.connection.source == name
        }
        Step::Controller(controller) => controller.parts().iter().any(|part| closes(part, name)),
        _ => false,
    })
}

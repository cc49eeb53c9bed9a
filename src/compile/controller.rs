//! Controllers, and the steps that steer a thread: `set`, `log`, `break` and the like.

use std::time::Duration;

use crate::compile::compiler::{Compiler, When};
use crate::compile::connections::Connections;
use crate::compile::endless::{Ended, can_end};
use crate::compile::scope::Scope;
use crate::compile::variables::is_variable_name;
use crate::plan::{self, At, Entries, List, Path, Problem, Text};
use crate::program::{
    BadValue, Chance, Condition, Controller, CounterId, ForEach, If, Interleave, Jump, Loop, Once,
    Operand, RunFor, Setting, Step, Template, Test, Times, Transaction, Values, VariableId, While,
};

/// Where a controller stands.
pub(super) struct Around<'a> {
    /// The controller's own path.
    pub(super) path: Path,
    /// What holds within it.
    pub(super) scope: Scope,
    pub(super) connections: &'a mut Connections,
}

impl Compiler<'_> {
    pub(super) fn loop_(
        &mut self,
        own: &plan::Loop,
        around: &mut Around<'_>,
    ) -> Option<Controller> {
        let path = around.path.key("times");
        if own.times.is_none() {
            self.missing(around, "times", "write `times: 10`, or `times: forever`");
        }
        let times = own.times.as_ref().and_then(|times| self.setting(times, &path));
        let steps = self.looped(&own.steps, around);
        if times == Some(Setting::Fixed(Times::Forever)) && !can_end(&steps, Ended::Loop) {
            self.endless.push(path);
        }
        Some(Controller::Loop(Loop { times: times?, steps }))
    }

    pub(super) fn while_(
        &mut self,
        own: &plan::While,
        around: &mut Around<'_>,
    ) -> Option<Controller> {
        let condition = self.asked(own.condition.as_ref(), around);
        let steps = self.looped(&own.steps, around);
        let condition = condition?;
        let always = Test::Truth(Operand::Text("true".to_owned()));
        if condition.test == always && !can_end(&steps, Ended::Loop) {
            self.endless.push(around.path.key("condition"));
        }
        Some(Controller::While(While { condition, steps }))
    }

    pub(super) fn for_each(
        &mut self,
        own: &plan::ForEach,
        around: &mut Around<'_>,
    ) -> Option<Controller> {
        let values = match &own.r#in {
            None => {
                let help =
                    "write a list, `{ from: 1, to: 100 }`, or `in: x` for `x_1`, `x_2` and so on";
                self.missing(around, "in", help);
                None
            }
            Some(plan::Values::Named(name)) => self.numbered(&name.text, &around.path.key("in")),
            Some(plan::Values::Listed(values)) => self.listed(values, &around.path.key("in")),
            Some(plan::Values::Range(range)) => self.range(range, &around.path.key("in")),
        };
        let variable = match &own.r#as {
            None => {
                self.missing(around, "as", "write `as: x`, and `${x}` in the steps");
                None
            }
            Some(name) => self.stored_variable(name, &around.path.key("as")),
        };
        let steps = self.looped(&own.steps, around);
        Some(Controller::ForEach(ForEach { values: values?, variable: variable?, steps }))
    }

    fn numbered(&mut self, name: &str, path: &Path) -> Option<Values> {
        if let Some(inside) = name.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) {
            let problem = Problem::error(path, "`in` takes the name of variables, without `${`");
            self.note(problem.help(format!("write `in: {inside}`")));
            return None;
        }
        if !is_variable_name(name) {
            let problem = Problem::error(path, format!("`{name}` is not a name for variables"));
            self.note(problem.help(format!("write a list for the values themselves: `[{name}]`")));
            return None;
        }
        let (base, all) = self.variables.numbered(name, path);
        Some(Values::Numbered { base, all })
    }

    fn listed(&mut self, values: &List<plan::Setting<Text>>, path: &Path) -> Option<Values> {
        if values.0.is_empty() {
            let problem = Problem::error(path, "`in` is empty, so nothing would be done");
            self.note(problem.at(At::Key).help("write values, such as `[red, green]`"));
        }
        let templates: Vec<Option<Template>> = values
            .0
            .iter()
            .enumerate()
            .map(|(index, value)| self.text(value, &path.index(index)))
            .collect();
        templates.into_iter().collect::<Option<Vec<_>>>().map(Values::Listed)
    }

    fn range(&mut self, range: &plan::Range, path: &Path) -> Option<Values> {
        let mut end = |own: &Option<plan::Setting<plan::Count>>, key: &'static str| {
            if let Some(number) = own {
                return self.setting(number, &path.key(key));
            }
            let problem = Problem::error(path, format!("the range has no `{key}`")).at(At::Key);
            self.note(problem.help("write `in: { from: 1, to: 100 }`"));
            None
        };
        let (from, to) = (end(&range.from, "from"), end(&range.to, "to"));
        let to = self.checked(to, &path.key("to"), |to: &u64| match &from {
            Some(Setting::Fixed(from)) if to < from => {
                let bad = BadValue::new(format!("`to` is below `from`, {to} < {from}"));
                Err(bad.with_help("ranges go up; write a list for other orders"))
            }
            _ => Ok(()),
        });
        Some(Values::Range { from: from?, to: to? })
    }

    pub(super) fn run_for(
        &mut self,
        own: &plan::RunFor,
        around: &mut Around<'_>,
    ) -> Option<Controller> {
        let path = around.path.key("duration");
        if own.duration.is_none() {
            self.missing(around, "duration", "write `duration: 30s`");
        }
        let duration = own.duration.as_ref().and_then(|time| self.setting(time, &path));
        let duration = self.checked(duration, &path, |time: &Duration| {
            if time.is_zero() {
                let bad = BadValue::new("`duration` is zero, so nothing would be done");
                return Err(bad.with_help("write `30s`"));
            }
            Ok(())
        });
        let steps = self.looped(&own.steps, around);
        Some(Controller::RunFor(RunFor { duration: duration?, steps }))
    }

    pub(super) fn if_(&mut self, own: &plan::If, around: &mut Around<'_>) -> Option<Controller> {
        let condition = self.asked(own.condition.as_ref(), around);
        if own.then.0.is_empty() {
            self.missing(around, "then", "add `then:` with at least one step");
        }
        let then = self.list(&own.then, "then", around);
        let otherwise = self.list(&own.r#else, "else", around);
        Some(Controller::If(If { condition: condition?, then, otherwise }))
    }

    #[expect(clippy::unnecessary_wraps, reason = "one of several of the same kind")]
    pub(super) fn once(&mut self, own: &plan::Once, around: &mut Around<'_>) -> Option<Controller> {
        let steps = self.own_steps(&own.steps, around);
        Some(Controller::Once(Once { reached: self.counter(), steps }))
    }

    pub(super) fn random(
        &mut self,
        own: &plan::Random,
        around: &mut Around<'_>,
    ) -> Option<Controller> {
        self.choices(&own.steps, around).map(Controller::Random)
    }

    pub(super) fn interleave(
        &mut self,
        own: &plan::Interleave,
        around: &mut Around<'_>,
    ) -> Option<Controller> {
        let choices = self.choices(&own.steps, around)?;
        Some(Controller::Interleave(Interleave { reached: self.counter(), choices }))
    }

    pub(super) fn chance(
        &mut self,
        own: &plan::Chance,
        around: &mut Around<'_>,
    ) -> Option<Controller> {
        let path = around.path.key("percent");
        if own.percent.is_none() {
            self.missing(around, "percent", "write `percent: 10`");
        }
        let percent = own.percent.as_ref().and_then(|percent| {
            let percent = self.setting(percent, &path);
            self.checked(percent, &path, |percent: &f64| {
                if (0.0..=100.0).contains(percent) {
                    return Ok(());
                }
                let bad = BadValue::new(format!("`{percent}` is not a percentage"));
                Err(bad.with_help("write a number from 0 to 100"))
            })
        });
        let steps = self.own_steps(&own.steps, around);
        Some(Controller::Chance(Chance { percent: percent?, reached: self.counter(), steps }))
    }

    pub(super) fn transaction(
        &mut self,
        own: &plan::Transaction,
        around: &mut Around<'_>,
    ) -> Option<Controller> {
        if own.name.is_none() {
            self.missing(around, "name", "write `name: checkout`: it is the label of its row");
        }
        let name = own.name.as_ref().and_then(|name| self.label(name, &around.path));
        if let Some(label) = name.as_ref().and_then(Template::as_constant) {
            self.transactions.push((label.to_owned(), around.path.key("name")));
        }
        let path = around.path.key("include_pauses");
        let include_pauses = match &own.include_pauses {
            Some(setting) => self.setting(setting, &path),
            None => Some(Setting::Fixed(false)),
        };
        let steps = self.own_steps(&own.steps, around);
        Some(Controller::Transaction(Transaction {
            name: name?,
            include_pauses: include_pauses?,
            steps,
        }))
    }

    /// The steps of a controller that does them again and again.
    fn looped(&mut self, steps: &List<plan::Step>, around: &mut Around<'_>) -> Vec<Step> {
        self.loops += 1;
        let steps = self.own_steps(steps, around);
        self.loops -= 1;
        steps
    }

    fn own_steps(&mut self, steps: &List<plan::Step>, around: &mut Around<'_>) -> Vec<Step> {
        let Around { path, scope, connections } = around;
        self.steps(steps, path, scope, connections)
    }

    /// The list at the key `key`, which may be empty.
    fn list(
        &mut self,
        steps: &List<plan::Step>,
        key: &'static str,
        around: &mut Around<'_>,
    ) -> Vec<Step> {
        let list = around.path.key(key);
        let mut compiled = Vec::new();
        for (index, step) in steps.0.iter().enumerate() {
            let path = list.index(index);
            self.step(step, &path, &around.scope, around.connections, &mut compiled);
        }
        compiled
    }

    /// Each step as a choice of its own: a `block` leaves several. `None` if none is enabled.
    fn choices(
        &mut self,
        steps: &List<plan::Step>,
        around: &mut Around<'_>,
    ) -> Option<Vec<Vec<Step>>> {
        let list = around.path.key("steps");
        self.must_have_steps(steps, &around.path);
        let mut choices = Vec::new();
        for (index, step) in steps.0.iter().enumerate() {
            let mut choice = Vec::new();
            let path = list.index(index);
            self.step(step, &path, &around.scope, around.connections, &mut choice);
            if !choice.is_empty() {
                choices.push(choice);
            }
        }
        (!choices.is_empty()).then_some(choices)
    }

    fn asked(
        &mut self,
        condition: Option<&plan::Setting<Text>>,
        around: &Around<'_>,
    ) -> Option<Condition> {
        let Some(condition) = condition else {
            self.missing(around, "condition", "write `condition: x == 1`");
            return None;
        };
        self.flow_condition(condition, &around.path.key("condition"))
    }

    fn missing(&mut self, around: &Around<'_>, key: &str, help: &str) {
        let kind = around.path.last_key().unwrap_or_default();
        let problem = Problem::error(&around.path, format!("`{kind}` has no `{key}`"));
        self.note(problem.at(At::Key).help(help));
    }

    /// `set`: its variables with their values, in order.
    pub(super) fn set(
        &mut self,
        entries: &Entries<plan::Setting<Text>>,
        path: &Path,
    ) -> Vec<(VariableId, Template)> {
        if entries.0.is_empty() {
            let problem = Problem::error(path, "`set` names no variable").at(At::Key);
            self.note(problem.help("write `set: { name: value }`"));
        }
        let mut values = Vec::new();
        for (name, value) in &entries.0 {
            let path = path.key(name.clone());
            let value = self.template(&value.text, &path, When::InTheRun);
            if is_variable_name(name) {
                let variable = self.variables.stored(name);
                let value = value.map(|value| (variable, value));
                self.set_values.extend(value.clone());
                values.extend(value);
            } else {
                self.bad_variable_name(name, &path, At::Key);
            }
        }
        values
    }

    /// The variable that a step gives values to.
    fn stored_variable(&mut self, name: &plan::Setting<Text>, path: &Path) -> Option<VariableId> {
        let name = self.fixed_text(name, path)?;
        if is_variable_name(&name) {
            return Some(self.variables.stored(&name));
        }
        self.bad_variable_name(&name, path, At::Value);
        None
    }

    /// A step that steers the thread. `break` and `next_pass` need a loop around them.
    pub(super) fn jump(&mut self, jump: Jump, kind: &'static str, path: &Path) -> Step {
        if matches!(jump, Jump::Break | Jump::NextPass) && self.loops == 0 {
            let problem = Problem::error(path, format!("`{kind}` stands in no loop"));
            self.note(problem.help(match jump {
                Jump::Break => "`next_iteration` ends the iteration, `stop_thread` the thread",
                _ => "for the next iteration of the thread write `next_iteration`",
            }));
        }
        Step::Jump(jump)
    }

    /// A count that the run keeps for a controller.
    fn counter(&mut self) -> CounterId {
        self.counters += 1;
        CounterId(self.counters - 1)
    }
}

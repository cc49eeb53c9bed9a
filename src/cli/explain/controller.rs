//! Controllers, and the steps that steer a thread.

use crate::cli::explain::value::Shown;
use crate::cli::explain::{Page, steps, variable};
use crate::program::{Controller, Jump, Program, Step, Template, Values, VariableId};

pub(super) fn controller(page: &mut Page, controller: &Controller, program: &Program) {
    match controller {
        Controller::Loop(own) => page.entry("loop", &own.times.shown()),
        Controller::While(own) => page.entry("while", &own.condition.source),
        Controller::ForEach(own) => {
            let variable = &program.variable_names[own.variable.0 as usize];
            page.entry("for_each", &format!("{variable} in {}", values(&own.values, program)));
        }
        Controller::RunFor(own) => page.entry("run_for", &own.duration.shown()),
        Controller::If(own) => {
            page.entry("if", &own.condition.source);
            page.below(|page| steps(page, &own.then, program));
            if !own.otherwise.is_empty() {
                page.line("else:");
                page.below(|page| steps(page, &own.otherwise, program));
            }
            return;
        }
        Controller::Once(_) => page.line("once in each thread:"),
        Controller::Random(choices) => {
            page.line("one of these, at random:");
            return each(page, choices, program);
        }
        Controller::Interleave(own) => {
            page.line("one of these, in turn:");
            return each(page, &own.choices, program);
        }
        Controller::Chance(own) => page.entry("chance", &format!("{} %", own.percent.shown())),
        Controller::Transaction(own) => {
            page.name("transaction", &own.name.source);
            page.below(|page| page.entry("include_pauses", &own.include_pauses.shown()));
        }
    }
    for part in controller.parts() {
        page.below(|page| steps(page, part, program));
    }
}

fn each(page: &mut Page, choices: &[Vec<Step>], program: &Program) {
    page.below(|page| {
        for (index, choice) in choices.iter().enumerate() {
            page.line(&format!("choice {}:", index + 1));
            page.below(|page| steps(page, choice, program));
        }
    });
}

fn values(values: &Values, program: &Program) -> String {
    match values {
        Values::Listed(values) => {
            let values: Vec<&str> = values.iter().map(|value| value.source.as_str()).collect();
            format!("[{}]", values.join(", "))
        }
        Values::Numbered { base, .. } => {
            let name = &program.variable_names[base.0 as usize];
            format!("{name}_1, {name}_2 and so on")
        }
        Values::Range { from, to } => format!("{} to {}", from.shown(), to.shown()),
    }
}

pub(super) fn set(page: &mut Page, values: &[(VariableId, Template)], program: &Program) {
    page.line("set:");
    page.below(|page| {
        for (id, value) in values {
            variable(page, *id, value, program);
        }
    });
}

pub(super) fn jump(jump: Jump) -> &'static str {
    match jump {
        Jump::NextPass => "next_pass",
        Jump::Break => "break",
        Jump::NextIteration => "next_iteration",
        Jump::StopThread => "stop_thread",
        Jump::StopTest => "stop_test",
        Jump::StopTestNow => "stop_test_now",
    }
}

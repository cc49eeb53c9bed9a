//! `wsmeter check --explain`: the plan as understood, with every default filled in, for people.
//! Stable for the same plan, so that two versions of a plan can be compared by their texts. Values
//! that are only known in the run are shown as written; secrets are `***`.

mod controller;
mod rows;
mod sampler;
mod value;

use std::time::Duration;

use crate::program::{
    DataSet, Group, Phase, Program, Schedule, Share, Spacing, Stage, Step, Template, Times,
    VariableId,
};
use crate::secrets::{Secrets, without_telling};
use crate::verdict::Threshold;
use rows::{Rows, rows};
use value::{Shown, duration};

/// Lines, indented.
#[derive(Debug, Default)]
struct Page {
    text: String,
    depth: usize,
    secrets: Secrets,
}

impl Page {
    fn line(&mut self, line: &str) {
        let shown = self.secrets.mask(line).into_owned();
        self.as_it_is(&shown);
    }

    fn as_it_is(&mut self, line: &str) {
        self.text.extend(std::iter::repeat_n("  ", self.depth));
        // A value may be a text of several lines.
        self.text.push_str(&line.replace('\n', "\\n"));
        self.text.push('\n');
    }

    /// The name of something, which stays as the plan has it.
    fn name(&mut self, key: &str, name: &str) {
        self.as_it_is(&format!("{key}: {name}"));
    }

    fn entry(&mut self, key: &str, value: &str) {
        self.line(&format!("{key}: {}", without_telling(value)));
    }

    fn below(&mut self, write: impl FnOnce(&mut Self)) {
        self.depth += 1;
        write(self);
        self.depth -= 1;
    }
}

/// The program as text.
pub(super) fn explain(program: &Program) -> String {
    let mut page = Page { secrets: program.secrets.without_short(), ..Page::default() };
    page.name("plan", &program.name);
    if !program.variables.is_empty() {
        page.line("variables of each thread:");
        page.below(|page| {
            for (id, value) in &program.variables {
                variable(page, *id, value, program);
            }
        });
    }
    for set in &program.data_sets {
        page.entry("data set", &data_set(set, program));
    }
    page.line("passes if:");
    page.below(|page| {
        if program.thresholds.is_empty() {
            page.line("no sample fails");
        }
        for threshold in &program.thresholds {
            page.name(&threshold.label, &condition(threshold));
        }
    });
    if let Some(tolerances) = &program.compare {
        page.line("compared with another run, no regression is:");
        page.below(|page| {
            for (key, text) in tolerances.entries() {
                page.entry(key, &text);
            }
        });
    }
    let mut total = Rows::Exactly(0);
    for of_group in &program.groups {
        page.text.push('\n');
        let kind = match of_group.phase {
            Phase::Setup => "setup group",
            Phase::Main => "group",
            Phase::Teardown => "teardown group",
        };
        page.name(&format!("{kind} {}", of_group.number), &of_group.name);
        total = total.plus(page_group(&mut page, of_group, program));
    }
    page.text.push('\n');
    page.entry("rows expected", &total.to_string());
    page.text
}

/// `p95 < 50ms; ends the run, from 30s on`
fn condition(threshold: &Threshold) -> String {
    let text = &threshold.condition.text;
    match threshold.abort {
        None => text.clone(),
        Some(Duration::ZERO) => format!("{text}; ends the run if not"),
        Some(after) => format!("{text}; ends the run if not, from {after:?} on"),
    }
}

/// `users.csv: 200 lines of user, token; each handed out once in all threads, then again`
fn data_set(set: &DataSet, program: &Program) -> String {
    let name = |id: &VariableId| program.variable_names[id.0 as usize].as_str();
    let names: Vec<&str> = set.variables.iter().map(name).collect();
    let share = match set.share {
        Share::All => "in all threads",
        Share::Group => "in each group",
        Share::Thread => "in each thread",
    };
    let then = if set.recycle { "then again" } else { "then the thread ends" };
    let (lines, names) = (set.rows.len(), names.join(", "));
    format!("{}: {lines} lines of {names}; each once {share}, {then}", set.name)
}

/// A variable and what gives it a value.
fn variable(page: &mut Page, id: VariableId, value: &Template, program: &Program) {
    let name = &program.variable_names[id.0 as usize];
    let is_secret = program.is_secret(id);
    let shown =
        if is_secret { value::HIDDEN.to_owned() } else { value::named(name, &value.source) };
    page.entry(name, &shown);
}

/// Gives the rows that the group writes if nothing fails.
fn page_group(page: &mut Page, group: &Group, program: &Program) -> Rows {
    let rows = match group.loops {
        // The duration may come first.
        Times::Count(loops) if group.duration.is_none() => {
            let threads = match &group.schedule {
                Schedule::Arrivals(arrivals) => arrivals.count(),
                _ => u64::from(group.threads),
            };
            rows(&group.steps).times(loops).times(threads)
        }
        _ => Rows::Unknown,
    };
    page.below(|page| {
        page.entry("starts", &starts(group));
        page.entry("each thread", &iterations(group));
        page.entry("rows expected", &rows.to_string());
        page.line("steps:");
        page.below(|page| steps(page, &group.steps, program));
    });
    rows
}

/// How many threads start when.
fn starts(group: &Group) -> String {
    match &group.schedule {
        Schedule::Ramp(ramp_up) => ramp(group, *ramp_up),
        Schedule::Stages(stages) => {
            let each = stages.0.iter().map(|stage| match stage {
                Stage::RampTo { threads, over } if over.is_zero() => {
                    format!("to {threads} at once")
                }
                Stage::RampTo { threads, over } => format!("to {threads} in {}", duration(*over)),
                Stage::Hold(time) => format!("hold {}", duration(*time)),
            });
            each.collect::<Vec<String>>().join(", ")
        }
        Schedule::Arrivals(arrivals) => {
            let spacing = match arrivals.spacing {
                Spacing::Even => "evenly spaced",
                Spacing::Poisson => "spaced at random",
            };
            let (count, most) = (arrivals.count(), group.threads);
            let time = duration(arrivals.duration());
            format!("{count} threads over {time}, {spacing}, at most {most} at once")
        }
    }
}

fn ramp(group: &Group, ramp_up: Duration) -> String {
    let threads = match group.threads {
        1 => "1 thread".to_owned(),
        threads => format!("{threads} threads"),
    };
    let after = match group.delay {
        Duration::ZERO => String::new(),
        delay => format!(", the first after {}", duration(delay)),
    };
    if group.threads == 1 || ramp_up.is_zero() {
        let together = if group.threads == 1 { "" } else { " at once" };
        return format!("{threads}{together}{after}");
    }
    let apart = duration(ramp_up / group.threads);
    format!("{threads} over {}, one every {apart}{after}", duration(ramp_up))
}

fn iterations(group: &Group) -> String {
    let loops = match group.loops {
        Times::Forever => "iterations without end".to_owned(),
        Times::Count(1) => "1 iteration".to_owned(),
        Times::Count(loops) => format!("{loops} iterations"),
    };
    match group.duration {
        Some(most) => format!("{loops}, no new step after {}", duration(most)),
        None => loops,
    }
}

fn steps(page: &mut Page, steps: &[Step], program: &Program) {
    for step in steps {
        match step {
            Step::Sampler(own) => sampler::sampler(page, own),
            Step::Pause(pause) => page.entry("pause", &pause.shown()),
            Step::Pace(pace) => page.entry("pace", &pace.shown()),
            Step::Rendezvous(own) => page.entry("rendezvous", &own.shown()),
            Step::Controller(own) => controller::controller(page, own, program),
            Step::Set(values) => controller::set(page, values, program),
            Step::Log(text) => page.entry("log", &text.source),
            Step::Jump(jump) => page.line(controller::jump(*jump)),
        }
    }
}

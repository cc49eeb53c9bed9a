//! `include`: the steps of a file in the place of the step, and their parameters.
//!
//! A parameter is a text that stands for `${name}`, so it is compiled where it is written, with the
//! variables and parameters that are known there, and its parts are put in wherever the included
//! steps name it. In the program nothing is left of it.

use std::collections::HashMap;
use std::mem;
use std::rc::Rc;

use crate::compile::compiler::{Compiler, When};
use crate::compile::connections::Connections;
use crate::compile::scope::Scope;
use crate::compile::variables::is_variable_name;
use crate::diag::nearest;
use crate::plan::{self, At, FileId, Included, Path, Problem, Removable};
use crate::program::{Part, Step, Template, VariableId};

/// Files within each other.
const MAX_DEPTH: usize = 32;
/// Levels of maps and lists around a step that includes a file, counted through all files: passes over the
/// steps call themselves for each controller, and a stack has an end.
const MAX_LEVELS: usize = 128;
/// Steps that include files, those in included files counted wherever they are included.
const MAX_INCLUDES: usize = 10_000;
/// Values in included files, counted likewise.
const MAX_VALUES: usize = 1_000_000;

/// Where the compilation is with files.
#[derive(Debug, Default)]
pub(super) struct Including {
    /// The files around the step at hand, outermost first.
    around: Vec<FileId>,
    /// What the steps at hand may name.
    parameters: Parameters,
    includes: usize,
    values: usize,
    /// The plan is refused because it includes too much.
    too_much: bool,
}

/// Parameters by name.
type Parameters = HashMap<String, Parameter>;

/// What a name stands for.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    /// `None` if something is wrong with it, which is noted.
    pub(super) template: Option<Template>,
    /// The variables in it.
    reads: Vec<VariableId>,
}

impl Compiler<'_> {
    /// Adds the steps of the file that the step at `path` includes.
    pub(super) fn include(
        &mut self,
        own: &plan::Include,
        path: &Path,
        scope: &Scope,
        connections: &mut Connections,
        out: &mut Vec<Step>,
    ) {
        // Before the file is read: each one takes time.
        self.including.includes += 1;
        if self.including.includes > MAX_INCLUDES {
            let title =
                "the plan includes more than 10,000 files, counted wherever they are included";
            return self.too_much(title, path);
        }
        let Some(file) = &own.file else {
            let problem = Problem::error(path, "`include` does not say which file").at(At::Key);
            self.note(problem.help("write `include: login.yaml`"));
            return;
        };
        let Some(name) = self.fixed_text(file, &path.key("file")) else { return };
        let included = match self.loaded.include(&name, path) {
            Ok(included) => included,
            Err(problem) => return self.note(problem),
        };
        if !self.may_include(&included, path) {
            return;
        }
        let (top, steps) = included.tops(path);
        let parameters = self.parameters(own, &included, path, &top);
        let outer = self.enter(parameters, &included);
        for (index, step) in included.content.steps.0.iter().enumerate() {
            self.step(step, &steps.index(index), scope, connections, out);
        }
        self.leave(outer);
        if included.content.steps.0.is_empty() && !included.is_wrong() {
            let title = format!("`{}` has no steps", included.path().display());
            let problem = Problem::error(&path.key("file"), title);
            self.note(problem.help("give it at least one, such as `- open: /chat`"));
        }
    }

    /// Whether the file can stand here; notes why not.
    fn may_include(&mut self, included: &Included, path: &Path) -> bool {
        let file = path.key("file");
        let name = included.path().display();
        let around = &self.including.around;
        if let Some(at) = around.iter().position(|id| *id == included.id) {
            let through = around[at + 1..].iter().map(|id| self.loaded.name_of(*id));
            let through: Vec<String> = through.map(|name| format!("`{name}`")).collect();
            let title = match through.as_slice() {
                [] => format!("`{name}` includes itself"),
                files => format!("`{name}` includes itself, through {}", files.join(", ")),
            };
            let problem = Problem::error(&file, title);
            self.note(problem.help("for steps that are done again, put the `include` in a `loop`"));
            return false;
        }
        if around.len() >= MAX_DEPTH {
            let title = format!("`{name}` is more than {MAX_DEPTH} files deep");
            self.note(Problem::error(&file, title).help("include it from a file further out"));
            return false;
        }
        if path.segments().len() > MAX_LEVELS {
            let title =
                "the steps around this are nested more than 128 levels deep, through all files";
            self.note(Problem::error(&file, title).help("include it from a step further out"));
            return false;
        }
        self.including.values += included.values;
        if self.including.values > MAX_VALUES {
            self.too_much("the plan includes more than 1,000,000 values", path);
            return false;
        }
        true
    }

    /// Refuses the plan because it includes too much; what comes then is not worth a word of its own.
    fn too_much(&mut self, title: &str, path: &Path) {
        if !mem::replace(&mut self.including.too_much, true) {
            let problem = Problem::error(&path.key("file"), title);
            let help = "do the steps again with a `loop`, instead of including them again";
            self.note(problem.help(help));
        }
    }

    /// The parameters of an included file. `top`: the path of the file's top.
    fn parameters(
        &mut self,
        own: &plan::Include,
        included: &Included,
        path: &Path,
        top: &Path,
    ) -> Parameters {
        let declared = &included.content.parameters.0;
        let mut given = Parameters::new();
        let with = path.key("with");
        for (name, text) in own.with.iter().flat_map(|with| &with.0) {
            let path = with.key(name.clone());
            let parameter = self.parameter(&text.text, &path);
            if !declared.iter().any(|(known, _)| known == name) && !included.is_wrong() {
                self.unknown_parameter(name, included, &path);
            }
            given.insert(name.clone(), parameter);
        }
        // A default knows the parameters above it, and none of the file around.
        let outer = mem::take(&mut self.including.parameters);
        let list = top.key("parameters");
        for (name, default) in declared {
            let own_path = list.key(name.clone());
            if !is_variable_name(name) {
                self.bad_variable_name(name, &own_path, At::Key);
            }
            let parameter = match (given.remove(name), default) {
                (Some(given), _) => given,
                (None, Removable::Given(text)) => self.parameter(&text.text, &own_path),
                (None, Removable::Removed) => {
                    let file = included.path().display();
                    let title = format!("`{file}` needs the parameter `{name}`");
                    let problem = Problem::error(path, title).at(At::Key);
                    self.note(problem.help(format!("add `with: {{ {name}: … }}`")));
                    Parameter { template: None, reads: Vec::new() }
                }
            };
            self.keep_secret(name, &parameter);
            self.including.parameters.insert(name.clone(), parameter);
        }
        mem::replace(&mut self.including.parameters, outer)
    }

    fn parameter(&mut self, text: &str, path: &Path) -> Parameter {
        let mark = self.variables.reads_so_far();
        let template = self.template(text, path, When::InTheRun);
        Parameter { template, reads: self.variables.reads_since(mark) }
    }

    /// A parameter with the name of a secret variable is as secret.
    fn keep_secret(&mut self, name: &str, parameter: &Parameter) {
        if let (Some(id), Some(template)) = (self.variables.known(name), &parameter.template) {
            self.set_values.push((id, template.clone()));
        }
    }

    fn unknown_parameter(&mut self, name: &str, included: &Included, path: &Path) {
        let file = included.path().display();
        let names = included.content.parameters.0.iter().map(|(name, _)| name.as_str());
        let help = match nearest(name, names.clone()) {
            Some(similar) => format!("a similar parameter exists: `{similar}`"),
            None if included.content.parameters.0.is_empty() => {
                format!("let the file begin with `parameters: {{ {name}: }}`, then `steps:`")
            }
            None => {
                let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
                format!("its parameters are {}", names.join(", "))
            }
        };
        let problem = Problem::error(path, format!("`{file}` has no parameter `{name}`"));
        self.note(problem.at(At::Key).help(help));
    }

    fn enter(&mut self, parameters: Parameters, included: &Included) -> Parameters {
        self.including.around.push(included.id);
        self.variables.parameters = names(&parameters);
        mem::replace(&mut self.including.parameters, parameters)
    }

    fn leave(&mut self, outer: Parameters) {
        self.including.around.pop();
        self.variables.parameters = names(&outer);
        self.including.parameters = outer;
    }

    /// The parameter that is called `name` here, if there is one; the variables in it are then read.
    pub(super) fn parameter_named(&mut self, name: &str) -> Option<Parameter> {
        let parameter = self.including.parameters.get(name)?;
        self.variables.read_here(&parameter.reads);
        Some(parameter.clone())
    }

    /// The parts of a parameter, for a text that is evaluated then.
    pub(super) fn parameter_parts(
        &mut self,
        name: &str,
        parameter: Parameter,
        (path, at): (&Path, At),
        when: When,
    ) -> Option<Vec<Part>> {
        let template = parameter.template?;
        if when == When::BeforeTheRun && template.as_constant().is_none() {
            self.too_late(&format!("the parameter `{name}`"), path, at);
            return None;
        }
        Some(template.parts)
    }

    /// A text as it would be written without parameters, for what is shown.
    ///
    /// `variables`: first byte, length and name of each variable in it.
    pub(super) fn with_parameters<'t>(
        &self,
        text: &str,
        variables: impl FnOnce() -> Vec<(usize, usize, &'t str)>,
    ) -> String {
        if self.including.parameters.is_empty() {
            return text.to_owned();
        }
        let mut shown = String::with_capacity(text.len());
        let mut done = 0;
        for (start, length, name) in variables() {
            let Some(parameter) = self.including.parameters.get(name) else { continue };
            let Some(template) = &parameter.template else { continue };
            shown.push_str(&text[done..start]);
            shown.push_str(&template.source);
            done = start + length;
        }
        shown.push_str(&text[done..]);
        shown
    }
}

fn names(parameters: &Parameters) -> Rc<[String]> {
    parameters.keys().cloned().collect()
}

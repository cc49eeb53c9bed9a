//! Reading a plan: its own file, and the ways to the places of what is wrong in it.

use std::cell::RefCell;
use std::path::{Path as FilePath, PathBuf};
use std::rc::Rc;

use crate::diag::{Diagnostic, Inclusion, Place};
use crate::plan::document::Value;
use crate::plan::error::At;
use crate::plan::file::{File, Role};
use crate::plan::include::Included;
use crate::plan::path::{FileId, Path, Segment};
use crate::plan::placing::{in_order, placed};
use crate::plan::problem::Problem;
use crate::plan::reader;
use crate::plan::secret_texts::{SecretTexts, hide};
use crate::plan::syntax;
use crate::plan::thread_group::Plan;

/// A plan with the file it came from, and the files that it includes.
#[derive(Debug)]
pub struct Loaded {
    /// The file, as the user named it.
    pub path: PathBuf,
    /// What it says; without what has the wrong shape, if there are mistakes.
    pub plan: Plan,
    mistakes: Vec<Diagnostic>,
    file: File,
    /// By [`FileId`]. A file is read when the first step that includes it is looked at.
    pub(super) included: RefCell<Vec<Rc<Included>>>,
}

/// Reads a plan from its file. Fails with what is wrong with the file, and where nothing of the plan
/// is left to look at; else [`compile`](crate::compile) tells what is wrong with its shape.
pub fn load(path: &FilePath) -> Result<Loaded, Vec<Diagnostic>> {
    whole(File::read(path, Role::Plan).map_err(|error| alone(*error))?)
}

/// As [`load`], for text that is there already.
#[cfg(test)]
pub(crate) fn parse(path: &FilePath, source: String) -> Result<Loaded, Vec<Diagnostic>> {
    whole(File::parse(path, source, Role::Plan).map_err(|error| alone(*error))?)
}

/// The one thing that is wrong; of the plan nothing is known but the line.
fn alone(error: Diagnostic) -> Vec<Diagnostic> {
    let mut errors = vec![error];
    hide(&mut errors, &[]);
    errors
}

/// The plan that the file is.
fn whole(mut file: File) -> Result<Loaded, Vec<Diagnostic>> {
    top_is_a_map(&file)?;
    let (plan, mut mistakes, problems) =
        file.shape(|root, problems| reader::read(root, &Path::root(), problems));
    mistakes.extend(placed(problems, |problem| as_written(&file, problem)));
    let texts = SecretTexts::of(std::iter::once(&file.root));
    hide(&mut mistakes, &[&texts.secrets()]);
    match plan {
        Some(plan) => {
            let (path, included) = (file.path.clone(), RefCell::default());
            Ok(Loaded { path, plan, mistakes, file, included })
        }
        None => Err(in_order(mistakes)),
    }
}

fn as_written(file: &File, problem: &Problem) -> Place {
    file.place(&problem.path.in_its_file(), problem.at, false)
}

impl Loaded {
    /// What is wrong with the shape of the plan and of what was included so far: it cannot be run, but
    /// what is left of it can be looked at.
    pub fn mistakes(&self) -> Vec<Diagnostic> {
        let mut mistakes = self.mistakes.clone();
        for included in self.included.borrow().iter() {
            mistakes.extend_from_slice(&included.mistakes);
        }
        mistakes
    }

    /// The mistakes and further problems as diagnostics with their places, in the order of the files, at
    /// most 20 of them and a word on how many more there are.
    pub fn diagnostics(&self, problems: Vec<Problem>) -> Vec<Diagnostic> {
        let mut diagnostics = self.mistakes();
        diagnostics.extend(placed(problems, |problem| self.place(&problem.path, problem.at)));
        in_order(diagnostics)
    }

    /// Gives the texts that the plan is made of: that of its own file, then those of the files that
    /// [`compile`](crate::compile) had it include, each once, in the order in which they are first
    /// included.
    pub fn each_text(&self, mut take: impl FnMut(&str)) {
        self.each_file(|file| take(&file.source));
    }

    /// The files, in the same order.
    pub(super) fn each_file(&self, mut take: impl FnMut(&File)) {
        take(&self.file);
        for included in self.included.borrow().iter() {
            take(&included.file);
        }
    }

    /// The secrets that stand in these files, and what secrets are made from.
    pub fn secret_texts(&self) -> SecretTexts {
        let included = self.included.borrow();
        let roots = included.iter().map(|included| &included.file.root);
        SecretTexts::of(std::iter::once(&self.file.root).chain(roots))
    }

    /// The files that the plan includes, in the same order.
    pub fn included_paths(&self) -> Vec<PathBuf> {
        self.included.borrow().iter().map(|included| included.file.path.clone()).collect()
    }

    fn place(&self, path: &Path, at: At) -> Place {
        let mut parts = path.by_file();
        let (file, way) = parts.pop().unwrap_or_default();
        let mut place = self.in_file(file, |file| file.place(&way, at, true));
        place.included_from = self.inclusions(parts);
        place
    }

    /// Where each of the files is included that lead to the one that the step at `include` names: that
    /// step last.
    pub(super) fn included_from(&self, include: &Path) -> Vec<Inclusion> {
        self.inclusions(include.by_file())
    }

    fn inclusions(&self, parts: Vec<(Option<FileId>, Vec<&Segment>)>) -> Vec<Inclusion> {
        let place = |(file, way): (Option<FileId>, Vec<_>)| {
            let place = self.in_file(file, |file| file.place(&way, At::Key, true));
            Inclusion { file: place.file, line: place.line, column: place.column }
        };
        parts.into_iter().map(place).collect()
    }

    /// Asks the file; `None` is the plan's own.
    pub(super) fn in_file<T>(&self, file: Option<FileId>, ask: impl FnOnce(&File) -> T) -> T {
        match file.and_then(|FileId(index)| self.included.borrow().get(index).cloned()) {
            Some(included) => ask(&included.file),
            None => ask(&self.file),
        }
    }
}

fn top_is_a_map(file: &File) -> Result<(), Vec<Diagnostic>> {
    let found = match &file.root.value {
        Value::Map(_) => return Ok(()),
        Value::List(_) => "a list",
        Value::Scalar { text, .. } if text.is_empty() => {
            return Err(vec![syntax::nothing(&file.path, Role::Plan)]);
        }
        Value::Scalar { .. } => "a single text",
    };
    let error = Problem::error(&Path::root(), format!("a plan is keys with values, not {found}"));
    let help = match found {
        "a list" => "begin with `thread_groups:`; a list of steps alone is for `include`",
        _ => "begin with `thread_groups:`",
    };
    Err(placed(vec![error.help(help)], |problem| as_written(file, problem)))
}

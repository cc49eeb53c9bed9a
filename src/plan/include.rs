//! Files of steps that a plan includes. Each is read once, when the first step that includes it is
//! looked at: one in a part of the plan that is not enabled is never read.

use std::path::{Component, Path as FilePath, PathBuf};
use std::rc::Rc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::diag::Diagnostic;
use crate::plan::document::{Key, Node, Value};
use crate::plan::file::{File, Role};
use crate::plan::load::Loaded;
use crate::plan::path::{FileId, Path};
use crate::plan::placing::placed;
use crate::plan::problem::Problem;
use crate::plan::reader;
use crate::plan::setting::{Entries, List, Removable, Setting, Text};
use crate::plan::step::Step;

/// Keys that tell a whole plan.
const PLAN_KEYS: &[&str] = &["thread_groups", "name", "variables", "defaults", "thresholds"];

/// A file with steps: a list of them, or this map.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// What `${name}` stands for in the steps below, by name, where the step that includes the file
    /// gives nothing else in its `with`; `null` for what it must give. A text may use the parameters
    /// above it.
    #[serde(default)]
    pub parameters: Entries<Removable<Setting<Text>>>,
    /// What is done where the file is included.
    #[serde(default)]
    pub steps: List<Step>,
}

/// An included file.
#[derive(Debug)]
pub struct Included {
    /// Which one it is.
    pub id: FileId,
    /// What it says; without what has the wrong shape, if there are mistakes.
    pub content: Steps,
    /// How many values it has: a measure of the work that including it makes.
    pub values: usize,
    pub(super) file: File,
    pub(super) mistakes: Vec<Diagnostic>,
    /// The same for all names of the file.
    identity: PathBuf,
    /// Whether the steps have a key of their own.
    is_map: bool,
}

impl Included {
    /// The file, as the names in the including files lead to it.
    pub fn path(&self) -> &FilePath {
        &self.file.path
    }

    /// Whether it has the wrong shape, so that something may be missing in `content`.
    pub fn is_wrong(&self) -> bool {
        !self.mistakes.is_empty()
    }

    /// The paths of its top and of its list of steps, where the step at `include` includes it.
    pub fn tops(&self, include: &Path) -> (Path, Path) {
        let top = include.file(self.id);
        let steps = if self.is_map { top.key("steps") } else { top.clone() };
        (top, steps)
    }
}

impl Loaded {
    /// The file of this name that the step at `include` wants, read now if it was not before. Fails if
    /// there is no such file, or nothing in it that could be included; what is wrong within it is among
    /// the plan's mistakes.
    pub fn include(&self, name: &str, include: &Path) -> Result<Rc<Included>, Problem> {
        let path = self.folder(include).join(name);
        let identity = fs_err::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let short = without_detours(&path);
        let leads_there = fs_err::canonicalize(&short).is_ok_and(|found| found == identity);
        let path = if leads_there { short } else { path };
        // As texts, which is quick: there may be thousands.
        let is_known = |known: &&Rc<Included>| known.identity.as_os_str() == identity.as_os_str();
        let known = self.included.borrow().iter().find(is_known).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let included = match File::read(&path, Role::Steps) {
            Ok(file) => self.read(file, identity, include)?,
            Err(error) => self.unreadable(*error, path, identity, include)?,
        };
        let included = Rc::new(included);
        self.included.borrow_mut().push(Rc::clone(&included));
        Ok(included)
    }

    /// The folder of the file in which the value at `path` stands: there the paths in it begin.
    pub fn folder(&self, path: &Path) -> PathBuf {
        let folder = |file: &File| file.path.parent().map(FilePath::to_owned).unwrap_or_default();
        self.in_file(path.in_file(), folder)
    }

    /// The name of an included file, as [`Included::path`].
    pub fn name_of(&self, file: FileId) -> String {
        self.in_file(Some(file), |file| file.path.display().to_string())
    }

    fn next_id(&self) -> FileId {
        FileId(self.included.borrow().len())
    }

    /// The steps that the file has.
    fn read(&self, mut file: File, identity: PathBuf, include: &Path) -> Result<Included, Problem> {
        let id = self.next_id();
        let top = include.file(id);
        let is_map = match &file.root.value {
            Value::Map(entries) => {
                let steps = has(entries, "steps");
                if !steps && PLAN_KEYS.iter().any(|key| has(entries, key)) {
                    let title = format!("`{}` is a whole plan", file.path.display());
                    let problem = Problem::error(&include.key("file"), title);
                    return Err(problem.help("include a file that is a list of steps"));
                }
                steps || has(entries, "parameters")
            }
            _ => false,
        };
        let (content, mut mistakes, problems) = file.shape(|root, problems| {
            if is_map {
                reader::read(root, &top, problems)
            } else {
                let steps = reader::read(root, &top, problems).unwrap_or_default();
                Some(Steps { steps, ..Steps::default() })
            }
        });
        let place = |problem: &Problem| file.place(&problem.path.in_its_file(), problem.at, false);
        mistakes.extend(placed(problems, place));
        self.say_from_where(&mut mistakes, include);
        let values = count(&file.root);
        let content = content.unwrap_or_default();
        Ok(Included { id, content, values, file, mistakes, identity, is_map })
    }

    /// A file of which nothing can be read, if that is something within it.
    fn unreadable(
        &self,
        error: Diagnostic,
        path: PathBuf,
        identity: PathBuf,
        include: &Path,
    ) -> Result<Included, Problem> {
        if error.place.is_none() {
            let mut problem = Problem::error(&include.key("file"), error.title);
            problem.help = error.help;
            return Err(problem);
        }
        let mut mistakes = vec![error];
        self.say_from_where(&mut mistakes, include);
        let (id, content) = (self.next_id(), Steps::default());
        let file = File::empty(path);
        Ok(Included { id, content, values: 0, file, mistakes, identity, is_map: false })
    }

    fn say_from_where(&self, mistakes: &mut [Diagnostic], include: &Path) {
        if mistakes.is_empty() {
            return;
        }
        let from = self.included_from(include);
        for place in mistakes.iter_mut().filter_map(|mistake| mistake.place.as_mut()) {
            place.included_from.clone_from(&from);
        }
    }
}

/// The path without `.` and without folders that `..` leaves again; only behind a symbolic link does it
/// lead elsewhere.
fn without_detours(path: &FilePath) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(short.components().next_back(), Some(Component::Normal(_))) =>
            {
                short.pop();
            }
            part => short.push(part),
        }
    }
    short
}

fn has(entries: &[(Key, Node)], wanted: &str) -> bool {
    entries.iter().any(|(key, _)| key.text == wanted)
}

/// Values of the tree.
fn count(node: &Node) -> usize {
    1 + match &node.value {
        Value::Scalar { .. } => 0,
        Value::List(elements) => elements.iter().map(count).sum(),
        Value::Map(entries) => entries.iter().map(|(_, value)| count(value)).sum::<usize>(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_without_folders_that_it_leaves_again() {
        for (path, short) in [
            ("a/../b.yaml", "b.yaml"),
            ("./a/./b.yaml", "a/b.yaml"),
            ("../a/b/../../c.yaml", "../c.yaml"),
            ("../../a.yaml", "../../a.yaml"),
            ("/a/../../b.yaml", "/../b.yaml"),
        ] {
            assert_eq!(without_detours(FilePath::new(path)), FilePath::new(short), "{path}");
        }
    }
}

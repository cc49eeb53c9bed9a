//! Regular expressions and paths into JSON of a plan, compiled once for each text.

use jsonpath_rust::parser::parse_json_path;
use regex::Regex;

use crate::compile::compiler::Compiler;
use crate::plan::{At, Path, Problem, Setting, Text};
use crate::program::{JsonPath, Pattern};

impl Compiler<'_> {
    pub(super) fn pattern(&mut self, setting: &Setting<Text>, path: &Path) -> Option<Pattern> {
        let template = self.text(setting, path)?;
        let Some(pattern) = template.as_constant() else {
            return Some(Pattern::Template(template));
        };
        if let Some(regex) = self.patterns.get(pattern) {
            return Some(Pattern::Fixed(regex.clone()));
        }
        match Regex::new(pattern) {
            Ok(regex) => {
                self.patterns.insert(pattern.to_owned(), regex.clone());
                Some(Pattern::Fixed(regex))
            }
            Err(error) => {
                let (what, start) = regex_error(&error.to_string());
                let mut problem =
                    Problem::error(path, "this is not a regular expression").label(&what);
                // The position is that in the pattern; the plan's text may hold more than it.
                if let Some(start) = start
                    && pattern == setting.text
                {
                    let start = pattern.char_indices().nth(start).map_or(0, |(index, _)| index);
                    problem = problem.at(At::Within { start, length: 1 });
                }
                if what.contains("look-around") || what.contains("backreferences") {
                    problem = problem.help("combine several checks, or use `not`");
                }
                self.note(problem);
                None
            }
        }
    }

    /// A regular expression that must match whole texts.
    pub(super) fn whole_pattern(
        &mut self,
        setting: &Setting<Text>,
        path: &Path,
    ) -> Option<Pattern> {
        Some(match self.pattern(setting, path)? {
            // What is valid by itself is valid within a group.
            Pattern::Fixed(regex) => {
                Pattern::Fixed(Regex::new(&Pattern::anchored(regex.as_str())).ok()?)
            }
            template @ Pattern::Template(_) => template,
        })
    }

    pub(super) fn json_path(&mut self, setting: &Setting<Text>, path: &Path) -> Option<JsonPath> {
        let template = self.text(setting, path)?;
        let Some(text) = template.as_constant() else {
            let problem = Problem::error(path, "a JSONPath cannot hold variables");
            self.note(problem.help("find the value with a fixed path, and compare it in `equals`"));
            return None;
        };
        if let Some(query) = self.json_paths.get(text) {
            return Some(JsonPath::new(text, query.clone()));
        }
        let wrong = match parse_json_path(text) {
            Ok(query) => {
                self.json_paths.insert(text.to_owned(), query.clone());
                return Some(JsonPath::new(text, query));
            }
            Err(error) => json_path_error(&error.to_string()),
        };
        let mut problem = Problem::error(path, "this is not a JSONPath");
        if let Some(column) = wrong
            && text == setting.text
            && let Some((start, _)) = text.char_indices().nth(column)
        {
            problem = problem.at(At::Within { start, length: 1 }).label("wrong from here on");
        }
        self.note(problem.help(if text.starts_with('$') {
            "paths look like `$.user.name`, `$.items[0]`, `$..id`, `$.items[?@.n > 1]`"
        } else {
            "a path begins with `$`, such as `$.user.name`"
        }));
        None
    }
}

/// What regex says without its drawing, and the character it points at, from 0.
fn regex_error(message: &str) -> (String, Option<usize>) {
    let what = message.lines().rev().find_map(|line| line.strip_prefix("error: "));
    let Some(what) = what else {
        return (message.lines().next().unwrap_or_default().to_owned(), None);
    };
    // The drawing indents the pattern by four blanks; a pattern of several lines has numbers there.
    let carets = message
        .lines()
        .find(|line| line.contains('^') && line.chars().all(|c| matches!(c, ' ' | '^')));
    let start = carets.and_then(|line| line.find('^')).and_then(|caret| caret.checked_sub(4));
    (what.to_owned(), start.filter(|_| message.lines().count() == 4))
}

/// The column in a message of the parser's, ` --> 1:5`, from 0.
fn json_path_error(message: &str) -> Option<usize> {
    let (_, rest) = message.split_once("--> 1:")?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse::<usize>().ok()?.checked_sub(1)
}

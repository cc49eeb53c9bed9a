//! `assert`: checks compiled, and to which samplers they can apply.

use jsonpath_rust::parser::parse_json_path;
use regex::Regex;

use crate::compile::compiler::Compiler;
use crate::plan::{self, At, JsonCheck, Path, Problem, Setting, Text};
use crate::program::Setting as Resolved;
use crate::program::{Assertion, BadValue, Check, JsonPart, JsonPath, JsonTest, Pattern};

/// Which samplers a check can apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// All.
    All,
    /// Those that receive a message.
    Message,
    /// `open`
    Open,
    /// `close`
    Close,
}

/// An assertion of a scope, which reaches some of the samplers below.
#[derive(Debug, Clone)]
pub(super) struct Reaching {
    pub(super) reach: Reach,
    pub(super) assertion: Assertion,
}

impl Reach {
    /// Whether a check of this reach can apply to samplers of `kind`.
    pub(super) fn includes(self, kind: &str) -> bool {
        match self {
            Self::All => true,
            Self::Message => matches!(kind, "request_response" | "single_read"),
            Self::Open => kind == "open",
            Self::Close => kind == "close",
        }
    }
}

impl Compiler<'_> {
    /// The list `assert` at `path`.
    pub(super) fn assertions(&mut self, checks: &[plan::Check], path: &Path) -> Vec<Reaching> {
        let mut assertions = Vec::new();
        for (index, check) in checks.iter().enumerate() {
            let path = path.index(index);
            let compiled = self.check(check, &path);
            assertions.extend(compiled.map(|check| Reaching {
                reach: reach(&check),
                assertion: Assertion { source: source(&check), check },
            }));
        }
        assertions
    }

    /// The list `assert` of a sampler itself: each must be able to apply to it.
    pub(super) fn own_assertions(
        &mut self,
        checks: &[plan::Check],
        kind: &str,
        path: &Path,
    ) -> Vec<Assertion> {
        for (index, check) in checks.iter().enumerate() {
            let (reach, name) = written_reach(check);
            if reach.includes(kind) {
                continue;
            }
            let (title, help) = match reach {
                Reach::Open => (format!("`{name}` can only be asserted on `open`"), ""),
                Reach::Close => (format!("`{name}` can only be asserted on `close`"), ""),
                _ => (
                    format!("`{kind}` receives no message that `{name}` could look at"),
                    match kind {
                        "open" => {
                            "assert `status` or `duration` here, or the first message with `single_read`"
                        }
                        "single_write" => {
                            "use `request_response`, or assert on the `single_read` that follows"
                        }
                        "close" => "assert `close_status` or `duration` here",
                        _ => "assert `duration` here",
                    },
                ),
            };
            let problem = Problem::error(&innermost(check, &path.index(index)).key(name), title);
            let problem = problem.at(At::Key);
            self.note(if help.is_empty() { problem } else { problem.help(help) });
        }
        self.assertions(checks, path).into_iter().map(|reaching| reaching.assertion).collect()
    }

    fn check(&mut self, check: &plan::Check, path: &Path) -> Option<Check> {
        Some(match check {
            plan::Check::Contains(text) => Check::Contains(self.text(text, &path.key("contains"))?),
            plan::Check::Equals(text) => Check::Equals(self.text(text, &path.key("equals"))?),
            plan::Check::Regex(text) => Check::Regex(self.pattern(text, &path.key("regex"))?),
            plan::Check::Json(json) => self.json_check(json, &path.key("json"))?,
            plan::Check::Duration(limit) => {
                Check::Duration(self.setting(limit, &path.key("duration"))?)
            }
            plan::Check::Status(status) => {
                let path = path.key("status");
                let status = self.setting(status, &path);
                Check::Status(self.checked(status, &path, |status| {
                    if (100..=599).contains(status) {
                        return Ok(());
                    }
                    Err(BadValue::new(format!("`{status}` is not an HTTP status"))
                        .with_help("an accepted upgrade has 101"))
                })?)
            }
            plan::Check::CloseStatus(status) => {
                let path = path.key("close_status");
                let status = self.setting(status, &path);
                Check::CloseStatus(self.checked(status, &path, |status| received_status(*status))?)
            }
            plan::Check::Not(inner) => Check::Not(Box::new(self.check(inner, &path.key("not"))?)),
        })
    }

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

    fn json_check(&mut self, json: &JsonCheck, path: &Path) -> Option<Check> {
        let Some(json_path) = &json.path else {
            let problem = Problem::error(path, "`json` has no `path`").at(At::Key);
            self.note(problem.help("write a JSONPath: `path: $.id`"));
            return None;
        };
        let query = self.json_path(json_path, &path.key("path"));
        let test = self.json_test(json, path);
        Some(Check::Json { path: query?, test: test? })
    }

    pub(super) fn json_path(&mut self, setting: &Setting<Text>, path: &Path) -> Option<JsonPath> {
        let template = self.text(setting, path)?;
        let Some(text) = template.as_constant() else {
            let problem = Problem::error(path, "a JSONPath cannot hold variables");
            self.note(problem.help("find the value with a fixed path, and compare it in `equals`"));
            return None;
        };
        if let Some(query) = self.json_paths.get(text) {
            return Some(JsonPath { text: text.to_owned(), query: query.clone() });
        }
        let wrong = match parse_json_path(text) {
            Ok(query) => {
                self.json_paths.insert(text.to_owned(), query.clone());
                return Some(JsonPath { text: text.to_owned(), query });
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

    fn json_test(&mut self, json: &JsonCheck, path: &Path) -> Option<JsonTest> {
        let given = [
            ("exists", json.exists.is_some()),
            ("equals", json.equals.is_some()),
            ("regex", json.regex.is_some()),
            ("less_than", json.less_than.is_some()),
            ("greater_than", json.greater_than.is_some()),
            ("count", json.count.is_some()),
        ];
        let mut tests = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name);
        let wanted = "`exists`, `equals`, `regex`, `less_than`, `greater_than`, `count`";
        let Some(name) = tests.next() else {
            let problem = Problem::error(path, "`json` says nothing about what it finds");
            self.note(problem.at(At::Key).help(format!("add one of {wanted}")));
            return None;
        };
        if let Some(second) = tests.next() {
            let title = format!("`json` has one test, found `{name}` and `{second}`");
            let problem = Problem::error(&path.key(second), title).at(At::Key);
            self.note(problem.help("write a second `json` check"));
            return None;
        }
        let path = path.key(name);
        let JsonCheck { exists, equals, regex, less_than, greater_than, count, .. } = json;
        if let Some(exists) = exists {
            return self.setting(exists, &path).map(JsonTest::Exists);
        }
        if let Some(equals) = equals {
            return self.json(equals, &path).map(JsonTest::Equals);
        }
        if let Some(regex) = regex {
            return self.pattern(regex, &path).map(JsonTest::Regex);
        }
        if let Some(limit) = less_than {
            return self.setting(limit, &path).map(JsonTest::LessThan);
        }
        if let Some(limit) = greater_than {
            return self.setting(limit, &path).map(JsonTest::GreaterThan);
        }
        count.as_ref().and_then(|count| self.setting(count, &path)).map(JsonTest::Count)
    }
}

/// A status that a peer's close frame may bring, or 1005 for none (RFC 6455 7.4).
pub(super) fn received_status(status: u16) -> Result<(), BadValue> {
    if matches!(status, 1000..=1003 | 1005 | 1007..=1014 | 3000..=4999) {
        return Ok(());
    }
    Err(BadValue::new(format!("no close frame has the status `{status}`"))
        .with_help("statuses are 1000 to 1003, 1007 to 1014, 3000 to 4999; 1005 stands for none"))
}

fn reach(check: &Check) -> Reach {
    match check {
        Check::Contains(_) | Check::Equals(_) | Check::Regex(_) | Check::Json { .. } => {
            Reach::Message
        }
        Check::Duration(_) => Reach::All,
        Check::Status(_) => Reach::Open,
        Check::CloseStatus(_) => Reach::Close,
        Check::Not(inner) => reach(inner),
    }
}

/// The reach of a check and its name in the plan.
fn written_reach(check: &plan::Check) -> (Reach, &'static str) {
    match check {
        plan::Check::Contains(_) => (Reach::Message, "contains"),
        plan::Check::Equals(_) => (Reach::Message, "equals"),
        plan::Check::Regex(_) => (Reach::Message, "regex"),
        plan::Check::Json(_) => (Reach::Message, "json"),
        plan::Check::Duration(_) => (Reach::All, "duration"),
        plan::Check::Status(_) => (Reach::Open, "status"),
        plan::Check::CloseStatus(_) => (Reach::Close, "close_status"),
        plan::Check::Not(inner) => written_reach(inner),
    }
}

/// The path of the check within all `not`s.
fn innermost(check: &plan::Check, path: &Path) -> Path {
    match check {
        plan::Check::Not(inner) => innermost(inner, &path.key("not")),
        _ => path.clone(),
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

/// The check as it is written, on one line.
fn source(check: &Check) -> String {
    let text = match check {
        Check::Contains(text) => format!("contains: {}", text.source),
        Check::Equals(text) => format!("equals: {}", text.source),
        Check::Regex(pattern) => format!("regex: {}", pattern_source(pattern)),
        Check::Json { path, test } => format!("json: {} {}", path.text, test_source(test)),
        Check::Duration(limit) => format!("duration: {}", setting_source(limit)),
        Check::Status(status) => format!("status: {}", setting_source(status)),
        Check::CloseStatus(status) => format!("close_status: {}", setting_source(status)),
        Check::Not(inner) => format!("not {}", source(inner)),
    };
    text.replace('\n', "\\n").replace('\r', "\\r")
}

pub(super) fn pattern_source(pattern: &Pattern) -> &str {
    match pattern {
        Pattern::Fixed(regex) => regex.as_str(),
        Pattern::Template(template) => &template.source,
    }
}

fn setting_source<T: std::fmt::Debug>(setting: &Resolved<T>) -> String {
    match setting {
        Resolved::Fixed(value) => format!("{value:?}"),
        Resolved::Template(template) => template.source.clone(),
    }
}

fn test_source(test: &JsonTest) -> String {
    match test {
        JsonTest::Exists(wanted) => format!("exists: {}", setting_source(wanted)),
        JsonTest::Equals(parts) => {
            let text: String = parts
                .iter()
                .map(|part| match part {
                    JsonPart::Raw(text) => text.as_str(),
                    JsonPart::String(template) | JsonPart::Value(template) => &template.source,
                })
                .collect();
            format!("equals: {text}")
        }
        JsonTest::Regex(pattern) => format!("regex: {}", pattern_source(pattern)),
        JsonTest::LessThan(limit) => format!("less_than: {}", setting_source(limit)),
        JsonTest::GreaterThan(limit) => format!("greater_than: {}", setting_source(limit)),
        JsonTest::Count(count) => format!("count: {}", setting_source(count)),
    }
}

//! `url` and `path`, as far as they are known before the run.

use crate::compile::compiler::Compiler;
use crate::net::Url;
use crate::plan::{Path, Problem, Setting, Text};
use crate::program::{Part, Template};

impl Compiler<'_> {
    /// `url`: its beginning must be right even if more of it is only known in the run.
    pub(super) fn url(&mut self, setting: &Setting<Text>, path: &Path) -> Option<Template> {
        let template = self.text(setting, path)?;
        self.secrets.remember_url(template.as_constant().unwrap_or_default());
        let problem = match template.as_constant() {
            Some(url) => whole_url(url, path),
            None => match template.parts.first() {
                Some(Part::Text(start)) if start.contains("://") => scheme(start, path),
                // `${scheme}://…`, or all of it from a variable.
                _ => None,
            },
        };
        let Some(mut problem) = problem else { return Some(template) };
        if setting.text.contains("${") && template.as_constant().is_some() {
            problem.label = format!("this is `{}`", template.as_constant().unwrap_or_default());
        }
        self.note(problem);
        None
    }

    /// `path`: begins with `/`.
    pub(super) fn path(&mut self, setting: &Setting<Text>, path: &Path) -> Option<Template> {
        let template = self.text(setting, path)?;
        self.secrets.remember_url(template.as_constant().unwrap_or_default());
        let start = match template.parts.first() {
            None => "",
            Some(Part::Text(start)) => start.as_str(),
            Some(_) => return Some(template),
        };
        let problem = |title: &str| Some(Problem::error(path, title));
        // A query may hold an address, as that of a redirect does.
        let before_query = start.split('?').next().unwrap_or_default();
        let problem = if before_query.contains("://") {
            problem("`path` is only path and query")
                .map(|problem| problem.help("write a whole address as `url`"))
        } else if !start.starts_with('/') {
            problem("`path` must start with `/`").map(|p| p.help(format!("write `/{start}`")))
        } else if start.contains('#') {
            Some(fragment(path))
        } else {
            None
        };
        match problem {
            Some(problem) => {
                self.note(problem);
                None
            }
            None => Some(template),
        }
    }
}

/// A WebSocket URL has no fragment (RFC 6455 3).
fn fragment(path: &Path) -> Problem {
    Problem::error(path, "a WebSocket address has no `#` part")
        .help("write `%23` for a `#` that belongs to the path or query")
}

fn whole_url(url: &str, path: &Path) -> Option<Problem> {
    scheme(url, path).or_else(|| {
        let error = Url::parse(url, None).err()?;
        let problem = Problem::error(path, error.what);
        Some(match error.help {
            Some(help) => problem.help(help),
            None => problem,
        })
    })
}

fn scheme(url: &str, path: &Path) -> Option<Problem> {
    if url.starts_with("ws://") || url.starts_with("wss://") {
        return None;
    }
    let problem = Problem::error(path, "`url` must start with `ws://` or `wss://`");
    for (wrong, label, right) in [
        ("http://", "this is an HTTP address", "ws"),
        ("https://", "this is an HTTPS address", "wss"),
    ] {
        if let Some(rest) = url.strip_prefix(wrong) {
            let rest = if rest.is_empty() { "…" } else { rest };
            return Some(problem.label(label).help(format!("write `{right}://{rest}`")));
        }
    }
    Some(match url {
        "" => problem.help("write `ws://host:port/path`"),
        url if url.starts_with('/') => problem.help("write only a path as `path`"),
        url if url.contains("://") => problem,
        url => problem.help(format!("write `ws://{url}`")),
    })
}

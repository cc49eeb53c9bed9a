//! `extract`: extractors compiled, and to which samplers they can apply.

use crate::compile::compiler::Compiler;
use crate::compile::reach::{Reach, Reached};
use crate::compile::source::{on_one_line, pattern_source};
use crate::compile::variables::is_variable_name;
use crate::plan::{self, At, CommonExtractor, Path, Problem, RegexExtractor};
use crate::program::{
    BadValue, Extractor, ExtractorKind, FromText, Pattern, Piece, Template, VariableId, Which,
};

/// An extractor of a scope, which reaches some of the samplers below.
#[derive(Debug, Clone)]
pub(super) struct ReachingExtractor {
    pub(super) reach: Reach,
    pub(super) extractor: Extractor,
}

impl FromText for Which {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        match text {
            "all" => Ok(Self::All),
            "random" => Ok(Self::Random),
            _ => match text.parse() {
                Ok(nth @ 1..) => Ok(Self::Nth(nth)),
                _ => Err(BadValue::new(format!("`{text}` does not say which match is wanted"))
                    .with_help(
                        "write a number from 1, `all` for `x_1`, `x_2` and so on, or `random`",
                    )),
            },
        }
    }
}

impl Compiler<'_> {
    /// The list `extract` at `path`.
    pub(super) fn extractors(
        &mut self,
        written: &[plan::Extractor],
        path: &Path,
    ) -> Vec<ReachingExtractor> {
        let mut extractors = Vec::new();
        for (index, extractor) in written.iter().enumerate() {
            let compiled = self.extractor(extractor, &path.index(index));
            let reach = written_reach(extractor).0;
            extractors.extend(compiled.map(|extractor| ReachingExtractor { reach, extractor }));
        }
        extractors
    }

    /// The list `extract` of a sampler itself: each must be able to apply to it.
    pub(super) fn own_extractors(
        &mut self,
        written: &[plan::Extractor],
        sampler: Reached,
        path: &Path,
    ) -> Vec<Extractor> {
        let kind = sampler.kind;
        for (index, extractor) in written.iter().enumerate() {
            let (reach, name) = written_reach(extractor);
            // The body of an answer is for its own extractors, not for those of scopes around.
            if reach.includes(sampler) || (kind == "http" && reach == Reach::Message) {
                continue;
            }
            let (title, help) = if reach == Reach::Open {
                let title =
                    "`header` looks at the answer to an upgrade request, and only `open` has one";
                (title.to_owned(), "put it into the `extract` of the `open`")
            } else {
                let title = format!("`{kind}` receives no message that `{name}` could look at");
                let help = match kind {
                    "open" => {
                        "extract a `header` here, or from the first message with `single_read`"
                    }
                    _ => {
                        "extract from a `request_response`, or from the `single_read` that follows"
                    }
                };
                (title, help)
            };
            let path = path.index(index).key(name);
            self.note(Problem::error(&path, title).at(At::Key).help(help));
        }
        self.extractors(written, path).into_iter().map(|reaching| reaching.extractor).collect()
    }

    fn extractor(&mut self, written: &plan::Extractor, path: &Path) -> Option<Extractor> {
        let (_, name) = written_reach(written);
        let path = &path.key(name);
        let common = match written {
            plan::Extractor::Json(own) => own.common(),
            plan::Extractor::Regex(own) => own.common(),
            plan::Extractor::Between(own) => own.common(),
            plan::Extractor::Header(own) => own.common(),
        };
        let kind = match written {
            plan::Extractor::Json(own) => {
                let given = own.path.as_ref();
                self.required(given, path, "path", "write a JSONPath: `path: $.id`")
                    .and_then(|given| self.json_path(given, &path.key("path")))
                    .map(ExtractorKind::Json)
            }
            plan::Extractor::Regex(own) => self.regex_extractor(own, path),
            plan::Extractor::Between(own) => self.between(own, path),
            plan::Extractor::Header(own) => {
                let given = own.name.as_ref();
                self.required(given, path, "name", "write the header's name: `name: X-Room`")
                    .and_then(|given| self.fixed_text(given, &path.key("name")))
                    .map(ExtractorKind::Header)
            }
        };
        let regex = matches!(written, plan::Extractor::Regex(_));
        self.target(&common, regex, kind, path)
    }

    /// What all extractors share.
    fn target(
        &mut self,
        common: &CommonExtractor<'_>,
        regex: bool,
        kind: Option<ExtractorKind>,
        path: &Path,
    ) -> Option<Extractor> {
        let which =
            common.which.map_or(Some(Which::Nth(1)), |which| self.fixed(which, &path.key("match")));
        let default = common.default.map(|default| self.text(default, &path.key("default")));
        let optional = common
            .optional
            .map_or(Some(false), |optional| self.fixed(optional, &path.key("optional")));
        let has_default = common.default.is_some();
        let help = "name the variable that gets the value: `as: id`";
        let name = self.required(common.variable, path, "as", help)?;
        if let Some(inner) = name.text.strip_prefix("${").and_then(|text| text.strip_suffix('}'))
            && is_variable_name(inner)
        {
            let problem = Problem::error(&path.key("as"), "`as` is the name alone");
            self.note(problem.help(format!("write `as: {inner}`")));
            return None;
        }
        let name = self.fixed_text(name, &path.key("as"))?;
        let variable =
            self.extracted(&name, which.unwrap_or(Which::All), regex, has_default, path)?;
        let (kind, which) = (kind?, which?);
        if let ExtractorKind::Header(header) = &kind {
            self.extracts_header(header, variable);
        }
        let source = format!("{} as {name}", source(&kind));
        let default = default.map_or(Some(None), |default| default.map(Some))?;
        Some(Extractor { kind, variable, which, default, optional: optional?, source })
    }

    fn extracted(
        &mut self,
        name: &str,
        which: Which,
        regex: bool,
        has_default: bool,
        path: &Path,
    ) -> Option<VariableId> {
        if !is_variable_name(name) {
            let problem =
                Problem::error(&path.key("as"), format!("`{name}` is not a name for a variable"));
            self.note(problem.help("use letters, digits, `_`, `-` and `.`, without `${ }`"));
            return None;
        }
        Some(self.variables.extracted(name, which, regex, has_default))
    }

    fn regex_extractor(&mut self, own: &RegexExtractor, path: &Path) -> Option<ExtractorKind> {
        let help = "write a regular expression: `pattern: 'id=(\\d+)'`";
        let pattern = self
            .required(own.pattern.as_ref(), path, "pattern", help)
            .and_then(|pattern| self.pattern(pattern, &path.key("pattern")));
        if own.group.is_some() && own.template.is_some() {
            let problem =
                Problem::error(&path.key("template"), "`regex` has `group` and `template`");
            self.note(problem.at(At::Key).help("give one of them"));
            return None;
        }
        let (template, key) = match (&own.group, &own.template) {
            (Some(group), _) => {
                let group: u32 = self.fixed(group, &path.key("group"))?;
                (Some(vec![Piece::Group(group as usize)]), "group")
            }
            (_, Some(template)) => {
                let text = self.fixed_text(template, &path.key("template"))?;
                (Some(pieces(&text)), "template")
            }
            (None, None) => (None, ""),
        };
        let pattern = pattern?;
        if let Pattern::Fixed(regex) = &pattern
            && let Some(group) = template.iter().flatten().find_map(|piece| match piece {
                Piece::Group(group) if *group >= regex.captures_len() => Some(*group),
                _ => None,
            })
        {
            let groups = match regex.captures_len() - 1 {
                0 => "no groups".to_owned(),
                1 => "one group".to_owned(),
                more => format!("{more} groups"),
            };
            let title = format!("there is no group {group}: the pattern has {groups}");
            let problem = Problem::error(&path.key(key), title);
            self.note(problem.help("groups are in `( )` and count from 1; 0 is the whole match"));
            return None;
        }
        Some(ExtractorKind::Regex { pattern, template })
    }

    fn between(&mut self, own: &plan::BetweenExtractor, path: &Path) -> Option<ExtractorKind> {
        let help =
            "write `between: { left: 'id=', right: '&', as: id }`; `''` is the message's end";
        let left = self
            .required(own.left.as_ref(), path, "left", help)
            .and_then(|left| self.text(left, &path.key("left")));
        let right = self
            .required(own.right.as_ref(), path, "right", help)
            .and_then(|right| self.text(right, &path.key("right")));
        Some(ExtractorKind::Between { left: left?, right: right? })
    }

    /// A setting that an extractor cannot do without.
    fn required<'s, K>(
        &mut self,
        setting: Option<&'s plan::Setting<K>>,
        path: &Path,
        key: &str,
        help: &str,
    ) -> Option<&'s plan::Setting<K>> {
        if setting.is_none() {
            let name = path.last_key().unwrap_or("the extractor");
            let problem = Problem::error(path, format!("`{name}` has no `{key}`"));
            self.note(problem.at(At::Key).help(help));
        }
        setting
    }
}

/// The reach of an extractor and its name in the plan.
fn written_reach(extractor: &plan::Extractor) -> (Reach, &'static str) {
    match extractor {
        plan::Extractor::Json(_) => (Reach::Message, "json"),
        plan::Extractor::Regex(_) => (Reach::Message, "regex"),
        plan::Extractor::Between(_) => (Reach::Message, "between"),
        plan::Extractor::Header(_) => (Reach::Open, "header"),
    }
}

/// JMeter's `$1$-$2$`; every other `$` is itself.
fn pieces(template: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = template;
    let mut text = String::new();
    while let Some(start) = rest.find('$') {
        let after = &rest[start + 1..];
        let group = after.find('$').and_then(|end| Some((end, after[..end].parse().ok()?)));
        text.push_str(&rest[..start]);
        if let Some((end, group)) = group {
            if !text.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
            }
            pieces.push(Piece::Group(group));
            rest = &after[end + 1..];
        } else {
            text.push('$');
            rest = after;
        }
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    pieces
}

/// The extractor as it is written, on one line.
fn source(kind: &ExtractorKind) -> String {
    let text = match kind {
        ExtractorKind::Json(path) => format!("json: {}", path.text),
        ExtractorKind::Regex { pattern, .. } => format!("regex: {}", pattern_source(pattern)),
        ExtractorKind::Between { left, right } => {
            let side = |side: &Template| side.source.clone();
            format!("between: [{}, {}]", side(left), side(right))
        }
        ExtractorKind::Header(name) => format!("header: {name}"),
    };
    on_one_line(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_taken_apart_as_jmeter_does() {
        let text = |text: &str| Piece::Text(text.to_owned());
        assert_eq!(pieces("$1$"), [Piece::Group(1)]);
        assert_eq!(
            pieces("a$2$-$0$b"),
            [text("a"), Piece::Group(2), text("-"), Piece::Group(0), text("b")]
        );
        assert_eq!(pieces("5$ and $x$1$"), [text("5$ and $x"), Piece::Group(1)]);
        assert_eq!(pieces(""), []);
    }
}

//! One check of `assert` or `filters`, compiled.

use crate::compile::compiler::Compiler;
use crate::plan::{
    self, At, HeaderCheck, HexCheck, JsonCheck, List, Path, PingPongFilter, Problem, SizeCheck,
};
use crate::program::{
    BadValue, Bytes, Check, FromText, HeaderTest, HexTest, JsonTest, MessageType, Setting,
    SizeTest, hex_bytes,
};

/// The header in which a server names the subprotocol it chose (RFC 6455 11.3.4).
const SUBPROTOCOL: &str = "Sec-WebSocket-Protocol";

/// `which` of a filter of pings and pongs, as in the plugin for JMeter.
struct WhichPings(&'static [MessageType]);

impl FromText for WhichPings {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        Ok(Self(match text {
            "all" => &[MessageType::Ping, MessageType::Pong],
            "ping" => &[MessageType::Ping],
            "pong" => &[MessageType::Pong],
            _ => {
                return Err(BadValue::new(format!("`{text}` is none of `all`, `ping`, `pong`")));
            }
        }))
    }
}

impl Compiler<'_> {
    pub(super) fn check(&mut self, check: &plan::Check, path: &Path) -> Option<Check> {
        Some(match check {
            plan::Check::Contains(text) => Check::Contains(self.text(text, &path.key("contains"))?),
            plan::Check::Equals(text) => Check::Equals(self.text(text, &path.key("equals"))?),
            plan::Check::StartsWith(text) => {
                Check::StartsWith(self.text(text, &path.key("starts_with"))?)
            }
            plan::Check::EndsWith(text) => {
                Check::EndsWith(self.text(text, &path.key("ends_with"))?)
            }
            plan::Check::Regex(text) => Check::Regex(self.pattern(text, &path.key("regex"))?),
            plan::Check::FullMatch(text) => {
                Check::FullMatch(self.whole_pattern(text, &path.key("full_match"))?)
            }
            plan::Check::Hex(hex) => self.hex_check(hex, &path.key("hex"))?,
            plan::Check::Json(json) => self.json_check(json, &path.key("json"))?,
            plan::Check::Type(kind) => Check::Type(self.setting(kind, &path.key("type"))?),
            plan::Check::Size(size) => self.size_check(size, &path.key("size"))?,
            plan::Check::Duration(limit) => {
                Check::Duration(self.setting(limit, &path.key("duration"))?)
            }
            plan::Check::Status(status) => self.status_check(status, &path.key("status"))?,
            plan::Check::CloseStatus(status) => {
                let path = path.key("close_status");
                let status = self.setting(status, &path);
                Check::CloseStatus(self.checked(status, &path, |status| received_status(*status))?)
            }
            plan::Check::Header(header) => self.header_check(header, &path.key("header"))?,
            plan::Check::Subprotocol(name) => {
                let name = self.text(name, &path.key("subprotocol"))?;
                Check::Header(SUBPROTOCOL.to_owned(), HeaderTest::Equals(name))
            }
            plan::Check::Not(inner) => Check::Not(Box::new(self.check(inner, &path.key("not"))?)),
            plan::Check::AnyOf(checks) => Check::AnyOf(self.checks(checks, &path.key("any_of"))?),
            plan::Check::AllOf(checks) => Check::AllOf(self.checks(checks, &path.key("all_of"))?),
            plan::Check::Text(inner) => {
                self.typed(MessageType::Text, inner.as_deref(), &path.key("text"))?
            }
            plan::Check::Binary(inner) => {
                self.typed(MessageType::Binary, inner.as_deref(), &path.key("binary"))?
            }
            plan::Check::PingPong(form) => self.ping_pong_filter(form, &path.key("ping_pong"))?,
        })
    }

    /// `ping_pong` of filters; its `reply` is the filter's as a whole.
    fn ping_pong_filter(&mut self, form: &PingPongFilter, path: &Path) -> Option<Check> {
        let which = match &form.which {
            Some(which) => self.fixed::<_, WhichPings>(which, &path.key("which"))?.0,
            None => &[MessageType::Ping, MessageType::Pong],
        };
        let of_type = |kind: &MessageType| Check::Type(Setting::Fixed(*kind));
        Some(match which {
            [one] => of_type(one),
            all => Check::AnyOf(all.iter().map(of_type).collect()),
        })
    }

    /// Whether a filter answers the pings that it discards.
    pub(super) fn filter_replies(&mut self, check: &plan::Check, path: &Path) -> Setting<bool> {
        let reply = match check {
            plan::Check::PingPong(form) => form.reply.as_ref(),
            _ => None,
        };
        let path = path.key("ping_pong").key("reply");
        reply.and_then(|reply| self.setting(reply, &path)).unwrap_or(Setting::Fixed(false))
    }

    fn checks(&mut self, checks: &List<plan::Check>, path: &Path) -> Option<Vec<Check>> {
        if checks.0.is_empty() {
            let problem = Problem::error(path, "the list is empty").at(At::Key);
            self.note(problem.help("add a check, or leave it out"));
            return None;
        }
        let mut compiled = Vec::with_capacity(checks.0.len());
        for (index, check) in checks.0.iter().enumerate() {
            compiled.extend(self.check(check, &path.index(index)));
        }
        (compiled.len() == checks.0.len()).then_some(compiled)
    }

    /// `text: {…}` and `binary: {…}` of filters.
    fn typed(
        &mut self,
        kind: MessageType,
        inner: Option<&plan::Check>,
        path: &Path,
    ) -> Option<Check> {
        let of_kind = Check::Type(Setting::Fixed(kind));
        let Some(inner) = inner else { return Some(of_kind) };
        Some(Check::AllOf(vec![of_kind, self.check(inner, path)?]))
    }

    /// Notes that not exactly one of the settings is given; gives the name of the one that is.
    fn only_one(
        &mut self,
        what: &str,
        settings: &[(&'static str, bool)],
        path: &Path,
    ) -> Option<&'static str> {
        let mut given = settings.iter().filter(|(_, given)| *given).map(|(name, _)| *name);
        let first = given.next();
        if let (Some(first), Some(second)) = (first, given.next()) {
            let title = format!("`{what}` has one test, found `{first}` and `{second}`");
            let problem = Problem::error(&path.key(second), title).at(At::Key);
            self.note(problem.help(format!("write a second `{what}` check")));
            return None;
        }
        if first.is_none() {
            let names: Vec<String> = settings.iter().map(|(name, _)| format!("`{name}`")).collect();
            let title = format!("`{what}` says nothing about what it finds");
            let problem = Problem::error(path, title).at(At::Key);
            self.note(problem.help(format!("add one of {}", names.join(", "))));
        }
        first
    }

    fn hex_check(&mut self, hex: &HexCheck, path: &Path) -> Option<Check> {
        let HexCheck { equals, contains, starts_with, at } = hex;
        let settings = [
            ("equals", equals.is_some()),
            ("contains", contains.is_some()),
            ("starts_with", starts_with.is_some()),
        ];
        let name = self.only_one("hex", &settings, path)?;
        if at.is_some() && contains.is_none() {
            let problem = Problem::error(&path.key("at"), "`at` goes with `contains`").at(At::Key);
            self.note(problem);
            return None;
        }
        let at = match at {
            Some(at) => Some(self.setting(at, &path.key("at"))?),
            None => None,
        };
        let bytes = [equals, contains, starts_with].into_iter().flatten().next()?;
        let bytes = self.bytes(bytes, &path.key(name))?;
        let test = match name {
            "equals" => HexTest::Equals,
            "contains" => HexTest::Contains(at),
            _ => HexTest::StartsWith,
        };
        Some(Check::Hex(test, bytes))
    }

    fn bytes(&mut self, setting: &plan::Setting<plan::Text>, path: &Path) -> Option<Bytes> {
        let template = self.text(setting, path)?;
        match template.as_constant().map(hex_bytes) {
            None => Some(Bytes::Template(template)),
            Some(Ok(bytes)) => Some(Bytes::Fixed(bytes)),
            Some(Err(bad)) => {
                self.bad_value(bad, path, "");
                None
            }
        }
    }

    fn size_check(&mut self, size: &SizeCheck, path: &Path) -> Option<Check> {
        let SizeCheck { equals, at_most, at_least } = size;
        let settings = [
            ("equals", equals.is_some()),
            ("at_most", at_most.is_some()),
            ("at_least", at_least.is_some()),
        ];
        let name = self.only_one("size", &settings, path)?;
        let size = [equals, at_most, at_least].into_iter().flatten().next()?;
        let test = match name {
            "equals" => SizeTest::Equals,
            "at_most" => SizeTest::AtMost,
            _ => SizeTest::AtLeast,
        };
        Some(Check::Size(test, self.setting(size, &path.key(name))?))
    }

    fn status_check(&mut self, status: &plan::Setting<plan::Count>, path: &Path) -> Option<Check> {
        let status = self.setting(status, path);
        let status = self.checked(status, path, |status| {
            if (100..=599).contains(status) {
                return Ok(());
            }
            Err(BadValue::new(format!("`{status}` is not an HTTP status"))
                .with_help("an accepted upgrade has 101"))
        })?;
        Some(Check::Status(status))
    }

    fn header_check(&mut self, header: &HeaderCheck, path: &Path) -> Option<Check> {
        let HeaderCheck { name, equals, contains, regex } = header;
        let Some(name) = name else {
            let problem = Problem::error(path, "`header` has no `name`").at(At::Key);
            self.note(problem.help("write `header: { name: Server, contains: … }`"));
            return None;
        };
        let name = self.fixed_text(name, &path.key("name"))?;
        let settings = [
            ("equals", equals.is_some()),
            ("contains", contains.is_some()),
            ("regex", regex.is_some()),
        ];
        if settings.iter().all(|(_, given)| !given) {
            return Some(Check::Header(name, HeaderTest::Exists));
        }
        let test = self.only_one("header", &settings, path)?;
        let path = path.key(test);
        let text = [equals, contains, regex].into_iter().flatten().next()?;
        let test = match test {
            "equals" => HeaderTest::Equals(self.text(text, &path)?),
            "contains" => HeaderTest::Contains(self.text(text, &path)?),
            _ => HeaderTest::Regex(self.pattern(text, &path)?),
        };
        Some(Check::Header(name, test))
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

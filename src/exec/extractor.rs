//! Extractors: from what a sampler received to variables, under JMeter's names.
//!
//! They run only where the sampler and its assertions passed (in JMeter they run before assertions,
//! on failed samples too): a value out of an error message is not the value that was meant. Where
//! the sampler did not pass, and where nothing is found, an old value would be the wrong one, so the
//! variable loses it and remembers why: what needs it is skipped with that cause. One that is
//! `optional` is just undefined then, and one with a `default` has that.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use rand::RngExt;
use regex::{Captures, Regex};
use serde_json::Value;

use crate::exec::assertion::one_line;
use crate::exec::check::compiled;
use crate::exec::evaluate::{Held, Scope};
use crate::exec::judge::plain_text;
use crate::exec::outcome::{Failure, Outcome};
use crate::program::{Extractor, ExtractorKind, Member, Piece, Which};
use crate::sample::Code;
use crate::ws::Message;

/// So many characters of a message are shown where nothing was found in it.
const SHOWN: usize = 100;

/// One value found.
#[derive(Debug)]
struct Hit {
    /// `None` for JSON's `null`.
    text: Option<String>,
    /// What the groups of a regular expression matched, the whole match first.
    groups: Vec<String>,
}

impl Hit {
    fn plain(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), groups: Vec::new() }
    }
}

/// Extracts everything from a sampler that passed. The failure is that of the first extractor that
/// found nothing; a failed extractor leaves the code, as a failed assertion does.
pub(crate) fn extract(
    scope: &mut Scope,
    extractors: &[Extractor],
    outcome: &Outcome,
) -> Option<Failure> {
    let mut first = None;
    let received = Received { outcome };
    for extractor in extractors {
        if let Err(failure) = extract_one(scope, extractor, &received) {
            first.get_or_insert(failure);
        }
    }
    first
}

/// What extractors look at.
struct Received<'o> {
    outcome: &'o Outcome,
}

impl Received<'_> {
    /// The message as text; bytes that are not UTF-8 are replaced.
    fn text(&self) -> Cow<'_, str> {
        let message = self.outcome.message.as_ref();
        message.map_or(Cow::Borrowed(""), |message| String::from_utf8_lossy(&message.payload))
    }

    fn json(&self) -> Result<&Value, &str> {
        self.outcome.message.as_ref().map_or(Err("there is no message"), Message::json)
    }
}

/// What a sampler that failed has received of secrets: its message is quoted.
pub(crate) fn hide(scope: &mut Scope, extractors: &[Extractor], outcome: &Outcome) {
    for extractor in extractors {
        if scope.shared.program.is_secret(extractor.variable)
            && let Ok(hits) = find(scope, &extractor.kind, &Received { outcome })
        {
            let texts = hits.iter().filter_map(|hit| hit.text.as_deref());
            scope.hide(|found| texts.for_each(|text| found.remember_password(text)));
        }
    }
}

/// Takes the values from the variables of a sampler that failed or was skipped, with this cause.
pub(crate) fn lose(scope: &mut Scope, extractors: &[Extractor], cause: Code) {
    for extractor in extractors {
        miss(scope, extractor, cause).ok();
    }
}

fn extract_one(
    scope: &mut Scope,
    extractor: &Extractor,
    received: &Received<'_>,
) -> Result<(), Failure> {
    let found = find(scope, &extractor.kind, received);
    let (hits, trouble) = match found {
        Ok(hits) => (hits, None),
        Err(Trouble::NotJson(error)) => (Vec::new(), Some(error)),
        Err(Trouble::Failure(failure)) => {
            miss(scope, extractor, Code::NotExtracted).ok();
            return Err(failure);
        }
    };
    let chosen = match extractor.which {
        Which::Nth(nth) => hits.get(nth - 1),
        Which::Random if !hits.is_empty() => hits.get(rand::rng().random_range(0..hits.len())),
        Which::All if !hits.is_empty() => {
            return store_all(scope, extractor, &hits);
        }
        Which::All | Which::Random => None,
    };
    let value = chosen.and_then(|hit| Some((hit, hit.text.as_deref()?)));
    if let Some((hit, text)) = value {
        store(scope, extractor, hit, text, hits.len());
        return Ok(());
    }
    if miss(scope, extractor, Code::NotExtracted)? {
        return Ok(());
    }
    Err(nothing_found(extractor, &hits, trouble, received))
}

/// Where nothing was found: the default if there is one. False if that is not fine.
fn miss(scope: &mut Scope, extractor: &Extractor, cause: Code) -> Result<bool, Failure> {
    let value = match &extractor.default {
        Some(default) => match scope.text(default) {
            Ok(text) => Held::Text(text.as_ref().into()),
            Err(failure) => {
                scope.hold(extractor.variable, Held::Missing(cause));
                return Err(failure);
            }
        },
        None if extractor.optional => Held::Nothing,
        None => Held::Missing(cause),
    };
    let derived = if matches!(value, Held::Missing(_)) { value.clone() } else { Held::Nothing };
    let is_fine = !matches!(value, Held::Missing(_));
    scope.hold(extractor.variable, value);
    family(scope, extractor, |member| match member {
        Member::Count if is_fine => Held::Text("0".into()),
        _ => derived.clone(),
    });
    Ok(is_fine)
}

fn store(scope: &mut Scope, extractor: &Extractor, hit: &Hit, text: &str, count: usize) {
    scope.set(extractor.variable, text);
    family(scope, extractor, |member| match member {
        Member::Count => Held::Text(count.to_string().into()),
        Member::Groups => held_groups(hit),
        Member::Group(group) => held(hit.groups.get(group).map(String::as_str)),
        _ => Held::Nothing,
    });
}

fn store_all(scope: &mut Scope, extractor: &Extractor, hits: &[Hit]) -> Result<(), Failure> {
    let default = match &extractor.default {
        Some(default) => Some(scope.text(default)?.into_owned()),
        None => None,
    };
    scope.hold(extractor.variable, held(default.as_deref()));
    family(scope, extractor, |member| match member {
        Member::Count => Held::Text(hits.len().to_string().into()),
        Member::Match(nth) => {
            held(hits.get(nth - 1).and_then(|hit| hit.text.as_deref().or(default.as_deref())))
        }
        Member::MatchGroups(nth) => hits.get(nth - 1).map_or(Held::Nothing, held_groups),
        Member::MatchGroup(nth, group) => {
            held(hits.get(nth - 1).and_then(|hit| hit.groups.get(group)).map(String::as_str))
        }
        Member::Every => {
            let text = |hit: &Hit| hit.text.as_deref().or(default.as_deref()).map(Rc::from);
            Held::List(hits.iter().map(text).collect())
        }
        Member::Groups | Member::Group(_) => Held::Nothing,
    });
    Ok(())
}

fn held(text: Option<&str>) -> Held {
    text.map_or(Held::Nothing, |text| Held::Text(text.into()))
}

/// JMeter counts the groups without the whole match.
fn held_groups(hit: &Hit) -> Held {
    match hit.groups.len().checked_sub(1) {
        Some(groups) => Held::Text(groups.to_string().into()),
        None => Held::Nothing,
    }
}

/// Gives a value to every variable that the plan names and that is derived from the extractor's.
fn family(scope: &mut Scope, extractor: &Extractor, value: impl Fn(Member) -> Held) {
    let program = Arc::clone(&scope.shared.program);
    for (variable, member) in program.families.get(&extractor.variable).into_iter().flatten() {
        scope.hold(*variable, value(*member));
    }
}

/// Why an extractor could not even look.
enum Trouble {
    NotJson(String),
    Failure(Failure),
}

fn find(
    scope: &mut Scope,
    kind: &ExtractorKind,
    received: &Received<'_>,
) -> Result<Vec<Hit>, Trouble> {
    match kind {
        ExtractorKind::Json(path) => {
            let json = received.json().map_err(|error| Trouble::NotJson(error.to_owned()))?;
            let found = path.find(json);
            Ok(found
                .into_iter()
                .map(|value| match value {
                    Value::Null => Hit { text: None, groups: Vec::new() },
                    value => Hit::plain(plain_text(value)),
                })
                .collect())
        }
        ExtractorKind::Regex { pattern, template } => {
            let regex = compiled(scope, pattern, false).map_err(Trouble::Failure)?;
            Ok(matches(&regex, template.as_deref(), &received.text()))
        }
        ExtractorKind::Between { left, right } => {
            let left = scope.text(left).map_err(Trouble::Failure)?;
            let right = scope.text(right).map_err(Trouble::Failure)?;
            Ok(between(&received.text(), &left, &right))
        }
        ExtractorKind::Header(name) => {
            let head = received.outcome.head.as_deref().unwrap_or_default();
            Ok(crate::ws::header_values(head, name).into_iter().map(Hit::plain).collect())
        }
    }
}

fn matches(regex: &Regex, template: Option<&[Piece]>, text: &str) -> Vec<Hit> {
    let group = |captures: &Captures<'_>, group: usize| {
        captures.get(group).map_or_else(String::new, |found| found.as_str().to_owned())
    };
    let hit = |captures: Captures<'_>| {
        let groups: Vec<String> = (0..captures.len()).map(|n| group(&captures, n)).collect();
        let text = match template {
            None => groups[usize::from(groups.len() > 1)].clone(),
            Some(pieces) => pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) => text.as_str(),
                    Piece::Group(group) => groups.get(*group).map_or("", String::as_str),
                })
                .collect(),
        };
        Hit { text: Some(text), groups }
    };
    regex.captures_iter(text).map(hit).collect()
}

/// As JMeter: no left boundary is the start of the message, no right one its end, and the search
/// goes on right behind each left boundary.
fn between(text: &str, left: &str, right: &str) -> Vec<Hit> {
    let to_right = |rest: &str| match right {
        "" => Some(rest.to_owned()),
        right => rest.find(right).map(|end| rest[..end].to_owned()),
    };
    if left.is_empty() {
        return to_right(text).map(Hit::plain).into_iter().collect();
    }
    let starts = text.match_indices(left).map(|(start, left)| start + left.len());
    starts.filter_map(|start| to_right(&text[start..])).map(Hit::plain).collect()
}

fn nothing_found(
    extractor: &Extractor,
    hits: &[Hit],
    trouble: Option<String>,
    received: &Received<'_>,
) -> Failure {
    let source = &extractor.source;
    let what = match (hits.len(), extractor.which) {
        (0, _) => format!("extractor `{source}` found nothing"),
        (found, Which::Nth(nth)) if nth > found => {
            format!("extractor `{source}` found {found}, and match {nth} is wanted")
        }
        _ => format!("extractor `{source}` found null"),
    };
    let message = received.text();
    let place = match (&extractor.kind, trouble) {
        // Values of headers are often secrets.
        (ExtractorKind::Header(_), _) => " in the answer to the upgrade".to_owned(),
        (_, Some(error)) => format!(": the message is not JSON ({error}): {}", start_of(&message)),
        _ => format!(" in: {}", start_of(&message)),
    };
    Failure::new(received.outcome.code, one_line(&format!("{what}{place}")), what)
}

fn start_of(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => Cow::Owned(format!("{}…", &text[..cut])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(hits: Vec<Hit>) -> Vec<String> {
        hits.into_iter().filter_map(|hit| hit.text).collect()
    }

    #[test]
    fn what_is_between_may_reach_from_start_to_end_and_may_overlap() {
        assert_eq!(texts(between("a=1&a=2&", "a=", "&")), ["1", "2"]);
        assert_eq!(texts(between("xxab", "x", "b")), ["xa", "a"]);
        assert_eq!(texts(between("id:7", "id:", "")), ["7"]);
        assert_eq!(texts(between("7;x", "", ";")), ["7"]);
        assert_eq!(texts(between("all", "", "")), ["all"]);
        assert_eq!(texts(between("a=1", "a=", "&")), [""; 0]);
    }

    #[test]
    fn a_pattern_gives_its_first_group_or_the_whole_match_or_what_a_template_says() {
        let regex = Regex::new(r"(\w)(\d)?").unwrap();
        assert_eq!(texts(matches(&regex, None, "a1 b")), ["a", "b"]);
        let template = [Piece::Group(2), Piece::Text("-".to_owned()), Piece::Group(0)];
        assert_eq!(texts(matches(&regex, Some(&template), "a1 b")), ["1-a1", "-b"]);
        assert_eq!(texts(matches(&Regex::new("b+").unwrap(), None, "abba")), ["bb"]);
    }
}

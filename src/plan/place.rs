//! From a path to line and column.
//!
//! Most values know their position from reading. The others (text with escapes, block texts, empty
//! maps) are found by reading the document once more, down their path to a visitor that always errs:
//! the error carries the position, through aliases too.

use std::fmt;
use std::path::Path as FilePath;

use serde::Deserializer;
use serde::de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::diag::Place;
use crate::plan::document::{Key, Node, Value};
use crate::plan::error::At;
use crate::plan::path::Segment;

/// A part of the source, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) length: usize,
}

/// The place of a span, cut at the end of its first line.
pub(crate) fn place(file: &FilePath, source: &str, span: Span) -> Place {
    let start = floor_char(source, span.start);
    let bom = source.len() - source.trim_start_matches('\u{feff}').len();
    let line_start = source[..start].rfind('\n').map_or_else(|| bom.min(start), |end| end + 1);
    let line_end = source[start..].find('\n').map_or(source.len(), |end| start + end);
    let line = source[line_start..line_end].trim_end_matches('\r');
    let before = &source[line_start..start];
    let end = floor_char(source, span.start.saturating_add(span.length).min(line_end)).max(start);
    Place {
        file: file.to_owned(),
        line: source[..start].bytes().filter(|&byte| byte == b'\n').count() + 1,
        column: before.chars().count() + 1,
        length: source[start..end].trim_end_matches('\r').chars().count().max(1),
        text: line.to_owned(),
        included_from: Vec::new(),
    }
}

fn floor_char(source: &str, mut index: usize) -> usize {
    index = index.min(source.len());
    while !source.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// The byte offset of a line and column as `serde_yaml` counts them: both from 1, in characters.
pub(crate) fn offset(source: &str, line: usize, column: usize) -> usize {
    let bom = source.len() - source.trim_start_matches('\u{feff}').len();
    let mut start = bom;
    // YAML also breaks lines at a lone carriage return and at three characters of Unicode.
    let mut rest = source[bom..].char_indices().peekable();
    let mut at = 1;
    while at < line {
        let Some((index, c)) = rest.next() else { return source.len() };
        let breaks = match c {
            '\r' => rest.peek().is_none_or(|(_, next)| *next != '\n'),
            '\n' | '\u{85}' | '\u{2028}' | '\u{2029}' => true,
            _ => false,
        };
        if breaks {
            at += 1;
            start = bom + index + c.len_utf8();
        }
    }
    source[start..]
        .char_indices()
        .nth(column.saturating_sub(1))
        .map_or(source.len(), |(index, _)| start + index)
}

/// Finds the part `at` of the value to which `way` leads from the top of the file. Where it leads on
/// into a value that stands for a map or list of its own, it is that value.
pub(crate) fn find(source: &str, root: &Node, way: &[Segment], at: At) -> Span {
    let mut node = root;
    let mut key: Option<&Key> = None;
    let mut walked: Vec<Segment> = Vec::new();
    for segment in way {
        match (segment, &node.value) {
            (Segment::Key(name), Value::Map(entries)) => {
                // A setting that is not written: the map that would have it.
                let Some((found, value)) = entries.iter().find(|(key, _)| key.text == *name) else {
                    break;
                };
                (key, node) = (Some(found), value);
                walked.push(segment.clone());
            }
            (Segment::Index(index), Value::List(elements)) => {
                let Some(element) = elements.get(*index) else { break };
                (key, node) = (None, element);
                walked.push(segment.clone());
            }
            _ => {}
        }
    }
    Finder { source, walked }.span(node, key, at)
}

struct Finder<'a> {
    source: &'a str,
    walked: Vec<Segment>,
}

impl Finder<'_> {
    fn span(&self, node: &Node, key: Option<&Key>, at: At) -> Span {
        match (&node.value, key) {
            (_, Some(key)) if at == At::Key => self.key(key),
            (Value::Scalar { text, .. }, _) => match at {
                At::Within { start, length } => self.within(node, key, start, length),
                _ if text.is_empty() => self.empty(node, key),
                _ => self.scalar(node, key),
            },
            (_, Some(key)) => self.key(key),
            (_, None) => first(node).unwrap_or_else(|| self.read_again(Part::Value)),
        }
    }

    fn key(&self, key: &Key) -> Span {
        match key.start {
            Some(start) => Span { start, length: key.text.len() },
            None => self.read_again(Part::Key),
        }
    }

    fn scalar(&self, node: &Node, key: Option<&Key>) -> Span {
        match (&node.value, node.start) {
            (Value::Scalar { text, .. }, Some(start)) => Span { start, length: text.len() },
            _ => self.behind(key).unwrap_or_else(|| self.read_again(Part::Value)),
        }
    }

    /// The rest of the line behind a key, if a text begins there: the common case, and much faster
    /// than reading again.
    fn behind(&self, key: Option<&Key>) -> Option<Span> {
        let key = key?;
        let rest = self.source.get(key.start? + key.text.len()..)?;
        let value =
            rest.trim_start_matches(['"', '\'']).strip_prefix(": ")?.trim_start_matches(' ');
        let line = value.split('\n').next()?.trim_end();
        let start = self.source.len() - value.len();
        line.starts_with(['"', '\'', '|', '>']).then_some(Span { start, length: line.len() })
    }

    /// An empty text has its quotes underlined; a value that is not there, its key.
    fn empty(&self, node: &Node, key: Option<&Key>) -> Span {
        match (node.start, key) {
            (Some(start), _) if self.source[..start].ends_with(['"', '\'']) => {
                Span { start: start - 1, length: 2 }
            }
            (_, Some(key)) => self.key(key),
            (Some(start), None) => Span { start, length: 1 },
            (None, None) => self.read_again(Part::Value),
        }
    }

    fn within(&self, node: &Node, key: Option<&Key>, start: usize, length: usize) -> Span {
        if let Some(first) = node.start {
            return Span { start: first + start, length };
        }
        let whole = self.scalar(node, key);
        let Value::Scalar { text, .. } = &node.value else { return whole };
        // The text is not in the source as it reads, but what is meant mostly is.
        let Some(wanted) = text.get(start..start + length) else { return whole };
        let earlier = text[..start].matches(wanted).count();
        self.source[whole.start..]
            .match_indices(wanted)
            .nth(earlier)
            .filter(|(index, _)| *index <= 2 * text.len() + 100)
            .map_or(whole, |(index, _)| Span { start: whole.start + index, length })
    }

    fn read_again(&self, part: Part) -> Span {
        let yaml = self.source.strip_prefix('\u{feff}').unwrap_or(self.source);
        let seed = Descent { left: &self.walked, part };
        let start = seed
            .deserialize(serde_yaml::Deserializer::from_str(yaml))
            .err()
            .and_then(|error| error.location())
            .map_or(0, |mark| offset(self.source, mark.line(), mark.column()));
        let line = self.source[start..].split('\n').next().unwrap_or_default();
        Span { start, length: line.trim_end().len() }
    }
}

/// The first key or text within a list element.
fn first(node: &Node) -> Option<Span> {
    match &node.value {
        Value::Scalar { text, .. } => node.start.map(|start| Span { start, length: text.len() }),
        Value::List(elements) => elements.first().and_then(first),
        Value::Map(entries) => entries
            .first()
            .and_then(|(key, _)| key.start.map(|start| Span { start, length: key.text.len() })),
    }
}

/// Which part of the last entry the descent ends at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Key,
    Value,
}

/// Reads down the path that is left and errs at its end.
#[derive(Clone, Copy)]
struct Descent<'a> {
    left: &'a [Segment],
    part: Part,
}

impl<'de> DeserializeSeed<'de> for Descent<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.left.first() {
            // Within one file no path leads to another.
            None | Some(Segment::File(_)) => deserializer.deserialize_any(Nothing),
            Some(Segment::Key(_)) => deserializer.deserialize_map(self),
            Some(Segment::Index(_)) => deserializer.deserialize_seq(self),
        }
    }
}

impl<'de> Visitor<'de> for Descent<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the next value of the path")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((Segment::Key(wanted), left)) = self.left.split_first() else { return Ok(()) };
        let stop = left.is_empty() && self.part == Part::Key;
        while let Some(found) = map.next_key_seed(KeyIs { wanted, stop })? {
            if found {
                return map.next_value_seed(Descent { left, ..self });
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Some((Segment::Index(wanted), left)) = self.left.split_first() else { return Ok(()) };
        for _ in 0..*wanted {
            list.next_element::<IgnoredAny>()?;
        }
        list.next_element_seed(Descent { left, ..self }).map(drop)
    }
}

/// Whether a key is the wanted one; errs at it if `stop`.
struct KeyIs<'a> {
    wanted: &'a str,
    stop: bool,
}

impl<'de> DeserializeSeed<'de> for KeyIs<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyIs<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<bool, E> {
        let found = key == self.wanted;
        if found && self.stop { Err(E::custom("here")) } else { Ok(found) }
    }
}

/// Accepts nothing: the error of every type is wanted.
struct Nothing;

impl Visitor<'_> for Nothing {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::document;
    use crate::plan::path::Path;

    /// Line, column and underlined text of a part of the value at `path`.
    fn found(source: &str, path: &Path, at: At) -> (usize, usize, String) {
        let (root, _) = document::read(source).unwrap();
        let way: Vec<Segment> = path.segments().into_iter().cloned().collect();
        let place = place(FilePath::new("x"), source, find(source, &root, &way, at));
        let text = place.text.chars().skip(place.column - 1).take(place.length).collect();
        (place.line, place.column, text)
    }

    fn path(keys: &str) -> Path {
        keys.split('.').fold(Path::root(), |path, segment| match segment.parse() {
            Ok(index) => path.index(index),
            Err(_) => path.key(segment.to_owned()),
        })
    }

    const SOURCE: &str = "\
a: plain
b: 'quo ted'
c: \"esc\\taped ${x} ${x}\"
d: |-
  block ${x}
  é ${x} ${y}
e: {}
f: [1, [2, 'zwei']]
\"g\\x20h\": { i: &j jot }
k: *j
日本: { 語: x }
l:
m: &n
  - o: p
q: *n
";

    #[test]
    fn values_and_keys_are_found_wherever_they_stand() {
        for (keys, at, line, column, text) in [
            ("a", At::Value, 1, 4, "plain"),
            ("a", At::Key, 1, 1, "a"),
            ("b", At::Value, 2, 5, "quo ted"),
            ("c", At::Value, 3, 4, "\"esc\\taped ${x} ${x}\""),
            ("d", At::Value, 4, 4, "|-"),
            ("e", At::Value, 7, 1, "e"),
            ("f.1.1", At::Value, 8, 13, "zwei"),
            ("f.1", At::Value, 8, 9, "2"),
            ("g h", At::Key, 9, 1, "\"g\\x20h\": { i: &j jot }"),
            ("g h.i", At::Value, 9, 19, "jot"),
            ("k", At::Value, 9, 19, "jot"),
            ("k", At::Key, 10, 1, "k"),
            ("日本.語", At::Value, 11, 10, "x"),
            ("l", At::Value, 12, 1, "l"),
            ("q.0.o", At::Value, 14, 8, "p"),
            ("q.0", At::Value, 14, 5, "o"),
            // A setting that is not there, and a text that stands for a map.
            ("g h.z", At::Key, 9, 1, "\"g\\x20h\": { i: &j jot }"),
            ("a.main.0", At::Value, 1, 4, "plain"),
        ] {
            let (line, column) = (line, column);
            assert_eq!(found(SOURCE, &path(keys), at), (line, column, text.to_owned()), "{keys}");
        }
    }

    #[test]
    fn a_part_of_a_text_is_found_even_where_the_text_is_not_as_written() {
        let within = |text: &str, part: &str, nth: usize| {
            let (start, _) = text.match_indices(part).nth(nth).unwrap();
            At::Within { start, length: part.len() }
        };
        let block = "block ${x}\né ${x} ${y}";
        for (keys, at, line, column) in [
            ("b", within("quo ted", "ted", 0), 2, 9),
            ("c", within("esc\taped ${x} ${x}", "${x}", 1), 3, 20),
            ("d", within(block, "${x}", 0), 5, 9),
            ("d", within(block, "${x}", 1), 6, 5),
            ("d", within(block, "${y}", 0), 6, 10),
        ] {
            let (found_line, found_column, text) = found(SOURCE, &path(keys), at);
            assert_eq!((found_line, found_column), (line, column), "{keys}");
            assert!(text.starts_with("${") || text == "ted", "{text}");
        }
    }

    #[test]
    fn line_ends_and_byte_order_marks_do_not_shift_places() {
        let source = format!("\u{feff}{}", SOURCE.replace('\n', "\r\n"));
        assert_eq!(found(&source, &path("a"), At::Value), (1, 4, "plain".to_owned()));
        assert_eq!(found(&source, &path("d"), At::Value), (4, 4, "|-".to_owned()));
        assert_eq!(found(&source, &path("l"), At::Value), (12, 1, "l".to_owned()));
    }
}

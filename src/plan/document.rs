//! A YAML document as a tree in which every scalar keeps its text as written and, where it stands on
//! one line, its position. This is what lets `send: 007` send `007`, `1.10` keep its zero in JSON,
//! and an error point at a value without reading the file again.
//!
//! `serde_yaml` gives either the kind of a scalar (`deserialize_any`, which has lost `1.10`) or its
//! text (`deserialize_str`, which must know that it is a scalar). So the document is walked twice:
//! for the kinds of all values in document order, then, told by them, for the texts. Text that is
//! borrowed from the source says where it stands. Aliases are replaced by what they stand for, within
//! limits that keep a small file from filling the memory.

use std::fmt;

use serde::Deserializer;
use serde::de::{self, DeserializeSeed, EnumAccess, MapAccess, SeqAccess, Visitor};

/// Values of a document with its aliases replaced.
const MAX_NODES: usize = 1_000_000;
/// Bytes of text of a document with its aliases replaced.
const MAX_TEXT: usize = 64 << 20;
/// Levels of maps and lists within each other.
const MAX_DEPTH: usize = 64;

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// Byte offset of its text in the source, within quotes; known only for a scalar that stands
    /// there exactly as it reads.
    pub(crate) start: Option<usize>,
    pub(crate) value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Scalar { kind: ScalarKind, text: String },
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// What a scalar is for JSON; text fields do not care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScalarKind {
    Null,
    Flag,
    Number,
    Text,
}

/// A key of a map.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    /// As [`Node::start`].
    pub(crate) start: Option<usize>,
    pub(crate) text: String,
}

/// Markers in the errors of the two walks, told apart from the errors of `serde_yaml` in
/// [`crate::plan::syntax`].
pub(crate) mod problem {
    pub(crate) const TAG: &str = "\u{1}tag";
    pub(crate) const COMPLEX_KEY: &str = "\u{1}key";
    pub(crate) const TOO_LARGE: &str = "\u{1}large";
    pub(crate) const TOO_DEEP: &str = "\u{1}deep";
    pub(crate) const EMPTY: &str = "\u{1}empty";
}

/// A key that its map cannot have; its value is left out of the tree.
#[derive(Debug)]
pub(crate) struct BadKey {
    pub(crate) key: Key,
    pub(crate) problem: KeyProblem,
}

/// What is wrong with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyProblem {
    /// The map has it already.
    Duplicate,
    /// `<<`, which YAML 1.1 merges and YAML 1.2 does not know.
    Merge,
}

/// Reads the one document of `source`.
pub(crate) fn read(source: &str) -> Result<(Node, Vec<BadKey>), serde_yaml::Error> {
    // Columns would be counted from the byte order mark.
    let yaml = source.strip_prefix('\u{feff}').unwrap_or(source);
    let mut kinds = Kinds { kinds: Vec::new(), depth: 0 };
    (&mut kinds).deserialize(serde_yaml::Deserializer::from_str(yaml))?;
    let kinds = kinds.kinds.into_iter();
    let mut texts = Texts { source, kinds, budget: MAX_TEXT, bad_keys: Vec::new() };
    let root = NodeSeed(&mut texts).deserialize(serde_yaml::Deserializer::from_str(yaml))?;
    Ok((root, texts.bad_keys))
}

/// The kind of a value, as the first walk finds it.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Scalar(ScalarKind),
    List,
    Map,
}

/// The first walk: kinds in document order.
struct Kinds {
    kinds: Vec<Kind>,
    depth: usize,
}

impl Kinds {
    fn note<E: de::Error>(&mut self, kind: Kind) -> Result<(), E> {
        if self.kinds.len() >= MAX_NODES {
            return Err(E::custom(problem::TOO_LARGE));
        }
        self.kinds.push(kind);
        Ok(())
    }

    fn deeper<E: de::Error>(&mut self) -> Result<(), E> {
        self.depth += 1;
        if self.depth > MAX_DEPTH { Err(E::custom(problem::TOO_DEEP)) } else { Ok(()) }
    }

    fn scalar<E: de::Error>(&mut self, kind: ScalarKind) -> Result<(), E> {
        self.note(Kind::Scalar(kind))
    }
}

impl<'de> DeserializeSeed<'de> for &mut Kinds {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Kinds {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_none<E: de::Error>(self) -> Result<(), E> {
        Err(E::custom(problem::EMPTY))
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.scalar(ScalarKind::Null)
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        self.scalar(ScalarKind::Flag)
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        self.scalar(ScalarKind::Number)
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        self.scalar(ScalarKind::Number)
    }

    fn visit_i128<E: de::Error>(self, _: i128) -> Result<(), E> {
        self.scalar(ScalarKind::Number)
    }

    fn visit_u128<E: de::Error>(self, _: u128) -> Result<(), E> {
        self.scalar(ScalarKind::Number)
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        self.scalar(ScalarKind::Number)
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<(), E> {
        self.scalar(ScalarKind::Text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.note(Kind::List)?;
        self.deeper()?;
        while list.next_element_seed(&mut *self)?.is_some() {}
        self.depth -= 1;
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.note(Kind::Map)?;
        self.deeper()?;
        while map.next_key_seed(KeySeed { source: "" })?.is_some() {
            map.next_value_seed(&mut *self)?;
        }
        self.depth -= 1;
        Ok(())
    }

    // A tag of the plan's own (`!name`). What follows must not be read as if it were not there.
    fn visit_enum<A: EnumAccess<'de>>(self, _: A) -> Result<(), A::Error> {
        Err(de::Error::custom(problem::TAG))
    }
}

/// The second walk: texts.
struct Texts<'a> {
    source: &'a str,
    kinds: std::vec::IntoIter<Kind>,
    budget: usize,
    bad_keys: Vec<BadKey>,
}

impl Texts<'_> {
    fn spend<E: de::Error>(&mut self, bytes: usize) -> Result<(), E> {
        self.budget =
            self.budget.checked_sub(bytes).ok_or_else(|| E::custom(problem::TOO_LARGE))?;
        Ok(())
    }
}

struct NodeSeed<'t, 'a>(&'t mut Texts<'a>);

impl<'de> DeserializeSeed<'de> for NodeSeed<'_, '_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        match self.0.kinds.next() {
            Some(Kind::List) => deserializer.deserialize_seq(ChildrenVisitor(self.0)),
            Some(Kind::Map) => deserializer.deserialize_map(ChildrenVisitor(self.0)),
            Some(Kind::Scalar(kind)) => {
                let source = self.0.source;
                let Key { start, text } = deserializer.deserialize_str(TextVisitor { source })?;
                self.0.spend(text.len())?;
                let kind = overflowed(kind, &text, source, start);
                Ok(Node { start, value: Value::Scalar { kind, text } })
            }
            None => Err(de::Error::custom(problem::EMPTY)),
        }
    }
}

/// YAML takes a number that does not fit a double, such as `1e400`, for text; written without
/// quotes it is meant as a number.
fn overflowed(kind: ScalarKind, text: &str, source: &str, start: Option<usize>) -> ScalarKind {
    let plain = start.is_some_and(|start| !source[..start].ends_with(['"', '\'']));
    let infinite = || {
        text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
            && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
            && text.parse().is_ok_and(f64::is_infinite)
    };
    if kind == ScalarKind::Text && plain && infinite() { ScalarKind::Number } else { kind }
}

struct ChildrenVisitor<'t, 'a>(&'t mut Texts<'a>);

impl<'de> Visitor<'de> for ChildrenVisitor<'_, '_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or a map")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element_seed(NodeSeed(self.0))? {
            nodes.push(node);
        }
        Ok(Node { start: None, value: Value::List(nodes) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries: Vec<(Key, Node)> = Vec::new();
        let mut known = std::collections::HashSet::new();
        let source = self.0.source;
        while let Some(key) = map.next_key_seed(KeySeed { source })? {
            self.0.spend(key.text.len())?;
            let node = map.next_value_seed(NodeSeed(self.0))?;
            if key.text == "<<" {
                self.0.bad_keys.push(BadKey { key, problem: KeyProblem::Merge });
                continue;
            }
            if !known.insert(key.text.clone()) {
                self.0.bad_keys.push(BadKey { key, problem: KeyProblem::Duplicate });
                continue;
            }
            entries.push((key, node));
        }
        Ok(Node { start: None, value: Value::Map(entries) })
    }
}

struct KeySeed<'a> {
    source: &'a str,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Key;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_str(TextVisitor { source: self.source })
    }
}

/// A scalar's text, and where it stands in `source` if it is borrowed from there.
struct TextVisitor<'a> {
    source: &'a str,
}

impl<'de> Visitor<'de> for TextVisitor<'_> {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(problem::COMPLEX_KEY)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Key, E> {
        Ok(Key { start: None, text: text.to_owned() })
    }

    fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Key, E> {
        let start = (text.as_ptr() as usize)
            .checked_sub(self.source.as_ptr() as usize)
            .filter(|&start| self.source.get(start..start + text.len()) == Some(text));
        Ok(Key { start, text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kind and text of all scalars, in order.
    fn scalars(source: &str) -> Vec<(ScalarKind, String)> {
        fn collect(node: &Node, found: &mut Vec<(ScalarKind, String)>) {
            match &node.value {
                Value::Scalar { kind, text } => found.push((*kind, text.clone())),
                Value::List(elements) => elements.iter().for_each(|node| collect(node, found)),
                Value::Map(entries) => entries.iter().for_each(|(_, node)| collect(node, found)),
            }
        }
        let mut found = Vec::new();
        collect(&read(source).unwrap().0, &mut found);
        found
    }

    #[test]
    fn scalars_keep_their_text_and_know_their_kind() {
        for (written, kind, text) in [
            ("007", ScalarKind::Text, "007"),
            ("1.10", ScalarKind::Number, "1.10"),
            ("'1.10'", ScalarKind::Text, "1.10"),
            ("1e400", ScalarKind::Number, "1e400"),
            ("\"1e400\"", ScalarKind::Text, "1e400"),
            ("inf", ScalarKind::Text, "inf"),
            ("infinity", ScalarKind::Text, "infinity"),
            (
                "123456789012345678901234567890123456789012345",
                ScalarKind::Number,
                "123456789012345678901234567890123456789012345",
            ),
            ("0x1F", ScalarKind::Number, "0x1F"),
            ("true", ScalarKind::Flag, "true"),
            ("yes", ScalarKind::Text, "yes"),
            ("~", ScalarKind::Null, "~"),
            ("", ScalarKind::Null, ""),
            ("''", ScalarKind::Text, ""),
            ("\"a\\tb\"", ScalarKind::Text, "a\tb"),
            ("|\n  a\n  b", ScalarKind::Text, "a\nb"),
            ("a\n  b", ScalarKind::Text, "a b"),
            ("!!str 5", ScalarKind::Text, "5"),
        ] {
            let found = scalars(&format!("x: {written}"));
            assert_eq!(found, [(kind, text.to_owned())], "{written}");
        }
    }

    #[test]
    fn aliases_are_replaced_by_what_they_stand_for() {
        let number = |text: &str| (ScalarKind::Number, text.to_owned());
        let found = scalars("a: &a [1, &b 2.0]\nb: *a\nc: *b");
        assert_eq!(found, ["1", "2.0", "1", "2.0", "2.0"].map(number));
    }

    #[test]
    fn files_that_blow_up_are_refused_before_they_do() {
        let wide = format!("a: &a [{}]\nb: [{}]", "1, ".repeat(10_000), "*a, ".repeat(10_000));
        let text = format!("a: &a {}\nb: [{}]", "x".repeat(1 << 20), "*a, ".repeat(1_000));
        for (source, wanted) in [
            (wide.as_str(), problem::TOO_LARGE),
            (text.as_str(), problem::TOO_LARGE),
            ("a: &a [*a]", problem::TOO_DEEP),
            ("a: &a { b: *a, c: *a }", problem::TOO_DEEP),
        ] {
            let error = read(source).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}

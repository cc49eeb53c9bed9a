//! Hands a [`Node`] to serde's derived types.
//!
//! Knows the habits of plans, so that the types need not: a step or check is a map with one key, or
//! the bare word; a text may stand for a step's main setting; one item may stand for a list. Knows
//! the path of every value, and goes on after a bad list element or an unknown key, so that one read
//! finds many mistakes.

use std::cell::RefCell;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use crate::plan::document::{Key, Node, ScalarKind, Value};
use crate::plan::error::{At, ShapeError};
use crate::plan::keys;
use crate::plan::path::Path;
use crate::plan::setting::{REMOVABLE, SETTINGS_OR};

/// What a bare word has for settings.
static NOTHING: Node =
    Node { start: None, value: Value::Scalar { kind: ScalarKind::Null, text: String::new() } };

/// The setting that a text in place of a step's map gives.
pub(super) const MAIN_SETTINGS: &[(&str, &str)] = &[
    ("open", "path"),
    ("http", "path"),
    ("request_response", "send"),
    ("single_write", "send"),
    ("ping_pong", "payload"),
    ("close", "status"),
    ("pause", "constant"),
    ("include", "file"),
    ("pace", "rate"),
    ("rendezvous", "threads"),
];

/// Advice for two texts in a list.
const BETWEEN: &str = "write `between: { left: 'id=', right: '&', as: id }`";

/// Unknown keys that are compared with the known ones.
const MAX_ADVICE: usize = 100;

/// Reads a `T` from the tree whose top has this path. What was found wrong on the way is in `problems`; `None` only if
/// something is there.
pub(crate) fn read<T: de::DeserializeOwned>(
    root: &Node,
    path: &Path,
    problems: &RefCell<Vec<ShapeError>>,
) -> Option<T> {
    match T::deserialize(Reader { node: root, path: path.clone(), problems }) {
        Ok(value) => Some(value),
        Err(error) => {
            note(problems, error, path, At::Value);
            None
        }
    }
}

/// Adds an error to the problems, with its place if it has none yet. What is returned says only that
/// something is wrong: the innermost reader notes, the others pass on.
fn note(problems: &RefCell<Vec<ShapeError>>, error: ShapeError, path: &Path, at: At) -> ShapeError {
    if !error.is_noted() {
        problems.borrow_mut().push(error.at(path, at));
    }
    ShapeError::noted()
}

struct Reader<'n> {
    node: &'n Node,
    path: Path,
    problems: &'n RefCell<Vec<ShapeError>>,
}

impl<'n> Reader<'n> {
    /// The value is written as nothing at all: `key:`.
    fn is_nothing(&self) -> bool {
        matches!(&self.node.value, Value::Scalar { kind: ScalarKind::Null, text } if text.is_empty())
    }

    fn found(&self) -> Unexpected<'n> {
        match &self.node.value {
            Value::Scalar { text, .. } => Unexpected::Str(text),
            Value::List(_) => Unexpected::Seq,
            Value::Map(_) => Unexpected::Map,
        }
    }

    fn entries(&self) -> Option<&'n [(Key, Node)]> {
        match &self.node.value {
            Value::Map(entries) => Some(entries),
            _ if self.is_nothing() => Some(&[]),
            _ => None,
        }
    }

    fn visit_text<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        let key = self.path.last_key().unwrap_or("the plan");
        let result = match &self.node.value {
            Value::Scalar { .. } if self.is_nothing() => {
                Err(ShapeError::new(format!("`{key}` has no value")))
            }
            Value::Scalar { text, .. } => visitor.visit_str(text),
            _ => {
                let error = ShapeError::invalid_type(self.found(), &visitor);
                Err(match key {
                    "send" => error.help("use `send_json`, or quote it"),
                    "log" => error.help("write `log: in ${room} now`"),
                    "equals" | "contains" => {
                        error.help("compare JSON with `json: { path: $.key, equals: … }`")
                    }
                    _ => error,
                })
            }
        };
        result.map_err(|error| note(self.problems, error, &self.path, At::Value))
    }

    /// `fields`: the keys that are known; `None` where any key is.
    fn visit_entries<'de, V: Visitor<'de>>(
        self,
        fields: Option<&'static [&'static str]>,
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        let result = if let Some(entries) = self.entries() {
            visitor.visit_map(Entries {
                left: entries.iter(),
                value: None,
                fields,
                path: &self.path,
                problems: self.problems,
            })
        } else {
            let error = ShapeError::invalid_type(self.found(), &"settings (`key: value`)");
            Err(match self.path.last_key() {
                Some("between") => error.help(BETWEEN),
                Some(key) if keys::example(key).is_some() => {
                    error.help(format!("write `{key}: {}`", keys::example(key).unwrap_or_default()))
                }
                _ if matches!(self.found(), Unexpected::Seq) => {
                    error.help("leave out the brackets or dashes: `key: value`")
                }
                _ => error,
            })
        };
        result.map_err(|error| note(self.problems, error, &self.path, At::Value))
    }

    fn visit_elements<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        let (elements, brackets) = match &self.node.value {
            Value::List(elements) => (elements.as_slice(), true),
            _ if self.is_nothing() => (&[][..], false),
            _ => (std::slice::from_ref(self.node), false),
        };
        let elements = Elements {
            left: elements.iter().enumerate(),
            brackets,
            path: &self.path,
            problems: self.problems,
        };
        visitor
            .visit_seq(elements)
            .map_err(|error| note(self.problems, error, &self.path, At::Value))
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = ShapeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        let (path, problems) = (self.path.clone(), self.problems);
        match &self.node.value {
            Value::Scalar { kind: ScalarKind::Null, .. } => visitor.visit_unit(),
            Value::Scalar { kind: ScalarKind::Flag, text } => {
                visitor.visit_bool(text.eq_ignore_ascii_case("true"))
            }
            // Numbers keep their digits: the visitor asks for the text.
            Value::Scalar { kind: ScalarKind::Number, .. } => visitor.visit_newtype_struct(self),
            Value::Scalar { kind: ScalarKind::Text, text } => visitor.visit_str(text),
            Value::List(_) => self.visit_elements(visitor),
            Value::Map(_) => self.visit_entries(None, visitor),
        }
        .map_err(|error| note(problems, error, &path, At::Value))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        self.visit_text(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        self.visit_text(visitor)
    }

    // A key that is there has a value; `null` is text for a text field.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        if self.is_nothing() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        self.visit_elements(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ShapeError> {
        self.visit_entries(None, visitor)
    }

    /// What may be a text or something else: see [`TextOr`](crate::plan::TextOr); or `null` or
    /// something else: see [`Removable`](crate::plan::Removable).
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        match &self.node.value {
            Value::Map(_) if name == SETTINGS_OR => visitor.visit_newtype_struct(self),
            _ if name == SETTINGS_OR => visitor.visit_some(self),
            Value::Scalar { kind: ScalarKind::Null, .. } if name == REMOVABLE => {
                visitor.visit_unit()
            }
            Value::Scalar { .. } if name != REMOVABLE && !self.is_nothing() => {
                self.visit_text(visitor)
            }
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        self.visit_entries(Some(fields), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        let what = match name {
            "Step" => "step",
            "Extractor" => "extractor",
            _ => "check",
        };
        let (kind, content, at) =
            one_kind(self.node, what, variants).map_err(|problem| match *problem {
                (Some(key), error) => note(self.problems, error, &self.path.key(key), At::Key),
                (None, error) => note(self.problems, error, &self.path, At::Value),
            })?;
        let path = self.path.key(kind.to_owned());
        if !variants.contains(&kind) {
            let error = keys::unknown_kind(what, kind, variants);
            return Err(note(self.problems, error, &path, at));
        }
        visitor.visit_enum(Variant {
            kind,
            reader: Reader { node: content, path, problems: self.problems },
        })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct
        tuple tuple_struct identifier ignored_any
    }
}

/// The kind of a step or check and its settings, or the key at which it is not one.
type OneKind<'n> = Result<(&'n str, &'n Node, At), Box<(Option<String>, ShapeError)>>;

fn one_kind<'n>(node: &'n Node, what: &str, variants: &[&str]) -> OneKind<'n> {
    let article = if what == "extractor" { "an" } else { "a" };
    let expected = |found: &str| {
        let error = ShapeError::new(format!("expected {article} {what}, found {found}"));
        Err(Box::new((None, error.help(format!("write `- {}: …`", variants[0])))))
    };
    match &node.value {
        Value::Scalar { kind: ScalarKind::Null, .. } => expected("nothing"),
        Value::Scalar { text, .. } => Ok((text, &NOTHING, At::Value)),
        Value::List(_) => expected("a list"),
        Value::Map(entries) => match entries.as_slice() {
            [] => expected("nothing"),
            [(key, content)] => Ok((&key.text, content, At::Key)),
            [(first, content), (second, _), ..] => {
                let (first, second) = (&first.text, &second.text);
                let error = ShapeError::new(format!(
                    "{article} {what} has one kind, found `{first}` and `{second}`"
                ));
                let help = if variants.contains(&second.as_str()) {
                    format!("begin each {what} with `- `")
                } else if first == "between" && matches!(content.value, Value::List(_)) {
                    BETWEEN.to_owned()
                } else {
                    format!("indent `{second}` two more spaces, so that it is below `{first}`")
                };
                Err(Box::new((Some(second.clone()), error.help(help))))
            }
        },
    }
}

struct Variant<'n> {
    kind: &'n str,
    reader: Reader<'n>,
}

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = ShapeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), ShapeError> {
        Ok((seed.deserialize(StrDeserializer::new(self.kind))?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = ShapeError;

    fn unit_variant(self) -> Result<(), ShapeError> {
        if self.reader.is_nothing() {
            return Ok(());
        }
        let error = ShapeError::new(format!("`{}` has no settings", self.kind));
        let error = error.help(format!("write `- {}`", self.kind));
        Err(note(self.reader.problems, error, &self.reader.path, At::Key))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, ShapeError> {
        let main = MAIN_SETTINGS.iter().find(|(kind, _)| *kind == self.kind);
        if let (Some((_, main)), Value::Scalar { .. }) = (main, &self.reader.node.value)
            && !self.reader.is_nothing()
        {
            let key = Key { start: None, text: (*main).to_owned() };
            let value = Value::Map(vec![(key, self.reader.node.clone())]);
            let node = Node { start: None, value };
            return seed.deserialize(Reader { node: &node, ..self.reader });
        }
        seed.deserialize(self.reader)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ShapeError> {
        self.reader.visit_elements(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ShapeError> {
        self.reader.visit_entries(Some(fields), visitor)
    }
}

/// The entries of a map; unknown keys are noted and passed over.
struct Entries<'n, 'p> {
    left: std::slice::Iter<'n, (Key, Node)>,
    value: Option<(&'n Key, &'n Node)>,
    fields: Option<&'static [&'static str]>,
    path: &'p Path,
    problems: &'n RefCell<Vec<ShapeError>>,
}

impl Entries<'_, '_> {
    /// What the settings are called in an error.
    fn name(&self) -> String {
        match self.path.last_key() {
            None => "the plan".to_owned(),
            _ if self.path.is_top_of_included() => "an included file".to_owned(),
            Some("thread_groups" | "setup" | "teardown") => "a thread group".to_owned(),
            Some(key) => format!("`{key}`"),
        }
    }
}

impl<'de> MapAccess<'de> for Entries<'_, '_> {
    type Error = ShapeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ShapeError> {
        while let Some((key, node)) = self.left.next() {
            if let Some(fields) = self.fields.filter(|fields| !fields.contains(&key.text.as_str()))
            {
                // Advice takes time, and nobody reads the thousandth.
                let known = if self.problems.borrow().len() < MAX_ADVICE { fields } else { &[] };
                let error = keys::unknown_key(&key.text, &self.name(), known);
                let path = self.path.key(key.text.clone());
                self.problems.borrow_mut().push(error.at(&path, At::Key));
                continue;
            }
            self.value = Some((key, node));
            return seed.deserialize(StrDeserializer::<ShapeError>::new(&key.text)).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ShapeError> {
        let Some((key, node)) = self.value.take() else {
            return Err(ShapeError::new("a key without a value"));
        };
        let path = self.path.key(key.text.clone());
        seed.deserialize(Reader { node, path, problems: self.problems })
    }
}

/// The elements of a list.
struct Elements<'n, 'p> {
    left: std::iter::Enumerate<std::slice::Iter<'n, Node>>,
    /// Whether the plan has a list there, and not one item in its place.
    brackets: bool,
    path: &'p Path,
    problems: &'n RefCell<Vec<ShapeError>>,
}

impl<'de> SeqAccess<'de> for Elements<'_, '_> {
    type Error = ShapeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ShapeError> {
        let Some((index, node)) = self.left.next() else { return Ok(None) };
        let path = if self.brackets { self.path.index(index) } else { self.path.clone() };
        let reader = Reader { node, path: path.clone(), problems: self.problems };
        seed.deserialize(reader).map(Some).inspect_err(|_| {
            // A `List` goes on with the next element.
            self.problems.borrow_mut().push(ShapeError::left_out(&path));
        })
    }
}

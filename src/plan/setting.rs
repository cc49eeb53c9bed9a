//! The values of a plan, as written.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The text of a scalar as it stands in the plan, before it is known whether it reads as a `K`. It
/// may hold `${…}`.
pub struct Setting<K> {
    /// As written: `007` is `007`.
    pub text: String,
    kind: PhantomData<fn() -> K>,
}

/// What the text of a [`Setting`] should be.
pub trait Kind {
    /// Completes "expected …" for a list or map in its place.
    const EXPECTED: &'static str;
    /// The kind's own name.
    const NAME: &'static str;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident: $expected:literal,)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub enum $name {}

        impl Kind for $name {
            const EXPECTED: &'static str = $expected;
            const NAME: &'static str = stringify!($name);
        }
    )*};
}

kinds! {
    /// Any text.
    Text: "a text",
    /// A duration such as `250ms`.
    Time: "a duration such as `500ms`",
    /// A number of bytes such as `4KiB`.
    Size: "a size such as `4KiB`",
    /// A whole number.
    Count: "a whole number",
    /// Any number.
    Number: "a number",
    /// A rate such as `10/m`.
    Rate: "a rate such as `10/m`",
    /// A whole number or `forever`.
    Passes: "a whole number or `forever`",
    /// `true` or `false`.
    Flag: "`true` or `false`",
    /// A version of TLS.
    Version: "`1.2` or `1.3`",
    /// One of a few words.
    Word: "a word",
}

impl<K> Setting<K> {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), kind: PhantomData }
    }
}

impl<K> fmt::Debug for Setting<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(f)
    }
}

impl<'de, K: Kind> Deserialize<'de> for Setting<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(SettingVisitor(PhantomData))
    }
}

struct SettingVisitor<K>(PhantomData<fn() -> K>);

impl<K: Kind> Visitor<'_> for SettingVisitor<K> {
    type Value = Setting<K>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(K::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Setting<K>, E> {
        Ok(Setting::new(text))
    }
}

/// A text in place of settings, or the settings.
#[derive(Debug)]
pub enum TextOr<T> {
    /// The text.
    Text(Setting<Text>),
    /// The settings.
    Settings(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for TextOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct("TextOr", TextOrVisitor(PhantomData))
    }
}

struct TextOrVisitor<T>(PhantomData<fn() -> T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for TextOrVisitor<T> {
    type Value = TextOr<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or settings (`key: value`)")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TextOr<T>, E> {
        SettingVisitor(PhantomData).visit_str(text).map(TextOr::Text)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        settings: D,
    ) -> Result<TextOr<T>, D::Error> {
        T::deserialize(settings).map(TextOr::Settings)
    }
}

/// An entry of a map that merges with an outer one.
#[derive(Debug)]
pub enum Removable<T> {
    /// `null`: the entry of the outer map does not hold here.
    Removed,
    /// The entry.
    Given(T),
}

impl<'de, K: Kind> Deserialize<'de> for Removable<Setting<K>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RemovableVisitor(PhantomData))
    }
}

struct RemovableVisitor<K>(PhantomData<fn() -> K>);

impl<'de, K: Kind> Visitor<'de> for RemovableVisitor<K> {
    type Value = Removable<Setting<K>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} or `null`", K::EXPECTED)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Removable::Removed)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
        self.visit_str(if flag { "true" } else { "false" })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        SettingVisitor(PhantomData).visit_str(text).map(Removable::Given)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        number: D,
    ) -> Result<Self::Value, D::Error> {
        Setting::deserialize(number).map(Removable::Given)
    }
}

/// Reads what is no scalar and may be `null`.
pub(super) fn removable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Removable<T>, D::Error> {
    deserializer.deserialize_newtype_struct(REMOVABLE, RemovableSettingsVisitor(PhantomData))
}

/// Asks the reader for `null` or whatever else there is.
pub(super) const REMOVABLE: &str = "Removable";

/// Asks the reader for settings by `visit_newtype_struct`, or for whatever else there is by `visit_some`.
pub(super) const SETTINGS_OR: &str = "SettingsOr";

struct RemovableSettingsVisitor<T>(PhantomData<fn() -> T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for RemovableSettingsVisitor<T> {
    type Value = Removable<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("settings (`key: value`) or `null`")
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Removable::Removed)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, given: D) -> Result<Self::Value, D::Error> {
        T::deserialize(given).map(Removable::Given)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Removable<List<T>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        removable(deserializer)
    }
}

/// A map whose keys are the plan's own, in the order of the plan.
#[derive(Debug)]
pub struct Entries<T>(pub Vec<(String, T)>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<T>(PhantomData<fn() -> T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
    type Value = Entries<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("names and values (`name: value`)")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<T>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}

/// Reads a field of its own: a bad value leaves the field out, so that the other fields are looked at
/// too. The reader has noted the error, and the plan is refused.
#[expect(clippy::unnecessary_wraps, reason = "the signature is serde's")]
pub(super) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Ok(T::deserialize(deserializer).ok())
}

/// A list of which a bad element does not hide the others: the reader notes the error, and the list
/// goes on without the element.
#[derive(Debug)]
pub struct List<T>(pub Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ListVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<fn() -> T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<List<T>, A::Error> {
        List::from_elements(list)
    }
}

impl<'de, T: Deserialize<'de>> List<T> {
    /// Takes the good elements.
    pub(super) fn from_elements<A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut elements = Vec::new();
        loop {
            match list.next_element() {
                Ok(Some(element)) => elements.push(element),
                Ok(None) => return Ok(Self(elements)),
                // The plan is refused anyway: the reader has noted why.
                Err(_) => {}
            }
        }
    }
}

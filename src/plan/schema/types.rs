//! What the plan's own value types are to the schema generator: marks that
//! [`mod@crate::plan::schema`] replaces by what the reader accepts.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::plan::controller::{Range, Values};
use crate::plan::heartbeat::HeartbeatPing;
use crate::plan::json::Json;
use crate::plan::setting::{Entries, Kind, List, Removable, Setting, Text, TextOr};

/// The key of a mark; its value names a [`Kind`], or [`ANY`].
pub(super) const MARK: &str = "x-kind";
/// The mark of a JSON value.
pub(super) const ANY: &str = "Json";
/// The key that says that `null` has a meaning of its own.
pub(super) const NULLABLE: &str = "x-nullable";

macro_rules! inline {
    ($name:literal) => {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            $name.into()
        }
    };
}

impl<K: Kind> JsonSchema for Setting<K> {
    inline!("Setting");

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", MARK: K::NAME })
    }
}

impl<K: Kind> JsonSchema for Removable<Setting<K>> {
    inline!("Removable");

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", MARK: K::NAME, NULLABLE: true })
    }
}

impl<T: JsonSchema> JsonSchema for Removable<List<T>> {
    inline!("Removable");

    // A list may be `null` anyway.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        List::<T>::json_schema(generator)
    }
}

impl JsonSchema for Removable<HeartbeatPing> {
    inline!("Removable");

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let settings = generator.subschema_for::<HeartbeatPing>();
        json_schema!({ "anyOf": [settings, { "type": "null" }] })
    }
}

impl<T: JsonSchema> JsonSchema for TextOr<T> {
    inline!("TextOr");

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let settings = generator.subschema_for::<T>();
        let text = generator.subschema_for::<Setting<Text>>();
        json_schema!({ "anyOf": [text, settings] })
    }
}

impl JsonSchema for Json {
    inline!("Json");

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", MARK: ANY })
    }
}

impl JsonSchema for Values {
    inline!("Values");

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let text = json_schema!({ "type": "string", MARK: "Text" });
        let range = generator.subschema_for::<Range>();
        json_schema!({ "anyOf": [{ "type": "array", "items": text.clone() }, text, range] })
    }
}

impl<T: JsonSchema> JsonSchema for Entries<T> {
    inline!("Entries");

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let values = generator.subschema_for::<T>();
        json_schema!({ "type": ["object", "null"], "additionalProperties": values })
    }
}

impl<T: JsonSchema> JsonSchema for List<T> {
    inline!("List");

    // One item may stand without brackets, and a key without a value is an empty list. Where `items`
    // stands at the top, editors begin a list when the key is chosen.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let item = generator.subschema_for::<T>();
        let items = item.clone();
        json_schema!({ "items": items, "anyOf": [{ "type": "array" }, item, { "type": "null" }] })
    }
}

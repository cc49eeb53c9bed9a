//! `extract`, as written.

use serde::Deserialize;

use crate::plan::setting::{Count, Flag, Setting, Text, Word, given};

/// Adds the settings that all extractors share, as `samplers!` does for samplers.
macro_rules! extractors {
    ($(
        $(#[$doc:meta])*
        $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[$field_doc])*
                #[serde(default, deserialize_with = "given")]
                pub $field: Option<$type>,
            )*
            /// The variable that gets the value.
            #[serde(default, rename = "as", deserialize_with = "given")]
            pub variable: Option<Setting<Text>>,
            /// Which of several: a number from 1, `all` (`x_1`, `x_2`, …) or `random`; 1 where there
            /// is none.
            #[serde(default, rename = "match", deserialize_with = "given")]
            pub which: Option<Setting<Word>>,
            /// The value where nothing is found.
            #[serde(default, deserialize_with = "given")]
            pub default: Option<Setting<Text>>,
            /// Whether it is fine if nothing is found.
            #[serde(default, deserialize_with = "given")]
            pub optional: Option<Setting<Flag>>,
        }

        impl $name {
            /// The settings that all extractors share.
            pub fn common(&self) -> CommonExtractor<'_> {
                CommonExtractor {
                    variable: self.variable.as_ref(),
                    which: self.which.as_ref(),
                    default: self.default.as_ref(),
                    optional: self.optional.as_ref(),
                }
            }
        }
    )*};
}

/// What all extractors share, borrowed from one of them.
#[derive(Debug, Clone, Copy)]
pub struct CommonExtractor<'a> {
    /// `as`
    pub variable: Option<&'a Setting<Text>>,
    /// `match`
    pub which: Option<&'a Setting<Word>>,
    /// `default`
    pub default: Option<&'a Setting<Text>>,
    /// `optional`
    pub optional: Option<&'a Setting<Flag>>,
}

/// One entry of `extract`: a map with one key, the kind of extractor.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extractor {
    /// What a JSONPath finds in a JSON message.
    Json(JsonExtractor),
    /// What a regular expression finds in the message.
    Regex(RegexExtractor),
    /// What stands between two texts of the message.
    Between(BetweenExtractor),
    /// A header of the answer to the upgrade request.
    Header(HeaderExtractor),
}

extractors! {
    /// `json`
    JsonExtractor {
        /// A JSONPath (RFC 9535), such as `$.user.name`.
        path: Setting<Text>,
    }

    /// `regex`
    RegexExtractor {
        /// The regular expression.
        pattern: Setting<Text>,
        /// The number of the group that is wanted, 0 for the whole match; 1 where there is none, or
        /// 0 if the pattern has no groups.
        group: Setting<Count>,
        /// Several groups put together: `$1$-$2$`.
        template: Setting<Text>,
    }

    /// `between`
    BetweenExtractor {
        /// The text before the value; empty for the start of the message.
        left: Setting<Text>,
        /// The text after the value; empty for the end of the message.
        right: Setting<Text>,
    }

    /// `header`
    HeaderExtractor {
        /// The header's name, in any case.
        name: Setting<Text>,
    }
}

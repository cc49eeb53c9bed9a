//! What plan, groups and controllers give to the samplers below them.

use crate::plan::assertion::Check;
use crate::plan::extractor::Extractor;
use crate::plan::sampler::Defaults;
use crate::plan::setting::{Setting, TextOr, Word};
use crate::plan::timer::Pause;

/// Settings that reach inwards, borrowed from what stands around the samplers.
#[derive(Debug, Clone, Copy)]
pub struct Scoped<'a> {
    /// `defaults`
    pub defaults: Option<&'a Defaults>,
    /// `on_error`
    pub on_error: Option<&'a Setting<Word>>,
    /// `assert`
    pub assert: &'a [Check],
    /// `extract`
    pub extract: &'a [Extractor],
    /// `filters`
    pub filters: &'a [Check],
    /// `timers`
    pub timers: &'a [TextOr<Pause>],
}

/// Defines what may stand around samplers: its own keys, those that all such things share, and its
/// lists of steps. The shared keys are repeated in each type because `serde(flatten)` would lose the
/// check for unknown keys.
macro_rules! scopes {
    ($(
        $(#[$doc:meta])*
        $name:ident {
            $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
        }
        steps: $($(#[$steps_doc:meta])* $steps:ident),*;
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[$field_doc])*
                #[serde(default, deserialize_with = "crate::plan::setting::given")]
                pub $field: Option<$type>,
            )*
            /// Settings of the samplers below.
            #[serde(default, deserialize_with = "crate::plan::setting::given")]
            pub defaults: Option<crate::plan::sampler::Defaults>,
            /// What a failure of a sampler below does.
            #[serde(default, deserialize_with = "crate::plan::setting::given")]
            pub on_error: Option<crate::plan::setting::Setting<crate::plan::setting::Word>>,
            /// Checks that must hold for the samplers below that they can look at, before their own.
            #[serde(default)]
            pub assert: crate::plan::setting::List<crate::plan::assertion::Check>,
            /// What passed samplers below give to variables.
            #[serde(default)]
            pub extract: crate::plan::setting::List<crate::plan::extractor::Extractor>,
            /// Messages that the reading samplers below discard, before their own filters.
            #[serde(default)]
            pub filters: crate::plan::setting::List<crate::plan::assertion::Check>,
            /// Pauses before each sampler below, after those of the scopes around; one after the
            /// other, outside the sampler's time.
            #[serde(default)]
            pub timers: crate::plan::setting::List<
                crate::plan::setting::TextOr<crate::plan::timer::Pause>,
            >,
            /// `false` leaves it out, with everything below.
            #[serde(default, deserialize_with = "crate::plan::setting::given")]
            pub enabled: Option<crate::plan::setting::Setting<crate::plan::setting::Flag>>,
            $(
                $(#[$steps_doc])*
                #[serde(default)]
                pub $steps: crate::plan::setting::List<crate::plan::step::Step>,
            )*
        }

        impl $name {
            /// What reaches the samplers below.
            pub fn scoped(&self) -> crate::plan::scoped::Scoped<'_> {
                crate::plan::scoped::Scoped {
                    defaults: self.defaults.as_ref(),
                    on_error: self.on_error.as_ref(),
                    assert: &self.assert.0,
                    extract: &self.extract.0,
                    filters: &self.filters.0,
                    timers: &self.timers.0,
                }
            }
        }
    )*};
}
pub(super) use scopes;

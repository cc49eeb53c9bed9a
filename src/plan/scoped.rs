//! What plan, groups and controllers give to the samplers below them.

use crate::plan::assertion::Check;
use crate::plan::extractor::Extractor;
use crate::plan::sampler::Defaults;
use crate::plan::setting::{Setting, Word};

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
}

/// Gives types with these fields the method `scoped`.
macro_rules! scopes {
    ($($name:ident),*) => {$(
        impl $name {
            /// What reaches the samplers below.
            pub fn scoped(&self) -> crate::plan::scoped::Scoped<'_> {
                crate::plan::scoped::Scoped {
                    defaults: self.defaults.as_ref(),
                    on_error: self.on_error.as_ref(),
                    assert: &self.assert.0,
                    extract: &self.extract.0,
                    filters: &self.filters.0,
                }
            }
        }
    )*};
}
pub(super) use scopes;

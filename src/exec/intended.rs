//! When a schedule intended samplers to begin.

use std::time::{Duration, Instant};

use crate::sample::Delay;

/// What a thread's schedule says about its next sampler.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Intended {
    /// Nothing: there is none.
    #[default]
    Never,
    /// It follows the one before.
    AtOnce,
    /// It was to begin then; `interval` later the next, which is left out for who is too late for it.
    At { moment: Instant, interval: Option<Duration> },
}

impl Intended {
    /// The first sampler of an arrival: each comes, however late.
    pub(crate) fn arrival(moment: Instant) -> Self {
        Self::At { moment, interval: None }
    }

    /// The first sampler after a `pace`.
    pub(crate) fn paced(moment: Instant, interval: Duration) -> Self {
        Self::At { moment, interval: Some(interval) }
    }

    /// The delay of the sampler that began at `start`; those after it are to follow at once.
    pub(crate) fn delay_of(&mut self, start: Instant) -> Option<Delay> {
        match *self {
            Self::Never => None,
            Self::AtOnce => Some(Delay { by: Duration::ZERO, interval: None }),
            Self::At { moment, interval } => {
                *self = Self::AtOnce;
                Some(Delay { by: start.saturating_duration_since(moment), interval })
            }
        }
    }
}

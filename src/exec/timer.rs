//! One timer for each virtual thread, armed lazily.

use std::pin::Pin;
use std::task::Context;
use std::time::Instant;

use tokio::time::{Sleep, sleep_until};

use crate::clock;

/// Wakes its task at or before a moment.
///
/// Most waits end long before their deadline, so arming the runtime's timer for each would be work
/// for nothing. A timer that is armed for an earlier moment is left alone; when it fires too early,
/// the task is polled once more and arms it again.
#[derive(Debug, Default)]
pub(crate) struct Timer {
    armed: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl Timer {
    /// Arranges for a wake-up no later than about 1 ms after `moment`.
    pub(crate) fn arm(&mut self, context: &mut Context<'_>, moment: Instant) {
        if let Some((until, sleep)) = &mut self.armed {
            if *until <= moment && !sleep.is_elapsed() {
                return;
            }
            sleep.as_mut().reset(moment.into());
            *until = moment;
        } else {
            self.armed = Some((moment, Box::pin(sleep_until(moment.into()))));
        }
        let Some((until, sleep)) = &mut self.armed else { return };
        if sleep.as_mut().poll(context).is_ready() && clock::now() >= *until {
            context.waker().wake_by_ref();
        }
    }
}

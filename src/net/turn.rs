//! Turns: how a task that always has something to do leaves room for the others.

use std::pin::pin;
use std::task::Context;

use tokio::task::yield_now;

/// Arranges for the task to be polled again after all others that can go on, and after a look at what
/// timers and sockets have to say. A task that only wakes itself comes again before that, up to 61 times.
pub fn give_way(context: &mut Context<'_>) {
    // Its first poll arranges it, and is pending.
    let _ = pin!(yield_now()).poll(context);
}

//! Deadlines for tests.

use std::thread::park_timeout;
use std::time::{Duration, Instant};

use wsmeter::clock;

/// A wait that has not ended by then has failed: far more than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Waits until `condition` holds; panics with `what` if it does not in time.
pub(crate) fn wait_until(what: &str, condition: impl FnMut() -> bool) {
    wait_at_most(PATIENCE, what, condition);
}

/// [`wait_until`] with a deadline of its own.
pub(crate) fn wait_at_most(limit: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = clock::now() + limit;
    while !condition() {
        assert!(clock::now() < deadline, "not within {limit:?}: {what}");
        park_timeout(Duration::from_millis(2));
    }
}

/// Time left, or a panic: sockets take no timeout of zero.
pub(crate) fn left_until(deadline: Instant, what: &str) -> Duration {
    let left = deadline.saturating_duration_since(clock::now());
    assert!(!left.is_zero(), "out of time: {what}");
    left
}

/// Does nothing for this long: a peer that neither reads nor writes.
pub(crate) fn idle(duration: Duration) {
    let until = clock::now() + duration;
    while let left = until.saturating_duration_since(clock::now())
        && !left.is_zero()
    {
        park_timeout(left);
    }
}

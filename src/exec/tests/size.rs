//! What each thread holds while it waits.

use std::rc::Rc;

use crate::exec::thread::{self, Entry};
use crate::exec::worker::Worker;

/// With the runtime's own this makes 1,408 bytes, in which it rounds up to 128.
const BOUND: usize = 1_320;

#[test]
fn the_state_of_a_thread_stays_small() {
    fn held_by<F: Future>(_: impl Fn(Rc<Worker>, usize, u32, Entry) -> F) -> usize {
        size_of::<F>()
    }
    let size = held_by(thread::run);
    assert!(size <= BOUND, "{size} bytes: is there a sampler's state that could be boxed?");
}

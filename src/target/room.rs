//! `/rooms/NAME`: what one connection says goes to all in the room, itself among them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use crate::target::outbox::Outbox;

/// Messages that wait for one slow member; beyond, the oldest go.
const MAX_WAITING: usize = 10_000;

/// All rooms, by a number that stands for the name.
#[derive(Debug, Default)]
pub(super) struct Rooms(Mutex<HashMap<u64, Vec<Arc<Mutex<Queue>>>>>);

/// Frames on their way to one member, encoded once for all.
#[derive(Debug, Default)]
struct Queue {
    frames: VecDeque<Arc<[u8]>>,
    waker: Option<Waker>,
}

/// One connection's place in a room; given up when dropped.
#[derive(Debug)]
pub(super) struct Member {
    rooms: Arc<Rooms>,
    room: u64,
    queue: Arc<Mutex<Queue>>,
}

impl Rooms {
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Vec<Arc<Mutex<Queue>>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    /// Joins a room, which is made if nobody is there.
    pub(super) fn join(rooms: &Arc<Rooms>, room: u64) -> Self {
        let queue = Arc::default();
        rooms.lock().entry(room).or_default().push(Arc::clone(&queue));
        Self { rooms: Arc::clone(rooms), room, queue }
    }

    /// Says something: a message as one encoded frame.
    pub(super) fn say(&self, frame: &[u8]) {
        let frame: Arc<[u8]> = frame.into();
        for queue in self.rooms.lock().get(&self.room).into_iter().flatten() {
            let mut queue = lock(queue);
            if queue.frames.len() >= MAX_WAITING {
                queue.frames.pop_front();
            }
            queue.frames.push_back(Arc::clone(&frame));
            if let Some(waker) = queue.waker.take() {
                waker.wake();
            }
        }
    }

    /// Hands out what was said, as far as there is room, and arranges to be woken for more. True if
    /// there was something.
    pub(super) fn listen(&self, out: &mut Outbox, cx: &Context<'_>) -> bool {
        let mut queue = lock(&self.queue);
        let mut heard = false;
        while !out.is_full()
            && let Some(frame) = queue.frames.pop_front()
        {
            out.encoded_message(&frame);
            heard = true;
        }
        queue.waker = Some(cx.waker().clone());
        heard
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut rooms = self.rooms.lock();
        if let Some(members) = rooms.get_mut(&self.room) {
            members.retain(|member| !Arc::ptr_eq(member, &self.queue));
            if members.is_empty() {
                rooms.remove(&self.room);
            }
        }
    }
}

fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_in_the_room_hear_what_is_said_and_rooms_end_with_their_members() {
        let rooms = Arc::new(Rooms::default());
        let (ann, bob, eve) =
            (Member::join(&rooms, 1), Member::join(&rooms, 1), Member::join(&rooms, 2));
        ann.say(b"\x81\x01a");
        let cx = Context::from_waker(Waker::noop());
        let heard = |member: &Member| {
            let mut out = Outbox::default();
            member.listen(&mut out, &cx);
            out.bytes().to_vec()
        };
        assert_eq!(
            (heard(&ann), heard(&bob), heard(&eve)),
            (b"\x81\x01a".to_vec(), b"\x81\x01a".to_vec(), vec![])
        );
        drop((ann, bob, eve));
        assert!(rooms.lock().is_empty());
    }
}

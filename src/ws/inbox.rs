//! Messages that arrived and were not read yet, within bounds.

use std::collections::VecDeque;

use crate::ws::Message;

/// Room for so many messages is kept also while none waits.
const FEW: usize = 8;

/// Bounds of an [`Inbox`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InboxBounds {
    /// Messages, at least 1.
    pub messages: u32,
    /// Payload bytes; one message is always kept, however large.
    pub bytes: u64,
    /// What happens beyond.
    pub overflow: Overflow,
}

/// What a full inbox does with a further message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// Drops the oldest ones.
    DropOldest,
    /// The socket is left unread until there is room; what one read has brought is still kept.
    Wait,
    /// Fails the connection.
    Fail,
}

/// The inbox was full and [`Overflow::Fail`] rules.
#[derive(Debug, PartialEq, Eq)]
pub struct Full;

/// What becomes of a message that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It goes on waiting.
    Keep,
    /// It goes.
    Drop,
    /// It is the one that was looked for.
    Take,
}

#[derive(Debug)]
struct Entry {
    message: Message,
    /// Whether it has been counted as too early for a request.
    counted_early: bool,
}

/// One connection's unread messages, oldest first.
#[derive(Debug)]
pub struct Inbox {
    bounds: InboxBounds,
    entries: VecDeque<Entry>,
    bytes: u64,
    dropped: u64,
    most: usize,
}

impl Inbox {
    /// An empty inbox.
    pub fn new(bounds: InboxBounds) -> Self {
        Self { bounds, entries: VecDeque::new(), bytes: 0, dropped: 0, most: 0 }
    }

    /// Adds a message that has just arrived.
    pub fn push(&mut self, message: Message) -> Result<(), Full> {
        let size = message.payload.len() as u64;
        if self.overflows_with(size) {
            match self.bounds.overflow {
                Overflow::Fail => return Err(Full),
                Overflow::Wait => {}
                Overflow::DropOldest => {
                    while self.overflows_with(size) && self.pop().is_some() {
                        self.dropped += 1;
                    }
                }
            }
        }
        self.bytes += size;
        self.entries.push_back(Entry { message, counted_early: false });
        self.most = self.most.max(self.entries.len());
        Ok(())
    }

    /// How many messages waited at once, at most.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Drops everything.
    pub fn clear(&mut self) {
        self.entries = VecDeque::new();
        self.bytes = 0;
    }

    /// Takes the oldest message.
    pub fn pop(&mut self) -> Option<Message> {
        self.remove(0)
    }

    /// Decides what becomes of the messages, oldest first, each looked at once; gives the first that
    /// is taken, and leaves those behind it alone.
    pub fn sift(&mut self, fate: impl FnMut(&Message) -> Fate) -> Option<Message> {
        self.sift_from(&mut 0, fate)
    }

    /// [`Self::sift`] for one after the other: `at`, from 0, counts the kept messages before those that
    /// were not looked at yet.
    pub fn sift_from(
        &mut self,
        at: &mut usize,
        mut fate: impl FnMut(&Message) -> Fate,
    ) -> Option<Message> {
        while let Some(entry) = self.entries.get(*at) {
            let fate = fate(&entry.message);
            if fate == Fate::Keep {
                *at += 1;
                continue;
            }
            let message = self.remove(*at)?;
            if fate == Fate::Take {
                return Some(message);
            }
        }
        None
    }

    /// Whether the socket should be left unread, unless a sampler waits for it.
    pub fn holds_back(&self) -> bool {
        self.bounds.overflow == Overflow::Wait && self.overflows_with(1)
    }

    /// How many messages are too early for a request that is sent now and were not counted before.
    /// Pings and pongs could be nobody's reply.
    pub fn count_early(&mut self) -> u32 {
        let mut count = 0;
        for entry in self.entries.iter_mut().rev().take_while(|entry| !entry.counted_early) {
            entry.counted_early = true;
            count += u32::from(entry.message.kind.is_data());
        }
        count
    }

    /// How many messages were dropped since this was last asked.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }

    fn remove(&mut self, at: usize) -> Option<Message> {
        let Entry { message, .. } = self.entries.remove(at)?;
        self.bytes -= message.payload.len() as u64;
        // An idle connection does not pay for a burst it once had.
        if self.entries.is_empty() && self.entries.capacity() > FEW {
            self.entries = VecDeque::new();
        }
        Some(message)
    }

    fn overflows_with(&self, size: u64) -> bool {
        !self.entries.is_empty()
            && (self.entries.len() >= self.bounds.messages as usize
                || self.bytes + size > self.bounds.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use crate::ws::MessageKind;

    fn message(payload: &str) -> Message {
        let now = clock::now();
        Message::new(MessageKind::Text, payload.into(), 2, now, now)
    }

    fn inbox(messages: u32, bytes: u64, overflow: Overflow) -> Inbox {
        Inbox::new(InboxBounds { messages, bytes, overflow })
    }

    #[test]
    fn the_oldest_go_first_and_are_counted() {
        let mut inbox = inbox(2, 100, Overflow::DropOldest);
        for payload in ["a", "b", "c"] {
            inbox.push(message(payload)).unwrap();
        }
        assert_eq!(inbox.take_dropped(), 1);
        assert_eq!(inbox.pop().unwrap().payload, b"b");
    }

    #[test]
    fn one_message_is_kept_however_large() {
        let mut inbox = inbox(10, 2, Overflow::Fail);
        inbox.push(message("larger")).unwrap();
        assert_eq!(inbox.push(message("x")), Err(Full));
    }

    #[test]
    fn waiting_holds_the_reader_back() {
        let mut inbox = inbox(2, 100, Overflow::Wait);
        inbox.push(message("a")).unwrap();
        assert!(!inbox.holds_back());
        inbox.push(message("b")).unwrap();
        assert!(inbox.holds_back());
        inbox.push(message("c")).unwrap();
        assert_eq!((inbox.take_dropped(), inbox.pop().unwrap().payload), (0, b"a".to_vec()));
    }

    #[test]
    fn sifting_takes_the_first_that_fits_and_drops_what_is_unwanted_before_it() {
        let mut inbox = inbox(9, 100, Overflow::DropOldest);
        for payload in ["keep", "drop", "take", "drop"] {
            inbox.push(message(payload)).unwrap();
        }
        let fate = |message: &Message| match message.payload.as_slice() {
            b"keep" => Fate::Keep,
            b"drop" => Fate::Drop,
            _ => Fate::Take,
        };
        assert_eq!(inbox.sift(fate).unwrap().payload, b"take");
        assert_eq!(inbox.bytes, 8);
        assert_eq!(inbox.sift(fate), None);
        assert_eq!((inbox.bytes, inbox.pop().unwrap().payload), (4, b"keep".to_vec()));
    }

    #[test]
    fn a_burst_leaves_no_memory_behind() {
        let mut inbox = inbox(1_000, 10_000, Overflow::DropOldest);
        for _ in 0..1_000 {
            inbox.push(message("a")).unwrap();
        }
        while inbox.pop().is_some() {}
        assert!(inbox.entries.capacity() <= FEW, "{}", inbox.entries.capacity());
    }

    #[test]
    fn a_message_is_early_once() {
        let mut inbox = inbox(9, 100, Overflow::DropOldest);
        inbox.push(message("a")).unwrap();
        assert_eq!((inbox.count_early(), inbox.count_early()), (1, 0));
        inbox.push(message("b")).unwrap();
        assert_eq!(inbox.count_early(), 1);
        let now = clock::now();
        inbox.push(Message::new(MessageKind::Ping, Vec::new(), 2, now, now)).unwrap();
        assert_eq!(inbox.count_early(), 0, "a ping is no reply");
    }
}

//! Messages that arrived and were not read yet, within bounds.

use std::collections::VecDeque;

use crate::ws::Message;

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
}

impl Inbox {
    /// An empty inbox.
    pub fn new(bounds: InboxBounds) -> Self {
        Self { bounds, entries: VecDeque::new(), bytes: 0, dropped: 0 }
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
        Ok(())
    }

    /// Takes the oldest message.
    pub fn pop(&mut self) -> Option<Message> {
        let entry = self.entries.pop_front()?;
        self.bytes -= entry.message.payload.len() as u64;
        Some(entry.message)
    }

    /// Keeps only the messages for which `keep` says so, asking for each once, oldest first.
    pub fn retain(&mut self, mut keep: impl FnMut(&Message) -> bool) {
        let bytes = &mut self.bytes;
        self.entries.retain(|entry| {
            let kept = keep(&entry.message);
            if !kept {
                *bytes -= entry.message.payload.len() as u64;
            }
            kept
        });
    }

    /// Whether the socket should be left unread, unless a sampler waits for it.
    pub fn holds_back(&self) -> bool {
        self.bounds.overflow == Overflow::Wait && self.overflows_with(1)
    }

    /// How many messages are too early for a request that is sent now and were not counted before.
    pub fn count_early(&mut self) -> u32 {
        let mut count = 0;
        for entry in self.entries.iter_mut().rev().take_while(|entry| !entry.counted_early) {
            entry.counted_early = true;
            count += 1;
        }
        count
    }

    /// How many messages were dropped since this was last asked.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
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
        Message {
            kind: MessageKind::Text,
            payload: payload.into(),
            wire_length: 2,
            first_byte: now,
            arrived: now,
        }
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
    fn a_message_is_early_once() {
        let mut inbox = inbox(9, 100, Overflow::DropOldest);
        inbox.push(message("a")).unwrap();
        assert_eq!((inbox.count_early(), inbox.count_early()), (1, 0));
        inbox.push(message("b")).unwrap();
        assert_eq!(inbox.count_early(), 1);
    }
}

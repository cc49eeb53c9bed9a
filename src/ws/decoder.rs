//! Bytes to frames, in pieces of any size, keeping bytes only while a frame is incomplete.

use std::time::Instant;

use crate::ws::frame::{self, Head, MAX_HEAD, Role};
use crate::ws::{Opcode, Violation};

/// Memory reserved at once for a payload, whatever its header claims; the rest grows as it arrives.
const FIRST_RESERVE: usize = 64 * 1024;

/// So many bytes more than twice its length are nothing for a payload to take.
const LITTLE: usize = 64;

/// A complete frame.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    /// What it is.
    pub opcode: Opcode,
    /// Whether it ends its message.
    pub last: bool,
    /// Unmasked.
    pub payload: Vec<u8>,
    /// Header and payload, in bytes.
    pub wire_length: u64,
    /// When its first byte was read.
    pub first_byte: Instant,
}

/// Cuts one connection's byte stream into frames.
#[derive(Debug)]
pub struct Decoder {
    role: Role,
    max_payload: u64,
    state: State,
    /// Memory for the next payload, if it is of about that size; empty between two reads.
    spare: Vec<u8>,
}

#[derive(Debug)]
enum State {
    /// Between frames: the state of an idle connection.
    Between,
    /// Part of a header.
    InHead { bytes: [u8; MAX_HEAD], length: usize, first_byte: Instant },
    /// The header and part of the payload.
    InPayload { head: Head, payload: Vec<u8>, first_byte: Instant },
}

impl Decoder {
    /// A decoder that refuses data frames with payloads of more than `max_payload` bytes; control
    /// frames have a limit of their own (RFC 6455 5.5).
    pub fn new(role: Role, max_payload: u64) -> Self {
        Self { role, max_payload, state: State::Between, spare: Vec::new() }
    }

    /// Memory held for an unfinished payload, in bytes: at most 64 KiB or twice what has arrived of
    /// it, whichever is more, and never more than the frame's header claims.
    pub fn reserved(&self) -> usize {
        match &self.state {
            State::InPayload { payload, .. } => payload.capacity(),
            State::Between | State::InHead { .. } => 0,
        }
    }

    /// Swaps the memory that the next payload may take with `spare`, which many connections share: lent
    /// for the time of one read, it spares an allocation for each message of a steady exchange.
    pub(crate) fn swap_spare(&mut self, spare: &mut Vec<u8>) {
        std::mem::swap(&mut self.spare, spare);
    }

    /// Whether part of a frame is there.
    pub fn is_inside_a_frame(&self) -> bool {
        !matches!(self.state, State::Between)
    }

    /// Takes the next frame from `input`, which it moves on. `None` means that all input was used
    /// up. `now` is when `input` was read from the socket.
    pub fn next(&mut self, input: &mut &[u8], now: Instant) -> Result<Option<Frame>, Violation> {
        if matches!(self.state, State::Between) {
            if input.is_empty() {
                return Ok(None);
            }
            if let Some(frame) = self.whole(input, now)? {
                return Ok(Some(frame));
            }
        }
        loop {
            match std::mem::replace(&mut self.state, State::Between) {
                State::Between => {
                    if input.is_empty() {
                        return Ok(None);
                    }
                    self.begin(input, now)?;
                }
                State::InHead { bytes, length, first_byte } => {
                    if !self.continue_head(bytes, length, first_byte, input)? {
                        return Ok(None);
                    }
                }
                State::InPayload { head, mut payload, first_byte } => {
                    take_payload(&head, &mut payload, input);
                    if (payload.len() as u64) < head.payload_length {
                        self.state = State::InPayload { head, payload, first_byte };
                        return Ok(None);
                    }
                    return Ok(Some(finish(&head, payload, first_byte)));
                }
            }
        }
    }

    /// The frame at the front of `input`, if all of it is there: the usual case, in which nothing has
    /// to be kept between two reads.
    fn whole(&mut self, input: &mut &[u8], now: Instant) -> Result<Option<Frame>, Violation> {
        let Some(head) = Head::parse(input, self.role)? else { return Ok(None) };
        self.check_size(&head)?;
        let payload = &input[head.head_length..];
        let Ok(length) = usize::try_from(head.payload_length) else { return Ok(None) };
        let Some((payload, rest)) = payload.split_at_checked(length) else { return Ok(None) };
        *input = rest;
        let payload = self.owned(payload);
        Ok(Some(finish(&head, payload, now)))
    }

    /// A copy of a payload. It may wait long, so it takes no more than twice its length of memory, or
    /// a little.
    fn owned(&mut self, payload: &[u8]) -> Vec<u8> {
        if !(payload.len()..=payload.len() * 2 + LITTLE).contains(&self.spare.capacity()) {
            return payload.to_vec();
        }
        let mut owned = std::mem::take(&mut self.spare);
        owned.clear();
        owned.extend_from_slice(payload);
        owned
    }

    /// Starts a frame at the front of `input`, which is not empty.
    fn begin(&mut self, input: &mut &[u8], now: Instant) -> Result<(), Violation> {
        if let Some(head) = Head::parse(input, self.role)? {
            *input = &input[head.head_length..];
            self.enter_payload(head, now)
        } else {
            let mut bytes = [0; MAX_HEAD];
            bytes[..input.len()].copy_from_slice(input);
            self.state = State::InHead { bytes, length: input.len(), first_byte: now };
            *input = &[];
            Ok(())
        }
    }

    /// Adds input to a header; false if it is still incomplete.
    fn continue_head(
        &mut self,
        mut bytes: [u8; MAX_HEAD],
        mut length: usize,
        first_byte: Instant,
        input: &mut &[u8],
    ) -> Result<bool, Violation> {
        while let Some((&byte, rest)) = input.split_first() {
            bytes[length] = byte;
            length += 1;
            *input = rest;
            if let Some(head) = Head::parse(&bytes[..length], self.role)? {
                self.enter_payload(head, first_byte)?;
                return Ok(true);
            }
        }
        self.state = State::InHead { bytes, length, first_byte };
        Ok(false)
    }

    fn check_size(&self, head: &Head) -> Result<(), Violation> {
        if !head.opcode.is_control() && head.payload_length > self.max_payload {
            return Err(Violation::TooLarge { limit: self.max_payload });
        }
        Ok(())
    }

    /// Checks the limit before any memory is reserved.
    fn enter_payload(&mut self, head: Head, first_byte: Instant) -> Result<(), Violation> {
        self.check_size(&head)?;
        let reserve = usize::try_from(head.payload_length).map_or(0, |all| all.min(FIRST_RESERVE));
        self.state = State::InPayload { head, payload: Vec::with_capacity(reserve), first_byte };
        Ok(())
    }
}

fn take_payload(head: &Head, payload: &mut Vec<u8>, input: &mut &[u8]) {
    let missing = head.payload_length - payload.len() as u64;
    let take = usize::try_from(missing).map_or(input.len(), |missing| missing.min(input.len()));
    if take > payload.capacity() - payload.len() {
        // Doubled as it arrives, but never beyond the frame: a message that waits in an inbox has no
        // slack.
        let more = payload.len().max(take);
        payload.reserve_exact(usize::try_from(missing).map_or(more, |missing| more.min(missing)));
    }
    payload.extend_from_slice(&input[..take]);
    *input = &input[take..];
}

fn finish(head: &Head, mut payload: Vec<u8>, first_byte: Instant) -> Frame {
    if let Some(mask) = head.mask {
        frame::apply_mask(&mut payload, mask);
    }
    let wire_length = head.head_length as u64 + head.payload_length;
    Frame { opcode: head.opcode, last: head.last, payload, wire_length, first_byte }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    fn all(decoder: &mut Decoder, mut input: &[u8]) -> Result<Vec<Frame>, Violation> {
        let mut frames = Vec::new();
        while let Some(frame) = decoder.next(&mut input, clock::now())? {
            frames.push(frame);
        }
        assert!(input.is_empty());
        Ok(frames)
    }

    #[test]
    fn a_payload_takes_spare_memory_of_about_its_size_only() {
        let payload = [7; 100];
        for (capacity, is_taken) in
            [(0, false), (99, false), (100, true), (264, true), (300, false)]
        {
            let mut spare = Vec::with_capacity(capacity);
            let memory = spare.as_ptr();
            let mut decoder = Decoder::new(Role::Client, 1_000);
            decoder.swap_spare(&mut spare);
            let owned = decoder.owned(&payload);
            decoder.swap_spare(&mut spare);
            assert_eq!((owned.as_slice(), owned.as_ptr() == memory), (&payload[..], is_taken));
            assert_eq!(spare.capacity(), if is_taken { 0 } else { capacity });
        }
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused_before_its_payload() {
        let mut decoder = Decoder::new(Role::Client, 1 << 20);
        let head = [0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(all(&mut decoder, &head), Err(Violation::TooLarge { limit: 1 << 20 }));
    }

    #[test]
    fn nothing_is_kept_between_frames() {
        let mut decoder = Decoder::new(Role::Client, 1 << 20);
        all(&mut decoder, &[0x81, 2, b'o', b'k']).unwrap();
        assert!(!decoder.is_inside_a_frame());
        all(&mut decoder, &[0x81]).unwrap();
        assert!(decoder.is_inside_a_frame());
    }
}

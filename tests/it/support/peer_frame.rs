//! Frames as a scripted peer sends and sees them (RFC 6455 5.2), right or wrong.

use std::time::Instant;

/// First bytes of whole, single-frame messages and of control frames.
pub(crate) const TEXT: u8 = 0x81;
pub(crate) const BINARY: u8 = 0x82;
pub(crate) const CLOSE: u8 = 0x88;
pub(crate) const PING: u8 = 0x89;
pub(crate) const PONG: u8 = 0x8a;

/// A frame that a peer received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PeerFrame {
    /// When its last byte was read.
    pub(crate) at: Instant,
    /// FIN, RSV bits and opcode: [`TEXT`] and the like for a whole message.
    pub(crate) first: u8,
    /// Unmasked.
    pub(crate) payload: Vec<u8>,
    /// Its masking key; a client must have one.
    pub(crate) mask: Option<[u8; 4]>,
    /// Header and payload, in bytes.
    pub(crate) wire_length: usize,
}

impl PeerFrame {
    /// The frame at the start of `bytes`, if it is complete.
    pub(crate) fn parse(bytes: &[u8], at: Instant) -> Option<Self> {
        let (&first, &second) = (bytes.first()?, bytes.get(1)?);
        let (length, mut head) = match second & 0x7f {
            126 => (u64::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?)), 4),
            127 => (u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?), 10),
            short => (u64::from(short), 2),
        };
        let mut mask: Option<[u8; 4]> = None;
        if second & 0x80 != 0 {
            mask = Some(bytes.get(head..head + 4)?.try_into().ok()?);
            head += 4;
        }
        let wire_length = head + usize::try_from(length).ok()?;
        let mut payload = bytes.get(head..wire_length)?.to_vec();
        for (index, byte) in payload.iter_mut().enumerate() {
            *byte ^= mask.unwrap_or_default()[index % 4];
        }
        Some(Self { at, first, payload, mask, wire_length })
    }

    /// The code of a close frame, `None` without one.
    pub(crate) fn close_code(&self) -> Option<u16> {
        Some(u16::from_be_bytes(self.payload.get(..2)?.try_into().ok()?))
    }

    /// The payload as text, whatever the type.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.payload).into_owned()
    }
}

/// An unmasked frame as a server sends it. `first` holds FIN, RSV bits and opcode.
pub(crate) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = payload.len();
    let mut frame = vec![first];
    if let Ok(short @ 0..126) = u8::try_from(length) {
        frame.push(short);
    } else if let Ok(medium) = u16::try_from(length) {
        frame.push(126);
        frame.extend(medium.to_be_bytes());
    } else {
        frame.push(127);
        frame.extend((length as u64).to_be_bytes());
    }
    frame.extend_from_slice(payload);
    frame
}

/// A close frame's payload.
pub(crate) fn close_payload(code: u16, reason: &str) -> Vec<u8> {
    [&code.to_be_bytes()[..], reason.as_bytes()].concat()
}

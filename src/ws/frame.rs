//! Frame headers and payload masks (RFC 6455 5.2, 5.3): bytes to frames and back, without I/O.

use std::io::Cursor;

use tungstenite::Error;
use tungstenite::error::ProtocolError;
use tungstenite::protocol::frame::FrameHeader;

use crate::ws::{Opcode, Violation};

/// The longest possible header: 2 bytes, 8 of length, 4 of mask.
pub(crate) const MAX_HEAD: usize = 14;

/// Which side reads; the other side's frames must be masked or must not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Reads a server's frames.
    Client,
    /// Reads a client's frames.
    Server,
}

/// A parsed and checked frame header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// What the frame is.
    pub opcode: Opcode,
    /// Whether it ends its message.
    pub last: bool,
    /// The client's masking key.
    pub mask: Option<[u8; 4]>,
    /// Bytes of the header itself.
    pub head_length: usize,
    /// Bytes of payload that follow.
    pub payload_length: u64,
}

impl Head {
    /// Parses the header at the start of `bytes` and checks everything that one header shows.
    /// `None` means that it is not complete yet.
    pub fn parse(bytes: &[u8], role: Role) -> Result<Option<Self>, Violation> {
        let mut cursor = Cursor::new(bytes);
        let (header, payload_length) = match FrameHeader::parse(&mut cursor) {
            Ok(None) => return Ok(None),
            Ok(Some(parsed)) => parsed,
            Err(Error::Protocol(ProtocolError::InvalidOpcode(opcode))) => {
                return Err(Violation::ReservedOpcode(opcode));
            }
            // Reading from memory fails in no other way; were it to, the length is to blame.
            Err(_) => return Err(Violation::BadLength),
        };
        let head_length = usize::try_from(cursor.position()).unwrap_or(MAX_HEAD);
        let opcode = Opcode::from_coding(header.opcode).ok_or(Violation::ReservedOpcode(0))?;
        let head =
            Self { opcode, last: header.is_final, mask: header.mask, head_length, payload_length };
        head.check(&header, role)?;
        Ok(Some(head))
    }

    fn check(&self, header: &FrameHeader, role: Role) -> Result<(), Violation> {
        if header.rsv1 || header.rsv2 || header.rsv3 {
            return Err(Violation::ReservedBits);
        }
        match (role, self.mask) {
            (Role::Client, Some(_)) => return Err(Violation::Masked),
            (Role::Server, None) => return Err(Violation::NotMasked),
            _ => {}
        }
        if self.opcode.is_control() {
            if !self.last {
                return Err(Violation::FragmentedControl);
            }
            if self.payload_length > 125 {
                return Err(Violation::LongControl);
            }
        }
        if self.payload_length >> 63 != 0 || header.len(self.payload_length) != self.head_length {
            return Err(Violation::BadLength);
        }
        Ok(())
    }
}

/// Appends one frame to `out`: masked as a client must if `mask` is given, else plain as a server
/// must. Returns the number of bytes appended.
pub fn encode(
    out: &mut Vec<u8>,
    opcode: Opcode,
    last: bool,
    payload: &[u8],
    mask: Option<[u8; 4]>,
) -> usize {
    let before = out.len();
    let header =
        FrameHeader { is_final: last, opcode: opcode.to_coding(), mask, ..FrameHeader::default() };
    out.reserve(MAX_HEAD + payload.len());
    // Its result is that of the writer, and writing to memory does not fail.
    header.format(payload.len() as u64, out).ok();
    let start = out.len();
    out.extend_from_slice(payload);
    if let Some(mask) = mask {
        apply_mask(&mut out[start..], mask);
    }
    out.len() - before
}

/// A fresh masking key: RFC 6455 5.3 wants a strong source of entropy.
pub fn fresh_mask() -> [u8; 4] {
    rand::random()
}

/// Masks or unmasks in place; `bytes` must begin where the payload does.
pub(crate) fn apply_mask(bytes: &mut [u8], mask: [u8; 4]) {
    let wide = u64::from_ne_bytes([
        mask[0], mask[1], mask[2], mask[3], mask[0], mask[1], mask[2], mask[3],
    ]);
    let (words, rest) = bytes.as_chunks_mut::<8>();
    for word in words {
        *word = (u64::from_ne_bytes(*word) ^ wide).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= key;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(bytes: &[u8]) -> Result<Option<Head>, Violation> {
        Head::parse(bytes, Role::Client)
    }

    #[test]
    fn a_header_is_not_there_until_its_last_byte_is() {
        let mut frame = Vec::new();
        encode(&mut frame, Opcode::Text, true, &[b'x'; 300], None);
        for length in 0..4 {
            assert_eq!(parse(&frame[..length]), Ok(None), "{length} bytes");
        }
        let head = parse(&frame).unwrap().unwrap();
        assert_eq!((head.head_length, head.payload_length, head.last), (4, 300, true));
    }

    #[test]
    fn each_broken_rule_is_told_apart() {
        let cases: [(&[u8], Violation); 10] = [
            (&[0x81, 0x80, 1, 2, 3, 4], Violation::Masked),
            (&[0xc1, 0x00], Violation::ReservedBits),
            (&[0xa1, 0x00], Violation::ReservedBits),
            (&[0x91, 0x00], Violation::ReservedBits),
            (&[0x83, 0x00], Violation::ReservedOpcode(3)),
            (&[0x8f, 0x00], Violation::ReservedOpcode(15)),
            (&[0x09, 0x00], Violation::FragmentedControl),
            (&[0x89, 126, 0, 126], Violation::LongControl),
            (&[0x82, 126, 0, 125], Violation::BadLength),
            (&[0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], Violation::BadLength),
        ];
        for (bytes, violation) in cases {
            assert_eq!(parse(bytes), Err(violation), "{bytes:02x?}");
        }
        assert_eq!(Head::parse(&[0x81, 0], Role::Server), Err(Violation::NotMasked));
    }

    proptest! {
        #[test]
        fn a_frame_survives_encoding(payload in prop::collection::vec(any::<u8>(), 0..70_000),
                                     mask: [u8; 4], masked: bool) {
            let mask = masked.then_some(mask);
            let mut bytes = Vec::new();
            let length = encode(&mut bytes, Opcode::Binary, true, &payload, mask);
            prop_assert_eq!(length, bytes.len());
            let role = if masked { Role::Server } else { Role::Client };
            let head = Head::parse(&bytes, role).unwrap().unwrap();
            prop_assert_eq!(head.payload_length, payload.len() as u64);
            prop_assert_eq!(head.mask, mask);
            let mut body = bytes.split_off(head.head_length);
            if let Some(mask) = mask {
                apply_mask(&mut body, mask);
            }
            prop_assert_eq!(body, payload);
        }
    }
}

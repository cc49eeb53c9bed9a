//! Close frames: their payload and which codes may stand in it (RFC 6455 5.5.1, 7.4).

use crate::ws::Violation;

/// Stands for a close frame without a code (RFC 6455 7.1.5); never on the wire.
pub const NO_STATUS: u16 = 1005;

/// The longest reason: a control frame's 125 bytes less the code.
pub const MAX_REASON: usize = 123;

/// What a close frame says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloseFrame {
    /// Its code; [`NO_STATUS`] if it has none.
    pub code: u16,
    /// Its reason, often empty.
    pub reason: String,
}

impl CloseFrame {
    /// Reads a close frame's payload.
    pub fn parse(payload: &[u8]) -> Result<Self, Violation> {
        let (code, reason) = match payload {
            [] => return Ok(Self { code: NO_STATUS, reason: String::new() }),
            [_] => return Err(Violation::ShortClose),
            [high, low, reason @ ..] => (u16::from_be_bytes([*high, *low]), reason),
        };
        if !may_be_sent(code) {
            return Err(Violation::BadCloseCode(code));
        }
        let reason = std::str::from_utf8(reason).map_err(|_| Violation::ReasonNotUtf8)?;
        Ok(Self { code, reason: reason.to_owned() })
    }

    /// The payload; empty for [`NO_STATUS`]. A reason that is too long is cut at a character.
    pub fn payload(&self) -> Vec<u8> {
        if self.code == NO_STATUS {
            return Vec::new();
        }
        let reason = &self.reason[..self.reason.floor_char_boundary(MAX_REASON)];
        let mut payload = self.code.to_be_bytes().to_vec();
        payload.extend_from_slice(reason.as_bytes());
        payload
    }
}

/// Whether RFC 6455 7.4 and the IANA registry let an endpoint send this code.
pub fn may_be_sent(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_close_frame_survives_its_payload() {
        let close = CloseFrame { code: 4001, reason: "später".to_owned() };
        assert_eq!(CloseFrame::parse(&close.payload()), Ok(close));
        let empty = CloseFrame { code: NO_STATUS, reason: String::new() };
        assert_eq!(CloseFrame::parse(&empty.payload()), Ok(empty));
    }

    #[test]
    fn codes_that_must_not_be_sent_are_refused() {
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535] {
            let payload = u16::to_be_bytes(code);
            assert_eq!(CloseFrame::parse(&payload), Err(Violation::BadCloseCode(code)));
        }
        assert_eq!(CloseFrame::parse(&[3]), Err(Violation::ShortClose));
        assert_eq!(CloseFrame::parse(&[3, 232, 0xff]), Err(Violation::ReasonNotUtf8));
    }

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let close = CloseFrame { code: 1000, reason: "é".repeat(100) };
        assert_eq!(close.payload().len(), 2 + 122);
    }

    proptest! {
        #[test]
        fn any_payload_is_read_as_written_or_the_rule_it_breaks_is_named(
            code in prop_oneof![any::<u16>(), 990_u16..1_020, 2_990_u16..3_010],
            reason in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..200),
                "[a-zé€😀]{0,40}".prop_map(String::into_bytes),
            ],
            length in 0_usize..400,
        ) {
            let mut payload = [&code.to_be_bytes(), reason.as_slice()].concat();
            payload.truncate(length);
            match CloseFrame::parse(&payload) {
                Ok(close) if payload.len() <= 2 + MAX_REASON => {
                    prop_assert_eq!(close.payload(), payload);
                }
                Ok(close) => prop_assert_eq!(close.reason.as_bytes(), &payload[2..]),
                Err(Violation::ShortClose) => prop_assert_eq!(payload.len(), 1),
                Err(Violation::BadCloseCode(bad)) => {
                    prop_assert!(bad == code && !may_be_sent(code));
                }
                Err(Violation::ReasonNotUtf8) => {
                    prop_assert!(std::str::from_utf8(&payload[2..]).is_err());
                }
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }
}

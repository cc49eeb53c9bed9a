//! What holds for any bytes that a peer may send: checked by the fuzz targets on what they invent,
//! and by the test suite on the corpus they left and on bytes of its own.
//!
//! An input is self-contained: its first bytes choose the settings and the cuts, the rest is the wire.

use std::time::Instant;

use wsmeter::clock;
use wsmeter::ws::frame::{Role, encode};
use wsmeter::ws::{
    Answer, Asked, Assembler, CloseFrame, Decoder, Frame, MAX_RESPONSE, MessageKind, Opcode,
    UpgradeRequest, Violation, header_values,
};

/// Limits of a message that an input can choose, in bytes.
pub(crate) const LIMITS: [u64; 8] = [0, 1, 125, 126, 65_535, 65_536, 16 << 20, u64::MAX];

/// What stands in an input for the accept key, which is another one each time.
const ACCEPT: &[u8] = b"{accept}";

/// What a connection sees of a stream of bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Messages and control frames, in order.
    pub(crate) items: Vec<Item>,
    /// What ended it.
    pub(crate) violation: Option<Violation>,
    /// Whether a frame or a message is unfinished.
    pub(crate) inside: (bool, bool),
}

/// A whole message or a control frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Item {
    Message { kind: MessageKind, payload: Vec<u8>, wire_length: u64, last: bool },
    Control { opcode: Opcode, payload: Vec<u8> },
    Close(CloseFrame),
}

/// Who reads, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader {
    pub(crate) role: Role,
    /// Of a message, in bytes.
    pub(crate) limit: u64,
    pub(crate) form: Form,
}

/// What becomes of fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Joined,
    AsTheyCome,
}

/// An input of the target `frames`: a byte of settings (bit 0: the role; bits 1 to 3: the limit), a
/// byte that seeds the cuts, then the wire.
pub(crate) fn frames(input: &[u8]) {
    let [settings, seed, wire @ ..] = input else { return };
    let role = if settings & 1 == 0 { Role::Client } else { Role::Server };
    let limit = LIMITS[usize::from(settings >> 1) % LIMITS.len()];
    let [joined, fragments] = [Form::Joined, Form::AsTheyCome].map(|form| {
        let reader = Reader { role, limit, form };
        let whole = reader.see(wire, [wire.len().max(1)]);
        assert_eq!(whole, reader.see(wire, [1]), "byte by byte");
        let cuts = (1_usize..40).map(|step| step * usize::from(*seed) % 23 + 1);
        assert_eq!(whole, reader.see(wire, cuts), "cut by {seed}");
        whole
    });
    match (joined.violation, fragments.violation) {
        (None, None) => {
            assert_eq!(fragments.inside, joined.inside);
            assert_eq!(join(fragments.items), join(joined.items));
        }
        // What is wrong with a text shows in its fragment, and in the whole only when it ends.
        (joined, fragments) if joined != fragments => {
            assert_eq!(fragments, Some(Violation::TextNotUtf8));
        }
        _ => {}
    }
}

/// Messages of their fragments, with the control frames between them in front; without an unfinished
/// one.
fn join(items: Vec<Item>) -> Vec<Item> {
    let (mut joined, mut unfinished) = (Vec::new(), None);
    for item in items {
        let Item::Message { kind, mut payload, mut wire_length, last } = item else {
            joined.push(item);
            continue;
        };
        if let Some((before, length)) = unfinished.take() {
            payload = [before, payload].concat();
            wire_length += length;
        }
        if last {
            joined.push(Item::Message { kind, payload, wire_length, last });
        } else {
            unfinished = Some((payload, wire_length));
        }
    }
    joined
}

impl Reader {
    /// Feeds `wire` in pieces of these lengths, again and again, to what a connection is made of.
    pub(crate) fn see(self, wire: &[u8], lengths: impl IntoIterator<Item = usize>) -> Seen {
        let Self { role, limit, form } = self;
        let assembler = Assembler::new(limit);
        let lengths: Vec<usize> = lengths.into_iter().collect();
        let mut stream = Stream {
            decoder: Decoder::new(role, limit),
            assembler: if form == Form::Joined { assembler } else { assembler.in_fragments() },
            wire,
            handed_out: 0,
            now: clock::now(),
            items: Vec::new(),
        };
        let (mut arrived, mut lengths) = (0, lengths.iter().cycle());
        let mut violation = None;
        while arrived < wire.len() && violation.is_none() && !stream.is_closed() {
            let next = *lengths.next().expect("there are lengths");
            let length = next.min(wire.len() - arrived);
            let piece = &wire[arrived..arrived + length];
            arrived += length;
            violation = stream.take(piece).err();
            stream.check_memory(arrived);
        }
        let inside = match (&violation, stream.is_closed()) {
            // What a violation or a close leaves behind is of no use to anyone.
            (Some(_), _) | (_, true) => (false, false),
            _ => (stream.decoder.is_inside_a_frame(), stream.assembler.is_inside_a_message()),
        };
        Seen { items: stream.items, violation, inside }
    }
}

struct Stream<'w> {
    decoder: Decoder,
    assembler: Assembler,
    wire: &'w [u8],
    /// How much of the wire complete frames took.
    handed_out: usize,
    now: Instant,
    items: Vec<Item>,
}

impl Stream<'_> {
    fn take(&mut self, mut piece: &[u8]) -> Result<(), Violation> {
        while let Some(frame) = self.decoder.next(&mut piece, self.now)? {
            self.check_frame(&frame);
            match frame.opcode {
                Opcode::Close => {
                    self.items.push(Item::Close(CloseFrame::parse(&frame.payload)?));
                    return Ok(());
                }
                Opcode::Ping | Opcode::Pong => {
                    let Frame { opcode, payload, .. } = frame;
                    self.items.push(Item::Control { opcode, payload });
                }
                Opcode::Text | Opcode::Binary | Opcode::Continuation => {
                    let frame_begins = !self.assembler.is_inside_a_message();
                    if let Some(message) = self.assembler.push(frame, self.now)? {
                        let text = std::str::from_utf8(&message.payload);
                        let whole = message.last && frame_begins;
                        assert!(message.kind != MessageKind::Text || !whole || text.is_ok());
                        self.items.push(Item::Message {
                            kind: message.kind,
                            payload: message.payload,
                            wire_length: message.wire_length,
                            last: message.last,
                        });
                    }
                }
            }
        }
        assert!(piece.is_empty(), "bytes are left and no frame");
        Ok(())
    }

    /// A frame is what the wire says, byte for byte: encoded again, it is the same.
    fn check_frame(&mut self, frame: &Frame) {
        let length = usize::try_from(frame.wire_length).expect("it was in memory");
        let bytes = &self.wire[self.handed_out..self.handed_out + length];
        self.handed_out += length;
        let head = length - frame.payload.len();
        let mask = (bytes[1] & 0x80 != 0).then(|| {
            let key: [u8; 4] = bytes[head - 4..head].try_into().expect("four bytes");
            key
        });
        let mut again = Vec::new();
        encode(&mut again, frame.opcode, frame.last, &frame.payload, mask);
        assert_eq!(again, bytes);
        assert_eq!(frame.payload.capacity(), frame.payload.len(), "a frame without slack");
    }

    /// No more memory than the bytes that came account for.
    fn check_memory(&self, arrived: usize) {
        let (decoder, assembler) = (self.decoder.reserved(), self.assembler.reserved());
        let unfinished = arrived - self.handed_out;
        assert!(decoder <= 2 * unfinished.max(32 * 1024), "{decoder} for {unfinished} bytes");
        assert!(assembler <= 2 * arrived, "{assembler} for {arrived} bytes");
    }

    fn is_closed(&self) -> bool {
        matches!(self.items.last(), Some(Item::Close(_)))
    }
}

/// An input of the target `upgrade`: a byte that seeds the cuts, then the answer, in which
/// `{accept}` stands for the right key.
pub(crate) fn upgrade(input: &[u8]) {
    let [seed, answer @ ..] = input else { return };
    let uri = "ws://h:9000/a".parse().expect("it is a URL");
    let request = UpgradeRequest::new(&uri, &Asked::default()).expect("it can be asked for");
    let answer = replace(answer, ACCEPT, request.accept.as_bytes());
    let whole = request.judge(&answer);
    let step = usize::from(*seed) + 1;
    let steps = (step..answer.len()).step_by(step).chain([answer.len()]);
    let first = steps.map(|length| request.judge(&answer[..length]));
    let in_pieces = first.into_iter().find(|judged| *judged != Answer::Incomplete);
    assert_eq!(in_pieces.unwrap_or(Answer::Incomplete), whole, "in pieces of {step}");
    match whole {
        Answer::Accepted { length }
        | Answer::Interim { length }
        | Answer::Refused { length, .. } => {
            assert!(length <= answer.len().min(MAX_RESPONSE), "{length} of {}", answer.len());
            let head = &answer[..length];
            // What comes after the head changes nothing in it.
            assert_eq!(request.judge(head), whole);
            header_values(head, "Sec-WebSocket-Accept");
        }
        Answer::Incomplete => assert!(answer.len() < MAX_RESPONSE, "it must end somewhere"),
        Answer::Invalid { what } => assert!(!what.is_empty()),
    }
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

//! The codec under bytes that nobody chose: any stream in any pieces gives the same frames and the
//! same violation, within memory that the bytes account for; valid messages survive; and the corpus
//! that fuzzing left holds to the same.

use std::path::Path;

use proptest::prelude::*;
use wsmeter::ws::frame::{Role, encode};
use wsmeter::ws::{Asked, MAX_RESPONSE, MessageKind, Opcode, UpgradeRequest};

#[path = "../fuzz/properties.rs"]
mod properties;

use properties::{Form, Item, LIMITS, Reader, Seen};

/// Lengths at which the header changes its form, and others.
fn length() -> impl Strategy<Value = usize> {
    prop_oneof![
        8 => 0_usize..40,
        4 => prop::sample::select(vec![124_usize, 125, 126, 127]),
        1 => prop::sample::select(vec![65_535_usize, 65_536, 70_000]),
    ]
}

fn payload() -> impl Strategy<Value = Vec<u8>> {
    length().prop_flat_map(|length| prop::collection::vec(any::<u8>(), length))
}

/// A masking key if the client sends, none if the server does.
fn masks(role: Role) -> Option<[u8; 4]> {
    (role == Role::Server).then_some([0x1f, 0x00, 0xff, 0x80])
}

fn role() -> impl Strategy<Value = Role> {
    prop::sample::select(vec![Role::Client, Role::Server])
}

/// One frame: mostly valid, now and then with a first byte, a length or an end that is not.
fn odd_frame() -> impl Strategy<Value = Vec<u8>> {
    let first = prop_oneof![
        6 => prop::sample::select(vec![0x01_u8, 0x02, 0x00, 0x80, 0x81, 0x82, 0x88, 0x89, 0x8a]),
        1 => any::<u8>(),
    ];
    let text = prop_oneof![3 => "[a-zé€😀]{0,12}".prop_map(String::into_bytes), 1 => payload()];
    (first, text, any::<bool>(), 0_u8..20, any::<u64>()).prop_map(
        |(first, payload, masked, oddity, claim)| {
            let mask = masked.then_some([7, 0, 0xaa, 0x55]);
            let mut bytes = Vec::new();
            encode(&mut bytes, Opcode::Text, true, &payload, mask);
            bytes[0] = first;
            match oddity {
                // A length in a longer form than it needs, or that nobody will send.
                0 => drop(bytes.splice(1..2, [127].into_iter().chain(claim.to_be_bytes()))),
                1 => drop(bytes.splice(1..2, [126, 0, 5])),
                2 => bytes.truncate(bytes.len() / 2),
                _ => {}
            }
            bytes
        },
    )
}

proptest! {
    #[test]
    fn any_bytes_mean_the_same_in_any_pieces(input in prop::collection::vec(any::<u8>(), 0..300)) {
        properties::frames(&input);
        properties::upgrade(&input);
    }

    #[test]
    fn odd_streams_mean_the_same_in_any_pieces(
        role in role(),
        limit in prop::sample::select(LIMITS.to_vec()),
        frames in prop::collection::vec(odd_frame(), 0..12),
        cuts in prop::collection::vec(1_usize..60, 1..20),
    ) {
        let wire = frames.concat();
        for form in [Form::Joined, Form::AsTheyCome] {
            let reader = Reader { role, limit, form };
            let whole = reader.see(&wire, [wire.len().max(1)]);
            prop_assert_eq!(&reader.see(&wire, cuts.clone()), &whole);
            prop_assert_eq!(&reader.see(&wire, [1]), &whole);
        }
    }

    #[test]
    fn an_answer_to_the_upgrade_means_the_same_in_any_pieces(
        seed: u8,
        status in prop::sample::select(vec!["101", "200", "403", "100", "1x1", "99999"]),
        headers in prop::collection::vec(
            prop::sample::select(vec![
                "Upgrade: websocket", "upgrade:WEBSOCKET", "Connection: a, Upgrade", "Connection:",
                "Sec-WebSocket-Accept: {accept}", "Sec-WebSocket-Accept: {accept}x", "X: \u{e9}",
                "Sec-WebSocket-Protocol: chat", "Sec-WebSocket-Extensions: ", "no colon", ": x", "",
            ]),
            0..10,
        ),
        end in prop::sample::select(vec!["\r\n", "\n", "\r", ""]),
    ) {
        let lines: String = headers.iter().flat_map(|header| [*header, end]).collect();
        let answer = format!("HTTP/1.1 {status} Whatever{end}{lines}{end}\u{81}");
        properties::upgrade(&[&[seed], answer.as_bytes()].concat());
    }
}

/// A message, in how many fragments of which lengths, and the control frames that come between.
#[derive(Debug, Clone)]
struct Sent {
    kind: MessageKind,
    payload: Vec<u8>,
    cuts: Vec<usize>,
    control: Vec<Vec<u8>>,
}

fn sent() -> impl Strategy<Value = Sent> {
    let text = "[a-zäöü€😀]{0,60}".prop_map(|text| (MessageKind::Text, text.into_bytes()));
    let message = prop_oneof![text, payload().prop_map(|payload| (MessageKind::Binary, payload))];
    let cuts = prop::collection::vec(any::<prop::sample::Index>(), 0..6);
    let control = prop::collection::vec(prop::collection::vec(any::<u8>(), 0..=125), 0..3);
    (message, cuts, control).prop_map(|((kind, payload), cuts, control)| {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(payload.len() + 1)).collect();
        cuts.sort_unstable();
        Sent { kind, payload, cuts, control }
    })
}

/// Appends the message's frames to `wire` and what must be seen of them to `items`.
fn send(sent: &Sent, role: Role, wire: &mut Vec<u8>, items: &mut Vec<Item>) {
    let mut opcode = sent.kind.opcode();
    let (mut from, mut wire_length) = (0, 0);
    let mut controls = sent.control.iter();
    for &cut in &sent.cuts {
        let fragment = &sent.payload[from..cut];
        wire_length += encode(wire, opcode, false, fragment, masks(role)) as u64;
        (from, opcode) = (cut, Opcode::Continuation);
        if let Some(payload) = controls.next() {
            let opcode = if payload.len() % 2 == 0 { Opcode::Ping } else { Opcode::Pong };
            encode(wire, opcode, true, payload, masks(role));
            items.push(Item::Control { opcode, payload: payload.clone() });
        }
    }
    wire_length += encode(wire, opcode, true, &sent.payload[from..], masks(role)) as u64;
    let payload = sent.payload.clone();
    items.push(Item::Message { kind: sent.kind, payload, wire_length, last: true });
}

proptest! {
    #[test]
    fn messages_survive_fragments_control_frames_and_cuts(
        role in role(),
        messages in prop::collection::vec(sent(), 0..6),
        lengths in prop::collection::vec(1_usize..200, 1..20),
    ) {
        let (mut wire, mut items) = (Vec::new(), Vec::new());
        for message in &messages {
            send(message, role, &mut wire, &mut items);
        }
        let reader = Reader { role, limit: 1 << 20, form: Form::Joined };
        let seen = reader.see(&wire, lengths);
        prop_assert_eq!(seen, Seen { items, violation: None, inside: (false, false) });
    }
}

#[test]
fn a_head_is_as_long_as_it_may_be_in_one_piece_and_in_two() {
    let request = UpgradeRequest::new(&"ws://h/".parse().unwrap(), &Asked::default()).unwrap();
    for (excess, is_refused) in [(0, true), (1, false)] {
        let (start, end) = ("HTTP/1.1 403 No\r\nX: ", "\r\n\r\n");
        let filler = "x".repeat(MAX_RESPONSE + excess - start.len() - end.len());
        let head = format!("{start}{filler}{end}");
        properties::upgrade(&[&[255], head.as_bytes()].concat());
        let judged = format!("{:?}", request.judge(head.as_bytes()));
        assert_eq!(judged.starts_with("Refused"), is_refused, "{excess} more: {judged}");
    }
}

#[test]
fn what_fuzzing_found_interesting_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus");
    for target in ["frames", "upgrade"] {
        let property = if target == "frames" { properties::frames } else { properties::upgrade };
        let folder = corpus.join(target);
        let mut files = 0;
        for entry in fs_err::read_dir(&folder).expect("the corpus is there") {
            let path = entry.expect("it can be listed").path();
            let input = fs_err::read(&path).expect("it can be read");
            let held = std::panic::catch_unwind(|| property(&input));
            assert!(held.is_ok(), "{}", path.display());
            files += 1;
        }
        assert!(files > 20, "{files} files in {}", folder.display());
    }
}

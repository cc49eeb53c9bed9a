//! The embedded server, judged by tungstenite's client and by raw sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Bytes, Error, Message};
use wsmeter::clock;

use crate::support::client::{
    Client, ask, connect, count, exchange, get, handshake, read_head, socket, try_connect,
};
use crate::support::target;
use crate::support::time::wait_until;

/// Upgrades on a raw socket.
fn upgraded(server: &wsmeter::target::Server, target: &str) -> TcpStream {
    let mut socket = socket(server.address());
    socket.write_all(handshake(target).as_bytes()).expect("the server takes a request");
    let head = read_head(&mut socket);
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    assert!(head.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
    socket
}

/// A masked frame with the key 0, which leaves the payload as it is.
fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first, 0x80 | u8::try_from(payload.len()).expect("short"), 0, 0, 0, 0];
    frame.extend_from_slice(payload);
    frame
}

fn rest_of(socket: &mut TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    socket.read_to_end(&mut rest).expect("the server ends the stream in order");
    rest
}

/// Reads up to the close frame: its code, `None` if it has none; then TCP must end.
fn closed_with(client: &mut Client) -> Option<u16> {
    loop {
        match client.read() {
            Ok(Message::Close(close)) => {
                let code = close.map(|close| close.code.into());
                assert!(matches!(client.read(), Err(Error::ConnectionClosed)));
                return code;
            }
            Ok(_) => {}
            Err(error) => panic!("no close frame but {error}"),
        }
    }
}

#[test]
fn echo_returns_messages_of_every_length_class_unchanged() {
    let server = target();
    let mut client = connect(server.address(), "/echo");
    for length in [0, 1, 125, 126, 65_535, 65_536, 3_000_000] {
        let text = Message::text("é".repeat(length / 2));
        client.send(text.clone()).unwrap();
        assert_eq!(client.read().unwrap(), text, "{length}");
        let binary = Message::binary(vec![0xff; length]);
        client.send(binary.clone()).unwrap();
        assert_eq!(client.read().unwrap(), binary, "{length}");
    }
}

#[test]
fn many_frames_in_one_write_are_all_answered_in_order() {
    let server = target();
    let mut socket = upgraded(&server, "/echo");
    let (mut requests, mut expected) = (Vec::new(), Vec::new());
    for number in 0..20_000 {
        let text = format!("{number}");
        requests.extend(masked(0x81, text.as_bytes()));
        expected.extend([0x81, u8::try_from(text.len()).unwrap()]);
        expected.extend(text.as_bytes());
    }
    let mut writer = socket.try_clone().unwrap();
    let thread = std::thread::spawn(move || writer.write_all(&requests).unwrap());
    let mut answers = vec![0; expected.len()];
    socket.read_exact(&mut answers).unwrap();
    thread.join().unwrap();
    assert!(answers == expected, "the echoes differ");
    let counters = server.counters();
    assert_eq!((counters.messages_received, counters.messages_sent), (20_000, 20_000));
}

#[test]
fn a_handshake_and_frames_may_come_byte_by_byte_or_all_at_once() {
    let server = target();
    let bytes = [handshake("/echo").as_bytes(), &masked(0x81, b"early")].concat();
    for piece in [1, bytes.len()] {
        let mut socket = socket(server.address());
        for chunk in bytes.chunks(piece) {
            socket.write_all(chunk).unwrap();
        }
        assert!(read_head(&mut socket).starts_with("HTTP/1.1 101 "));
        let mut echo = [0; 7];
        socket.read_exact(&mut echo).unwrap();
        assert_eq!(&echo, b"\x81\x05early");
    }
}

#[test]
fn pings_are_answered_on_every_kind_of_path() {
    let server = target();
    for target in
        ["/echo", "/push?hz=0.01", "/slow", "/drop", "/cap?hz=0.01", "/silent", "/flood?max=1"]
    {
        let mut client = connect(server.address(), target);
        client.send(Message::Ping(Bytes::from_static(b"there?"))).unwrap();
        let pong = loop {
            match client.read().unwrap() {
                Message::Text(_) => {}
                other => break other,
            }
        };
        assert_eq!(pong, Message::Pong(Bytes::from_static(b"there?")), "{target}");
    }
}

#[test]
fn a_close_is_answered_with_its_code_and_the_server_ends_tcp() {
    let server = target();
    let mut client = connect(server.address(), "/echo");
    let close = CloseFrame { code: CloseCode::Library(4_321), reason: "bye".into() };
    client.close(Some(close)).unwrap();
    assert_eq!(closed_with(&mut client), Some(4_321));
    let mut client = connect(server.address(), "/silent");
    client.close(None).unwrap();
    assert_eq!(closed_with(&mut client), None);
    assert_eq!(server.counters().closes_received, 2);
    assert_eq!(server.counters().open, 0);
}

#[test]
fn push_sends_numbers_and_the_time_and_echoes_too() {
    let server = target();
    let mut client = connect(server.address(), "/push?hz=100");
    client.send(Message::text("mine")).unwrap();
    let (mut numbers, mut echoed) = (Vec::new(), false);
    while numbers.len() < 5 {
        let text = client.read().unwrap().into_text().unwrap();
        if text.as_str() == "mine" {
            echoed = true;
            continue;
        }
        let push: serde_json::Value = serde_json::from_str(&text).unwrap();
        let now = clock::Clock::start();
        let age = now.epoch_ms(now.started()).abs_diff(push["t"].as_u64().unwrap());
        assert!(age < 5_000, "sent {age} ms away from now");
        numbers.push(push["seq"].as_u64().unwrap());
    }
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
    assert!(echoed);
}

#[test]
fn slow_echoes_after_the_delay() {
    let server = target();
    let mut client = connect(server.address(), "/slow?ms=80");
    let asked = clock::now();
    assert_eq!(ask(&mut client, "a"), Message::text("a"));
    assert!(asked.elapsed() >= Duration::from_millis(80));
}

#[test]
fn drop_closes_with_the_code_after_its_last_echo() {
    let server = target();
    for (query, code) in [("", Some(1_011)), ("&code=4000", Some(4_000)), ("&code=1005", None)] {
        let mut client = connect(server.address(), &format!("/drop?after=2{query}"));
        assert_eq!(ask(&mut client, "a"), Message::text("a"));
        assert_eq!(ask(&mut client, "b"), Message::text("b"));
        assert_eq!(closed_with(&mut client), code, "{query}");
    }
    let mut client = connect(server.address(), "/drop?after=0&code=1001");
    assert_eq!(closed_with(&mut client), Some(1_001));
}

#[test]
fn drop_can_end_the_stream_or_reset_it() {
    let server = target();
    let mut socket = upgraded(&server, "/drop?after=1&code=1006");
    socket.write_all(&masked(0x81, b"a")).unwrap();
    assert_eq!(rest_of(&mut socket), b"\x81\x01a");
    let mut socket = upgraded(&server, "/drop?after=1&code=0");
    socket.write_all(&masked(0x81, b"a")).unwrap();
    let mut bytes = Vec::new();
    let end = socket.read_to_end(&mut bytes).unwrap_err();
    assert_eq!((end.kind(), bytes.as_slice()), (ErrorKind::ConnectionReset, &b"\x81\x01a"[..]));
}

#[test]
fn the_cap_refuses_what_is_beyond_it_until_a_place_is_free() {
    let server = target();
    let target = "/cap?max=2&hz=0.01";
    let mut first = connect(server.address(), target);
    let _second = connect(server.address(), target);
    assert_eq!(try_connect(server.address(), target).err(), Some(503));
    first.close(None).unwrap();
    assert_eq!(closed_with(&mut first), None);
    let _third = connect(server.address(), target);
    assert_eq!(try_connect(server.address(), target).err(), Some(503));
    // Other paths have no part in it.
    let _other = connect(server.address(), "/echo");
    let counters = server.counters();
    assert_eq!((counters.connections, counters.open, counters.rejected), (4, 3, 2));
}

#[test]
fn binary_and_fragment_change_the_frames_and_not_the_message() {
    let server = target();
    let mut client = connect(server.address(), "/binary");
    assert_eq!(ask(&mut client, "a"), Message::binary(&b"a"[..]));
    let mut client = connect(server.address(), "/fragment?n=4");
    assert_eq!(ask(&mut client, "ééé"), Message::text("ééé"));
    let mut socket = upgraded(&server, "/fragment?n=3");
    socket.write_all(&masked(0x82, b"abcdef")).unwrap();
    let mut frames = [0; 12];
    socket.read_exact(&mut frames).unwrap();
    assert_eq!(&frames, b"\x02\x02ab\x00\x02cd\x80\x02ef");
}

#[test]
fn silent_reads_and_says_nothing() {
    let server = target();
    let mut client = connect(server.address(), "/silent");
    client.send(Message::text("a")).unwrap();
    client.send(Message::Ping(Bytes::new())).unwrap();
    assert_eq!(client.read().unwrap(), Message::Pong(Bytes::new()));
    let counters = server.counters();
    assert_eq!((counters.messages_received, counters.messages_sent), (1, 0));
}

#[test]
fn a_flood_ends_at_its_number_and_leaves_the_connection_open() {
    let server = target();
    let mut client = connect(server.address(), "/flood?max=5000&bytes=100");
    for _ in 0..5_000 {
        assert_eq!(client.read().unwrap().len(), 100);
    }
    client.send(Message::Ping(Bytes::new())).unwrap();
    assert_eq!(client.read().unwrap(), Message::Pong(Bytes::new()));
    let counters = server.counters();
    assert_eq!((counters.messages_sent, counters.bytes_sent), (5_000, 5_000 * 102 + 2));
}

#[test]
fn an_endless_flood_can_be_closed_and_holds_nobody_else_up() {
    let server = target();
    let mut flooded = connect(server.address(), "/flood");
    assert_eq!(flooded.read().unwrap().len(), 1_024);
    let mut other = connect(server.address(), "/echo");
    assert_eq!(ask(&mut other, "a"), Message::text("a"));
    flooded.close(None).unwrap();
    assert_eq!(closed_with(&mut flooded), None);
}

#[test]
fn a_client_that_reads_nothing_is_not_buffered_for() {
    let server = target();
    let mut socket = upgraded(&server, "/echo");
    socket.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let chunk = masked(0x82, &[0; 100]).repeat(1_000);
    let mut taken = 0;
    let full = loop {
        match socket.write(&chunk) {
            Ok(length) => taken += length,
            Err(error) => break error,
        }
        assert!(taken < 100 << 20, "the server takes everything");
    };
    assert_eq!(full.kind(), ErrorKind::WouldBlock);
}

#[test]
fn each_violation_is_closed_with_its_code() {
    let server = target();
    let frames: [(&str, Vec<u8>, u16); 12] = [
        ("not masked", vec![0x81, 1, b'a'], 1_002),
        ("reserved bit", masked(0xc1, b"a"), 1_002),
        ("reserved opcode", masked(0x83, b"a"), 1_002),
        ("fragmented ping", masked(0x09, b""), 1_002),
        ("long ping", vec![0x89, 0xfe, 0, 126], 1_002),
        ("stray continuation", masked(0x80, b"a"), 1_002),
        ("two messages at once", [masked(0x01, b"a"), masked(0x81, b"b")].concat(), 1_002),
        ("not UTF-8", masked(0x81, b"\xff"), 1_007),
        ("close of one byte", masked(0x88, b"\x03"), 1_002),
        ("close code 1005", masked(0x88, &1_005_u16.to_be_bytes()), 1_002),
        ("close reason not UTF-8", masked(0x88, b"\x03\xe8\xff"), 1_007),
        ("17 MiB", vec![0x82, 0xff, 0, 0, 0, 0, 1, 0x10, 0, 0], 1_009),
    ];
    for (what, bytes, code) in frames {
        let mut socket = upgraded(&server, "/echo");
        // More input behind the violation, too much for one read, must not make the answer a reset.
        socket.write_all(&[bytes, vec![0; 500_000]].concat()).unwrap();
        let answer = rest_of(&mut socket);
        assert_eq!(answer.get(2..4), Some(&code.to_be_bytes()[..]), "{what}: {answer:02x?}");
        assert_eq!(answer[0], 0x88, "{what}");
    }
    assert_eq!(server.counters().violations, 12);
    assert_eq!(server.counters().open, 0);
}

#[test]
fn requests_that_cannot_be_upgraded_say_why() {
    let server = target();
    for status in [200, 301, 401, 403, 429, 500, 503] {
        let refused = try_connect(server.address(), &format!("/reject?status={status}"));
        assert_eq!(refused.err(), Some(status));
    }
    assert_eq!(try_connect(server.address(), "/reject").err(), Some(403));
    assert_eq!(try_connect(server.address(), "/chat").err(), Some(404));
    assert_eq!(try_connect(server.address(), "/push?hz=x").err(), Some(400));
    assert_eq!(server.counters().rejected, 10);
    let answer = get(server.address(), "/push?hz=x");
    assert!(answer.contains("hz=x: not a number from 0.001 to 10000"), "{answer}");
    let answer = get(server.address(), "/echo");
    assert!(answer.starts_with("HTTP/1.1 426 "), "{answer}");
    let answer = exchange(server.address(), "\x16\x03\x01 this is TLS\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    let answer = exchange(server.address(), &format!("GET /{} HTTP/1.1\r\n", "x".repeat(20_000)));
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
}

#[test]
fn an_upgrade_can_be_delayed() {
    let server = target();
    let asked = clock::now();
    let mut client = connect(server.address(), "/echo?delay_upgrade_ms=120");
    assert!(asked.elapsed() >= Duration::from_millis(120));
    assert_eq!(ask(&mut client, "a"), Message::text("a"));
}

#[test]
fn the_counters_over_http_agree_and_do_not_count_themselves() {
    let server = target();
    let mut client = connect(server.address(), "/echo");
    for _ in 0..10 {
        ask(&mut client, "12345678");
    }
    assert_eq!(count(server.address())["open"], 1);
    client.close(None).unwrap();
    closed_with(&mut client);
    let counted = count(server.address());
    let of = |name: &str| counted[name].as_u64().unwrap_or_else(|| panic!("no {name}"));
    assert_eq!((of("connections"), of("open"), of("rejected")), (1, 0, 0));
    assert_eq!((of("messages_received"), of("messages_sent")), (10, 10));
    // Ten frames and a close frame each way; the client's are masked.
    assert_eq!((of("bytes_received"), of("bytes_sent")), (10 * 14 + 6, 10 * 10 + 2));
    let paths = get(server.address(), "/");
    assert!(paths.contains("/echo") && paths.contains("/count"), "{paths}");
}

#[test]
fn a_client_that_vanishes_is_no_longer_open() {
    let server = target();
    let client = connect(server.address(), "/push");
    assert_eq!(server.counters().open, 1);
    drop(client);
    wait_until("the connection is gone", || server.counters().open == 0);
    let mut unfinished = socket(server.address());
    unfinished.write_all(b"GET /echo HT").unwrap();
    drop(unfinished);
    wait_until("the request is given up", || server.counters().incomplete == 1);
}

#[test]
fn stopping_closes_every_connection_with_1001_within_a_second() {
    let server = target();
    let address = server.address();
    let mut clients: Vec<Client> =
        ["/echo", "/push", "/flood?max=3"].map(|target| connect(address, target)).into();
    // One that never reads, one that never answers, one that never finishes its request.
    let _stuck = connect(address, "/flood");
    let _mute = upgraded(&server, "/echo");
    let _unfinished = socket(address);
    let readers =
        clients.drain(..).map(|mut client| std::thread::spawn(move || closed_with(&mut client)));
    let readers: Vec<_> = readers.collect();
    let told = clock::now();
    let counters = server.stop();
    assert!(told.elapsed() < Duration::from_secs(1), "{:?}", told.elapsed());
    assert_eq!(counters.open, 0);
    for reader in readers {
        assert_eq!(reader.join().unwrap(), Some(1_001));
    }
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
}

#[test]
fn an_address_in_use_is_named() {
    let server = target();
    let error = wsmeter::target::Server::start(server.address()).unwrap_err();
    assert!(error.to_string().contains(&server.address().to_string()), "{error}");
}

#[test]
fn a_room_hears_what_each_of_its_members_says() {
    let server = target();
    let mut ann = connect(server.address(), "/rooms/lobby?token=a");
    let mut bob = connect(server.address(), "/rooms/lobby");
    let mut eve = connect(server.address(), "/rooms/other");
    assert_eq!(ask(&mut eve, "alone"), Message::text("alone"));
    assert_eq!(ask(&mut ann, "hello"), Message::text("hello"));
    assert_eq!(bob.read().unwrap(), Message::text("hello"));
    bob.send(Message::binary(vec![1, 2])).unwrap();
    assert_eq!(ann.read().unwrap(), Message::binary(vec![1, 2]));
    drop(ann);
    assert_eq!(bob.read().unwrap(), Message::binary(vec![1, 2]));
    assert_eq!(try_connect(server.address(), "/rooms/").err(), Some(404));
}

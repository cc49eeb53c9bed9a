//! What samplers send: encodings, files, random bytes, NUL at the end; as the server sees it.

use crate::run::{plan, run_against, start};
use crate::support::env::Env;
use crate::support::peer::Peer;
use crate::support::peer_connection::Record;
use crate::support::peer_frame::{BINARY, CLOSE, TEXT};

fn echo() -> Peer {
    Peer::spawn(|client| {
        client.accept();
        client.echo();
    })
}

/// Type and payload of all messages.
fn messages(record: &Record) -> Vec<(u8, Vec<u8>)> {
    let messages = record.frames.iter().filter(|frame| frame.first != CLOSE);
    messages.map(|frame| (frame.first, frame.payload.clone())).collect()
}

#[test]
fn bytes_are_sent_as_the_encodings_say() {
    let steps = r"
- open
- single_write: { name: hex, send_hex: '0xca 0xfe BABE' }
- request_response: { name: base64, send_base64: 'yv4 =' }
- loop: { times: 2, steps: [{ single_write: { name: later, send_base64: '${__P(b, AAECAw==)}' } }] }
- single_write: { name: dynamic, send_base64: 'AAE${two}' }
- close
";
    let plan = format!("variables: {{ two: C }}\n{}", plan("", steps));
    let (finished, records) = run_against(echo(), &plan);
    finished.expect_exit(0);
    let four = vec![0, 1, 2, 3];
    let wanted: Vec<(u8, Vec<u8>)> =
        [vec![0xca, 0xfe, 0xba, 0xbe], vec![0xca, 0xfe], four.clone(), four, vec![0, 1, 2]]
            .map(|payload| (BINARY, payload))
            .into();
    assert_eq!(messages(&records[0]), wanted);
}

#[test]
fn an_encoding_that_is_wrong_in_the_run_sends_nothing() {
    let steps = "- open\n- single_write: { send_base64: '${cut}' }\n- single_write: {name: r, \
                 send_random: '${huge}'}\n- close";
    let plan = format!("variables: {{ cut: yv4, huge: 1GiB }}\n{}", plan("", steps));
    let (finished, records) = run_against(echo(), &plan);
    finished.expect_exit(1);
    let row = finished.row("single_write");
    assert_eq!(row.code, "BAD_VALUE");
    assert_eq!(row.failure, "this Base64 is cut off, from `${cut}`");
    assert_eq!(finished.row("r").code, "BAD_VALUE");
    assert_eq!(messages(&records[0]), []);
}

#[test]
fn files_are_read_once_before_the_run_relative_to_the_plan() {
    let env = Env::new();
    fs_err::create_dir(env.path("sub")).expect("a folder");
    env.write("sub/text.txt", "hé ${n}\n");
    env.write("sub/bytes", [0xff, 0x00, 0x80]);
    let steps = r"
- open
- single_write: { name: text, send_file: text.txt }
- single_write: { name: bytes, send_file: { path: bytes, type: binary } }
- loop:
    times: 2
    steps:
      - single_write:
          name: template
          send_file: { path: '${__P(file)}', template: true }
- close
";
    let steps = steps.replace("${n}", "${__counter(FALSE, n)}");
    let peer = echo();
    let plan = format!("variables: {{ n: '5' }}\n{}", plan("", &steps));
    env.write("sub/plan.yaml", plan);
    let target = format!("target={}", peer.url("/"));
    let run = ["run", "sub/plan.yaml", "-o", "results", "-J", &target, "-J", "file=text.txt"];
    let finished = env.wsmeter(&run).finish();
    finished.expect_exit(0);
    let records = peer.finish();
    let wanted = [
        (TEXT, "hé ${n}\n".as_bytes().to_vec()),
        (BINARY, vec![0xff, 0x00, 0x80]),
        (TEXT, "hé 5\n".as_bytes().to_vec()),
        (TEXT, "hé 5\n".as_bytes().to_vec()),
    ];
    assert_eq!(messages(&records[0]), wanted);
}

#[test]
fn a_check_reads_the_files_too() {
    let env = Env::new();
    let steps = "- open: { url: 'ws://127.0.0.1:1' }\n- single_write: { send_file: message }";
    let plan = format!("thread_groups:\n- steps:\n  {}\n", steps.replace('\n', "\n  "));
    env.write("plan.yaml", plan);
    let checked = env.wsmeter(&["check", "plan.yaml"]).finish();
    checked.expect_exit(2);
    assert!(checked.stderr.contains("there is no file `message`"), "{}", checked.stderr);
    env.write("message", "hello");
    env.wsmeter(&["check", "plan.yaml"]).finish().expect_exit(0);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_instead_of_waited_for() {
    let env = Env::new();
    env.write(
        "plan.yaml",
        "thread_groups:\n- steps:\n  - open: { url: 'ws://127.0.0.1:1' }\n  - \
                            single_write: { send_file: /dev/zero }\n",
    );
    let checked = env.wsmeter(&["check", "plan.yaml"]).finish();
    checked.expect_exit(2);
    assert!(checked.stderr.contains("is no ordinary file"), "{}", checked.stderr);
}

#[test]
fn random_bytes_are_new_at_each_execution() {
    let steps = "- open\n- loop: {times: 3, steps: [{request_response: {send_random: 4KiB}}]}\n\
                 - single_write: {name: none, send_random: 0}\n- close";
    let (finished, records) = run_against(echo(), &plan("", steps));
    finished.expect_exit(0);
    let sent = messages(&records[0]);
    assert!(sent.iter().all(|(kind, _)| *kind == BINARY));
    let lengths: Vec<usize> = sent.iter().map(|(_, payload)| payload.len()).collect();
    assert_eq!(lengths, [4_096, 4_096, 4_096, 0]);
    assert!(sent[0].1 != sent[1].1 && sent[1].1 != sent[2].1);
}

#[test]
fn stomp_ends_every_kind_of_text_with_nul() {
    let env = Env::new();
    env.write("frame", "SEND\n\nx");
    let steps = r"
- open
- single_write: { name: text, send: ping, stomp: true }
- single_write: { name: template, send: 'ping ${n}', stomp: true }
- single_write: { name: json, send_json: { n: '${n}' }, stomp: true }
- single_write: { name: file, send_file: frame, stomp: '${__P(stomp, true)}' }
- request_response: { name: without, send: ping, stomp: false }
- close
";
    let peer = echo();
    let plan = format!("variables: {{ n: '5' }}\n{}", plan("", steps));
    start(&env, &plan, &peer.url("/")).finish().expect_exit(0);
    let records = peer.finish();
    assert_eq!(records[0].texts(), ["ping\0", "ping 5\0", "{\"n\":5}\0", "SEND\n\nx\0", "ping"]);
}

#[test]
fn a_binary_payload_makes_same_mean_binary() {
    let steps = "- open\n- request_response: {send_random: 8B, filters: [text]}\n- close";
    let peer = Peer::spawn(|client| {
        client.accept();
        client.expect_frame();
        client.send_text("noise");
        client.send_frame(BINARY, b"reply");
        client.echo();
    });
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
    assert_eq!(finished.row("request_response").data_type, "bin");
    assert!(finished.stderr.is_empty() || !finished.stderr.contains("discards"));
    let swallowed = steps.replace("filters: [text]", "filters: [binary], read_timeout: 50ms");
    let (finished, _) = run_against(echo(), &plan("", &swallowed));
    finished.expect_exit(1);
    assert!(finished.stderr.contains("discards what `request_response` waits for"));
}

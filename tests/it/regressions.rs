//! Bugs that were found by attacking a build that worked; each was seen to fail before its fix.

use std::time::Duration;

use wsmeter::clock;

use crate::run::{plan, run_against, start};
use crate::support::env::Env;
use crate::support::peer::Peer;
use crate::support::peer_connection::PeerConnection;
use crate::support::peer_frame::{BINARY, PING, TEXT, frame};
use crate::support::target;
use crate::support::time::wait_until;

#[test]
fn what_waited_unread_in_the_kernel_is_no_reply() {
    // The inbox is full after the first message, so the rest stays in the socket until the request
    // reads it: after its own first byte, but written long before.
    let peer = Peer::spawn(|client| {
        client.accept();
        client.send(&[frame(TEXT, b"early 0"), frame(PING, b"read")].concat());
        client.expect_pong(b"read");
        for number in 1..=3 {
            client.send_text(&format!("early {number}"));
        }
        assert_eq!(client.expect_text(), "hello");
        client.send_text("the reply");
        client.echo();
    });
    let steps = r"
- open: {inbox: {messages: 1, when_full: wait}}
- pause: 300ms
- request_response: {send: hello, assert: {equals: the reply}}
- loop:
    times: 4
    steps:
      - single_read: {assert: {contains: early}}
- close
";
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
    assert!((finished.summary_number("labels/request_response/early") - 4.0).abs() < f64::EPSILON);
}

#[test]
fn a_writer_reads_on_where_the_inbox_waits_so_that_neither_side_blocks_the_other() {
    const MESSAGES: usize = 12;
    // More than the kernel's buffers hold: the peer reads only once all of it was taken.
    let peer = Peer::spawn(|client: &mut PeerConnection| {
        client.accept();
        for _ in 0..MESSAGES {
            client.send(&frame(BINARY, &vec![7; 1_000_000]));
        }
        for _ in 0..MESSAGES {
            assert_eq!(client.expect_text().len(), 1_000_000);
        }
        client.echo_nothing();
    });
    let steps = r"
- open: {inbox: {messages: 1, when_full: wait}}
- loop:
    times: 12
    steps:
      - single_write: {send: '${__RandomString(1000000, x)}', write_timeout: 5s}
- close
";
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
}

#[test]
fn a_signal_that_the_caller_ignores_does_not_end_the_run() {
    // As `nohup wsmeter run … &` does when its terminal is closed.
    let (server, env) = (target(), Env::new());
    let steps = "- open\n- loop: {times: forever, steps: [{request_response: hello}]}";
    env.write("plan.yaml", plan("duration: 2s", steps));
    let url = format!("target=ws://{}/echo", server.address());
    let arguments = ["run", "plan.yaml", "-o", "results", "-J", &url];
    let running = env.wsmeter_after("trap '' HUP", &arguments);
    wait_until("messages flow", || server.counters().messages_received > 100);
    running.signal("HUP");
    running.finish().expect_exit(0);
}

#[test]
fn a_machine_without_free_descriptors_is_not_taken_for_a_server_that_refuses() {
    let (server, env) = (target(), Env::new());
    env.write("plan.yaml", plan("threads: 400", "- open\n- pause: 500ms\n- close"));
    let url = format!("target=ws://{}/echo", server.address());
    // Else it would be refused before it begins.
    let arguments = ["run", "plan.yaml", "-o", "results", "--force", "-J", &url];
    let finished = env.wsmeter_after("ulimit -n 256", &arguments).finish();
    finished.expect_exit(1);
    let failed: Vec<_> = finished.rows.iter().filter(|row| !row.success).collect();
    assert!(!failed.is_empty());
    for row in failed {
        assert!(
            row.failure.contains("this machine") && row.failure.contains("ulimit -n"),
            "{row:?}"
        );
    }
}

#[test]
fn a_second_signal_waits_for_no_server_that_is_slow_to_close() {
    let peer = Peer::spawn(|client| {
        client.accept();
        client.expect_text();
        while client.is_connected() {
            client.listen(Duration::from_millis(50));
        }
    });
    let env = Env::new();
    let steps = "- open\n- request_response: {send: hello, read_timeout: 30s}";
    let running = start(&env, &plan("", steps), &peer.url("/"));
    wait_until("the row of the open is written", || {
        fs_err::read_to_string(running.jtl()).is_ok_and(|text| text.lines().count() == 2)
    });
    running.signal("INT");
    wait_until("the first signal is taken", || running.stderr().contains("second signal"));
    let second = clock::now();
    running.signal("INT");
    let finished = running.finish();
    let took = second.elapsed();
    finished.expect_exit(130);
    assert_eq!(finished.row("request_response").code, "INTERRUPTED");
    assert!(took < Duration::from_millis(700), "{took:?}");
    peer.finish();
}

#[test]
fn an_open_that_cannot_be_tried_leaves_no_older_connection_to_the_steps_below_it() {
    let failing = [
        ("{name: second, url: '${__threadGroupName}'}", "second", "BAD_VALUE"),
        ("{name: '${late}'}", "${late}", "UNDEFINED_VARIABLE"),
    ];
    for (open, label, code) in failing {
        let server = target();
        let steps = format!(
            "- open: {{name: first}}\n- open: {open}\n- request_response: hello\n- close\n\
             - request_response: '${{__counter(TRUE, late)}}'"
        );
        let url = format!("ws://{}/echo", server.address());
        let finished = start(&Env::new(), &plan("", &steps), &url).finish();
        finished.expect_exit(1);
        assert_eq!(finished.row(label).code, code);
        assert_eq!(finished.rows.len(), 2, "the rest is skipped: {finished:#?}");
        assert_eq!(server.counters().messages_received, 0);
    }
}

#[test]
fn a_timeout_for_reading_and_writing_is_evaluated_once_for_both() {
    let server = target();
    let steps = r"
- open
- loop:
    times: 3
    steps:
      - request_response: {name: ask, send: a, read_timeout: '${__counter(TRUE, n)}s'}
- request_response: {name: count, send: '${n}', assert: {equals: '3'}}
- ping_pong: {read_timeout: '${__counter(TRUE, m)}s'}
- request_response: {name: count, send: '${m}', assert: {equals: '1'}}
- close: {read_timeout: '${__counter(TRUE, k)}s'}
- open
- request_response: {name: count, send: '${k}', assert: {equals: '1'}}
";
    let env = Env::new();
    let url = format!("ws://{}/echo", server.address());
    start(&env, &plan("", steps), &url).finish().expect_exit(0);
}

#[test]
fn a_run_whose_summary_cannot_be_written_does_not_end_with_passed() {
    let (server, env) = (target(), Env::new());
    let steps = "- open\n- request_response: hello\n- pause: 300ms\n- close";
    let url = format!("ws://{}/echo", server.address());
    let running = start(&env, &plan("", steps), &url);
    wait_until("the request is there", || server.counters().messages_received == 1);
    fs_err::remove_dir_all(env.path("results")).unwrap();
    let finished = running.finish();
    finished.expect_exit(3);
    let last = finished.stderr.lines().last().unwrap();
    assert!(last.starts_with("BROKE OFF"), "{}", finished.stderr);
    assert!(finished.stderr.contains("summary.json"), "{}", finished.stderr);
}

#[test]
fn a_duration_beyond_all_clocks_is_a_mistake_in_the_plan_and_no_crash_in_the_run() {
    let server = target();
    let url = format!("ws://{}/echo", server.address());
    let run = |steps: &str| start(&Env::new(), &plan("", steps), &url).finish();
    let finished = run("- open: {connect_timeout: 2600000000000000h}\n- close");
    finished.expect_exit(2);
    assert!(finished.stderr.contains("longer than 100 years"), "{}", finished.stderr);
    let finished = run("- open\n- ping_pong: {read_timeout: '${__RandomString(16, 2)}h'}\n- close");
    finished.expect_exit(1);
    assert_eq!(finished.row("ping_pong").code, "BAD_VALUE");
    run("- open\n- ping_pong: {read_timeout: 876000h}\n- close").expect_exit(0);
}

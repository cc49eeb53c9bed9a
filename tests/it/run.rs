//! Whole runs of the binary against the embedded server: counts, codes, exit codes, endings.

use std::time::Duration;

use wsmeter::clock;
use wsmeter::target::Server;

use crate::support::env::{Env, Finished, Running};
use crate::support::peer::Peer;
use crate::support::peer_connection::{PeerConnection, Record};
use crate::support::peer_frame::{CLOSE, PeerFrame, TEXT, frame};
use crate::support::time::wait_until;
use crate::support::{jtl, target};

/// The steps of `group` below a thread group with these settings.
pub(crate) fn plan(group: &str, steps: &str) -> String {
    format!(
        "name: test\ndefaults:\n  url: ${{__P(target)}}\nthread_groups:\n  - name: Users\n{}    \
         steps:\n{}",
        indented(group, "    "),
        indented(steps, "      ")
    )
}

fn indented(text: &str, by: &str) -> String {
    let lines = text.trim_matches('\n').lines();
    lines.flat_map(|line| [by, line, "\n"]).collect()
}

pub(crate) fn start(env: &Env, plan: &str, url: &str) -> Running {
    env.start(plan, &["-J", &format!("target={url}")])
}

fn run(plan: &str, server: &Server, path: &str) -> Finished {
    start(&Env::new(), plan, &format!("ws://{}{path}", server.address())).finish()
}

pub(crate) fn run_against(peer: Peer, plan: &str) -> (Finished, Vec<Record>) {
    let finished = start(&Env::new(), plan, &peer.url("/")).finish();
    (finished, peer.finish())
}

/// The same against a peer that accepts one connection and then runs the script.
pub(crate) fn run_scripted(
    script: impl Fn(&mut PeerConnection) + Send + Sync + 'static,
    steps: &str,
) -> (Finished, Record) {
    let peer = Peer::spawn(move |client| {
        client.accept();
        script(client);
    });
    let (finished, mut records) = run_against(peer, &plan("", steps));
    (finished, records.remove(0))
}

/// How many rows have this label and this code.
fn count(finished: &Finished, label: &str, code: &str) -> usize {
    finished.rows.iter().filter(|row| row.label == label && row.code == code).count()
}

#[test]
fn every_execution_is_a_row_and_the_server_counts_the_same() {
    let server = target();
    let steps = r"
- open
- loop:
    times: 20
    steps:
      - request_response:
          send: 'id ${__threadNum}'
          assert:
            - equals: 'id ${__threadNum}'
- close
";
    let finished = run(&plan("threads: 10\nloops: 5", steps), &server, "/echo");
    finished.expect_exit(0);
    assert_eq!(finished.rows.len(), 1_100);
    assert_eq!(count(&finished, "open", "101"), 50);
    assert_eq!(count(&finished, "request_response", "200"), 1_000);
    assert_eq!(count(&finished, "close", "1000"), 50);
    assert!(finished.rows.iter().all(|row| row.success));
    assert!(finished.rows.iter().all(|row| row.thread.starts_with("Users 1-")));
    let counters = server.counters();
    assert_eq!((counters.connections, counters.open, counters.rejected), (50, 0, 0));
    assert_eq!((counters.messages_received, counters.messages_sent), (1_000, 1_000));
    let sent = finished.rows("request_response").iter().map(|row| row.sent_bytes).sum::<u64>();
    let closes = finished.rows("close").iter().map(|row| row.sent_bytes).sum::<u64>();
    assert_eq!(sent + closes, counters.bytes_received);
    assert!((finished.summary_number("labels/all/count") - 1_100.0).abs() < f64::EPSILON);
    assert_eq!(finished.summary["verdict"], "passed");
}

#[test]
fn one_refused_connection_is_one_error_and_the_rest_is_skipped() {
    let server = target();
    let steps = "- open\n- loop: {times: 5, steps: [single_read]}\n- close";
    let finished = run(&plan("threads: 15", steps), &server, "/cap?max=10&hz=10");
    finished.expect_exit(1);
    assert_eq!(count(&finished, "open", "101"), 10);
    assert_eq!(count(&finished, "open", "503"), 5);
    assert_eq!(count(&finished, "single_read", "200"), 50);
    assert_eq!(finished.rows.iter().filter(|row| !row.success).count(), 5);
    assert_eq!(finished.rows.len(), 15 + 50 + 10);
    assert_eq!(server.counters().rejected, 5);
}

#[test]
fn skipped_samplers_are_counted_with_their_cause() {
    let server = target();
    let steps = "- open\n- single_read\n- single_read\n- single_read\n- close";
    let finished = run(&plan("threads: 3", steps), &server, "/reject?status=503");
    finished.expect_exit(1);
    assert_eq!(finished.rows.len(), 3);
    assert!((finished.summary_number("labels/all/skipped") - 12.0).abs() < f64::EPSILON);
    assert!(finished.summary["skipped"].to_string().contains("503"), "{finished:#?}");
}

#[test]
fn steps_left_out_by_next_iteration_are_not_skips() {
    let server = target();
    let steps = "- open\n- single_read\n- single_read\n- close";
    let group = "threads: 3\non_error: next_iteration";
    let finished = run(&plan(group, steps), &server, "/reject?status=503");
    finished.expect_exit(1);
    assert_eq!(finished.rows.len(), 3);
    assert!((finished.summary_number("labels/all/skipped")).abs() < f64::EPSILON);
}

#[test]
fn pings_are_answered_while_the_thread_pauses() {
    let peer = Peer::spawn(|client| {
        client.accept();
        for number in 0..5_u8 {
            let sent = clock::now();
            client.send_ping(&[number]);
            let answered = client.expect_pong(&[number]);
            assert!(answered - sent < Duration::from_millis(150), "late: {:?}", answered - sent);
            client.listen(Duration::from_millis(100));
        }
        client.echo();
    });
    let steps = "- open\n- pause: 800ms\n- request_response: hello\n- close";
    let (finished, records) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
    assert_eq!(finished.rows.len(), 3);
    assert_eq!(records[0].texts(), ["hello"]);
}

#[test]
fn a_close_during_a_pause_is_answered_at_once_and_met_by_the_next_sampler() {
    let peer = Peer::spawn(|client| {
        client.accept();
        let sent = clock::now();
        client.send_close(1_001, "restart");
        assert_eq!(client.expect_close(), Some(1_001));
        assert!(sent.elapsed() < Duration::from_millis(200), "late: {:?}", sent.elapsed());
    });
    let steps = "- open\n- pause: 500ms\n- request_response: hello\n- request_response: again\n\
                 - close";
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(1);
    assert_eq!(finished.rows.len(), 2, "{finished:#?}");
    let met = finished.row("request_response");
    assert_eq!((met.code.as_str(), met.success), ("1001", false));
    assert!(met.failure.contains("restart"), "{met:?}");
    assert!((finished.summary_number("labels/all/skipped") - 2.0).abs() < f64::EPSILON);
}

#[test]
fn a_trickled_reply_does_not_extend_the_deadline() {
    let peer = Peer::spawn(|client| {
        client.accept();
        client.expect_text();
        let reply = frame(TEXT, b"a long enough reply");
        client.trickle(&reply, Duration::from_millis(100));
    });
    let steps = "- open\n- request_response: {send: hello, read_timeout: 400ms}";
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(1);
    let row = finished.row("request_response");
    assert_eq!(row.code, "READ_TIMEOUT");
    assert!((400..=480).contains(&row.elapsed), "{row:?}");
}

#[test]
fn a_reply_that_came_before_its_request_is_not_its_reply() {
    let peer = Peer::spawn(|client| {
        client.accept();
        client.send_text("too early");
        assert_eq!(client.expect_text(), "hello");
        client.send_text("the reply");
        client.echo();
    });
    let steps = r"
- open
- pause: 150ms
- request_response: {send: hello, assert: {equals: the reply}}
- single_read: {assert: {equals: too early}}
- close
";
    let (finished, _) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
    assert_eq!(finished.rows.len(), 4);
}

#[test]
fn a_late_reply_is_not_credited_to_the_next_request() {
    let server = target();
    let steps = r"
- open
- request_response: {name: first, send: one, read_timeout: 100ms}
- request_response: {name: second, send: two, read_timeout: 2s}
- close
";
    let finished = run(&plan("", steps), &server, "/slow?ms=300");
    finished.expect_exit(1);
    assert_eq!(finished.row("first").code, "READ_TIMEOUT");
    assert_eq!(finished.rows("second").len(), 0, "{finished:#?}");
    assert!(finished.summary["skipped"].to_string().contains("OUT_OF_SYNC"), "{finished:#?}");
    assert_eq!(server.counters().messages_received, 1);
}

#[test]
fn a_peer_that_never_answers_the_close_costs_its_deadline() {
    let peer = Peer::spawn(|client| {
        client.accept();
        client.expect_end();
    });
    let steps = "- open\n- close: {read_timeout: 300ms}";
    let (finished, records) = run_against(peer, &plan("", steps));
    finished.expect_exit(1);
    let row = finished.row("close");
    assert_eq!(row.code, "READ_TIMEOUT");
    assert!((300..=380).contains(&row.elapsed), "{row:?}");
    let closes = records[0].frames.iter().filter(|frame| frame.first == CLOSE);
    assert_eq!(closes.map(PeerFrame::close_code).collect::<Vec<_>>(), [Some(1_000)]);
}

#[test]
fn every_frame_has_a_mask_of_its_own() {
    let peer = Peer::spawn(|client| {
        client.accept();
        client.echo();
    });
    let steps = "- open\n- loop: {times: 20, steps: [{request_response: hello}]}\n- close";
    let (finished, records) = run_against(peer, &plan("", steps));
    finished.expect_exit(0);
    let mut masks: Vec<_> = records[0].frames.iter().map(|frame| frame.mask).collect();
    assert_eq!(masks.len(), 21);
    masks.sort_unstable();
    masks.dedup();
    assert!(masks.len() > 19, "masks repeat: {masks:?}");
}

#[test]
fn a_duration_ends_a_healthy_run_well() {
    let server = target();
    let steps = "- open\n- request_response: hello\n- close";
    let finished = run(&plan("threads: 4\nloops: forever\nduration: 1s", steps), &server, "/echo");
    finished.expect_exit(0);
    let asked = count(&finished, "request_response", "200") as u64;
    assert_eq!(asked, server.counters().messages_received);
    assert_eq!(finished.rows("open").len() as u64, server.counters().connections);
    assert!(asked > 4, "{asked} requests in a second");
}

#[test]
fn an_interrupted_run_keeps_everything_and_exits_130() {
    for signal in ["INT", "TERM"] {
        let (server, env) = (target(), Env::new());
        let steps = "- open\n- loop: {times: forever, steps: [{request_response: hello}]}";
        let url = format!("ws://{}/echo", server.address());
        let running = start(&env, &plan("threads: 3", steps), &url);
        wait_until("messages flow", || server.counters().messages_received > 100);
        running.signal(signal);
        let finished = running.finish_within(Duration::from_secs(20));
        finished.expect_exit(130);
        let asked = finished.rows("request_response").len() as u64;
        assert_eq!(asked, server.counters().messages_received);
        assert!(finished.rows.iter().all(|row| row.success), "{signal}");
        assert_eq!(finished.summary["exit_code"], 130);
    }
}

#[test]
fn a_killed_run_leaves_whole_lines_no_older_than_a_second() {
    let (server, env) = (target(), Env::new());
    let steps =
        "- open\n- loop: {times: forever, steps: [{request_response: hello}, {pause: 5ms}]}";
    let url = format!("ws://{}/echo", server.address());
    let running = start(&env, &plan("threads: 3", steps), &url);
    let jtl = running.jtl();
    // The header alone is written before the first connection.
    wait_until("rows are written", || {
        fs_err::read_to_string(&jtl).is_ok_and(|text| text.lines().count() > 300)
    });
    let killed = clock::Clock::start();
    running.signal("KILL");
    assert_eq!(running.finish().exit_code, None);
    let rows = jtl::read(&jtl);
    let newest = rows.iter().map(|row| row.time_stamp).max().expect("there are rows");
    let age = killed.epoch_ms(killed.started()).saturating_sub(newest);
    assert!(age < 1_500, "the newest row is {age} ms old");
}

#[test]
fn existing_results_are_refused_before_anything_is_sent() {
    let (server, env) = (target(), Env::new());
    let plan = plan("", "- open\n- close");
    let url = format!("ws://{}/echo", server.address());
    start(&env, &plan, &url).finish().expect_exit(0);
    let again = start(&env, &plan, &url).finish();
    assert!(again.exit_code.is_some_and(|code| code == 2 || code == 3), "{again:#?}");
    assert!(again.stderr.contains("--force"), "{again:#?}");
    assert_eq!(server.counters().connections, 1);
    let target = format!("target={url}");
    env.run(&plan, &["-J", &target, "--force"]).expect_exit(0);
    assert_eq!(server.counters().connections, 2);
}

#[test]
fn a_lost_connection_is_opened_again_in_the_next_iteration() {
    let peer = Peer::spawn(|client| {
        client.accept();
        if client.index() == 0 {
            client.expect_text();
            client.send_close(1_011, "");
            client.expect_close();
        } else {
            client.echo();
        }
    });
    let steps = "- open\n- request_response: hello\n- close";
    let (finished, records) = run_against(peer, &plan("loops: 2", steps));
    finished.expect_exit(1);
    let codes: Vec<&str> = finished.rows.iter().map(|row| row.code.as_str()).collect();
    assert_eq!(codes, ["101", "1011", "101", "200", "1000"]);
    assert_eq!(records.len(), 2);
}

#[test]
fn serve_says_where_it_is_and_ends_with_a_signal() {
    let env = Env::new();
    let running = env.wsmeter(&["serve", "--port", "0"]);
    wait_until("it says where it is", || running.stdout().ends_with('\n'));
    let url = running.stdout().split_whitespace().last().unwrap_or_default().to_owned();
    let steps = "- open: /echo\n- request_response: hello\n- close";
    start(&env, &plan("", steps), &url).finish().expect_exit(0);
    running.signal("TERM");
    let finished = running.finish_within(Duration::from_secs(5));
    finished.expect_exit(0);
    assert!(finished.stdout.contains("ws://127.0.0.1:"), "{finished:#?}");
}

#[test]
fn a_plan_can_be_run_against_the_embedded_server() {
    let steps = "- open: /echo\n- request_response: hello\n- close";
    let finished = Env::new().run(&plan("", steps), &["--serve"]);
    finished.expect_exit(0);
    assert_eq!(finished.rows.len(), 3);
}

#[test]
fn binary_answers_are_not_taken_for_the_text_that_was_asked_for() {
    let server = target();
    let steps = "- open\n- request_response: hello\n\
                 - request_response: {name: any, send: hello, expect: binary}\n- close";
    let finished = run(&plan("", steps), &server, "/binary");
    finished.expect_exit(1);
    let row = finished.row("request_response");
    assert_eq!((row.code.as_str(), row.success), ("UNEXPECTED_TYPE", false));
    assert!(row.failure.contains("expect"), "the setting is not named: {row:?}");
    assert_eq!(finished.row("any").data_type, "bin");
}

#[test]
fn a_disk_that_fills_up_ends_the_run_with_whole_lines() {
    let target = target();
    let env = Env::new();
    let plan = format!(
        "thread_groups:
  - threads: 4
    duration: 40s
    steps:
      - open: {{ url: 'ws://{}/echo' }}
      - loop: {{ times: forever, steps: [request_response: hello] }}
",
        target.address()
    );
    env.write("plan.yaml", plan);
    let run = ["run", "plan.yaml", "-o", "results"];
    let finished = env.wsmeter_on_a_small_disk(64, &run).finish_within(Duration::from_secs(20));
    assert_eq!(finished.exit_code, Some(3), "{}", finished.stderr);
    let last = finished.stderr.lines().last().unwrap_or_default();
    assert!(last.starts_with("BROKE OFF: failed to write `results/samples.jtl`"), "{last}");
    assert!(last.contains("rows are lost: File too large"), "{last}");
    let text = fs_err::read_to_string(env.path("results/samples.jtl")).unwrap();
    assert!(text.ends_with('\n') && text.len() <= 64 * 512, "{} bytes", text.len());
    // The rows that are there and those that are lost are all that were taken.
    let lost: u64 = last.split_whitespace().find_map(|word| word.parse().ok()).unwrap();
    let taken = finished.summary["labels"]["all"]["count"].as_u64().unwrap();
    assert_eq!(finished.rows.len() as u64 + lost, taken);
}

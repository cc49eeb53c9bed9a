//! How many allocations a sample costs, by a counting allocator. A process of its own: it counts those of all
//! threads, and this is the only test in it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::alloc::System;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use wsmeter::clock::Clock;
use wsmeter::compile::{Properties, compile};
use wsmeter::report::Recorder;
use wsmeter::sample::RunEnd;
use wsmeter::{exec, plan};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The target in a process of its own, so that its allocations are not among ours. Ends with this.
struct Target {
    process: Child,
    address: String,
}

impl Target {
    fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_wsmeter"))
            .args(["serve", "--port", "0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split_whitespace().find(|word| word.starts_with("ws://")).unwrap();
        Self { address: address.to_owned(), process }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Allocations of a run in which five threads send so many requests each.
fn allocations(target: &Target, requests: u32) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.yaml");
    let text = format!(
        "defaults: {{ url: '{}', path: /echo }}
thread_groups:
  threads: 5
  steps: [open, {{ loop: {{ times: {requests}, steps: [request_response: a constant text] }} }}, close]
",
        target.address.trim_end_matches('/')
    );
    fs_err::write(&path, text).unwrap();
    let loaded = plan::load(&path).unwrap();
    let program = Arc::new(compile(&loaded, &Properties::default()).unwrap().program);
    let jtl = folder.path().join("samples.jtl");
    let file = fs_err::File::create(&jtl).unwrap().into_file();
    let region = Region::new(ALLOCATOR);
    let recorder = Recorder::start(file, &jtl, Clock::start(), &[]).unwrap();
    let mut running = exec::start(&program, &recorder, 1).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(running.finished());
    assert_eq!(running.join(), RunEnd::Completed);
    let finished = recorder.finish();
    finished.written.unwrap();
    assert_eq!(finished.stats.all().count, 5 * u64::from(requests + 2));
    assert_eq!(finished.stats.all().failed, 0);
    let change = region.change();
    change.allocations + change.reallocations
}

#[test]
fn a_steady_exchange_of_a_constant_payload_needs_no_memory() {
    let target = Target::start();
    let few = allocations(&target, 200);
    let many = allocations(&target, 2_200);
    // 10,000 samples more. What grows with time is left: ticks, and buffers that find their size.
    let more = many.saturating_sub(few);
    assert!(more < 500, "{few} allocations, then {many}");
}

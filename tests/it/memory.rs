//! Bounds on the memory of runs that could keep too much.

use crate::support::env::Env;
use crate::support::target;
use crate::support::tls::{Authority, Front, TlsServer};

/// Samples, each with a label of its own.
const SAMPLES: u32 = 20_000;
/// A debug build needs about half of it; a histogram for each label would need a gigabyte.
const BOUND: f64 = 40e6;

#[test]
fn a_label_that_changes_with_every_sample_does_not_fill_the_memory() {
    let plan = format!(
        "
defaults: {{ url: '${{__P(target)}}/echo' }}
thread_groups:
  - threads: 4
    steps:
      - open
      - loop:
          times: {}
          steps:
            - ping_pong: {{ name: 'pong ${{__counter(FALSE)}}', kind: pong }}
",
        SAMPLES / 4
    );
    let run = Env::new().run(&plan, &["--serve"]);
    run.expect_exit(0);
    assert_eq!(run.rows.len(), SAMPLES as usize + 4);
    let labels = run.summary["labels"].as_object().expect("labels");
    assert!(labels.len() <= 1_003, "{} labels have figures", labels.len());
    assert!(labels.contains_key("(other labels)"), "the rest is counted together");
    let peak = run.summary_number("generator/peak_memory_bytes");
    assert!(peak < BOUND, "{peak} bytes");
}

/// Connections that do nothing, over TLS and without.
const IDLE: u32 = 300;
/// What TLS may add to each, with its session for the next; 6 KB were measured.
const TLS_BOUND: f64 = 12e3;

#[test]
fn an_idle_connection_over_tls_costs_kilobytes() {
    let (authority, server) = (Authority::new("ours"), target());
    let front = Front::tls(&TlsServer::new(authority.issue(&["127.0.0.1"])), server.address());
    let plan = format!(
        "
defaults: {{ url: '${{__P(url)}}/echo', tls: {{ ca: ca.pem }} }}
thread_groups:
  - threads: {IDLE}
    ramp_up: 2s
    # So that all are open at once.
    steps: [open, rendezvous: {{ threads: {IDLE}, timeout: 30s }}]
"
    );
    let env = Env::new();
    env.write("ca.pem", authority.pem());
    let peak = |url: &str| {
        let run = env.run(&plan, &["--force", "-J", &format!("url={url}")]);
        run.expect_exit(0);
        assert!((run.summary_number("connections/peak") - f64::from(IDLE)).abs() < 0.5);
        run.summary_number("generator/peak_memory_bytes")
    };
    let (plain, tls) = (peak(&format!("ws://{}", server.address())), peak(&front.url("")));
    let each = (tls - plain) / f64::from(IDLE);
    assert!((1e3..TLS_BOUND).contains(&each), "{each} bytes for each connection");
}

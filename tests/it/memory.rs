//! Bounds on the memory of runs that could keep too much.

use crate::support::env::Env;

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

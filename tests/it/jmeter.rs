//! JMeter's own report generator on our results, where `tests/jmeter/assemble` has put it together.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::support::env::Env;

#[test]
fn jmeter_reads_a_run_and_counts_the_same() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !root.join("target/jmeter/complete").exists() {
        // Past the test runner, which would keep the line to itself.
        let line = b"skipped: JMeter's report generator (tests/jmeter/assemble gets it)\n";
        std::io::stderr().lock().write_all(line).expect("stderr can be written");
        return;
    }
    let env = Env::new();
    let plan = fs_err::read_to_string(root.join("plans/quickstart.yaml")).expect("a plan");
    let finished = env.run(&plan, &["--serve", "--no-progress"]);
    assert_eq!(finished.exit_code, Some(0), "{}", finished.stderr);
    let check = Command::new("python3")
        .arg(root.join("tests/jmeter/check"))
        .arg(env.path("results"))
        .output()
        .expect("python3 can be started");
    let text = String::from_utf8_lossy(&check.stdout);
    assert!(check.status.success(), "{text}{}", String::from_utf8_lossy(&check.stderr));
    assert!(text.contains("1100 rows, JMeter agrees"), "{text}");
}

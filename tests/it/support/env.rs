//! Runs the `wsmeter` binary on plans in a folder of its own, with a deadline.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use wsmeter::clock;

use crate::support::jtl::{self, Row};
use crate::support::time::wait_at_most;

/// No run of the tests takes longer; one that does is killed.
const RUN_LIMIT: Duration = Duration::from_mins(1);

/// A temporary folder with plans and results.
pub(crate) struct Env {
    folder: TempDir,
}

/// A run that goes on. Dropping it kills it.
pub(crate) struct Running {
    child: Child,
    results: PathBuf,
    stdout: Output,
    stderr: Output,
}

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    /// `None` if a signal ended it.
    pub(crate) exit_code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The rows of `samples.jtl`; empty if there is none.
    pub(crate) rows: Vec<Row>,
    /// `summary.json`; null if there is none.
    pub(crate) summary: Value,
}

impl Env {
    pub(crate) fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder can be made") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs_err::write(&path, content).expect("the temporary folder can be written");
        path
    }

    /// `wsmeter run plan.yaml -o results` and `arguments`, to its end.
    pub(crate) fn run(&self, plan: &str, arguments: &[&str]) -> Finished {
        self.start(plan, arguments).finish()
    }

    /// The same, while it goes on.
    pub(crate) fn start(&self, plan: &str, arguments: &[&str]) -> Running {
        self.write("plan.yaml", plan);
        let run = ["run", "plan.yaml", "-o", "results"];
        self.wsmeter(&[&run, arguments].concat())
    }

    /// `wsmeter` with these arguments, in the folder; results are looked for in `results`.
    pub(crate) fn wsmeter(&self, arguments: &[&str]) -> Running {
        self.spawn(Command::new(env!("CARGO_BIN_EXE_wsmeter")).args(arguments))
    }

    /// The same, where no file may grow beyond so many blocks of 512 bytes.
    pub(crate) fn wsmeter_on_a_small_disk(&self, blocks: u32, arguments: &[&str]) -> Running {
        self.wsmeter_after(&format!("ulimit -f {blocks}"), arguments)
    }

    /// The same, started by a shell after this command.
    pub(crate) fn wsmeter_after(&self, command: &str, arguments: &[&str]) -> Running {
        let script = format!("{command}; exec \"$0\" \"$@\"");
        let shell = ["-c", &script, env!("CARGO_BIN_EXE_wsmeter")];
        self.spawn(Command::new("sh").args(shell).args(arguments))
    }

    /// A script of ours, in the folder, with these variables and `WSMETER` in its environment.
    pub(crate) fn script(
        &self,
        script: &Path,
        variables: &[(&str, &str)],
        arguments: &[&str],
    ) -> Running {
        let mut command = Command::new(script);
        command.env("WSMETER", env!("CARGO_BIN_EXE_wsmeter")).envs(variables.iter().copied());
        self.spawn(command.args(arguments))
    }

    fn spawn(&self, command: &mut Command) -> Running {
        let mut child = command
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary can be started");
        let stdout = Output::collect(child.stdout.take());
        let stderr = Output::collect(child.stderr.take());
        Running { child, results: self.path("results"), stdout, stderr }
    }
}

/// What a process has printed so far, read on a thread of its own.
struct Output {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Output {
    fn collect(stream: Option<impl Read + Send + 'static>) -> Self {
        let mut stream = stream.expect("the stream is piped");
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let collected = Arc::clone(&bytes);
        let reader = thread::spawn(move || {
            let mut chunk = [0; 4_096];
            // A pipe that breaks has said what it had to say.
            while let Ok(length @ 1..) = stream.read(&mut chunk) {
                collected.lock().expect("nobody panics in it").extend_from_slice(&chunk[..length]);
            }
        });
        Self { bytes, reader: Some(reader) }
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().expect("nobody panics in it")).into_owned()
    }

    /// Everything, once the process has ended.
    fn all(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            reader.join().expect("reading does not panic");
        }
        self.so_far()
    }
}

impl Running {
    /// Sends a signal by name: `INT`, `TERM`, `HUP`, `KILL`.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let status = Command::new("kill").args(["-s", name, &id]).status();
        assert!(status.is_ok_and(|status| status.success()), "kill -s {name} {id}");
    }

    /// What it has printed to stdout so far.
    pub(crate) fn stdout(&self) -> String {
        self.stdout.so_far()
    }

    /// What it has printed to stderr so far.
    pub(crate) fn stderr(&self) -> String {
        self.stderr.so_far()
    }

    /// Where it writes its rows.
    pub(crate) fn jtl(&self) -> PathBuf {
        self.results.join("samples.jtl")
    }

    /// Waits for its end.
    pub(crate) fn finish(self) -> Finished {
        self.finish_within(RUN_LIMIT)
    }

    /// Waits for its end; kills it and panics, with what it printed, if it takes longer.
    pub(crate) fn finish_within(mut self, limit: Duration) -> Finished {
        let Some(status) = self.wait(limit) else {
            let _ = self.child.kill();
            let _ = self.child.wait();
            panic!("killed after {limit:?}; it printed:\n{}", self.stderr.all());
        };
        let (stdout, stderr) = (self.stdout.all(), self.stderr.all());
        let exit_code = status.code();
        let rows = jtl::read_if_there(&self.jtl());
        let summary = read_json(&self.results.join("summary.json"));
        Finished { exit_code, stdout, stderr, rows, summary }
    }

    fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = clock::now() + limit;
        let mut status = None;
        wait_at_most(limit * 2, "the process ends or is overdue", || {
            status = self.child.try_wait().expect("our own child can be waited for");
            status.is_some() || clock::now() > deadline
        });
        status
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_json(path: &Path) -> Value {
    fs_err::read_to_string(path)
        .map_or(Value::Null, |text| serde_json::from_str(&text).expect("a summary is JSON"))
}

impl Finished {
    /// Panics, with everything the run printed, if it did not exit with `code`.
    pub(crate) fn expect_exit(&self, code: i32) {
        assert_eq!(self.exit_code, Some(code), "{self:#?}");
    }

    /// The rows with this label.
    pub(crate) fn rows(&self, label: &str) -> Vec<&Row> {
        self.rows.iter().filter(|row| row.label == label).collect()
    }

    /// The only row with this label.
    pub(crate) fn row(&self, label: &str) -> &Row {
        match self.rows(label).as_slice() {
            [row] => row,
            rows => panic!("{} rows of `{label}`: {self:#?}", rows.len()),
        }
    }

    /// The number at this place of the summary, `labels/all/count`.
    pub(crate) fn summary_number(&self, place: &str) -> f64 {
        let value = self.summary.pointer(&format!("/{place}")).and_then(Value::as_f64);
        value.unwrap_or_else(|| panic!("no number `{place}`: {self:#?}"))
    }
}

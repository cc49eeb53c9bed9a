//! The thread that appends rows to the JTL, so that no sampler waits for a disk.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Emptied batches that are kept for reuse; more than that are only there after a slow write.
const SPARE_BATCHES: usize = 16;

/// The JTL could not be written to its end. What is in the file is whole lines.
#[derive(Debug, thiserror::Error)]
#[error("failed to write `{}`; {lost_rows} rows are lost", path.display())]
pub struct WriteError {
    /// The JTL.
    pub path: PathBuf,
    /// Rows that were taken after the failure, or with it.
    pub lost_rows: u64,
    /// What the operating system said.
    pub source: io::Error,
}

/// Something that rows are appended to, and that can be cut back to whole lines.
pub(crate) trait Output: Write + Send + 'static {
    /// Cuts the output back to its first `length` bytes.
    fn cut_to(&mut self, length: u64) -> io::Result<()>;
}

impl Output for File {
    fn cut_to(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

/// A running writer thread.
#[derive(Debug)]
pub(crate) struct RowWriter {
    queue: Sender<Message>,
    spare: Spare,
    failed: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), WriteError>>,
}

#[derive(Debug)]
enum Message {
    /// Whole lines.
    Rows(Vec<u8>),
    /// Nothing follows. Senders may outlive it, so that they are gone is no sign of the end.
    End,
}

/// Emptied batches, so that no batch has to be allocated in the steady state.
type Spare = Arc<Mutex<Vec<Vec<u8>>>>;

/// One worker's way to the writer: collects bytes and hands them over when it is flushed, which
/// must be between rows.
#[derive(Debug)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    queue: Sender<Message>,
    spare: Spare,
}

impl Write for Batch {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let next = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let batch = std::mem::replace(&mut self.bytes, next.unwrap_or_default());
        self.queue.send(Message::Rows(batch)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl RowWriter {
    /// Starts the thread. `path` is for the error's text; `whole` is the length of what the output
    /// holds already, whole lines too.
    pub(crate) fn start(output: impl Output, path: &Path, whole: u64) -> io::Result<Self> {
        outlive_file_size_limit()?;
        let (queue, messages) = channel();
        let (failed, spare) = (Arc::<AtomicBool>::default(), Spare::default());
        let job = Job {
            output,
            path: path.to_owned(),
            whole,
            failed: Arc::clone(&failed),
            spare: Arc::clone(&spare),
        };
        let thread = std::thread::Builder::new()
            .name("jtl-writer".to_owned())
            .spawn(move || job.run(&messages))?;
        Ok(Self { queue, spare, failed, thread })
    }

    pub(crate) fn batch(&self) -> Batch {
        Batch { bytes: Vec::new(), queue: self.queue.clone(), spare: Arc::clone(&self.spare) }
    }

    /// Becomes true when a write failed: from then on rows are lost.
    pub(crate) fn failed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.failed)
    }

    /// Waits until everything that all batches have handed over is written. Should one of them
    /// still be alive, nobody waits for what it holds.
    pub(crate) fn finish(self) -> Result<(), WriteError> {
        // It fails only if the thread is gone, which joining it shows.
        self.queue.send(Message::End).ok();
        // The thread does nothing that panics; if it did, the panic goes on here.
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Makes a write beyond the file size limit (`ulimit -f`) fail, as one to a full disk does. Without
/// a handler the kernel ends the process by SIGXFSZ, with half a line at the end of the file.
#[cfg(unix)]
pub fn outlive_file_size_limit() -> io::Result<()> {
    /// The same number on Linux (but for MIPS), macOS and the BSDs.
    const SIGXFSZ: i32 = 25;
    // The handler stays for the life of the process; only its registration needs a runtime.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _context = runtime.enter();
    drop(tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(SIGXFSZ))?);
    Ok(())
}

/// There is no such limit elsewhere.
#[cfg(not(unix))]
pub fn outlive_file_size_limit() -> io::Result<()> {
    Ok(())
}

struct Job<O> {
    output: O,
    path: PathBuf,
    /// Length of what is written, which ends with a whole line.
    whole: u64,
    failed: Arc<AtomicBool>,
    spare: Spare,
}

impl<O: Output> Job<O> {
    fn run(mut self, messages: &Receiver<Message>) -> Result<(), WriteError> {
        let mut error: Option<WriteError> = None;
        while let Ok(Message::Rows(batch)) = messages.recv() {
            match &mut error {
                Some(error) => error.lost_rows += lines(&batch),
                None => error = self.append(&batch).err(),
            }
            self.reuse(batch);
        }
        error.map_or(Ok(()), Err)
    }

    fn reuse(&self, mut batch: Vec<u8>) {
        batch.clear();
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < SPARE_BATCHES {
            spare.push(batch);
        }
    }

    /// Appends a batch of whole lines; if that fails midway, keeps the lines that are whole.
    fn append(&mut self, batch: &[u8]) -> Result<(), WriteError> {
        let mut written = 0;
        while written < batch.len() {
            match self.output.write(&batch[written..]) {
                Ok(0) => {
                    return Err(self.fail(batch, written, io::ErrorKind::WriteZero.into()));
                }
                Ok(length) => written += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.fail(batch, written, error)),
            }
        }
        self.whole += written as u64;
        Ok(())
    }

    fn fail(&mut self, batch: &[u8], written: usize, source: io::Error) -> WriteError {
        let kept =
            batch[..written].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lost_rows = lines(&batch[kept..]);
        // Cutting frees space, so it works on a full disk. Where it does not, the first error is
        // still the one to tell.
        self.output.cut_to(self.whole + kept as u64).ok();
        self.failed.store(true, Ordering::Relaxed);
        WriteError { path: self.path.clone(), lost_rows, source }
    }
}

fn lines(bytes: &[u8]) -> u64 {
    bytes.split_inclusive(|byte| *byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests;

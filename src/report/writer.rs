//! The thread that appends rows to the JTL, so that no sampler waits for a disk.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

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
    batches: Sender<Vec<u8>>,
    failed: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), WriteError>>,
}

/// One worker's way to the writer: collects bytes and hands them over when it is flushed, which
/// must be between rows.
#[derive(Debug)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    batches: Sender<Vec<u8>>,
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
        let next = Vec::with_capacity(self.bytes.len());
        let batch = std::mem::replace(&mut self.bytes, next);
        self.batches.send(batch).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

impl RowWriter {
    /// Starts the thread. `path` is for the error's text.
    pub(crate) fn start(output: impl Output, path: &Path) -> io::Result<Self> {
        let (batches, receiver) = channel();
        let failed = Arc::new(AtomicBool::new(false));
        let job = Job { output, path: path.to_owned(), failed: Arc::clone(&failed) };
        let thread = std::thread::Builder::new()
            .name("jtl-writer".to_owned())
            .spawn(move || job.run(&receiver))?;
        Ok(Self { batches, failed, thread })
    }

    pub(crate) fn batch(&self) -> Batch {
        Batch { bytes: Vec::new(), batches: self.batches.clone() }
    }

    /// Becomes true when a write failed: from then on rows are lost.
    pub(crate) fn failed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.failed)
    }

    /// Waits until everything that all batches handed over is written. They must be gone by then.
    pub(crate) fn finish(self) -> Result<(), WriteError> {
        drop(self.batches);
        // The thread does nothing that panics; if it did, the panic goes on here.
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

struct Job<O> {
    output: O,
    path: PathBuf,
    failed: Arc<AtomicBool>,
}

impl<O: Output> Job<O> {
    fn run(mut self, batches: &Receiver<Vec<u8>>) -> Result<(), WriteError> {
        let mut whole = 0;
        let mut error: Option<WriteError> = None;
        for batch in batches {
            match &mut error {
                Some(error) => error.lost_rows += lines(&batch),
                None => match self.append(&batch, whole) {
                    Ok(length) => whole += length,
                    Err(failure) => error = Some(failure),
                },
            }
        }
        error.map_or(Ok(()), Err)
    }

    /// Appends a batch of whole lines; if that fails midway, keeps the lines that are whole.
    fn append(&mut self, batch: &[u8], whole: u64) -> Result<u64, WriteError> {
        let mut written = 0;
        while written < batch.len() {
            match self.output.write(&batch[written..]) {
                Ok(0) => {
                    return Err(self.fail(batch, written, whole, io::ErrorKind::WriteZero.into()));
                }
                Ok(length) => written += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.fail(batch, written, whole, error)),
            }
        }
        Ok(written as u64)
    }

    fn fail(&mut self, batch: &[u8], written: usize, whole: u64, source: io::Error) -> WriteError {
        let kept =
            batch[..written].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let lost_rows = lines(&batch[kept..]);
        // Cutting frees space, so it works on a full disk. Where it does not, the first error is
        // still the one to tell.
        self.output.cut_to(whole + kept as u64).ok();
        self.failed.store(true, Ordering::Relaxed);
        WriteError { path: self.path.clone(), lost_rows, source }
    }
}

fn lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A disk of limited size.
    #[derive(Clone)]
    struct Disk(Arc<Mutex<Vec<u8>>>, usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut content = self.0.lock().unwrap();
            let room = self.1 - content.len();
            if room == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let taken = room.min(bytes.len());
            content.extend_from_slice(&bytes[..taken]);
            Ok(taken)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Output for Disk {
        fn cut_to(&mut self, length: u64) -> io::Result<()> {
            self.0.lock().unwrap().truncate(usize::try_from(length).unwrap());
            Ok(())
        }
    }

    fn write(disk: &Disk, batches: &[&str]) -> Result<(), WriteError> {
        let writer = RowWriter::start(disk.clone(), Path::new("x.jtl")).unwrap();
        let mut batch = writer.batch();
        for text in batches {
            batch.write_all(text.as_bytes()).unwrap();
            batch.flush().unwrap();
        }
        drop(batch);
        writer.finish()
    }

    #[test]
    fn everything_handed_over_is_written() {
        let disk = Disk(Arc::default(), 1_000);
        write(&disk, &["a\nb\n", "c\n"]).unwrap();
        assert_eq!(disk.0.lock().unwrap().as_slice(), b"a\nb\nc\n");
    }

    #[test]
    fn a_full_disk_keeps_whole_lines_and_counts_the_lost() {
        let disk = Disk(Arc::default(), 9);
        let error = write(&disk, &["first\n", "x\nsecond\nthird\n", "fourth\n"]).unwrap_err();
        assert_eq!(disk.0.lock().unwrap().as_slice(), b"first\nx\n");
        assert_eq!((error.lost_rows, error.source.kind()), (3, io::ErrorKind::StorageFull));
        assert_eq!(error.to_string(), "failed to write `x.jtl`; 3 rows are lost");
    }
}

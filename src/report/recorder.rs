//! Takes the samples of a run: rows go to the JTL, figures to the workers' own statistics.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::clock::Clock;
use crate::report::held::Held;
use crate::report::jtl::{Rows, header};
use crate::report::snapshots::Place;
use crate::report::writer::{Batch, RowWriter};
use crate::report::{Interval, Live, WriteError};
use crate::sample::{Note, Sample, Sink, WorkerSink};
use crate::stats::{LabelNames, Stats};

/// Rows after which a worker hands over its batch, even before its next flush.
const BATCH_ROWS: usize = 1024;

/// Receives everything that a run tells.
#[derive(Debug)]
pub struct Recorder {
    clock: Clock,
    writer: RowWriter,
    live: Arc<Live>,
    labels: Arc<LabelNames>,
    done: Done,
}

/// The figures of workers that are done.
type Done = Arc<Mutex<Vec<Stats>>>;

/// What a run came to.
#[derive(Debug)]
pub struct Finished {
    /// Of all workers.
    pub stats: Stats,
    /// Whether all rows are in the JTL.
    pub written: Result<(), WriteError>,
}

impl Recorder {
    /// Starts writing to `jtl`, an empty file; `path` is for error texts. The header is in the file
    /// when this returns, so that a disk that is full already is known before anything is sent.
    ///
    /// `variables` are the names of the plan's `sample_variables`.
    pub fn start(jtl: File, path: &Path, clock: Clock, variables: &[&str]) -> io::Result<Self> {
        let mut jtl = fs_err::File::from_parts(jtl, path);
        let header = header(variables);
        jtl.write_all(header.as_bytes())?;
        let writer = RowWriter::start(jtl.into_file(), path, header.len() as u64)?;
        let live = Arc::new(Live::new(writer.failed()));
        let labels: Arc<LabelNames> = Arc::default();
        Ok(Self { clock, writer, live, labels, done: Done::default() })
    }

    /// A view of the run under way.
    pub fn live(&self) -> Arc<Live> {
        Arc::clone(&self.live)
    }

    /// Waits for the last rows. All workers' sinks should be gone by then: one that is not holds
    /// back its figures and its last rows.
    pub fn finish(self) -> Finished {
        let written = self.writer.finish();
        let done = std::mem::take(&mut *self.done.lock().unwrap_or_else(PoisonError::into_inner));
        // Copied by the thread that goes on: what it would take over lies between the connections of the
        // workers, and keeps what they had from going back to the system before the reports are made.
        let all = done.iter().cloned().reduce(|mut all, stats| {
            all.merge(stats);
            all
        });
        let stats = all.unwrap_or_else(|| Stats::sharing(self.labels));
        Finished { stats, written }
    }
}

impl Sink for Recorder {
    fn worker(&self) -> Box<dyn WorkerSink> {
        let mut stats = Stats::sharing(Arc::clone(&self.labels));
        stats.begin(self.clock.started());
        Box::new(WorkerRecorder {
            held: Held::default(),
            books: Books {
                rows: Rows::new(self.writer.batch(), self.clock),
                unflushed: 0,
                stats,
                recent: Interval::default(),
                place: self.live.snapshots.enter(),
                live: Arc::clone(&self.live),
                done: Arc::clone(&self.done),
            },
        })
    }
}

/// One worker's sink. Whatever ends it, what it has recorded is kept.
struct WorkerRecorder {
    held: Held,
    books: Books,
}

/// Where a worker's samples and notes are entered.
struct Books {
    rows: Rows<Batch>,
    unflushed: usize,
    stats: Stats,
    recent: Interval,
    place: Place,
    live: Arc<Live>,
    done: Done,
}

impl WorkerSink for WorkerRecorder {
    fn sample(&mut self, sample: &Sample<'_>) {
        if self.held.keep(sample) {
            if self.held.is_full() {
                self.work_off();
            }
        } else {
            self.work_off();
            self.books.sample(sample);
        }
    }

    fn note(&mut self, note: &Note<'_>) {
        // Labels stand in the order in which they were first heard of.
        self.work_off();
        self.books.note(note);
    }

    fn flush(&mut self) {
        self.work_off();
        self.books.flush();
    }
}

impl WorkerRecorder {
    fn work_off(&mut self) {
        self.held.work_off(|sample| self.books.sample(sample));
    }
}

impl Drop for WorkerRecorder {
    fn drop(&mut self) {
        self.flush();
        self.books.live.snapshots.leave(&self.books.place, &self.books.stats);
        let stats = std::mem::take(&mut self.books.stats);
        self.books.done.lock().unwrap_or_else(PoisonError::into_inner).push(stats);
    }
}

impl Books {
    fn sample(&mut self, sample: &Sample<'_>) {
        self.stats.sample(sample);
        if !sample.transaction {
            self.recent.record(sample, self.live.shows_percentiles());
        }
        // It writes to memory, which does not fail.
        self.rows.row(sample).ok();
        self.unflushed += 1;
        if self.unflushed >= BATCH_ROWS {
            self.hand_over();
        }
    }

    fn note(&mut self, note: &Note<'_>) {
        match note {
            Note::ThreadStarted { .. } => {
                self.live.threads.up();
                self.live.started.up();
            }
            Note::ThreadFinished => self.live.threads.down(),
            Note::Opened { .. } => self.live.connections.up(),
            Note::ConnectionEnded { .. } => self.live.connections.down(),
            Note::Log { thread, text } => self.live.log(thread, text),
            _ => {}
        }
        self.stats.note(note);
    }

    fn flush(&mut self) {
        self.hand_over();
        if self.recent.count > 0 {
            self.live.add(&std::mem::take(&mut self.recent));
        }
        self.live.snapshots.answer(&mut self.place, &self.stats);
    }

    fn hand_over(&mut self) {
        self.unflushed = 0;
        // It fails only if the writer is gone, which then tells why itself.
        self.rows.flush().ok();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_disk_that_is_full_already_is_known_at_the_start() {
        let Ok(full) = File::options().write(true).open("/dev/full") else { return };
        let error = Recorder::start(full, Path::new("/dev/full"), Clock::start(), &[]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(error.to_string().contains("`/dev/full`"), "{error}");
    }

    #[test]
    fn rows_and_figures_of_all_workers_come_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("samples.jtl");
        let recorder = Recorder::start(
            fs_err::File::create(&path).unwrap().into(),
            &path,
            Clock::start(),
            &[],
        )
        .unwrap();
        for _ in 0..2 {
            let mut worker = recorder.worker();
            worker.note(&Note::ThreadStarted { late: Duration::ZERO });
            for _ in 0..BATCH_ROWS + 3 {
                worker.sample(&Sample::plain());
            }
        }
        let live = recorder.live();
        let finished = recorder.finish();
        finished.written.unwrap();
        let rows = 2 * (BATCH_ROWS + 3);
        assert_eq!(finished.stats.all().count, rows as u64);
        assert_eq!(live.take().count, rows as u64);
        assert_eq!(fs_err::read_to_string(&path).unwrap().lines().count(), rows + 1);
    }
}

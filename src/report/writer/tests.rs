use std::process::Command;

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
    let writer = RowWriter::start(disk.clone(), Path::new("x.jtl"), 0).unwrap();
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

#[test]
fn a_batch_that_is_still_alive_does_not_keep_the_end_waiting() {
    let disk = Disk(Arc::default(), 1_000);
    let writer = RowWriter::start(disk.clone(), Path::new("x.jtl"), 0).unwrap();
    let mut alive = writer.batch();
    alive.write_all(b"a\n").unwrap();
    alive.flush().unwrap();
    alive.write_all(b"b\n").unwrap();
    writer.finish().unwrap();
    assert_eq!(disk.0.lock().unwrap().as_slice(), b"a\n");
    assert!(alive.flush().is_err());
}

#[test]
fn batches_are_used_again() {
    let disk = Disk(Arc::default(), 1_000);
    let writer = RowWriter::start(disk, Path::new("x.jtl"), 0).unwrap();
    let (mut batch, spare) = (writer.batch(), Arc::clone(&writer.spare));
    batch.write_all(b"a\n").unwrap();
    batch.flush().unwrap();
    writer.finish().unwrap();
    let spare = spare.lock().unwrap();
    assert!(spare.len() == 1 && spare[0].is_empty() && spare[0].capacity() > 0);
}

#[test]
fn a_device_that_is_full_is_named_with_what_the_system_says() {
    let Ok(full) = File::options().write(true).open("/dev/full") else { return };
    let writer = RowWriter::start(full, Path::new("/dev/full"), 0).unwrap();
    let (mut batch, failed) = (writer.batch(), writer.failed());
    batch.write_all(b"a\nb\n").unwrap();
    batch.flush().unwrap();
    drop(batch);
    let error = writer.finish().unwrap_err();
    assert!(failed.load(Ordering::Relaxed));
    assert_eq!((error.lost_rows, error.source.kind()), (2, io::ErrorKind::StorageFull));
}

/// Where the process below writes.
const LIMITED: &str = "WSMETER_TEST_LIMITED_FILE";

/// The part of the next test that must run in a process of its own, as the limit is a process's.
#[test]
fn writes_as_much_as_the_limit_allows() {
    let Some(path) = std::env::var_os(LIMITED) else { return };
    let file = fs_err::File::create(&path).unwrap().into_file();
    let writer = RowWriter::start(file, Path::new(&path), 0).unwrap();
    let mut batch = writer.batch();
    for _ in 0..1_000 {
        batch.write_all(b"twenty-one characters\n").unwrap();
        batch.flush().unwrap();
    }
    let error = writer.finish().unwrap_err();
    assert_eq!(error.source.kind(), io::ErrorKind::FileTooLarge);
    let length = fs_err::metadata(&path).unwrap().len();
    assert_eq!(length / 22 + error.lost_rows, 1_000);
}

#[cfg(unix)]
#[test]
fn a_file_size_limit_ends_no_process_and_leaves_whole_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.jtl");
    let child = Command::new("sh")
        .args(["-c", "ulimit -f 8; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "report::writer::tests::writes_as_much_as_the_limit_allows"])
        .env(LIMITED, &path)
        .output()
        .unwrap();
    assert!(child.status.success(), "{child:?}");
    let written = fs_err::read_to_string(&path).unwrap();
    assert!(written.len() > 3_000, "{}", written.len());
    assert!(written.split_inclusive('\n').all(|line| line == "twenty-one characters\n"));
}

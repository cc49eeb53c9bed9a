//! Files that are never half there.

use std::io::{self, Write};
use std::path::Path;

/// Writes a file under a temporary name beside its place and renames it. The error names the path.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let temporary = path.with_file_name(name);
    let filled = fs_err::File::create(&temporary).and_then(|mut file| file.write_all(bytes));
    let written = filled.and_then(|()| fs_err::rename(&temporary, path));
    if written.is_err() {
        // It may not even exist; the first error is the one to tell.
        fs_err::remove_file(&temporary).ok();
    }
    written
}

//! `results/latest`: leads to the last run, so that the next one can be compared with it.

use std::io;
use std::path::Path;

use crate::report::outputs::RESULTS;

/// The link's name.
const LATEST: &str = "latest";

/// Makes `latest` beside a run folder lead to it, if the folder is in one called `results`: other places are
/// the user's own. Replaces an earlier link at once, so that there always is one; what is no link stays, and
/// that is an error.
#[cfg(unix)]
pub fn point_latest(folder: &Path) -> io::Result<()> {
    let (Some(results), Some(name)) = (folder.parent(), folder.file_name()) else { return Ok(()) };
    if results.file_name().is_none_or(|parent| parent != RESULTS) || name == LATEST {
        return Ok(());
    }
    let link = results.join(LATEST);
    if fs_err::symlink_metadata(&link).is_ok_and(|known| !known.is_symlink()) {
        let what = format!("`{}` is not ours to replace: it is no link", link.display());
        return Err(io::Error::other(what));
    }
    let temporary = results.join(format!(".{LATEST}-{}", std::process::id()));
    // One that an earlier process of this number has left.
    fs_err::remove_file(&temporary).ok();
    fs_err::os::unix::fs::symlink(name, &temporary)?;
    fs_err::rename(&temporary, &link).inspect_err(|_| {
        fs_err::remove_file(&temporary).ok();
    })
}

/// Links are a matter of permissions elsewhere.
#[cfg(not(unix))]
pub fn point_latest(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_link_leads_to_the_last_run() {
        let root = tempfile::tempdir().unwrap();
        let results = root.path().join(RESULTS);
        for name in ["one", "two"] {
            fs_err::create_dir_all(results.join(name)).unwrap();
            point_latest(&results.join(name)).unwrap();
            assert_eq!(fs_err::read_link(results.join(LATEST)).unwrap(), Path::new(name));
        }
        let left = fs_err::read_dir(&results).unwrap().count();
        assert_eq!(left, 3, "nothing is left over");
    }

    #[test]
    fn other_folders_get_no_link_and_no_file_is_replaced() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("nightly/one");
        fs_err::create_dir_all(&own).unwrap();
        point_latest(&own).unwrap();
        assert!(!root.path().join("nightly/latest").exists());
        let results = root.path().join(RESULTS);
        fs_err::create_dir_all(results.join("one")).unwrap();
        fs_err::write(results.join(LATEST), "mine").unwrap();
        let error = point_latest(&results.join("one")).unwrap_err();
        assert!(error.to_string().contains("latest"), "{error}");
        assert_eq!(fs_err::read_to_string(results.join(LATEST)).unwrap(), "mine");
    }
}

//! What a path on the command line stands for.

use std::io;
use std::path::{Path, PathBuf};

use crate::results::ReadError;

/// The JTL's names in a run folder.
pub(super) const JTLS: [&str; 2] = ["samples.jtl", "samples.jtl.gz"];
/// The summary's name in a run folder, or the end of its name beside a JTL.
pub(super) const SUMMARY: &str = "summary.json";

/// A JTL, and the summary of its run if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// As given: what people know it by.
    pub path: PathBuf,
    /// The JTL.
    pub jtl: PathBuf,
    /// The run's summary.
    pub summary: Option<PathBuf>,
}

impl Source {
    /// Looks for the JTL of a run folder, or for the summary of a JTL.
    pub fn find(path: &Path) -> Result<Self, ReadError> {
        let is_folder = match fs_err::metadata(path) {
            Ok(found) => found.is_dir(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ReadError::wrong(path, None, "no such file or folder"));
            }
            Err(error) => return Err(error.into()),
        };
        let jtl = if is_folder { in_folder(path)? } else { path.to_owned() };
        let beside = if JTLS.iter().any(|name| jtl.file_name() == Some(name.as_ref())) {
            jtl.with_file_name(SUMMARY)
        } else {
            // A JTL may have been compressed since.
            let is_packed = jtl.extension().is_some_and(|extension| extension == "gz");
            if is_packed { jtl.with_extension("") } else { jtl.clone() }.with_extension(SUMMARY)
        };
        let summary = beside.is_file().then_some(beside);
        Ok(Self { path: path.to_owned(), jtl, summary })
    }
}

fn in_folder(folder: &Path) -> Result<PathBuf, ReadError> {
    let found = JTLS.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    found.ok_or_else(|| {
        let what = format!("the folder has no `{}`", JTLS[0]);
        ReadError::wrong(folder, None, what)
            .advise("name a run folder, or a JTL itself if `-l` put it elsewhere")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_and_a_jtl_have_their_summaries_where_a_run_puts_them() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for name in ["samples.jtl", "summary.json", "night.jtl", "night.summary.json", "other.jtl"]
        {
            fs_err::write(at(name), "").unwrap();
        }
        let folder = Source::find(root.path()).unwrap();
        assert_eq!((&folder.jtl, &folder.summary), (&at("samples.jtl"), &Some(at("summary.json"))));
        let summary = |name: &str| Source::find(&at(name)).unwrap().summary;
        assert_eq!(summary("samples.jtl"), Some(at("summary.json")));
        assert_eq!(summary("night.jtl"), Some(at("night.summary.json")));
        assert_eq!(summary("other.jtl"), None);
    }

    #[test]
    fn what_is_not_there_is_named() {
        let root = tempfile::tempdir().unwrap();
        let error = Source::find(root.path()).unwrap_err();
        assert!(error.to_string().ends_with("the folder has no `samples.jtl`"), "{error}");
        assert!(error.help().is_some());
        let error = Source::find(&root.path().join("gone")).unwrap_err();
        assert!(error.to_string().ends_with("gone: no such file or folder"), "{error}");
    }
}

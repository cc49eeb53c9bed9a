//! Where results go. Everything is decided and opened before the first connection.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use fs_err::OpenOptions;

use crate::report::Reports;

/// The JTL's name in a run folder.
const JTL: &str = "samples.jtl";
/// Where run folders without a name of their own go.
pub(crate) const RESULTS: &str = "results";

/// Runs of one plan that may start within one second.
const RUNS_A_SECOND: u32 = 1_000;

/// What the command line asks for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The run folder.
    pub folder: Option<&'a Path>,
    /// The JTL.
    pub jtl: Option<&'a Path>,
    /// Whether existing results may be overwritten.
    pub force: bool,
    /// The plan, whose name a default run folder bears.
    pub plan: &'a Path,
    /// The files that the plan includes.
    pub included: &'a [PathBuf],
}

/// The opened outputs of a run.
#[derive(Debug)]
pub struct Outputs {
    /// Where the JTL is.
    pub jtl_path: PathBuf,
    /// The JTL, empty.
    pub jtl: File,
    /// Where everything else will be.
    pub reports: Reports,
}

/// Results cannot go where they should; nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// There are results already.
    #[error("`{}` exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A run folder that is something else.
    #[error("`{}` is not empty and holds no results of wsmeter", path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
    },
    /// JMeter's report generator would read the file as a part of another.
    #[error("a JTL must not be named like `{}`: JMeter's dashboard reads `<name>-<number>.jtl` together with `<name>.jtl`", path.display())]
    Numbered {
        /// The file.
        path: PathBuf,
    },
    /// A result that would overwrite the plan or a file that it includes.
    #[error("`{}` is the plan, or a part of it", path.display())]
    IsPlan {
        /// The file.
        path: PathBuf,
    },
    /// A JTL at the place of another output.
    #[error("`{}` is where the {what} goes", path.display())]
    IsTaken {
        /// The file.
        path: PathBuf,
        /// What else goes there.
        what: &'static str,
    },
    /// The file system said no; the text names the path.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl OutputError {
    /// How to mend it.
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Exists { .. } => Some("choose another place, or overwrite it with `--force`"),
            Self::NotOurs { .. } => Some("choose an empty or a new folder"),
            Self::Numbered { .. } => Some("choose a name that does not end in a dash and digits"),
            Self::IsPlan { .. } | Self::IsTaken { .. } => Some("choose another place"),
            Self::Io(_) => None,
        }
    }
}

impl Outputs {
    /// Decides on paths, makes folders, and opens the JTL.
    pub fn open(wanted: Wanted<'_>, now: DateTime<Utc>) -> Result<Self, OutputError> {
        // Before any folder is made, so that a refusal leaves nothing behind.
        wanted.jtl.map_or(Ok(()), refuse_numbered)?;
        let (jtl_path, reports) = match (wanted.folder, wanted.jtl) {
            (Some(folder), jtl) => {
                take_folder(folder, wanted.force)?;
                let jtl = jtl.map_or_else(|| folder.join(JTL), Path::to_owned);
                (jtl, Reports::in_folder(folder))
            }
            (None, Some(jtl)) => (jtl.to_owned(), Reports::beside(jtl)),
            (None, None) => {
                let folder = new_folder(wanted.plan, now)?;
                (folder.join(JTL), Reports::in_folder(&folder))
            }
        };
        for (taken, what) in reports.all() {
            if is_same_file(&jtl_path, taken) {
                return Err(OutputError::IsTaken { path: jtl_path, what });
            }
        }
        for path in std::iter::once(&*jtl_path).chain(reports.all().map(|(path, _)| path)) {
            let mut parts = wanted.included.iter().map(PathBuf::as_path).chain([wanted.plan]);
            if parts.any(|part| is_same_file(path, part)) {
                return Err(OutputError::IsPlan { path: path.to_owned() });
            }
            if path.exists() && !wanted.force {
                return Err(OutputError::Exists { path: path.to_owned() });
            }
        }
        if let Some(parent) = jtl_path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs_err::create_dir_all(parent)?;
        }
        let jtl = open_empty(&jtl_path, wanted.force)?;
        // What cannot be written should be known now, not after an hour of load. The summary of an
        // earlier run must not stand beside these rows, should this run not come to its end.
        for (path, _) in reports.all() {
            open_empty(path, wanted.force)?;
            fs_err::remove_file(path)?;
        }
        Ok(Self { jtl_path, jtl: jtl.into(), reports })
    }
}

/// Whether two paths lead to one file, by whatever links; either may not exist yet.
fn is_same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| {
        fs_err::canonicalize(path).ok().or_else(|| {
            let path = std::path::absolute(path).ok()?;
            Some(fs_err::canonicalize(path.parent()?).ok()?.join(path.file_name()?))
        })
    };
    one == other || real(one).is_some_and(|one| real(other) == Some(one))
}

/// Opens a file for writing and empties it; without `force` it must be new, even if another process
/// made it a moment ago.
fn open_empty(path: &Path, force: bool) -> Result<fs_err::File, OutputError> {
    let mut options = OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    options.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => OutputError::Exists { path: path.to_owned() },
        _ => OutputError::Io(error),
    })
}

/// Takes an empty or new folder, or with `force` one that holds results.
fn take_folder(folder: &Path, force: bool) -> Result<(), OutputError> {
    fs_err::create_dir_all(folder)?;
    if let Some(entry) = fs_err::read_dir(folder)?.next() {
        entry?;
        let reports = Reports::in_folder(folder);
        let own = reports.all().map(|(path, _)| path.to_owned());
        for path in std::iter::once(folder.join(JTL)).chain(own) {
            if path.exists() {
                return if force { Ok(()) } else { Err(OutputError::Exists { path }) };
            }
        }
        if !force {
            return Err(OutputError::NotOurs { path: folder.to_owned() });
        }
    }
    Ok(())
}

/// Makes `results/<plan>-<UTC time>/`, with a number behind it if there is one already.
fn new_folder(plan: &Path, now: DateTime<Utc>) -> io::Result<PathBuf> {
    let stem = plan.file_stem().map_or_else(|| "plan".into(), |stem| stem.to_string_lossy());
    fs_err::create_dir_all(RESULTS)?;
    let name = format!("{stem}-{}", now.format("%Y%m%dT%H%M%SZ"));
    let mut last = io::ErrorKind::AlreadyExists.into();
    for number in 1..=RUNS_A_SECOND {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let folder = Path::new(RESULTS).join(format!("{name}{suffix}"));
        match fs_err::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

fn refuse_numbered(jtl: &Path) -> Result<(), OutputError> {
    let stem = jtl.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let numbered = stem.rsplit_once('-').is_some_and(|(_, number)| {
        !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
    });
    if numbered { Err(OutputError::Numbered { path: jtl.to_owned() }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(
        folder: Option<&Path>,
        jtl: Option<&Path>,
        force: bool,
    ) -> Result<Outputs, OutputError> {
        let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        Outputs::open(Wanted { folder, jtl, force, plan: Path::new("p.yaml"), included: &[] }, now)
    }

    #[test]
    fn a_run_folder_is_made_and_not_overwritten() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("a/b");
        let outputs = open(Some(&folder), None, false).unwrap();
        assert_eq!(outputs.jtl_path, folder.join("samples.jtl"));
        assert_eq!(outputs.reports.summary, folder.join("summary.json"));
        assert_eq!(outputs.reports.page, folder.join("report.html"));
        assert!(matches!(open(Some(&folder), None, false), Err(OutputError::Exists { .. })));
        open(Some(&folder), None, true).unwrap();
    }

    #[test]
    fn a_refusal_leaves_no_folder_behind() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("run");
        open(Some(&folder), Some(&root.path().join("run-1.jtl")), false).unwrap_err();
        assert!(!folder.exists());
    }

    #[test]
    fn the_summary_of_an_earlier_run_does_not_stand_beside_new_rows() {
        let root = tempfile::tempdir().unwrap();
        let names = [
            "summary.json",
            "report.html",
            "junit.xml",
            "summary.md",
            "latency.hlog",
            "metrics.txt",
        ];
        let old = names.map(|name| root.path().join(name));
        fs_err::write(root.path().join("samples.jtl"), "old rows").unwrap();
        for path in &old {
            fs_err::write(path, "old verdict").unwrap();
        }
        let outputs = open(Some(root.path()), None, true).unwrap();
        assert!(old.iter().all(|path| !path.exists()));
        assert_eq!(fs_err::metadata(outputs.jtl_path).unwrap().len(), 0);
    }

    #[test]
    fn an_existing_jtl_is_refused_and_kept() {
        let root = tempfile::tempdir().unwrap();
        let jtl = root.path().join("night.jtl");
        fs_err::write(&jtl, "rows").unwrap();
        let error = open(None, Some(&jtl), false).unwrap_err();
        assert!(error.to_string().contains("night.jtl"), "{error}");
        assert!(error.help().unwrap().contains("--force"));
        assert_eq!(fs_err::read_to_string(&jtl).unwrap(), "rows");
    }

    #[test]
    fn force_deletes_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let other = root.path().join("notes.txt");
        fs_err::write(&other, "mine").unwrap();
        assert!(matches!(open(Some(root.path()), None, false), Err(OutputError::NotOurs { .. })));
        open(Some(root.path()), None, true).unwrap();
        assert_eq!(fs_err::read_to_string(&other).unwrap(), "mine");
    }

    #[test]
    fn a_jtl_alone_has_its_summary_and_page_beside_it() {
        let root = tempfile::tempdir().unwrap();
        let outputs = open(None, Some(&root.path().join("night.jtl")), false).unwrap();
        assert_eq!(outputs.reports.page, root.path().join("night.report.html"));
        assert_eq!(outputs.reports.summary, root.path().join("night.summary.json"));
    }

    #[test]
    fn the_jtl_never_lies_where_something_else_goes() {
        let root = tempfile::tempdir().unwrap();
        for force in [false, true] {
            for (name, what) in [
                ("summary.json", "summary"),
                ("report.html", "report"),
                ("junit.xml", "JUnit report"),
                ("summary.md", "Markdown summary"),
                ("latency.hlog", "log of histograms"),
                ("metrics.txt", "metrics"),
            ] {
                let jtl = root.path().join("run/../run").join(name);
                let error = open(Some(&root.path().join("run")), Some(&jtl), force).unwrap_err();
                assert!(matches!(error, OutputError::IsTaken { .. }), "{error}");
                assert!(error.to_string().ends_with(&format!("where the {what} goes")), "{error}");
            }
        }
    }

    #[test]
    fn the_plan_and_what_it_includes_are_never_overwritten() {
        let root = tempfile::tempdir().unwrap();
        let (plan, link) = (root.path().join("plan.yaml"), root.path().join("link.jtl"));
        fs_err::write(&plan, "name: mine").unwrap();
        fs_err::os::unix::fs::symlink(&plan, &link).unwrap();
        let parts = [plan.clone()];
        for (jtl, plan, included) in [
            (&plan, &plan, &[][..]),
            (&link, &plan, &[][..]),
            (&link, &root.path().join("outer.yaml"), &parts[..]),
        ] {
            let wanted = Wanted { folder: None, jtl: Some(jtl), force: true, plan, included };
            let error = Outputs::open(wanted, DateTime::UNIX_EPOCH).unwrap_err();
            assert!(matches!(error, OutputError::IsPlan { .. }), "{error}");
        }
        assert_eq!(fs_err::read_to_string(&plan).unwrap(), "name: mine");
    }

    #[test]
    fn names_that_jmeter_would_mix_up_are_refused() {
        let root = tempfile::tempdir().unwrap();
        for (name, refused) in [("run-1.jtl", true), ("run-1b.jtl", false), ("run1.jtl", false)] {
            let opened = open(None, Some(&root.path().join(name)), false);
            assert_eq!(matches!(opened, Err(OutputError::Numbered { .. })), refused, "{name}");
        }
    }

    #[test]
    fn a_path_that_cannot_be_written_is_named() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs_err::write(&file, "").unwrap();
        let error = open(Some(&file.join("sub")), None, false).unwrap_err();
        assert!(error.to_string().contains("file/sub"), "{error}");
    }
}

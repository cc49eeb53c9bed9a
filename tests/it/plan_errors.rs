//! Every bad plan in `tests/fixtures/bad_plans` gets exactly the answer that stands beside it.
//!
//! `WSMETER_BLESS=1 cargo test plan_errors` writes the answers anew; read them before they are
//! committed: would this help a tired tester at night?

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use wsmeter::compile::{Properties, compile};
use wsmeter::diag::{Diagnostic, render};
use wsmeter::plan::load;

const FOLDER: &str = "tests/fixtures/bad_plans";

/// What `check` would say about a plan; empty if there is nothing.
fn diagnostics(path: &Path) -> Vec<Diagnostic> {
    match load(path).and_then(|loaded| compile(&loaded, &Properties::default())) {
        Ok(compiled) => compiled.warnings,
        Err(errors) => errors,
    }
}

fn rendered(path: &Path) -> String {
    let mut text = String::new();
    render(&diagnostics(path), false, &mut text).expect("a string takes all text");
    text.replace(&format!("{FOLDER}/"), "")
}

fn plans() -> Vec<PathBuf> {
    let mut plans: Vec<PathBuf> = fs_err::read_dir(FOLDER)
        .expect("the fixtures are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    plans.sort();
    plans
}

#[test]
fn every_bad_plan_gets_the_answer_that_stands_beside_it() {
    let plans = plans();
    assert!(plans.len() >= 25, "only {} plans", plans.len());
    let bless = std::env::var_os("WSMETER_BLESS").is_some();
    let mut differences = Vec::new();
    for plan in plans {
        let answer = plan.with_extension("stderr");
        let found = rendered(&plan);
        if bless {
            fs_err::write(&answer, &found).expect("the answer can be written");
        }
        let wanted = fs_err::read_to_string(&answer).unwrap_or_default();
        if found != wanted || found.is_empty() {
            differences.push(format!("{}\n{found}\nand not\n{wanted}", plan.display()));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

#[test]
fn no_answer_shows_a_type_of_the_program() {
    for plan in plans() {
        let text = rendered(&plan);
        for word in ["struct ", "enum ", "variant", "newtype", "Setting", "u32", "u16", "i64"] {
            assert!(!text.contains(word), "{}: {text}", plan.display());
        }
    }
}

#[test]
fn files_that_are_no_plans_are_named_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("missing.yaml");
    let utf16 = folder.path().join("utf16.yaml");
    let latin = folder.path().join("latin.yaml");
    let large = folder.path().join("large.yaml");
    fs_err::write(&utf16, [0xff, 0xfe, b'n', 0]).expect("written");
    fs_err::write(&latin, b"name: caf\xe9\n").expect("written");
    fs_err::write(&large, "#".repeat(10_000_000)).expect("written");
    for (path, title) in [
        (missing.as_path(), "there is no file `"),
        (folder.path(), "is a directory"),
        (&utf16, "is not UTF-8 text"),
        (&latin, "is not UTF-8 text"),
        (&large, "is larger than 8 MiB"),
    ] {
        let found = diagnostics(path);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].title.contains(title), "{found:?}");
        assert!(found[0].help.is_some(), "{found:?}");
    }
    let place = diagnostics(&latin).remove(0).place.expect("the place of the byte");
    assert_eq!((place.line, place.column), (1, 10));
}

/// All files of steps that bad plans include.
fn parts() -> Vec<PathBuf> {
    let mut parts: Vec<PathBuf> = fs_err::read_dir(Path::new(FOLDER).join("parts"))
        .expect("the fixtures are there")
        .map(|entry| entry.expect("the folder can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    parts.sort();
    parts
}

/// The text after some edits: the place, how much is cut, what is put in.
fn edited(source: &str, edits: &[(prop::sample::Index, usize, String)]) -> String {
    let mut source = source.to_owned();
    for (at, cut, added) in edits {
        let mut start = at.index(source.len() + 1);
        while !source.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = (start + cut).min(source.len());
        while !source.is_char_boundary(end) {
            end += 1;
        }
        let symbols = ["${", "{", "[", "- ", ": ", "\n  ", "'", "&a ", "*a"];
        source.replace_range(start..end, &format!("{}{added}", symbols[*cut]));
    }
    source
}

/// Whether `shown` is the line, but for secrets in it.
fn is_shown_as(line: &str, shown: &str) -> bool {
    if !shown.contains("***") {
        return line == shown;
    }
    let mut parts = shown.split("***");
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    /// Half-edited plans: whatever is in the file, the answer is a program or errors on lines that
    /// the file has.
    #[test]
    fn no_plan_makes_the_reader_or_the_compiler_panic(
        plan in 0..1_000_usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..9_usize, "\\PC{0,3}"), 1..5),
    ) {
        let plans = plans();
        let source = fs_err::read_to_string(&plans[plan % plans.len()]).expect("a fixture");
        let source = edited(&source, &edits);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("plan.yaml");
        fs_err::write(&path, &source).expect("written");
        let found = diagnostics(&path);
        let mut text = String::new();
        render(&found, true, &mut text).expect("a string takes all text");
        for place in found.iter().filter_map(|diagnostic| diagnostic.place.as_ref()) {
            prop_assert!(place.column <= place.text.chars().count() + 1, "{place:?}");
            let line = source.trim_start_matches('\u{feff}').split('\n').nth(place.line - 1);
            let line = line.map(|line| line.trim_end_matches('\r'));
            let is_shown = line.is_some_and(|line| is_shown_as(line, &place.text));
            prop_assert!(is_shown, "{line:?} {place:?}");
        }
    }

    /// The same for a file of steps: each place is in the plan or in the file, and says which.
    #[test]
    fn no_included_file_makes_the_reader_or_the_compiler_panic(
        part in 0..1_000_usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..9_usize, "\\PC{0,3}"), 1..5),
    ) {
        let parts = parts();
        let source = fs_err::read_to_string(&parts[part % parts.len()]).expect("a fixture");
        let source = edited(&source, &edits);
        let plan = "thread_groups: { steps: [open, include: a.yaml, include: { file: a.yaml, with: { user: x } }] }";
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("plan.yaml");
        fs_err::write(&path, plan).expect("written");
        fs_err::write(folder.path().join("a.yaml"), &source).expect("written");
        for place in diagnostics(&path).iter().filter_map(|diagnostic| diagnostic.place.as_ref()) {
            let included = !place.included_from.is_empty();
            prop_assert_eq!(place.file.ends_with("a.yaml"), included, "{:?}", place);
            let text = if included { source.as_str() } else { plan };
            let line = text.trim_start_matches('\u{feff}').split('\n').nth(place.line - 1);
            let line = line.map(|line| line.trim_end_matches('\r'));
            prop_assert_eq!(line, Some(place.text.as_str()), "{:?}", place);
        }
    }
}

//! Which module may know which, and what only one of them may name. Read from the sources, so that
//! a wrong import fails a test instead of growing roots.
//!
//! Unit tests (what stands behind `#[cfg(test)]`, and files named `tests.rs`) may use anything: they
//! bind nothing.

use std::path::{Path, PathBuf};

use regex::Regex;

/// Each module and what it may import; "all" for the one that wires everything.
const MAY_IMPORT: [(&str, &str); 18] = [
    ("clock", ""),
    ("diag", ""),
    ("net", "clock"),
    ("secrets", "net"),
    ("ws", "clock net"),
    ("sample", "clock"),
    ("stats", "clock sample"),
    ("verdict", "stats"),
    ("program", "diag net secrets verdict"),
    ("plan", "diag secrets"),
    ("compile", "diag net plan program secrets verdict"),
    ("exec", "clock net program sample secrets ws"),
    ("report", "clock sample stats verdict"),
    ("results", "diag sample stats"),
    ("convert", "diag plan"),
    ("target", "clock net ws"),
    ("console", "diag"),
    ("cli", "all"),
];

/// What only some modules may name: a pattern, the modules, and what it stands for.
const ONLY_IN: [(&str, &str, &str); 3] = [
    (r"\bserde_yaml\b", "plan", "YAML"),
    (r"\b(rustls|tokio_rustls|native_tls|tokio_native_tls|openssl|webpki_roots)\b", "net", "TLS"),
    (r"\be?print(ln)?!|\bdbg!|\b(stdout|stderr)\(\)", "console cli", "printing"),
];

/// What is wrong with one file of `src`; `path` is relative to it.
fn violations(path: &str, source: &str) -> Vec<String> {
    let module = path.split('/').next().unwrap_or(path).trim_end_matches(".rs");
    let code = code_of(path, source);
    let mut found = Vec::new();
    for imported in imports(&code) {
        if !may_import(module, &imported) {
            found.push(format!("{path}: `{module}` may not import `{imported}`"));
        }
    }
    for (pattern, modules, what) in ONLY_IN {
        let pattern = Regex::new(pattern).expect("the patterns above are valid");
        if let Some(hit) = pattern.find(&code)
            && !modules.split(' ').any(|allowed| allowed == module)
        {
            let hit = hit.as_str();
            found.push(format!("{path}: `{hit}` is {what}, which only {modules} may name"));
        }
    }
    if code.contains("super::super") {
        found.push(format!("{path}: `super::super`; write `crate::…`"));
    }
    found
}

/// The source without comment lines and without its unit tests; nothing of the build script, which is no
/// part of the program.
fn code_of(path: &str, source: &str) -> String {
    if path.ends_with("/tests.rs") || path == "link/build.rs" {
        return String::new();
    }
    let tests = Regex::new(r"#\[cfg\(test\)\]\nmod \w+ \{").expect("the pattern is valid");
    let code = tests.split(source).next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The modules that some code names, in order, each once.
fn imports(code: &str) -> Vec<String> {
    let path = Regex::new(r"\b(?:crate|wsmeter)::(\w+|\{)").expect("the pattern is valid");
    let mut modules: Vec<String> = Vec::new();
    for captures in path.captures_iter(code) {
        let name = captures.get(1).expect("the group is in every match");
        let mut names = vec![name.as_str().to_owned()];
        if name.as_str() == "{" {
            names = heads_of_group(&code[name.end()..]);
        }
        modules.extend(names);
    }
    modules.sort();
    modules.dedup();
    modules
}

/// The first words of the paths in `{a::B, c::{d, e}}`, given what follows the brace.
fn heads_of_group(code: &str) -> Vec<String> {
    let (mut depth, mut heads, mut head) = (0, Vec::new(), String::new());
    for character in code.chars() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => heads.push(std::mem::take(&mut head)),
            _ if depth == 0 => head.push(character),
            _ => {}
        }
    }
    heads.push(head);
    let heads = heads.iter().filter_map(|head| head.trim().split("::").next());
    heads.filter(|head| !head.is_empty()).map(str::to_owned).collect()
}

fn may_import(module: &str, imported: &str) -> bool {
    match module {
        "main" => imported == "cli",
        // It lists the modules and imports none.
        "lib" => false,
        _ => MAY_IMPORT.iter().any(|(name, allowed)| {
            let known = MAY_IMPORT.iter().any(|(name, _)| *name == imported);
            *name == module
                && (imported == module
                    || allowed.split(' ').any(|word| word == imported)
                    || (*allowed == "all" && known))
        }),
    }
}

/// All `.rs` files below `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs_err::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn modules_import_only_what_they_may() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = sources(&folder);
    assert!(files.len() > 20, "the sources were not found: {files:?}");
    let mut found = Vec::new();
    for file in files {
        let path = file.strip_prefix(&folder).expect("it was found there").to_string_lossy();
        found.extend(violations(&path, &fs_err::read_to_string(&file).expect("it is UTF-8")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_checker_catches_what_it_is_for() {
    let cases = [
        ("report/jtl.rs", "use crate::exec::Engine;\n", "`report` may not import `exec`"),
        ("exec/open.rs", "fn f() { crate::plan::load() }", "`exec` may not import `plan`"),
        ("stats/a/b.rs", "use crate::{\n    sample::{Code, Sample},\n    cli::Run,\n};", "`cli`"),
        ("clock.rs", "use crate::diag::Place;", "`clock` may not import `diag`"),
        ("main.rs", "fn main() { wsmeter::exec::run() }", "`main` may not import `exec`"),
        ("lib.rs", "use crate::exec;", "`lib` may not import `exec`"),
        ("helpers.rs", "use crate::clock;", "`helpers` may not import `clock`"),
        ("cli/run.rs", "use crate::helpers::f;", "`cli` may not import `helpers`"),
        ("compile/mod.rs", "use serde_yaml::Value;", "only plan may name"),
        ("ws/connection.rs", "use tokio_rustls::TlsStream;", "only net may name"),
        ("exec/worker.rs", "fn f() { eprintln!(\"x\") }", "only console cli may name"),
        ("report/live.rs", "let out = std::io::stdout();", "only console cli may name"),
        ("exec/a.rs", "use super::super::plan;", "super::super"),
        (
            "exec/mod.rs",
            "#[cfg(test)]\nmod tests;\nuse crate::plan::load;",
            "may not import `plan`",
        ),
    ];
    for (path, source, text) in cases {
        let found = violations(path, source);
        assert_eq!(found.len(), 1, "{path}: {found:?}");
        assert!(found[0].contains(text), "{found:?}");
    }
}

#[test]
fn the_checker_lets_pass_what_is_allowed() {
    let cases = [
        ("main.rs", "fn main() -> ExitCode { wsmeter::cli::main() }"),
        ("cli/run.rs", "use crate::{exec, plan, target::Server};\nprintln!();"),
        (
            "exec/open.rs",
            "use crate::ws::{Connection, frame::{encode, Role}};\n//! [`crate::plan`]",
        ),
        ("ws/a.rs", "use crate::clock;\n#[cfg(test)]\nmod tests {\n    use crate::plan::load;\n}"),
        ("exec/tests.rs", "use crate::plan::load;"),
        ("plan/load.rs", "let plan = serde_yaml::from_str(text)?;"),
    ];
    for (path, source) in cases {
        assert_eq!(violations(path, source), Vec::<String>::new(), "{path}");
    }
}

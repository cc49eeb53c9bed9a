//! Which connections a group's samplers use, and which its `open`s open.

use std::collections::BTreeSet;

use crate::compile::compiler::Compiler;
use crate::compile::warning::Warning;
use crate::diag::nearest;
use crate::plan::{At, Path, Problem};
use crate::program::{Expect, Pings, Setting, Template};

/// The connections of one group.
#[derive(Debug, Default)]
pub(super) struct Connections {
    opened: BTreeSet<String>,
    /// An `open` has a name that is only known in the run.
    opens_any: bool,
    used: Vec<Use>,
    /// Which of them deliver pings, or may do so.
    deliver_pings: BTreeSet<String>,
    /// What reads pings or pongs: the word, the connection, where.
    ping_readers: Vec<(&'static str, String, Path)>,
}

#[derive(Debug)]
struct Use {
    kind: &'static str,
    /// `None` if it is only known in the run.
    name: Option<String>,
    path: Path,
    /// Nothing before it in the group opens the connection.
    early: bool,
}

impl Connections {
    /// A sampler of `kind` uses `connection`; `path` is where it says so, or the sampler's.
    pub(super) fn used(&mut self, kind: &'static str, connection: &Template, path: Path) {
        let name = connection.as_constant().map(str::to_owned);
        match (kind, name) {
            ("open", Some(name)) => {
                self.opened.insert(name);
            }
            ("open", None) => self.opens_any = true,
            (_, name) => {
                let opened = name.as_ref().is_none_or(|name| self.opened.contains(name));
                self.used.push(Use { kind, name, path, early: !opened && !self.opens_any });
            }
        }
    }

    /// An `open` of this connection does so with pings.
    pub(super) fn delivers(&mut self, connection: &Template, pings: &Setting<Pings>) {
        if !matches!(pings, Setting::Fixed(Pings::Answer | Pings::Ignore))
            && let Some(name) = connection.as_constant()
        {
            self.deliver_pings.insert(name.to_owned());
        }
    }

    /// The sampler at `path` expects this of the connection.
    pub(super) fn expects(&mut self, what: &Setting<Expect>, connection: &Template, path: &Path) {
        let word = match what {
            Setting::Fixed(Expect::Ping) => "ping",
            Setting::Fixed(Expect::Pong) => "pong",
            _ => return,
        };
        if let Some(name) = connection.as_constant() {
            self.ping_readers.push((word, name.to_owned(), path.clone()));
        }
    }

    /// A sampler of `kind` has a connection whose name is wrong, which is noted already.
    pub(super) fn unknown(&mut self, kind: &str) {
        self.opens_any |= kind == "open";
    }
}

impl Compiler<'_> {
    /// Notes the connections that nothing opens; what a group without any `open` uses, once.
    pub(super) fn connections(&mut self, connections: &Connections) {
        if connections.opens_any {
            return;
        }
        for (word, name, path) in &connections.ping_readers {
            let opened = connections.opened.contains(name);
            if opened && !connections.deliver_pings.contains(name) {
                let title = format!("no {word} ever reaches this sampler");
                let problem = Problem::error(path, title).at(At::Key);
                self.note(problem.help("add `pings: deliver` to the `open` of its connection"));
            }
        }
        if connections.opened.is_empty() {
            if let Some(Use { kind, path, .. }) = connections.used.first() {
                let title =
                    format!("`{kind}` needs a connection, and no step of this group opens one");
                let problem = Problem::error(path, title).at(At::Key);
                self.note(problem.help("put an `open` before it: `- open: { url: 'ws://…' }`"));
            }
            return;
        }
        let mut told = BTreeSet::new();
        for Use { kind, name, path, early } in &connections.used {
            let Some(name) = name.as_deref() else { continue };
            if connections.opened.contains(name) {
                if *early && told.insert(name) {
                    let warning = Warning::BeforeOpen { kind, connection: name.to_owned() };
                    self.note(warning.at(path, place_of_connection(path)));
                }
                continue;
            }
            let title = format!("no `open` of this group opens the connection `{name}`");
            let problem = Problem::error(path, title).at(place_of_connection(path));
            let opened = connections.opened.iter().map(String::as_str);
            let all: Vec<String> = opened.clone().map(|name| format!("`{name}`")).collect();
            self.note(match nearest(name, opened) {
                Some(similar) => problem.help(format!("a similar connection is open: `{similar}`")),
                None => problem.help(format!(
                    "give the `{kind}` a `connection` that is open ({}), or open `{name}`",
                    all.join(", ")
                )),
            });
        }
    }
}

/// The name itself if the sampler gives it, else the sampler.
fn place_of_connection(path: &Path) -> At {
    if path.last_key() == Some("connection") { At::Value } else { At::Key }
}

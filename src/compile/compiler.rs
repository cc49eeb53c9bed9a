//! What all passes share: the errors so far, the names of variables, and how a setting's text becomes
//! a value.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jsonpath_rust::parser::model::JpQuery;
use regex::Regex;

use crate::compile::include::Including;
use crate::compile::properties::Properties;
use crate::compile::variables::Variables;
use crate::net::TlsClient;
use crate::plan::{self, Loaded, Path, Problem};
use crate::program::{BadValue, FromText, Setting, Template, VariableId};
use crate::secrets::Found;

/// The state of one compilation.
pub(super) struct Compiler<'a> {
    pub(super) properties: &'a Properties,
    /// Whether the text at hand is a file's, so that places in it are none in the plan.
    pub(super) in_a_file: bool,
    pub(super) problems: Vec<Problem>,
    pub(super) variables: Variables,
    /// Secrets in URLs and headers that are the same at each execution.
    pub(super) secrets: Found,
    /// Variables that are extracted from headers with secrets.
    pub(super) secret_headers: Vec<VariableId>,
    /// The labels of transactions that are known before the run, and where they stand.
    pub(super) transactions: Vec<(String, Path)>,
    /// What `set` gives to variables, which may be secret.
    pub(super) set_values: Vec<(VariableId, Template)>,
    /// What makes a loop of the group at hand one that nothing ends: its `times` or `condition`.
    pub(super) endless: Vec<Path>,
    /// The threads of the group at hand, if their number is right.
    pub(super) group_threads: Option<u32>,
    /// How many `rendezvous` the run has so far.
    pub(super) rendezvous: usize,
    /// How many loops are around the step at hand.
    pub(super) loops: usize,
    /// What the first unnamed sampler of each kind that sends has for a payload.
    pub(super) unnamed_payloads: HashMap<&'static str, UnnamedPayload>,
    /// How many counts the run keeps so far: of `__counter` calls, of controllers and
    /// of paces.
    pub(super) counters: u32,
    /// Regular expressions by their text: a long plan repeats few of them, and each takes time to
    /// compile and memory to keep.
    pub(super) patterns: HashMap<String, Regex>,
    /// The same for the paths of `json` checks.
    pub(super) json_paths: HashMap<String, JpQuery>,
    /// The TLS configurations of the run, each for other settings.
    pub(super) tls_clients: Vec<Arc<TlsClient>>,
    /// The plan, which gives the files that it includes.
    pub(super) loaded: &'a Loaded,
    pub(super) including: Including,
}

/// The payload of samplers that share a label because they have no name.
#[derive(Debug)]
pub(super) enum UnnamedPayload {
    /// All so far send this, as written.
    Same(String),
    /// They differ, which is noted.
    Different,
}

/// When a text is evaluated, and so what it may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Before the run: constants and properties.
    BeforeTheRun,
    /// At each execution.
    InTheRun,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(loaded: &'a Loaded, properties: &'a Properties) -> Self {
        Self {
            properties,
            in_a_file: false,
            problems: Vec::new(),
            variables: Variables::default(),
            secrets: Found::default(),
            secret_headers: Vec::new(),
            transactions: Vec::new(),
            set_values: Vec::new(),
            endless: Vec::new(),
            group_threads: None,
            rendezvous: 0,
            loops: 0,
            unnamed_payloads: HashMap::new(),
            counters: 0,
            patterns: HashMap::new(),
            json_paths: HashMap::new(),
            tls_clients: Vec::new(),
            loaded,
            including: Including::default(),
        }
    }

    pub(super) fn note(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// A text field.
    pub(super) fn text<K>(&mut self, setting: &plan::Setting<K>, path: &Path) -> Option<Template> {
        self.template(&setting.text, path, When::InTheRun)
    }

    /// A field of a step that is not text.
    pub(super) fn setting<K, T: FromText>(
        &mut self,
        setting: &plan::Setting<K>,
        path: &Path,
    ) -> Option<Setting<T>> {
        let template = self.text(setting, path)?;
        match template.as_constant() {
            Some(text) => self.parse(text, &setting.text, path).map(Setting::Fixed),
            None => Some(Setting::Template(template)),
        }
    }

    /// A field that must be known before the run.
    pub(super) fn fixed<K, T: FromText>(
        &mut self,
        setting: &plan::Setting<K>,
        path: &Path,
    ) -> Option<T> {
        let text = self.fixed_text(setting, path)?;
        self.parse(&text, &setting.text, path)
    }

    /// A text that must be known before the run.
    pub(super) fn fixed_text<K>(
        &mut self,
        setting: &plan::Setting<K>,
        path: &Path,
    ) -> Option<String> {
        let template = self.template(&setting.text, path, When::BeforeTheRun)?;
        template.as_constant().map(str::to_owned)
    }

    /// A deadline: any duration but zero.
    pub(super) fn timeout<K>(
        &mut self,
        setting: &plan::Setting<K>,
        path: &Path,
    ) -> Option<Setting<Duration>> {
        let timeout = self.setting(setting, path)?;
        if timeout == Setting::Fixed(Duration::ZERO) {
            let key = path.last_key().unwrap_or("the timeout");
            let title = format!("`{key}` is zero, and a wait needs an end");
            self.note(Problem::error(path, title).help("write `10m`"));
            return None;
        }
        Some(timeout)
    }

    /// A field that must hold for a constant; a template is judged in the run.
    pub(super) fn checked<T: FromText>(
        &mut self,
        setting: Option<Setting<T>>,
        path: &Path,
        check: impl Fn(&T) -> Result<(), BadValue>,
    ) -> Option<Setting<T>> {
        let setting = setting?;
        if let Setting::Fixed(value) = &setting
            && let Err(bad) = check(value)
        {
            self.bad_value(bad, path, "");
            return None;
        }
        Some(setting)
    }

    fn parse<T: FromText>(&mut self, text: &str, written: &str, path: &Path) -> Option<T> {
        match T::from_text(text) {
            Ok(value) => Some(value),
            Err(bad) => {
                let label =
                    if text == written { String::new() } else { format!("this is `{text}`") };
                self.bad_value(bad, path, &label);
                None
            }
        }
    }

    pub(super) fn bad_value(&mut self, bad: BadValue, path: &Path, label: &str) {
        let mut problem = Problem::error(path, bad.what).label(label);
        problem.help = bad.help;
        self.note(problem);
    }
}

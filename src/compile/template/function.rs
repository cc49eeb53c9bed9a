//! The functions: how many arguments they take, and what they become.

use crate::compile::compiler::{Compiler, When};
use crate::compile::template::parse::Argument;
use crate::compile::template::signature::{FUNCTIONS, FunctionInfo};
use crate::compile::variables::is_variable_name;
use crate::diag::nearest;
use crate::net;
use crate::plan::{At, Path, Problem};
use crate::program::{CounterId, CounterScope, Function, Part, Template, VariableId};

/// The longest `__RandomString`.
const MAX_RANDOM_STRING: u64 = 1_000_000;

/// Functions that are specified but not built yet.
const LATER: &[&str] = &["__StringFromFile", "__V", "__setProperty"];

/// A call as it is written, and where.
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: &'a [Argument],
    pub(super) path: &'a Path,
    pub(super) at: At,
    pub(super) when: When,
}

/// The variable that gets a result, if any.
pub(super) struct Store(pub(super) Option<VariableId>);

impl Call<'_> {
    /// The parts that the call stands for: a constant or the call itself.
    pub(super) fn compile(&self, compiler: &mut Compiler<'_>) -> Option<Vec<Part>> {
        self.signature(compiler)?;
        if matches!(self.name, "__P" | "__property" | "__env") {
            return self.property(compiler);
        }
        if self.when == When::BeforeTheRun {
            compiler.too_late(&format!("`{}`", self.name), self.path, self.at);
            return None;
        }
        let function = match self.name {
            "__counter" => self.counter(compiler)?,
            "__threadNum" => Function::ThreadNum,
            "__threadGroupName" => Function::ThreadGroupName,
            "__UUID" => Function::Uuid,
            "__time" => {
                let format = self.time_format(compiler)?;
                let Store(store) = self.store(compiler, 1)?;
                Function::Time { format, store }
            }
            "__timeShift" => self.time_shift(compiler)?,
            "__FileToString" => return self.file(compiler),
            "__Random" => self.random(compiler)?,
            "__RandomString" => self.random_string(compiler)?,
            _ => return self.text(compiler),
        };
        Some(vec![Part::Call(Box::new(function))])
    }

    pub(super) fn fail<T>(
        &self,
        compiler: &mut Compiler<'_>,
        title: String,
        help: &str,
    ) -> Option<T> {
        let problem = Problem::error(self.path, title).at(self.at);
        compiler.note(if help.is_empty() { problem } else { problem.help(help) });
        None
    }

    /// Notes a wrong name or number of arguments.
    fn signature(&self, compiler: &mut Compiler<'_>) -> Option<()> {
        let name = self.name;
        let Some(signature) = FUNCTIONS.iter().find(|signature| signature.name == name) else {
            if LATER.contains(&name) {
                return self.fail(compiler, format!("`{name}` is not in this version"), "");
            }
            let names = FUNCTIONS.iter().map(|signature| signature.name);
            let help = if let Some(similar) = nearest(name, names.clone()) {
                format!("a similar function exists: `{similar}`")
            } else {
                let all: Vec<String> = names.map(|name| format!("`{name}`")).collect();
                format!("the functions are {}", all.join(", "))
            };
            return self.fail(compiler, format!("unknown function `{name}`"), &help);
        };
        let FunctionInfo { least, most, usage, .. } = *signature;
        if (least..=most).contains(&self.arguments.len()) {
            return Some(());
        }
        let wanted = match (least, most) {
            (0, 0) => "no arguments".to_owned(),
            (1, 1) => "1 argument".to_owned(),
            (0, most) => format!("at most {most} arguments"),
            (least, usize::MAX) => format!("{least} or more arguments"),
            (least, most) if least + 1 == most => format!("{least} or {most} arguments"),
            (least, most) => format!("{least} to {most} arguments"),
        };
        let optional = if usage.contains('[') { "; what is in `[ ]` may be left out" } else { "" };
        let given = self.arguments.len();
        let title = format!("`{name}` takes {wanted}, not {given}");
        self.fail(compiler, title, &format!("write `${{{usage}}}`{optional}"))
    }

    /// An argument; empty if it is not there. `None` if it is wrong.
    pub(super) fn argument(&self, compiler: &mut Compiler<'_>, index: usize) -> Option<Template> {
        match self.arguments.get(index) {
            None => Some(Template::default()),
            Some(Argument { source, pieces }) => {
                compiler.pieces(pieces, source, self.path, self.when)
            }
        }
    }

    /// An argument that must not change from one execution to the next; empty if it is not there.
    pub(super) fn constant(
        &self,
        compiler: &mut Compiler<'_>,
        index: usize,
        what: &str,
    ) -> Option<String> {
        let template = self.argument(compiler, index)?;
        if let Some(text) = template.as_constant() {
            return Some(text.to_owned());
        }
        let title = format!("{what} of `{}` cannot hold variables", self.name);
        self.fail(compiler, title, "only `__P`, `__property` and `__env` can be used there")
    }

    /// The variable that also gets the result.
    pub(super) fn store(&self, compiler: &mut Compiler<'_>, index: usize) -> Option<Store> {
        let name = self.constant(compiler, index, "the variable")?;
        if name.is_empty() {
            return Some(Store(None));
        }
        if !is_variable_name(&name) {
            let title = format!("`{name}` is not a name for a variable");
            return self.fail(compiler, title, "use letters, digits, `_`, `-` and `.`");
        }
        Some(Store(Some(compiler.variables.stored(&name))))
    }

    fn property(&self, compiler: &mut Compiler<'_>) -> Option<Vec<Part>> {
        let name = self.constant(compiler, 0, "the name")?;
        // The default is compiled even if it is not needed: a mistake in it is one with any `-J`.
        let default = self.argument(compiler, 1)?;
        let of_environment = self.name == "__env";
        let value = if of_environment {
            std::env::var(&name).ok()
        } else {
            compiler.properties.get(&name).map(str::to_owned)
        };
        if let Some(value) = value {
            if of_environment && net::is_secret(&name) {
                compiler.secrets.remember_password(&value);
            }
            return Some(vec![Part::Text(value)]);
        }
        if self.arguments.len() > 1 {
            return Some(default.parts);
        }
        let (what, how) = if of_environment {
            ("environment variable", format!("set it before the command, `{name}=value wsmeter …`"))
        } else {
            ("property", format!("set it with `-J {name}=value`"))
        };
        let title = format!("the {what} `{name}` is not set and has no default");
        let call = self.name;
        let help = format!("{how}, or give a default: `${{{call}({name}, value)}}`");
        self.fail(compiler, title, &help)
    }

    fn counter(&self, compiler: &mut Compiler<'_>) -> Option<Function> {
        let whose = self.constant(compiler, 0, "the first argument")?;
        let scope = match whose.to_ascii_lowercase().as_str() {
            "true" => CounterScope::Thread,
            "false" => CounterScope::Run,
            _ => {
                let title = format!("`{whose}` is neither `TRUE` nor `FALSE`");
                let help = "`TRUE` counts for each thread, `FALSE` for the whole run";
                return self.fail(compiler, title, help);
            }
        };
        let Store(store) = self.store(compiler, 1)?;
        let id = CounterId(compiler.counters);
        compiler.counters = compiler.counters.saturating_add(1);
        Some(Function::Counter { id, scope, store })
    }

    fn random(&self, compiler: &mut Compiler<'_>) -> Option<Function> {
        let min = self.argument(compiler, 0)?;
        let max = self.argument(compiler, 1)?;
        let mut ends = Vec::new();
        for text in [&min, &max].into_iter().filter_map(Template::as_constant) {
            let Ok(end) = text.trim().parse::<i64>() else {
                let title = format!("`{text}` is not a whole number for `__Random`");
                return self.fail(compiler, title, "write `${__Random(1, 100)}`");
            };
            ends.push(end);
        }
        if let [min, max] = ends[..]
            && min > max
        {
            let title = format!("the ends of `__Random` are the wrong way round: {min} > {max}");
            return self.fail(compiler, title, &format!("write `${{__Random({max}, {min})}}`"));
        }
        let Store(store) = self.store(compiler, 2)?;
        Some(Function::Random { min, max, store })
    }

    fn random_string(&self, compiler: &mut Compiler<'_>) -> Option<Function> {
        let length = self.argument(compiler, 0)?;
        if let Some(text) = length.as_constant()
            && !text.trim().parse().is_ok_and(|length: u64| length <= MAX_RANDOM_STRING)
        {
            let title = format!("`{text}` is not a length for `__RandomString`");
            return self.fail(compiler, title, "write a whole number, at most 1000000");
        }
        let characters = self.argument(compiler, 1)?;
        let Store(store) = self.store(compiler, 2)?;
        Some(Function::RandomString { length, characters, store })
    }
}

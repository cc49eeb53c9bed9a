//! Calls that make texts of others, of files, or of dates.

use std::borrow::Cow;

use crate::compile::compiler::Compiler;
use crate::compile::send_file::read;
use crate::compile::template::function::{Call, Store};
use crate::compile::template::time_pattern::time_format;
use crate::program::{
    Algorithm, BadValue, FromText, Function, Part, Shift, Template, TextFunction, TimeFormat,
};

impl Call<'_> {
    /// The parts of a call of a [`TextFunction`]: a text, if its arguments are.
    pub(super) fn text(&self, compiler: &mut Compiler<'_>) -> Option<Vec<Part>> {
        let all = 0..self.arguments.len();
        let (function, arguments, variable) = match self.name {
            "__char" => (TextFunction::Char, self.templates(compiler, all)?, None),
            "__urlencode" => (TextFunction::UrlEncode, self.templates(compiler, all)?, None),
            "__base64Encode" => {
                (TextFunction::Base64Encode, self.templates(compiler, 0..1)?, Some(1))
            }
            "__base64Decode" => {
                (TextFunction::Base64Decode, self.templates(compiler, 0..1)?, Some(1))
            }
            _ => (self.digest(compiler)?, self.templates(compiler, 1..3)?, Some(4)),
        };
        let store = match variable {
            Some(index) => self.store(compiler, index)?.0,
            None => None,
        };
        // An error in a constant is one now; beside a variable it is found in the run.
        for one in arguments.iter().filter(|_| function == TextFunction::Char) {
            if let Some(text) = one.as_constant() {
                self.checked(compiler, function.apply(&[Cow::Borrowed(text)]))?;
            }
        }
        let constants: Option<Vec<Cow<'_, str>>> =
            arguments.iter().map(|one| one.as_constant().map(Cow::Borrowed)).collect();
        if let Some(constants) = constants {
            let text = self.checked(compiler, function.apply(&constants))?;
            return Some(match store {
                None => vec![Part::Text(text)],
                Some(store) => vec![Part::Call(Box::new(Function::Constant { text, store }))],
            });
        }
        Some(vec![Part::Call(Box::new(Function::Text { function, arguments, store }))])
    }

    fn digest(&self, compiler: &mut Compiler<'_>) -> Option<TextFunction> {
        let algorithm = self.constant(compiler, 0, "the algorithm")?;
        let algorithm = self.checked(compiler, Algorithm::from_text(&algorithm))?;
        let upper = match self.constant(compiler, 3, "upper case")?.to_ascii_lowercase().as_str() {
            "" | "false" => false,
            "true" => true,
            other => {
                let title = format!("`{other}` does not say whether the digest is in upper case");
                return self.fail(compiler, title, "write `true` or `false`");
            }
        };
        Some(TextFunction::Digest { algorithm, upper })
    }

    fn templates(
        &self,
        compiler: &mut Compiler<'_>,
        range: std::ops::Range<usize>,
    ) -> Option<Vec<Template>> {
        range.map(|index| self.argument(compiler, index)).collect()
    }

    /// Notes what is wrong with a constant argument.
    fn checked<T>(&self, compiler: &mut Compiler<'_>, value: Result<T, BadValue>) -> Option<T> {
        match value {
            Ok(value) => Some(value),
            Err(bad) => self.fail(compiler, bad.what, bad.help.as_deref().unwrap_or_default()),
        }
    }

    /// `__FileToString`: the file is read now.
    pub(super) fn file(&self, compiler: &mut Compiler<'_>) -> Option<Vec<Part>> {
        let name = self.constant(compiler, 0, "the file")?;
        let encoding = self.constant(compiler, 1, "the encoding")?;
        if !["", "utf-8", "utf8"].contains(&encoding.to_ascii_lowercase().as_str()) {
            let help = "convert the file to UTF-8, the only encoding that is read";
            return self.fail(compiler, format!("the encoding `{encoding}` is not known"), help);
        }
        let Store(store) = self.store(compiler, 2)?;
        let bytes = match read(&compiler.loaded.folder(self.path).join(&name), &name) {
            Ok(bytes) => bytes,
            Err((title, help)) => return self.fail(compiler, title, help),
        };
        let Ok(text) = String::from_utf8(bytes) else {
            let help = "send bytes with `send_file: { path: …, type: binary }`";
            return self.fail(compiler, format!("`{name}` is not UTF-8 text"), help);
        };
        compiler.secrets.remember_body(text.as_bytes());
        Some(match store {
            None => vec![Part::Text(text)],
            Some(store) => vec![Part::Call(Box::new(Function::Constant { text, store }))],
        })
    }

    pub(super) fn time_shift(&self, compiler: &mut Compiler<'_>) -> Option<Function> {
        let format = self.time_format(compiler)?;
        let date = self.argument(compiler, 1)?;
        if let Some(text) = date.as_constant().map(str::trim).filter(|text| !text.is_empty()) {
            self.checked(compiler, format.read(text))?;
        }
        let shift = self.argument(compiler, 2)?;
        if let Some(text) = shift.as_constant().map(str::trim).filter(|text| !text.is_empty()) {
            self.checked(compiler, Shift::from_text(text))?;
        }
        let locale = self.constant(compiler, 3, "the locale")?;
        if !["", "en", "en_us", "en_gb"].contains(&locale.to_ascii_lowercase().as_str()) {
            let title = format!("the locale `{locale}` is not known");
            return self.fail(compiler, title, "leave it empty: names are English");
        }
        let Store(store) = self.store(compiler, 4)?;
        Some(Function::TimeShift { format, date, shift, store })
    }

    /// The first argument as the format of a time.
    pub(super) fn time_format(&self, compiler: &mut Compiler<'_>) -> Option<TimeFormat> {
        let format = self.constant(compiler, 0, "the time pattern")?;
        match time_format(&format) {
            Ok(format) => Some(format),
            Err(what) => {
                let help = "use letters such as `yyyy-MM-dd HH:mm:ss.SSS`; quote text: `'T'`";
                self.fail(compiler, what, help)
            }
        }
    }
}

//! The only code that prints. Data that was asked for goes to standard output, all else to
//! standard error.

use std::io::{self, IsTerminal, Write};

use crate::diag::{self, Diagnostic};

/// Where and how to print.
#[derive(Debug, Clone, Copy)]
pub struct Console {
    colour: bool,
    quiet: bool,
    terminal: bool,
}

impl Console {
    /// Looks at standard error and the environment: colour only on a terminal and without
    /// `NO_COLOR`; no live progress under `CI`. `quiet` leaves only errors and the verdict.
    pub fn detect(quiet: bool) -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let terminal = io::stderr().is_terminal();
        Self { colour: terminal && !set("NO_COLOR"), quiet, terminal: terminal && !set("CI") }
    }

    /// Whether a bar that redraws itself makes sense.
    pub fn is_live(self) -> bool {
        self.terminal && !self.quiet
    }

    /// Whether data may have colours: on a terminal, and without `NO_COLOR`.
    pub fn paints_data(self) -> bool {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        io::stdout().is_terminal() && !refused
    }

    /// Prints what was asked for. Whoever has closed the pipe has seen enough; any other error is that the
    /// text is lost.
    pub fn data(self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }

    /// Prints what is nice to know.
    pub fn info(self, text: &str) {
        if !self.quiet {
            print_to(&mut io::stderr().lock(), text);
        }
    }

    /// Prints what must be seen.
    pub fn important(self, text: &str) {
        print_to(&mut io::stderr().lock(), text);
    }

    /// Prints an error with its causes and advice.
    pub fn error(self, error: &dyn std::error::Error, help: Option<&str>) {
        let (red, off) = if self.colour { ("\u{1b}[1;31m", "\u{1b}[0m") } else { ("", "") };
        let mut text = format!("{red}error{off}: {error}\n");
        let mut source = error.source();
        while let Some(cause) = source {
            text.extend(["  caused by: ", &cause.to_string(), "\n"]);
            source = cause.source();
        }
        if let Some(help) = help {
            text.extend(["  = help: ", help, "\n"]);
        }
        self.important(&text);
    }

    /// Prints advice as a compiler does.
    pub fn warnings(self, warnings: &[Diagnostic]) {
        if !self.quiet {
            self.diagnostics(warnings);
        }
    }

    /// Prints diagnostics as a compiler does.
    pub fn diagnostics(self, diagnostics: &[Diagnostic]) {
        let mut text = String::new();
        // Its result is that of the writer, and writing to a `String` does not fail.
        diag::render(diagnostics, self.colour, &mut text).ok();
        self.important(&text);
    }
}

/// No error is a reason to stop: the files matter more than what is shown.
fn print_to(out: &mut dyn Write, text: &str) {
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).ok();
}

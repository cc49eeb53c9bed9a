//! Diagnostics as text, in the look of a compiler's: place, line with its number, caret, advice.
//!
//! The caret stays under its text through tabs and wide characters, long lines are cut round the
//! place, and nothing from a plan can reach the terminal as a control sequence.

use std::fmt;

use unicode_width::UnicodeWidthChar;

use crate::diag::{Diagnostic, Inclusion, Place, Severity};

/// Columns of a line that are shown at most.
const WIDTH: usize = 100;
/// Columns that are kept before the place in a line that is cut.
const BEFORE: usize = 40;
/// What a tab is shown as.
const TAB: &str = "    ";

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const BLUE: &str = "\x1b[1;34m";
const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// Writes the diagnostics one after the other, a blank line between them. Fails only if `out` does.
pub fn render(diagnostics: &[Diagnostic], colour: bool, out: &mut dyn fmt::Write) -> fmt::Result {
    for (index, diagnostic) in diagnostics.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        Renderer { colour, out: &mut *out }.diagnostic(diagnostic)?;
    }
    Ok(())
}

struct Renderer<'a> {
    colour: bool,
    out: &'a mut dyn fmt::Write,
}

impl Renderer<'_> {
    fn diagnostic(&mut self, diagnostic: &Diagnostic) -> fmt::Result {
        let (word, colour) = match diagnostic.severity {
            Severity::Error => ("error", RED),
            Severity::Warning => ("warning", YELLOW),
        };
        self.painted(colour, word)?;
        self.painted(BOLD, &format!(": {}", tame(&diagnostic.title)))?;
        writeln!(self.out)?;
        let gutter = match &diagnostic.place {
            Some(place) => {
                self.place(place, &tame(&diagnostic.label), colour)?;
                place.line.to_string().len()
            }
            None => 1,
        };
        let inclusions = diagnostic.place.iter().flat_map(|place| &place.included_from);
        let inclusions: Vec<String> = inclusions.rev().map(inclusion).collect();
        if !inclusions.is_empty() {
            write!(self.out, "{:gutter$} ", "")?;
            self.painted(BLUE, "=")?;
            writeln!(self.out, " included from {}", inclusions.join(", from "))?;
        }
        if let Some(help) = &diagnostic.help {
            write!(self.out, "{:gutter$} ", "")?;
            self.painted(BLUE, "=")?;
            write!(self.out, " ")?;
            self.painted(BOLD, "help")?;
            writeln!(self.out, ": {}", tame(help))?;
        }
        Ok(())
    }

    fn place(&mut self, place: &Place, label: &str, colour: &str) -> fmt::Result {
        let number = place.line.to_string();
        let gutter = number.len();
        let shown = Shown::cut(place);
        write!(self.out, "{:gutter$}", "")?;
        self.painted(BLUE, "-->")?;
        let file = place.file.display().to_string();
        writeln!(self.out, " {}:{}:{}", tame(&file), place.line, place.column)?;
        write!(self.out, "{:gutter$} ", "")?;
        self.painted(BLUE, "|")?;
        writeln!(self.out)?;
        self.painted(BLUE, &format!("{number} |"))?;
        writeln!(self.out, " {}", shown.text)?;
        write!(self.out, "{:gutter$} ", "")?;
        self.painted(BLUE, "|")?;
        write!(self.out, " {:1$}", "", shown.before)?;
        let carets = "^".repeat(shown.carets);
        let underline = if label.is_empty() { carets } else { format!("{carets} {label}") };
        self.painted(colour, &underline)?;
        writeln!(self.out)
    }

    fn painted(&mut self, colour: &str, text: &str) -> fmt::Result {
        if self.colour {
            write!(self.out, "{colour}{text}{RESET}")
        } else {
            self.out.write_str(text)
        }
    }
}

fn inclusion(from: &Inclusion) -> String {
    format!("{}:{}:{}", tame(&from.file.display().to_string()), from.line, from.column)
}

/// A line as it is shown, with the place counted in terminal columns.
struct Shown {
    text: String,
    before: usize,
    carets: usize,
}

impl Shown {
    fn cut(place: &Place) -> Self {
        // Only what can be shown is looked at: a line may have megabytes.
        let first = place.column.saturating_sub(1);
        let widths =
            |text: &mut dyn Iterator<Item = char>| -> usize { text.map(|c| shown_char(c).1).sum() };
        let skip = if widths(&mut place.text.chars().take(first)) + WIDTH / 2 > WIDTH {
            first.saturating_sub(BEFORE)
        } else {
            0
        };
        let mut text = String::new();
        let mut before = 0;
        let mut carets = 0;
        let mut used = 0;
        if skip > 0 {
            text.push('…');
            (before, used) = (1, 1);
        }
        for (index, c) in place.text.chars().enumerate().skip(skip) {
            let (shown, width) = shown_char(c);
            if used + width > WIDTH {
                text.push('…');
                break;
            }
            text.push_str(&shown);
            used += width;
            if index < first {
                before += width;
            } else if index < first.saturating_add(place.length) {
                carets += width;
            }
        }
        // A place behind the end of the line, such as a missing bracket, still gets its caret.
        Self { text: text.trim_end().to_owned(), before, carets: carets.max(1) }
    }
}

/// How a character is shown and how many columns that takes.
fn shown_char(c: char) -> (String, usize) {
    match c {
        '\t' => (TAB.to_owned(), TAB.len()),
        c if is_unsafe(c) => ("\u{fffd}".to_owned(), 1),
        c => (c.to_string(), c.width().unwrap_or(0)),
    }
}

/// Text on one line that cannot steer a terminal.
fn tame(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\n' => "\\n".to_owned(),
            '\t' => "\\t".to_owned(),
            c if is_unsafe(c) => c.escape_default().to_string(),
            c => c.to_string(),
        })
        .collect()
}

/// Control characters, and those that reorder the text of a whole line.
fn is_unsafe(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(text: &str, column: usize, length: usize) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            title: "`url` must start with `ws://` or `wss://`".to_owned(),
            place: Some(Place {
                file: "plans/chat.yaml".into(),
                line: 5,
                column,
                length,
                text: text.to_owned(),
                included_from: Vec::new(),
            }),
            label: "this is an HTTP address".to_owned(),
            help: Some("write `ws://h/`".to_owned()),
        }
    }

    fn rendered(diagnostics: &[Diagnostic]) -> String {
        let mut out = String::new();
        render(diagnostics, false, &mut out).unwrap();
        out
    }

    #[test]
    fn an_error_shows_place_line_caret_and_help() {
        let expected = "\
error: `url` must start with `ws://` or `wss://`
 --> plans/chat.yaml:5:12
  |
5 |       url: http://h/
  |            ^^^^^^^^^ this is an HTTP address
  = help: write `ws://h/`
";
        assert_eq!(rendered(&[diagnostic("      url: http://h/", 12, 9)]), expected);
    }

    #[test]
    fn a_place_in_an_included_file_says_from_where_it_is_included() {
        let mut error = diagnostic("      url: http://h/", 12, 9);
        let from = |file: &str, line| Inclusion { file: file.into(), line, column: 7 };
        error.place.as_mut().unwrap().included_from =
            vec![from("plan.yaml", 12), from("a.yaml", 3)];
        let expected = "
  |            ^^^^^^^^^ this is an HTTP address
  = included from a.yaml:3:7, from plan.yaml:12:7
  = help: write `ws://h/`
";
        assert!(rendered(&[error]).ends_with(expected));
    }

    #[test]
    fn a_diagnostic_without_place_is_title_and_help() {
        let warning = Diagnostic {
            severity: Severity::Warning,
            title: "2,000 threads start within 1 s".to_owned(),
            place: None,
            label: String::new(),
            help: Some("`ramp_up: 20s` would start 100 a second".to_owned()),
        };
        let text = "warning: 2,000 threads start within 1 s\n  \
            = help: `ramp_up: 20s` would start 100 a second\n";
        assert_eq!(rendered(std::slice::from_ref(&warning)), text);
        assert_eq!(rendered(&[warning.clone(), warning]), format!("{text}\n{text}"));
    }

    #[test]
    fn the_gutter_grows_with_the_line_number() {
        let mut error = diagnostic("url: x", 6, 1);
        error.place.as_mut().unwrap().line = 1_234;
        let text = rendered(&[error]);
        assert!(
            text.contains(
                "\n    --> plans/chat.yaml:1234:6\n     |\n1234 | url: x\n     |      ^ "
            )
        );
        assert!(text.ends_with("\n     = help: write `ws://h/`\n"));
    }

    /// The column of the first caret, and the display width of what stands above before `mark`.
    fn caret_and_mark(text: &str, mark: char) -> (usize, usize) {
        let lines: Vec<&str> = text.lines().collect();
        let above: &str = lines[3].split(mark).next().unwrap();
        let width = above.chars().map(|c| c.width().unwrap_or(0)).sum();
        (lines[4].find('^').unwrap(), width)
    }

    #[test]
    fn the_caret_stays_right_behind_tabs_wide_and_combining_characters() {
        for text in ["\tname: Q", "日本語: Q", "e\u{301}: Q", "\u{1b}[2J Q", "\u{202e}abc Q"] {
            let column = text.chars().position(|c| c == 'Q').unwrap() + 1;
            let text = rendered(&[diagnostic(text, column, 1)]);
            let (caret, mark) = caret_and_mark(&text, 'Q');
            assert_eq!(caret, mark, "{text}");
            assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
        }
    }

    #[test]
    fn a_long_line_is_cut_round_the_place() {
        let line = format!("{}Q{}", "x".repeat(500), "y".repeat(5_000_000));
        let text = rendered(&[diagnostic(&line, 501, 1)]);
        let (caret, mark) = caret_and_mark(&text, 'Q');
        assert_eq!(caret, mark, "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 120), "{text}");
    }

    #[test]
    fn a_place_at_the_end_of_a_line_has_one_caret_there() {
        let text = rendered(&[diagnostic("a: [", 5, 1)]);
        assert!(text.contains("\n5 | a: [\n  |     ^ this"), "{text}");
    }

    #[test]
    fn colour_is_never_the_only_sign() {
        let mut out = String::new();
        render(&[diagnostic("url: x", 6, 1)], true, &mut out).unwrap();
        assert!(out.contains("\x1b["));
        let mut plain = String::new();
        let mut rest = out.as_str();
        while let Some(start) = rest.find('\x1b') {
            plain.push_str(&rest[..start]);
            rest = &rest[start + rest[start..].find('m').unwrap() + 1..];
        }
        plain.push_str(rest);
        assert_eq!(plain, rendered(&[diagnostic("url: x", 6, 1)]));
    }
}

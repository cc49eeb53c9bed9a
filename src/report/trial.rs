//! A trial run as it is read on a terminal: every step, frame and judgement, in order.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::report::units::{printable, time};
use crate::sample::{Note, Payload, Sample, Sink, Trace, WorkerSink};
use crate::stats::Stats;

/// No line is longer, in characters; texts go on below.
const WIDTH: usize = 100;

/// Where the texts of a step begin: behind the time and the arrow.
const INDENT: usize = 14;

/// Takes what a trial run tells, as text and as figures.
#[derive(Debug, Clone)]
pub struct Trial {
    shared: Arc<Mutex<Page>>,
    started: Instant,
    /// Whether what failed is red.
    colour: bool,
}

#[derive(Debug, Default)]
struct Page {
    text: String,
    stats: Stats,
    peak_connections: u64,
    connections: u64,
    /// Whether a thread has begun.
    begun: bool,
}

impl Trial {
    /// An empty page; times count from `started`.
    pub fn new(started: Instant, colour: bool) -> Self {
        Self { shared: Arc::default(), started, colour }
    }

    /// What was written since this was last asked.
    pub fn take_text(&self) -> String {
        std::mem::take(&mut self.page().text)
    }

    /// The figures so far, and the most connections that were open at once.
    pub fn take_stats(&self) -> (Stats, u64) {
        let mut page = self.page();
        (std::mem::take(&mut page.stats), page.peak_connections)
    }

    fn page(&self) -> MutexGuard<'_, Page> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{colour}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// A line of what a step does: `mark` stands before the text, which goes on below if it is long.
    fn line(&self, mark: &str, text: &str) {
        self.painted_line(mark, text, None);
    }

    fn painted_line(&self, mark: &str, text: &str, colour: Option<&str>) {
        let text = printable(text);
        let mut mark = format!("{mark:>width$} ", width = INDENT - 1);
        let mut out = String::new();
        for line in wrapped(&text, WIDTH - INDENT) {
            let line = match colour {
                Some(colour) => self.paint(colour, line),
                None => line.to_owned(),
            };
            writeln!(out, "{mark}{line}").ok();
            mark = " ".repeat(INDENT);
        }
        self.page().text.push_str(&out);
    }

    fn moment(&self, at: Instant) -> String {
        let since = at.saturating_duration_since(self.started).as_secs_f64() * 1e3;
        format!("{since:.1}")
    }

    fn timed(&self, at: Instant, arrow: &str, text: &str) {
        self.line(&format!("{} {arrow}", self.moment(at)), text);
    }

    fn heading(&self, at: Instant, text: &str) {
        let text = self.paint("1", &printable(text));
        let moment = self.moment(at);
        writeln!(self.page().text, "{moment:>10} {text}").ok();
    }

    fn frame(&self, at: Instant, trace: &Trace) {
        let Trace::Frame { connection, sent, kind, last, size, whole, payload } = trace else {
            return;
        };
        let mut text = String::new();
        if connection != "main" {
            write!(text, "[{connection}] ").ok();
        }
        let more = if *last { "" } else { ", more follows" };
        write!(text, "{kind}, {size} B{more}").ok();
        let shown = match payload {
            Payload::Text(shown) => format!("{shown}{}", if *whole { "" } else { "…" }),
            Payload::Binary(bytes) => binary(bytes, *size),
        };
        if !shown.is_empty() {
            write!(text, ": {shown}").ok();
        }
        self.timed(at, arrow(*sent), &text);
    }

    fn head(&self, at: Instant, sent: bool, size: u64, text: &str) {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        self.timed(at, arrow(sent), &format!("{first} ({size} B)"));
        for line in lines.filter(|line| !line.trim().is_empty()) {
            self.line("", line);
        }
    }

    fn check(&self, source: &str, failure: Option<&str>, found: Option<&str>) {
        let found = found.map(|found| format!(", found {found}")).unwrap_or_default();
        match failure {
            None => self.line("ok", &format!("{source}{found}")),
            Some(failure) => {
                self.painted_line("FAILS", &format!("{source}: {failure}"), Some("31"));
            }
        }
    }
}

fn arrow(sent: bool) -> &'static str {
    if sent { "->" } else { "<-" }
}

/// The text in lines of at most `width` characters, cut at blanks where that is not too early.
fn wrapped(text: &str, width: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some((end, _)) = rest.char_indices().nth(width) {
        let blank = rest[..end].rfind(' ').filter(|blank| *blank > end / 2);
        let (line, more) = rest.split_at(blank.unwrap_or(end));
        lines.push(line);
        rest = more.trim_start_matches(' ');
    }
    lines.push(rest);
    lines
}

/// Bytes in hexadecimal, with what can be read of them.
fn binary(bytes: &[u8], size: u64) -> String {
    let shown = &bytes[..bytes.len().min(32)];
    let hex: Vec<String> = shown.iter().map(|byte| format!("{byte:02x}")).collect();
    let text: String = shown
        .iter()
        .map(|byte| if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '.' })
        .collect();
    let more = if size > shown.len() as u64 { " …" } else { "" };
    format!("{}{more} |{text}|", hex.join(" "))
}

impl Sink for Trial {
    fn worker(&self) -> Box<dyn WorkerSink> {
        Box::new(self.clone())
    }
}

impl WorkerSink for Trial {
    fn sample(&mut self, sample: &Sample<'_>) {
        self.page().stats.sample(sample);
        let took = time(Some(sample.elapsed));
        let Sample { code, message, bytes, sent_bytes, .. } = sample;
        let kind = if sample.transaction { "transaction " } else { "" };
        let label = if sample.transaction { format!("`{}` ", sample.label) } else { String::new() };
        if sample.success {
            let text = format!(
                "{kind}{label}passed: {code} {message} in {took}, {bytes} B received, {sent_bytes} B sent"
            );
            self.line("=", &text);
        } else {
            let cause = match sample.failure_message {
                "" => *message,
                text => text,
            };
            let text = format!("{kind}{label}FAILED: {code} {message} after {took}: {cause}");
            self.painted_line("=", &text, Some("31"));
        }
    }

    fn note(&mut self, note: &Note<'_>) {
        self.page().stats.note(note);
        match note {
            Note::Opened { .. } => {
                let mut page = self.page();
                page.connections += 1;
                page.peak_connections = page.peak_connections.max(page.connections);
            }
            Note::ConnectionEnded { .. } => self.page().connections -= 1,
            Note::Skipped { label, cause } => {
                self.line("=", &format!("`{label}` is skipped because of {cause}"));
            }
            Note::Cut { label } => {
                self.line("=", &format!("`{label}` was cut by the end of the run"));
            }
            Note::Unanswered { label } => {
                self.line("!", &format!("no reply to `{label}` has come, not even late"));
            }
            Note::LostWhileIdle { cause } => {
                self.line("!", &format!("a connection was lost while idle: {cause}"));
            }
            Note::InboxDropped { count } => {
                self.line("!", &format!("a full inbox has dropped {count} messages"));
            }
            Note::ClockSkew { .. } => {
                self.line("!", "the server says it sent this after it arrived: its clock differs");
            }
            Note::Log { text, .. } => self.line("log", text),
            Note::ThreadEndedEarly { cause, .. } => {
                self.line("!", &format!("the thread ends early: {cause:?}"));
            }
            _ => {}
        }
    }

    fn flush(&mut self) {}

    fn wants_traces(&self) -> bool {
        true
    }

    fn trace(&mut self, at: Instant, trace: &Trace) {
        match trace {
            Trace::Thread { name } => {
                let text = self.paint("1", &format!("thread {}", printable(name)));
                let mut page = self.page();
                let gap = if std::mem::replace(&mut page.begun, true) { "\n" } else { "" };
                writeln!(page.text, "{gap}{text}").ok();
            }
            Trace::Step { kind, label } if kind == label => self.heading(at, kind),
            Trace::Step { kind, label } => self.heading(at, &format!("{label} ({kind})")),
            Trace::Pause { text } => self.heading(at, &format!("pause {text}")),
            Trace::Head { sent, size, text } => self.head(at, *sent, *size, text),
            Trace::Frame { .. } => self.frame(at, trace),
            Trace::Fate(text) => self.line("", text),
            Trace::Check { source, failure, found } => {
                self.check(source, failure.as_deref(), found.as_deref());
            }
            Trace::Variable { name, value: Some(value) } => {
                self.line("", &format!("{name} = {value}"));
            }
            Trace::Variable { name, value: None } => self.line("", &format!("{name} has no value")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;

    #[test]
    fn bytes_are_shown_with_what_can_be_read_of_them() {
        assert_eq!(binary(&[0xca, b'h', b'i', 0], 4), "ca 68 69 00 |.hi.|");
        assert!(binary(&[0; 40], 40).contains(" … |"));
    }

    #[test]
    fn long_texts_go_on_below_and_no_line_is_too_long() {
        let trial = Trial::new(clock::now(), false);
        trial.line("<-", &"ü".repeat(250));
        let text = trial.take_text();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }
}

//! Advice about plans that can be run but may not measure what their author means.

use std::time::Duration;

use crate::diag::Severity;
use crate::plan::{At, Path, Problem};

/// Groups of at most this many threads may start all at once.
const MAX_AT_ONCE: u32 = 100;

/// What may be wrong with a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Warning {
    /// Many threads of a group start within a second.
    AllAtOnce { threads: u32 },
    /// A sampler stands before any step that opens its connection.
    BeforeOpen { kind: &'static str, connection: String },
    /// Steps without names send different payloads and have one label.
    SharedLabel { kind: &'static str },
    /// A transaction has the label of a sampler.
    TransactionLabel { name: String },
    /// Nothing reads a variable.
    UnusedVariable { name: String },
    /// A group or loop runs until the run is interrupted.
    Endless { what: &'static str },
    /// A filter discards every message that a sampler could pass with.
    Swallowed { kind: &'static str, filter: String },
    /// A message ends in a newline that nobody sees.
    TrailingNewline,
    /// All requests of a step hold the same value to know their replies by.
    SameCorrelation { correlate: String },
    /// Servers are not verified.
    Insecure,
}

impl Warning {
    /// Whether so many threads over `ramp_up` are too sudden.
    pub(super) fn all_at_once(threads: u32, ramp_up: Duration) -> Option<Self> {
        (threads > MAX_AT_ONCE && ramp_up <= Duration::from_secs(1))
            .then_some(Self::AllAtOnce { threads })
    }

    fn title(&self) -> String {
        match self {
            Self::AllAtOnce { threads } => format!("{threads} threads start within 1 s"),
            Self::BeforeOpen { kind, connection } => {
                format!("`{kind}` comes before any `open` of the connection `{connection}`")
            }
            Self::SharedLabel { kind } => {
                format!("`{kind}` steps with different payloads share the label `{kind}`")
            }
            Self::TransactionLabel { name } => {
                format!("the transaction `{name}` has the label of a sampler")
            }
            Self::UnusedVariable { name } => format!("the variable `{name}` is never used"),
            Self::Endless { what } => format!("{what} never ends by itself"),
            Self::Swallowed { kind, filter } => {
                format!("the filter `{filter}` discards what `{kind}` waits for")
            }
            Self::TrailingNewline => "the message ends in a newline".to_owned(),
            Self::Insecure => "no server is verified: anyone could be in its place".to_owned(),
            Self::SameCorrelation { correlate } => {
                format!("`correlate: {correlate}` is the same in all requests of this step")
            }
        }
    }

    fn help(&self) -> String {
        match self {
            Self::AllAtOnce { threads } => {
                let seconds = threads.div_ceil(MAX_AT_ONCE);
                format!("`ramp_up: {seconds}s` would start {MAX_AT_ONCE} a second")
            }
            Self::BeforeOpen { .. } => {
                "it fails in the first iteration; put the `open` before it".to_owned()
            }
            Self::SharedLabel { .. } => {
                "give each a `name`, so that the results tell them apart".to_owned()
            }
            Self::TransactionLabel { .. } => {
                "give it another name: tools that read the rows would take both for one".to_owned()
            }
            Self::UnusedVariable { name } => {
                format!("write `${{{name}}}` where it belongs, or remove it")
            }
            Self::Endless { .. } => {
                "give the group a `duration`, or a number instead of `forever`".to_owned()
            }
            Self::Swallowed { .. } => {
                "it will time out; make the filter narrower, or give it to other steps only"
                    .to_owned()
            }
            Self::SameCorrelation { .. } => {
                "give each request a value of its own, such as `${__UUID}` or `${__counter}`"
                    .to_owned()
            }
            Self::Insecure => {
                "`tls: { ca: ca.pem }` trusts a server with a certificate of your own".to_owned()
            }
            Self::TrailingNewline => "write `|-` or `>-` to send it without".to_owned(),
        }
    }

    /// The warning about the value at `path`.
    pub(super) fn at(&self, path: &Path, at: At) -> Problem {
        let mut problem = Problem::error(path, self.title()).at(at).help(self.help());
        problem.severity = Severity::Warning;
        problem
    }
}

#[cfg(test)]
mod tests {
    use crate::compile::Properties;
    use crate::compile::compile;
    use crate::plan::parse;

    /// Line, title and advice of all warnings about a group with these lines.
    fn warnings(top: &str, group: &str, steps: &str) -> Vec<(usize, String, String)> {
        let defaults = "defaults: { url: 'ws://h' }";
        let plan = format!("{defaults}\n{top}\nthread_groups:\n- {group}\n  steps:\n{steps}\n");
        let loaded = parse(std::path::Path::new("plan.yaml"), plan).unwrap();
        let compiled = compile(&loaded, &Properties::default()).unwrap();
        let line = |place: Option<crate::diag::Place>| place.unwrap().line;
        let warnings = compiled.warnings.into_iter();
        warnings
            .map(|warning| (line(warning.place), warning.title, warning.help.unwrap()))
            .collect()
    }

    fn only(top: &str, group: &str, steps: &str) -> (usize, String, String) {
        let mut found = warnings(top, group, steps);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    #[test]
    fn many_threads_within_a_second_get_a_ramp() {
        let (line, title, help) = only("", "threads: 2000", "  - open");
        assert_eq!((line, title.as_str()), (4, "2000 threads start within 1 s"));
        assert_eq!(help, "`ramp_up: 20s` would start 100 a second");
        assert!(warnings("", "threads: 2000\n  ramp_up: 2s", "  - open").is_empty());
        assert!(warnings("", "threads: 100", "  - open").is_empty());
    }

    #[test]
    fn a_filter_must_leave_what_a_sampler_waits_for() {
        let steps = |own: &str| format!("  - open\n  - request_response: {{ send: hi, {own} }}");
        let (line, title, _) = only("filters: [binary, text]", "loops: 2", &steps("name: x"));
        assert_eq!(line, 7);
        assert_eq!(title, "the filter `type: text` discards what `request_response` waits for");
        let own = "filters: { starts_with: p }, assert: { equals: pong }";
        assert!(only("", "loops: 2", &steps(own)).1.contains("`starts_with: p`"));
        let own = "filters: { starts_with: x }, assert: { equals: pong }";
        assert!(warnings("filters: binary", "loops: 2", &steps(own)).is_empty());
    }

    #[test]
    fn a_sampler_before_its_open_fails_in_the_first_iteration() {
        let (line, title, _) = only("", "loops: 2", "  - close\n  - ping_pong\n  - open");
        assert_eq!(line, 6);
        assert_eq!(title, "`close` comes before any `open` of the connection `main`");
        let any = "  - open: { connection: '${__UUID}' }\n  - close\n  - open";
        assert!(warnings("", "loops: 2", any).is_empty());
        assert!(warnings("", "loops: 2", "  - open\n  - close").is_empty());
    }

    #[test]
    fn unnamed_steps_with_different_payloads_share_a_label() {
        let steps = "  - open\n  - request_response: a\n  - request_response: b";
        let (line, title, _) = only("", "loops: 1", steps);
        assert_eq!(line, 8);
        let wanted = "`request_response` steps with different payloads share the label \
                      `request_response`";
        assert_eq!(title, wanted);
        let same = "  - open\n  - request_response: a\n  - request_response: a";
        assert!(warnings("", "loops: 1", same).is_empty());
        let named = "  - open\n  - request_response: a\n  - request_response: { name: x, send: b }";
        assert!(warnings("", "loops: 1", named).is_empty());
    }

    #[test]
    fn a_transaction_has_a_label_of_its_own() {
        let steps = "  - open\n  - transaction: { name: open, steps: ping_pong }";
        let (line, title, _) = only("", "loops: 1", steps);
        assert_eq!(
            (line, title.as_str()),
            (7, "the transaction `open` has the label of a sampler")
        );
        let other = "  - open\n  - transaction: { name: both, steps: ping_pong }";
        assert!(warnings("", "loops: 1", other).is_empty());
    }

    #[test]
    fn a_variable_that_nothing_reads_is_named() {
        let (line, title, help) = only("variables: { room: a }", "loops: 1", "  - open");
        assert_eq!((line, title.as_str()), (2, "the variable `room` is never used"));
        assert_eq!(help, "write `${room}` where it belongs, or remove it");
        let used = "variables: { room: a }";
        assert!(warnings(used, "loops: 1", "  - open: '/${room}'").is_empty());
    }

    #[test]
    fn what_only_an_interrupt_ends_is_told() {
        let (line, title, _) = only("", "loops: forever", "  - open");
        assert_eq!((line, title.as_str()), (4, "the group never ends by itself"));
        let inner = "  - open\n  - loop: { times: forever, steps: ping_pong }";
        let (line, title, _) = only("", "loops: 1", inner);
        assert_eq!((line, title.as_str()), (7, "the loop never ends by itself"));
        assert!(warnings("", "duration: 1s", inner).is_empty());
        let stops =
            "  - open\n  - loop: { times: forever, on_error: stop_thread, steps: ping_pong }";
        assert!(warnings("", "loops: 1", stops).is_empty());
        let always = "  - open\n  - while: { condition: 'true', steps: ping_pong }";
        assert_eq!(only("", "loops: 1", always).1, "the loop never ends by itself");
        let ends = |what| {
            let then = format!("if: {{ condition: last_ok, then: {what} }}");
            format!("  - open\n  - loop: {{ times: forever, steps: [ping_pong, {then}] }}")
        };
        for what in ["break", "next_iteration", "stop_thread"] {
            assert!(warnings("", "loops: 1", &ends(what)).is_empty(), "{what}");
        }
        let inner = "{ loop: { times: 2, steps: break } }";
        assert_eq!(only("", "loops: 1", &ends(inner)).1, "the loop never ends by itself");
        // The next iteration of a group without end is no end.
        let group = only("", "loops: forever", "  - open\n  - next_iteration");
        assert_eq!(group.1, "the group never ends by itself");
    }

    #[test]
    fn a_newline_at_the_end_of_a_message_is_shown() {
        let steps = "  - open\n  - single_write: |\n      hello";
        let (line, title, _) = only("", "loops: 1", steps);
        assert_eq!((line, title.as_str()), (7, "the message ends in a newline"));
    }
}

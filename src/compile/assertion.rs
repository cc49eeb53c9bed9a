//! `assert` and `filters`: lists of checks, and which samplers each of them reaches.

use crate::compile::compiler::Compiler;
use crate::compile::reach::{Leaf, Reach, Reached, leaves};
use crate::compile::source::source;
use crate::plan::{self, At, Path, Problem};
use crate::program::{Assertion, Check, Filter};

/// An assertion of a scope, which reaches some of the samplers below.
#[derive(Debug, Clone)]
pub(super) struct Reaching {
    /// That of each check it is made up of.
    pub(super) reaches: Vec<Reach>,
    pub(super) assertion: Assertion,
}

impl Reaching {
    /// Whether it can apply to such a sampler.
    pub(super) fn includes(&self, sampler: Reached) -> bool {
        self.reaches.iter().all(|reach| reach.includes(sampler))
    }
}

impl Compiler<'_> {
    /// The list `assert` at `path`.
    pub(super) fn assertions(&mut self, checks: &[plan::Check], path: &Path) -> Vec<Reaching> {
        let mut assertions = Vec::new();
        for (index, check) in checks.iter().enumerate() {
            let path = path.index(index);
            let leaves = leaves(check, &path);
            self.refuse_filter_forms(&leaves);
            let reaches = leaves.iter().map(|leaf| leaf.reach).collect();
            let compiled = self.check(check, &path);
            assertions.extend(compiled.map(|check| Reaching {
                reaches,
                assertion: Assertion { source: source(&check), check },
            }));
        }
        assertions
    }

    /// The list `assert` of a sampler itself: each must be able to apply to it.
    pub(super) fn own_assertions(
        &mut self,
        checks: &[plan::Check],
        sampler: Reached,
        path: &Path,
    ) -> Vec<Assertion> {
        let all = || {
            let leaves = |(index, check)| leaves(check, &path.index(index));
            checks.iter().enumerate().flat_map(leaves)
        };
        // The answer to an `open` that is to be refused has a body.
        let is_refusal = sampler.kind == "open" && checks.iter().any(wants_refusal);
        for leaf in all() {
            let has_body = (is_refusal || sampler.kind == "http") && leaf.reach == Reach::Message;
            if !has_body && !leaf.reach.includes(sampler) {
                self.out_of_reach(&leaf, sampler.kind);
            }
        }
        self.assertions(checks, path).into_iter().map(|reaching| reaching.assertion).collect()
    }

    /// The list `filters` at `path`.
    pub(super) fn filters(&mut self, checks: &[plan::Check], path: &Path) -> Vec<Filter> {
        let mut filters = Vec::new();
        for (index, check) in checks.iter().enumerate() {
            let path = path.index(index);
            let reply = self.filter_replies(check, &path);
            let compiled = self.of_message(check, &path);
            filters.extend(compiled.map(|check| Filter { source: source(&check), check, reply }));
        }
        filters
    }

    /// The list `reply` at `path`.
    pub(super) fn matchers(&mut self, checks: &[plan::Check], path: &Path) -> Vec<Assertion> {
        let mut matchers = Vec::new();
        for (index, check) in checks.iter().enumerate() {
            let compiled = self.matcher(check, &path.index(index));
            matchers.extend(compiled.map(|check| Assertion { source: source(&check), check }));
        }
        matchers
    }

    /// One matcher, at `path`.
    pub(super) fn matcher(&mut self, check: &plan::Check, path: &Path) -> Option<Check> {
        self.refuse_filter_forms(&leaves(check, path));
        self.of_message(check, path)
    }

    /// A check that looks at nothing but a message.
    fn of_message(&mut self, check: &plan::Check, path: &Path) -> Option<Check> {
        for leaf in leaves(check, path).iter().filter(|leaf| leaf.reach != Reach::Message) {
            let title = format!("`{}` is no property of a message", leaf.name);
            let problem = Problem::error(&leaf.path, title).at(At::Key);
            self.note(problem.help("assert it, or look for what the message holds"));
        }
        self.check(check, path)
    }

    fn refuse_filter_forms(&mut self, leaves: &[Leaf]) {
        for leaf in leaves.iter().filter(|leaf| leaf.name == "ping_pong") {
            let problem = Problem::error(&leaf.path, "`ping_pong` is a form of `filters`");
            self.note(problem.at(At::Key).help(
                "write `type: ping` or `type: pong`, or measure pings with a `ping_pong` step",
            ));
        }
    }

    fn out_of_reach(&mut self, leaf: &Leaf, kind: &str) {
        let name = leaf.name;
        let (title, help) = match leaf.reach {
            Reach::Open => (
                format!("`{name}` can only be asserted on `open`"),
                match kind {
                    "request_response" | "single_write" | "single_read" => {
                        "or give this step `connect: new`, and it opens its connection itself"
                    }
                    _ => "",
                },
            ),
            Reach::Close => (
                format!("`{name}` can only be asserted on `close`"),
                "or on a `single_read` that waits for one: `expect: close`",
            ),
            _ => (
                match kind {
                    "close" => format!("a close is no message that `{name}` could look at"),
                    _ => format!("`{kind}` receives no message that `{name}` could look at"),
                },
                match kind {
                    "open" => {
                        "assert the first message with `single_read`; or, of an upgrade that is to be \
                         refused, the `status` too"
                    }
                    "single_write" => {
                        "use `request_response`, or assert on the `single_read` that follows"
                    }
                    "close" => "assert `close_status` or `duration` here",
                    _ => "assert `duration` here",
                },
            ),
        };
        let problem = Problem::error(&leaf.path, title).at(At::Key);
        self.note(if help.is_empty() { problem } else { problem.help(help) });
    }
}

/// Whether the check could hold for an upgrade that is refused, by its status.
fn wants_refusal(check: &plan::Check) -> bool {
    match check {
        plan::Check::Status(status) => status.text.trim() != "101",
        plan::Check::Not(inner) => matches!(&**inner, plan::Check::Status(_)),
        plan::Check::AnyOf(checks) | plan::Check::AllOf(checks) => {
            checks.0.iter().any(wants_refusal)
        }
        _ => false,
    }
}

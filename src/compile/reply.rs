//! Which message is whose: `reply`, `correlate`, `late_replies`, `unmatched`.

use crate::compile::compiler::Compiler;
use crate::compile::warning::Warning;
use crate::plan::{self, At, List, Path, Problem, TextOr, Word};
use crate::program::{
    Assertion, Correlate, Expect, LateReplies, Matching, Pattern, Payload, Reply, Sampler,
    SamplerKind, Setting, Step, Unmatched,
};

/// What a scope says of the messages that the samplers below wait for.
#[derive(Debug, Clone, Default)]
pub(super) struct ScopedMatching {
    reply: Option<Vec<Assertion>>,
    /// Whether `reply` holds `${…}`.
    varies: bool,
    /// Only for samplers that send; goes before `reply`.
    correlate: Option<Correlate>,
    late_replies: Option<Setting<LateReplies>>,
    unmatched: Option<Setting<Unmatched>>,
}

/// The same as written, in a sampler or in `defaults`.
#[derive(Clone, Copy)]
pub(super) struct MatchingSettings<'a> {
    pub(super) reply: Option<&'a List<plan::Check>>,
    pub(super) correlate: Option<&'a TextOr<plan::Correlate>>,
    pub(super) late_replies: Option<&'a plan::Setting<Word>>,
    pub(super) unmatched: Option<&'a plan::Setting<Word>>,
}

impl ScopedMatching {
    /// For a sampler that waits for a reply to what it sends, or for any message.
    pub(super) fn resolve(self, sends: bool) -> Matching {
        let checks = self.reply.filter(|checks| !checks.is_empty()).map(Reply::Checks);
        let correlate = self.correlate.filter(|_| sends).map(Reply::Correlate);
        Matching {
            reply: correlate.or(checks),
            late_replies: self.late_replies.unwrap_or(Setting::Fixed(LateReplies::Skip)),
            unmatched: self.unmatched,
            varies: self.varies,
            others_read: false,
        }
    }
}

impl Compiler<'_> {
    /// Applies the settings at `path` to those of the scope around.
    pub(super) fn matching(
        &mut self,
        outer: &mut ScopedMatching,
        own: MatchingSettings<'_>,
        path: &Path,
    ) {
        if own.reply.is_some() && own.correlate.is_some() {
            let title = "`reply` and `correlate` both say which message is the reply";
            let problem = Problem::error(&path.key("reply"), title).at(At::Key);
            self.note(problem.help("give one of them; `assert` says what it must be like"));
        }
        if let Some(checks) = own.reply {
            outer.reply = Some(self.matchers(&checks.0, &path.key("reply")));
            outer.varies = format!("{:?}", checks.0).contains("${");
            outer.correlate = None;
        }
        if let Some(correlate) = own.correlate {
            outer.correlate = self.correlate(correlate, &path.key("correlate"));
        }
        if let Some(word) = own.late_replies {
            outer.late_replies = self.setting(word, &path.key("late_replies"));
        }
        if let Some(word) = own.unmatched {
            outer.unmatched = self.setting(word, &path.key("unmatched"));
        }
    }

    fn correlate(&mut self, correlate: &TextOr<plan::Correlate>, path: &Path) -> Option<Correlate> {
        let settings = match correlate {
            TextOr::Text(text) => {
                let request = self.json_path(text, path)?;
                return Some(Correlate::Json { reply: request.clone(), request });
            }
            TextOr::Settings(settings) => settings,
        };
        match settings {
            plan::Correlate { request: Some(request), reply, regex: None } => {
                let request = self.json_path(request, &path.key("request"));
                let reply = match reply {
                    Some(reply) => self.json_path(reply, &path.key("reply"))?,
                    None => request.clone()?,
                };
                Some(Correlate::Json { request: request?, reply })
            }
            plan::Correlate { request: None, reply: None, regex: Some(regex) } => {
                let path = path.key("regex");
                match self.pattern(regex, &path)? {
                    Pattern::Fixed(regex) => Some(Correlate::Regex(regex)),
                    Pattern::Template(_) => {
                        let title = "the pattern of `correlate` cannot hold variables";
                        let problem = Problem::error(&path, title);
                        self.note(problem.help("what differs is what its first group matches"));
                        None
                    }
                }
            }
            _ => {
                let title = "`correlate` takes `request`, with or without `reply`; or `regex`";
                let problem = Problem::error(path, title).at(At::Key);
                self.note(
                    problem.help("write `correlate: $.id`, or `correlate: { regex: 'id=(\\d+)' }`"),
                );
                None
            }
        }
    }

    /// Warns where it can be seen before the run that requests have nothing to be told apart by.
    pub(super) fn check_correlation(
        &mut self,
        matching: &Matching,
        payload: Option<&Payload>,
        path: &Path,
    ) {
        if let (Some(Reply::Correlate(correlate)), Some(Payload::FixedText(_))) =
            (&matching.reply, payload)
        {
            let correlate = correlate.source().to_owned();
            self.note(Warning::SameCorrelation { correlate }.at(path, At::Key));
        }
    }
}

/// Says of each sampler that waits for messages whether another step of its group reads from its
/// connection: only then is what it passes over of use to anyone.
pub(super) fn settle_readers(steps: &mut [Step]) {
    let mut readers = Vec::new();
    for_each_sampler(steps, &mut |sampler| {
        if reads_messages(sampler) {
            readers.push(sampler.connection.as_constant().map(str::to_owned));
        }
    });
    for_each_sampler(steps, &mut |sampler| {
        let name = sampler.connection.as_constant().map(str::to_owned);
        let may_meet =
            |reader: &&Option<String>| name.is_none() || reader.is_none() || **reader == name;
        let others = readers.iter().filter(may_meet).count();
        let reads = reads_messages(sampler);
        if let Some(matching) = sampler.matching_mut() {
            // With the same matcher it would pass over the same messages again.
            let itself = usize::from(reads && !matching.varies);
            matching.others_read = others > itself;
        }
    });
}

/// Whether it reads messages that nobody asked for; one that waits for a close does not.
fn reads_messages(sampler: &Sampler) -> bool {
    match &sampler.kind {
        SamplerKind::SingleRead(read) => read.expect != Setting::Fixed(Expect::Close),
        SamplerKind::Read(_) => true,
        _ => false,
    }
}

fn for_each_sampler(steps: &mut [Step], visit: &mut impl FnMut(&mut Sampler)) {
    for step in steps {
        match step {
            Step::Sampler(sampler) => visit(sampler),
            Step::Controller(inner) => {
                for part in inner.parts_mut() {
                    for_each_sampler(part, visit);
                }
            }
            Step::Pause(_)
            | Step::Pace(_)
            | Step::Rendezvous(_)
            | Step::Set(_)
            | Step::Log(_)
            | Step::Jump(_) => {}
        }
    }
}

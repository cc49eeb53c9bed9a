//! `single_read` and `read`: what waits for messages that nobody asked for.

use crate::compile::compiler::Compiler;
use crate::compile::reply::MatchingSettings;
use crate::compile::sampler::Place;
use crate::compile::scope::replace;
use crate::plan::{self, At, Flag, List, Problem, Word};
use crate::program::{BadValue, Expect, Matching, Read, SamplerKind, Setting, SingleRead};

/// What both have in common, as written.
struct ReadingSettings<'a> {
    expect: Option<&'a plan::Setting<Word>>,
    optional: Option<&'a plan::Setting<Flag>>,
    reply: Option<&'a List<plan::Check>>,
    late_replies: Option<&'a plan::Setting<Word>>,
    unmatched: Option<&'a plan::Setting<Word>>,
}

/// The same, resolved.
struct Reading {
    expect: Setting<Expect>,
    optional: Setting<bool>,
    matching: Matching,
}

macro_rules! reading_settings {
    ($own:expr) => {
        ReadingSettings {
            expect: $own.expect.as_ref(),
            optional: $own.optional.as_ref(),
            reply: $own.reply.as_ref(),
            late_replies: $own.late_replies.as_ref(),
            unmatched: $own.unmatched.as_ref(),
        }
    };
}

impl Compiler<'_> {
    pub(super) fn single_read(
        &mut self,
        own: &plan::SingleRead,
        place: &Place<'_>,
    ) -> Option<SamplerKind> {
        let reading = self.reading(&reading_settings!(own), place);
        let mut push_delay = place.scope.push_delay.clone();
        if let Some(own) = &own.push_delay {
            replace(&mut push_delay, self.push_delay(own, &place.path.key("push_delay")));
        }
        let Reading { expect, optional, matching } = reading;
        Some(SamplerKind::SingleRead(SingleRead {
            connect: self.connect(own.connect.as_ref(), place).ok()?,
            expect,
            optional,
            push_delay,
            matching,
        }))
    }

    pub(super) fn read(&mut self, own: &plan::Read, place: &Place<'_>) -> Option<SamplerKind> {
        let path = &place.path;
        if own.r#for.is_none() && own.count.is_none() && own.until.is_none() {
            let problem = Problem::error(path, "`read` does not say when it ends").at(At::Key);
            self.note(problem.help("add `for: 10s`, `count: 100` or `until: { contains: done }`"));
        }
        let time = match &own.r#for {
            Some(time) => self.timeout(time, &path.key("for")).map(Some),
            None => Some(None),
        };
        let count = match &own.count {
            Some(count) => {
                let path = path.key("count");
                let count = self.setting(count, &path);
                let count = self.checked(count, &path, |count: &u64| match count {
                    0 => Err(BadValue::new("`count` is zero, so nothing would be read")),
                    _ => Ok(()),
                });
                count.map(Some)
            }
            None => Some(None),
        };
        let until = own.until.as_ref().map(|checks| self.matchers(&checks.0, &path.key("until")));
        let Reading { expect, optional, matching } = self.reading(&reading_settings!(own), place);
        Some(SamplerKind::Read(Box::new(Read {
            time: time?,
            count: count?,
            until: until.unwrap_or_default(),
            expect,
            optional,
            matching,
        })))
    }

    fn reading(&mut self, own: &ReadingSettings<'_>, place: &Place<'_>) -> Reading {
        let mut optional = place.scope.optional.clone();
        if let Some(own) = own.optional {
            replace(&mut optional, self.setting(own, &place.path.key("optional")));
        }
        let mut matching = place.scope.matching.clone();
        let settings = MatchingSettings {
            reply: own.reply,
            correlate: None,
            late_replies: own.late_replies,
            unmatched: own.unmatched,
        };
        self.matching(&mut matching, settings, &place.path);
        Reading {
            expect: self.read_type(own.expect, place),
            optional: optional.unwrap_or(Setting::Fixed(false)),
            matching: matching.resolve(false),
        }
    }

    /// `expect` of a reader: it sends nothing that a message could be the `same` as, and only one that
    /// reads a single message may wait for a close.
    fn read_type(
        &mut self,
        own: Option<&plan::Setting<Word>>,
        place: &Place<'_>,
    ) -> Setting<Expect> {
        let kind = place.kind;
        let many = kind == "read";
        // An inherited one is meant for samplers that can have it.
        let can_be = |expect: &Setting<Expect>| {
            *expect != Setting::Fixed(Expect::Same)
                && !(many && *expect == Setting::Fixed(Expect::Close))
        };
        let mut expect = place.scope.expect.clone().filter(can_be);
        if let Some(own) = own {
            let path = place.path.key("expect");
            let own = self.setting(own, &path);
            let own = self.checked(own, &path, |expect| match expect {
                Expect::Same => {
                    let what =
                        format!("`{kind}` sends nothing that a message could be the `same` as");
                    Err(BadValue::new(what).with_help("write `text`, `binary` or `any`"))
                }
                Expect::Close if many => {
                    Err(BadValue::new("`read` reads messages, and a close is none")
                        .with_help("wait for it with `single_read: { expect: close }`"))
                }
                _ => Ok(()),
            });
            replace(&mut expect, own);
        }
        expect.unwrap_or(Setting::Fixed(Expect::Any))
    }
}

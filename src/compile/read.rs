//! `read`: many messages in one row.

use crate::compile::compiler::Compiler;
use crate::compile::reply::MatchingSettings;
use crate::compile::sampler::Place;
use crate::compile::scope::replace;
use crate::plan::{self, At, Problem};
use crate::program::{BadValue, Expect, Read, SamplerKind, Setting};

impl Compiler<'_> {
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
        // An inherited `same` is meant for samplers that send, a `close` for those that wait for one.
        let others = [Setting::Fixed(Expect::Same), Setting::Fixed(Expect::Close)];
        let mut expect = place.scope.expect.clone().filter(|expect| !others.contains(expect));
        if let Some(own) = &own.expect {
            let path = path.key("expect");
            let own = self.setting(own, &path);
            let own = self.checked(own, &path, |expect| match expect {
                Expect::Same => Err(BadValue::new("`read` sends nothing to be the `same` as")
                    .with_help("write `text`, `binary` or `any`")),
                Expect::Close => Err(BadValue::new("`read` reads messages, and a close is none")
                    .with_help("wait for it with `single_read: { expect: close }`")),
                _ => Ok(()),
            });
            replace(&mut expect, own);
        }
        let mut optional = place.scope.optional.clone();
        if let Some(own) = &own.optional {
            replace(&mut optional, self.setting(own, &path.key("optional")));
        }
        let mut matching = place.scope.matching.clone();
        let settings = MatchingSettings {
            reply: own.reply.as_ref(),
            correlate: None,
            late_replies: own.late_replies.as_ref(),
            unmatched: own.unmatched.as_ref(),
        };
        self.matching(&mut matching, settings, path);
        Some(SamplerKind::Read(Box::new(Read {
            time: time?,
            count: count?,
            until: until.unwrap_or_default(),
            expect: expect.unwrap_or(Setting::Fixed(Expect::Any)),
            optional: optional.unwrap_or(Setting::Fixed(false)),
            matching: matching.resolve(false),
        })))
    }
}

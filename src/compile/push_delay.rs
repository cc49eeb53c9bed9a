//! `push_delay`: how old a message is.

use crate::compile::compiler::Compiler;
use crate::plan::{self, At, Path, Problem};
use crate::program::{Pattern, PushDelay, SentAt, Setting, TimeUnit};

impl Compiler<'_> {
    pub(super) fn push_delay(&mut self, own: &plan::PushDelay, path: &Path) -> Option<PushDelay> {
        let sent_at = self.sent_at(own, path);
        let unit = match &own.unit {
            Some(unit) => self.setting(unit, &path.key("unit")),
            None => Some(Setting::Fixed(TimeUnit::Milliseconds)),
        };
        let at_most = match &own.at_most {
            Some(limit) => Some(self.timeout(limit, &path.key("at_most"))?),
            None => None,
        };
        Some(PushDelay { sent_at: sent_at?, unit: unit?, at_most })
    }

    fn sent_at(&mut self, own: &plan::PushDelay, path: &Path) -> Option<SentAt> {
        match (&own.sent_at, &own.regex) {
            (Some(json), None) => self.json_path(json, &path.key("sent_at")).map(SentAt::Json),
            (None, Some(regex)) => {
                let path = path.key("regex");
                match self.pattern(regex, &path)? {
                    Pattern::Fixed(regex) => Some(SentAt::Regex(regex)),
                    Pattern::Template(_) => {
                        let title = "the pattern of `push_delay` cannot hold variables";
                        self.note(Problem::error(&path, title));
                        None
                    }
                }
            }
            _ => {
                let title = "`push_delay` takes `sent_at` or `regex`: where the time stands";
                let problem = Problem::error(path, title).at(At::Key);
                self.note(problem.help("write `push_delay: { sent_at: $.t, unit: ms }`"));
                None
            }
        }
    }
}

//! `heartbeat` of `open` and `defaults`: merges by key, `null` removes.

use std::time::Duration;

use crate::compile::compiler::Compiler;
use crate::compile::source::source;
use crate::plan::{self, At, Path, Problem, Removable, Time};
use crate::program::{BadValue, Heartbeat, HeartbeatAnswer, HeartbeatPing, HeartbeatSend, Setting};

/// How long a pong may take where the plan does not say.
const FAIL_AFTER: Duration = Duration::from_secs(10);

/// Timers have no finer steps.
const MIN_EVERY: Duration = Duration::from_millis(1);

/// The heartbeat that holds at one point of the plan.
#[derive(Debug, Clone, Default)]
pub(super) struct ScopedHeartbeat {
    ping: Option<ScopedPing>,
    send: Vec<HeartbeatSend>,
    answer: Vec<HeartbeatAnswer>,
}

/// `ping`, whose keys may come from different scopes.
#[derive(Debug, Clone, Default)]
struct ScopedPing {
    every: Option<Setting<Duration>>,
    /// `every` was given and is wrong, which is noted.
    wrong: bool,
    fail_after: Option<Setting<Duration>>,
}

impl Compiler<'_> {
    /// Applies the settings at `path` to those of the scope around.
    pub(super) fn heartbeat(
        &mut self,
        outer: &mut ScopedHeartbeat,
        own: &plan::Heartbeat,
        path: &Path,
    ) {
        match &own.ping {
            None => {}
            Some(Removable::Removed) => outer.ping = None,
            Some(Removable::Given(own)) => {
                let path = path.key("ping");
                let ping = outer.ping.get_or_insert_default();
                if let Some(every) = &own.every {
                    ping.every = self.interval(every, &path.key("every"));
                    ping.wrong = ping.every.is_none();
                }
                if let Some(limit) = &own.fail_after {
                    ping.fail_after = self.timeout(limit, &path.key("fail_after"));
                }
            }
        }
        match &own.send {
            None => {}
            Some(Removable::Removed) => outer.send.clear(),
            Some(Removable::Given(list)) => {
                let path = path.key("send");
                outer.send = (list.0.iter().enumerate())
                    .filter_map(|(index, own)| self.heartbeat_send(own, &path.index(index)))
                    .collect();
            }
        }
        match &own.answer {
            None => {}
            Some(Removable::Removed) => outer.answer.clear(),
            Some(Removable::Given(list)) => {
                let path = path.key("answer");
                outer.answer = (list.0.iter().enumerate())
                    .filter_map(|(index, own)| self.heartbeat_answer(own, &path.index(index)))
                    .collect();
            }
        }
    }

    /// The heartbeat of the `open` at `path`, with its defaults.
    pub(super) fn resolve_heartbeat(&mut self, scoped: ScopedHeartbeat, path: &Path) -> Heartbeat {
        let mut heartbeat = Heartbeat { ping: None, send: scoped.send, answer: scoped.answer };
        let Some(ping) = scoped.ping else { return heartbeat };
        let fail_after = ping.fail_after.unwrap_or(Setting::Fixed(FAIL_AFTER));
        match ping.every {
            Some(every) => heartbeat.ping = Some(HeartbeatPing { every, fail_after }),
            None if ping.wrong => {}
            None => {
                let title = "the pings of `heartbeat` have no `every`";
                let problem = Problem::error(path, title).at(At::Key);
                self.note(problem.help("write `heartbeat: { ping: { every: 30s } }`"));
            }
        }
        heartbeat
    }

    fn heartbeat_send(&mut self, own: &plan::HeartbeatSend, path: &Path) -> Option<HeartbeatSend> {
        let every = own.every.as_ref().map(|every| self.interval(every, &path.key("every")));
        let text = own.text.as_ref().map(|text| self.text(text, &path.key("text")));
        if every.is_none() || text.is_none() {
            let title = "what `heartbeat` sends needs `every` and `text`";
            let problem = Problem::error(path, title).at(At::Key);
            self.note(problem.help("write `send: { every: 25s, text: '2' }`"));
        }
        Some(HeartbeatSend { every: every??, text: text?? })
    }

    fn heartbeat_answer(
        &mut self,
        own: &plan::HeartbeatAnswer,
        path: &Path,
    ) -> Option<HeartbeatAnswer> {
        let when = own.when.as_ref().map(|when| self.matcher(when, &path.key("when")));
        let send = own.send.as_ref().map(|send| self.text(send, &path.key("send")));
        if when.is_none() || send.is_none() {
            let title = "what `heartbeat` answers needs `when` and `send`";
            let problem = Problem::error(path, title).at(At::Key);
            self.note(problem.help("write `answer: { when: { equals: '2' }, send: '3' }`"));
        }
        let when = when??;
        Some(HeartbeatAnswer { source: source(&when), when, send: send?? })
    }

    /// The time between two beats.
    fn interval(
        &mut self,
        setting: &plan::Setting<Time>,
        path: &Path,
    ) -> Option<Setting<Duration>> {
        let every = self.setting(setting, path);
        self.checked(every, path, |every| {
            if *every >= MIN_EVERY {
                return Ok(());
            }
            let bad = BadValue::new("`every` is shorter than `1ms`");
            Err(bad.with_help("a usual heartbeat is `30s`"))
        })
    }
}

//! Settings that reach inwards: plan, group, controller, sampler.
//!
//! Each scope is compiled once, where it is written: its mistakes are found once and even if no
//! sampler uses it, and a `__counter` in it is one counter for all samplers below. An inner scalar
//! replaces the outer one, `headers` and `inbox` merge by key, `assert`, `extract`, `filters` and `timers` add up.

use std::time::Duration;

use crate::compile::assertion::Reaching;
use crate::compile::check::received_status;
use crate::compile::compiler::Compiler;
use crate::compile::extractor::ReachingExtractor;
use crate::compile::heartbeat::ScopedHeartbeat;
use crate::compile::opening::Connect;
use crate::compile::reply::{MatchingSettings, ScopedMatching};
use crate::plan::{
    self, Count, Defaults, Entries, Flag, Inbox, List, Path, Removable, Scoped, Text, Time, Word,
};
use crate::program::{
    Backoff, BadValue, ByteSize, Expect, Filter, Fragments, Header, IfOpen, OnError, Pause,
    PingKind, Pings, PushDelay, Setting, Template, VariableId, WhenFull,
};

/// The settings that hold at one point of the plan.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    pub(super) connecting: Connecting,
    pub(super) if_open: Option<Setting<IfOpen>>,
    pub(super) connect: Option<Connect>,
    pub(super) connection: Option<Template>,
    pub(super) read_timeout: Option<Setting<Duration>>,
    pub(super) write_timeout: Option<Setting<Duration>>,
    pub(super) expect: Option<Setting<Expect>>,
    pub(super) optional: Option<Setting<bool>>,
    pub(super) push_delay: Option<PushDelay>,
    pub(super) matching: ScopedMatching,
    pub(super) payload: Option<Template>,
    pub(super) kind: Option<Setting<PingKind>>,
    pub(super) status: Option<Setting<u16>>,
    pub(super) reason: Option<Template>,
    pub(super) expect_status: Option<Vec<Setting<u16>>>,
    pub(super) assertions: Vec<Reaching>,
    pub(super) extractors: Vec<ReachingExtractor>,
    pub(super) filters: Vec<Filter>,
    pub(super) timers: Vec<Pause>,
    /// What the checks and extractors of this scope read.
    pub(super) needs: Vec<VariableId>,
    pub(super) on_error: OnError,
}

/// The settings of `open`.
#[derive(Debug, Clone, Default)]
pub(super) struct Connecting {
    pub(super) url: Option<Template>,
    pub(super) path: Option<Template>,
    pub(super) connect_timeout: Option<Setting<Duration>>,
    pub(super) headers: Vec<Header>,
    pub(super) subprotocols: Option<Vec<Template>>,
    pub(super) max_message_size: Option<Setting<ByteSize>>,
    pub(super) messages: Option<Setting<u32>>,
    pub(super) bytes: Option<Setting<ByteSize>>,
    pub(super) when_full: Option<Setting<WhenFull>>,
    pub(super) pings: Option<Setting<Pings>>,
    pub(super) answer_pings: Option<Setting<bool>>,
    pub(super) fragments: Option<Setting<Fragments>>,
    pub(super) heartbeat: ScopedHeartbeat,
    pub(super) backoff: Option<Backoff>,
}

/// The settings of `open` as they are written, there, in `connect` or in `defaults`.
#[derive(Default)]
pub(super) struct ConnectingSettings<'a> {
    pub(super) url: Option<&'a plan::Setting<Text>>,
    pub(super) path: Option<&'a plan::Setting<Text>>,
    pub(super) connect_timeout: Option<&'a plan::Setting<Time>>,
    pub(super) headers: Option<&'a Entries<Removable<plan::Setting<Text>>>>,
    pub(super) subprotocols: Option<&'a List<plan::Setting<Text>>>,
    pub(super) max_message_size: Option<&'a plan::Setting<plan::Size>>,
    pub(super) inbox: Option<&'a Inbox>,
    pub(super) pings: Option<&'a plan::Setting<Word>>,
    pub(super) answer_pings: Option<&'a plan::Setting<Flag>>,
    pub(super) fragments: Option<&'a plan::Setting<Word>>,
    pub(super) heartbeat: Option<&'a plan::Heartbeat>,
    pub(super) backoff: Option<&'a plan::Backoff>,
}

/// The settings of `open` among others that are written in one place.
macro_rules! connecting_settings {
    ($own:expr) => {
        crate::compile::scope::ConnectingSettings {
            url: $own.url.as_ref(),
            path: $own.path.as_ref(),
            connect_timeout: $own.connect_timeout.as_ref(),
            headers: $own.headers.as_ref(),
            subprotocols: $own.subprotocols.as_ref(),
            max_message_size: $own.max_message_size.as_ref(),
            inbox: $own.inbox.as_ref(),
            pings: $own.pings.as_ref(),
            answer_pings: $own.answer_pings.as_ref(),
            fragments: $own.fragments.as_ref(),
            heartbeat: $own.heartbeat.as_ref(),
            backoff: $own.backoff.as_ref(),
        }
    };
}
pub(super) use connecting_settings;

impl Default for Scope {
    fn default() -> Self {
        Self {
            connecting: Connecting::default(),
            if_open: None,
            connect: None,
            connection: None,
            read_timeout: None,
            write_timeout: None,
            expect: None,
            optional: None,
            push_delay: None,
            matching: ScopedMatching::default(),
            payload: None,
            kind: None,
            status: None,
            reason: None,
            expect_status: None,
            assertions: Vec::new(),
            extractors: Vec::new(),
            filters: Vec::new(),
            timers: Vec::new(),
            needs: Vec::new(),
            on_error: OnError::Continue,
        }
    }
}

/// Replaces `outer` if there is an inner value.
pub(super) fn replace<T>(outer: &mut Option<T>, inner: Option<T>) {
    if inner.is_some() {
        *outer = inner;
    }
}

impl Compiler<'_> {
    /// The scope within `outer` of what stands at `path` and gives these settings.
    pub(super) fn inner_scope(&mut self, outer: &Scope, path: &Path, own: Scoped<'_>) -> Scope {
        let mut scope = outer.clone();
        if let Some(defaults) = own.defaults {
            self.defaults(&mut scope, defaults, &path.key("defaults"));
        }
        self.lists(&mut scope, own.assert, own.extract, own.filters, path);
        scope.timers.extend(self.timers(own.timers, &path.key("timers")));
        if let Some(on_error) = own.on_error {
            scope.on_error = self.fixed(on_error, &path.key("on_error")).unwrap_or(scope.on_error);
        }
        scope
    }

    /// Adds the lists at `path` to those of the scopes around.
    fn lists(
        &mut self,
        scope: &mut Scope,
        assert: &[plan::Check],
        extract: &[plan::Extractor],
        filters: &[plan::Check],
        path: &Path,
    ) {
        let reads = self.variables.reads_so_far();
        let added = self.assertions(assert, &path.key("assert"));
        scope.assertions.extend(added);
        let added = self.extractors(extract, &path.key("extract"));
        scope.extractors.extend(added);
        let added = self.filters(filters, &path.key("filters"));
        scope.filters.extend(added);
        scope.needs.extend(self.variables.reads_since(reads));
    }

    fn defaults(&mut self, scope: &mut Scope, defaults: &Defaults, path: &Path) {
        let d = defaults;
        let connecting = connecting_settings!(d);
        self.connecting(&mut scope.connecting, &connecting, path);
        macro_rules! inherit {
            ($($field:ident: $method:ident,)*) => {$(
                let inner = d.$field.as_ref().and_then(|setting| {
                    self.$method(setting, &path.key(stringify!($field)))
                });
                replace(&mut scope.$field, inner);
            )*};
        }
        if let Some(connect) = &d.connect {
            let connect = self.connect_choice(connect, &scope.connecting, &path.key("connect"));
            replace(&mut scope.connect, connect);
        }
        inherit! {
            if_open: setting,
            connection: connection_name,
            read_timeout: timeout,
            write_timeout: timeout,
            expect: setting,
            optional: setting,
            push_delay: push_delay,
            payload: ping_payload,
            kind: setting,
            status: sent_status,
            reason: reason,
        }
        if let Some(statuses) = &d.expect_status {
            let statuses = self.expected_statuses(statuses, &path.key("expect_status"));
            scope.expect_status = Some(statuses);
        }
        let matching = MatchingSettings {
            reply: d.reply.as_ref(),
            correlate: d.correlate.as_ref(),
            late_replies: d.late_replies.as_ref(),
            unmatched: d.unmatched.as_ref(),
        };
        self.matching(&mut scope.matching, matching, path);
        self.lists(scope, &d.assert.0, &d.extract.0, &d.filters.0, path);
        scope.timers.extend(self.timers(&d.timers.0, &path.key("timers")));
        if let Some(on_error) = &d.on_error {
            scope.on_error = self.fixed(on_error, &path.key("on_error")).unwrap_or(scope.on_error);
        }
    }

    /// Applies the settings of `open` at `path`.
    pub(super) fn connecting(
        &mut self,
        outer: &mut Connecting,
        settings: &ConnectingSettings<'_>,
        path: &Path,
    ) {
        if let Some(url) = settings.url {
            replace(&mut outer.url, self.url(url, &path.key("url")));
            // A whole address has a path of its own.
            outer.path = None;
        }
        if let Some(own) = settings.path {
            replace(&mut outer.path, self.path(own, &path.key("path")));
        }
        if let Some(timeout) = settings.connect_timeout {
            let timeout = self.timeout(timeout, &path.key("connect_timeout"));
            replace(&mut outer.connect_timeout, timeout);
        }
        if let Some(headers) = settings.headers {
            self.headers(&mut outer.headers, headers, &path.key("headers"));
        }
        if let Some(subprotocols) = settings.subprotocols {
            let path = path.key("subprotocols");
            outer.subprotocols = Some(self.subprotocols(subprotocols, &path));
        }
        if let Some(size) = settings.max_message_size {
            let path = path.key("max_message_size");
            let size = self.setting(size, &path);
            let size =
                self.checked(size, &path, |size: &ByteSize| not_zero("max_message_size", size.0));
            replace(&mut outer.max_message_size, size);
        }
        if let Some(inbox) = settings.inbox {
            self.inbox(outer, inbox, &path.key("inbox"));
        }
        if let Some(pings) = settings.pings {
            replace(&mut outer.pings, self.setting(pings, &path.key("pings")));
        }
        if let Some(answer) = settings.answer_pings {
            replace(&mut outer.answer_pings, self.setting(answer, &path.key("answer_pings")));
        }
        if let Some(fragments) = settings.fragments {
            replace(&mut outer.fragments, self.setting(fragments, &path.key("fragments")));
        }
        if let Some(backoff) = settings.backoff {
            replace(&mut outer.backoff, self.backoff(backoff, &path.key("backoff")));
        }
        if let Some(heartbeat) = settings.heartbeat {
            self.heartbeat(&mut outer.heartbeat, heartbeat, &path.key("heartbeat"));
        }
    }

    fn inbox(&mut self, outer: &mut Connecting, inbox: &Inbox, path: &Path) {
        match &inbox.messages {
            None => {}
            Some(Removable::Removed) => outer.messages = None,
            Some(Removable::Given(messages)) => {
                let path = path.key("messages");
                let messages = self.setting(messages, &path);
                let messages =
                    self.checked(messages, &path, |n: &u32| not_zero("messages", u64::from(*n)));
                replace(&mut outer.messages, messages);
            }
        }
        match &inbox.bytes {
            None => {}
            Some(Removable::Removed) => outer.bytes = None,
            Some(Removable::Given(bytes)) => {
                replace(&mut outer.bytes, self.setting(bytes, &path.key("bytes")));
            }
        }
        match &inbox.when_full {
            None => {}
            Some(Removable::Removed) => outer.when_full = None,
            Some(Removable::Given(word)) => {
                replace(&mut outer.when_full, self.setting(word, &path.key("when_full")));
            }
        }
    }

    pub(super) fn connection_name(
        &mut self,
        setting: &plan::Setting<Text>,
        path: &Path,
    ) -> Option<Template> {
        let template = self.text(setting, path)?;
        if template.as_constant() == Some("") {
            let bad = BadValue::new("a connection's name cannot be empty");
            self.bad_value(bad.with_help("leave it out for `main`"), path, "");
            return None;
        }
        Some(template)
    }

    /// The payload of a ping, at most 125 bytes (RFC 6455 5.5).
    pub(super) fn ping_payload(
        &mut self,
        setting: &plan::Setting<Text>,
        path: &Path,
    ) -> Option<Template> {
        self.short_text(setting, path, 125, "the payload of a ping")
    }

    /// The reason of a close frame: 125 bytes less the status.
    pub(super) fn reason(
        &mut self,
        setting: &plan::Setting<Text>,
        path: &Path,
    ) -> Option<Template> {
        self.short_text(setting, path, 123, "the reason of a close")
    }

    fn short_text(
        &mut self,
        setting: &plan::Setting<Text>,
        path: &Path,
        most: usize,
        what: &str,
    ) -> Option<Template> {
        let template = self.text(setting, path)?;
        let length = template.as_constant().map_or(0, str::len);
        if length > most {
            let title = format!("{what} has at most {most} bytes, and this has {length}");
            self.bad_value(BadValue::new(title).with_help("shorten it"), path, "");
            return None;
        }
        Some(template)
    }

    /// A status that a client may send (RFC 6455 7.4).
    pub(super) fn sent_status(
        &mut self,
        setting: &plan::Setting<Count>,
        path: &Path,
    ) -> Option<Setting<u16>> {
        let status = self.setting(setting, path);
        self.checked(status, path, |status| match status {
            1000..=1003 | 1007..=1014 | 3000..=4999 => Ok(()),
            1005 | 1006 | 1015 => Err(BadValue::new(format!(
                "the close status {status} stands for something that is never sent"
            ))
            .with_help("send 1000, or a status of your own from 3000 to 4999")),
            _ => Err(BadValue::new(format!("`{status}` is not a close status"))
                .with_help("statuses are 1000 to 1003, 1007 to 1014, and 3000 to 4999")),
        })
    }

    pub(super) fn expected_statuses(
        &mut self,
        settings: &List<plan::Setting<Count>>,
        path: &Path,
    ) -> Vec<Setting<u16>> {
        let mut statuses = Vec::new();
        for (index, setting) in settings.0.iter().enumerate() {
            let path = path.index(index);
            let status = self.setting(setting, &path);
            statuses.extend(self.checked(status, &path, |status| received_status(*status)));
        }
        if settings.0.is_empty() {
            let bad = BadValue::new("`expect_status` is empty, so no answer could pass");
            self.bad_value(bad.with_help("write `[1000, 1001]`, or leave it out"), path, "");
        }
        statuses
    }
}

fn not_zero(key: &str, number: u64) -> Result<(), BadValue> {
    if number == 0 { Err(BadValue::new(format!("`{key}` cannot be zero"))) } else { Ok(()) }
}

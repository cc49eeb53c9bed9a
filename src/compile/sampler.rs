//! One sampler: its own settings over those of its scope, then the defaults.

use std::time::Duration;

use crate::compile::compiler::{Compiler, UnnamedPayload};
use crate::compile::connections::Connections;
use crate::compile::payload::{PayloadSettings, payload_settings};
use crate::compile::reach::Reach;
use crate::compile::reply::MatchingSettings;
use crate::compile::scope::{ConnectingSettings, Scope, replace};
use crate::compile::swallow::swallowing;
use crate::compile::warning::Warning;
use crate::plan::{self, At, Common, Path, Problem};
use crate::program::{
    ByteSize, Close, Expect, Fragments, InboxLimits, Open, Payload, PingKind, PingPong, Pings,
    RequestResponse, Sampler, SamplerKind, Setting, SingleRead, SingleWrite, Template, WhenFull,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
const READ_TIMEOUT: Duration = Duration::from_secs(6);
const CONNECTION: &str = "main";
const MAX_MESSAGE_SIZE: ByteSize = ByteSize(16 << 20);
const INBOX_MESSAGES: u32 = 1_000;
const INBOX_BYTES: ByteSize = ByteSize(1 << 20);

/// What is needed beside the sampler's own kind.
pub(super) struct Place<'a> {
    /// The step's kind, as the plan names it.
    pub(super) kind: &'static str,
    /// The sampler's path.
    pub(super) path: Path,
    pub(super) scope: &'a Scope,
}

impl Compiler<'_> {
    /// Fills in what all samplers share. `None` for the kind: it is wrong, and that is noted.
    pub(super) fn sampler(
        &mut self,
        place: &Place<'_>,
        common: Common<'_>,
        kind: Option<SamplerKind>,
        connections: &mut Connections,
    ) -> Option<Sampler> {
        let Place { kind: word, path, scope } = place;
        let name = match common.name {
            Some(name) => self.label(name, path),
            None => Some(Template::constant(*word)),
        };
        let connection = if let Some(name) = common.connection {
            self.connection_name(name, &path.key("connection"))
        } else {
            let inherited = scope.connection.clone();
            Some(inherited.unwrap_or_else(|| Template::constant(CONNECTION)))
        };
        let at = match common.connection {
            Some(_) => path.key("connection"),
            None => path.clone(),
        };
        if let Some(connection) = &connection {
            connections.used(word, connection, at);
            if let Some(SamplerKind::Open(open)) = &kind {
                connections.delivers(connection, &open.pings);
            }
            if let Some(expect) = kind.as_ref().and_then(SamplerKind::expect) {
                connections.expects(expect, connection, path);
            }
        } else {
            connections.unknown(word);
        }
        let mut read_timeout = scope.read_timeout.clone();
        if let Some(own) = common.read_timeout {
            replace(&mut read_timeout, self.timeout(own, &path.key("read_timeout")));
        }
        let mut write_timeout = scope.write_timeout.clone();
        if let Some(own) = common.write_timeout {
            replace(&mut write_timeout, self.timeout(own, &path.key("write_timeout")));
        }
        let on_error = common
            .on_error
            .and_then(|own| self.fixed(own, &path.key("on_error")))
            .unwrap_or(scope.on_error);
        // What reads a close gets no message.
        let expect = kind.as_ref().and_then(SamplerKind::expect);
        let reached = if expect == Some(&Setting::Fixed(Expect::Close)) { "close" } else { *word };
        let inherited = scope.assertions.iter().filter(|reaching| reaching.includes(reached));
        let reads = self.variables.reads_so_far();
        let mut assertions: Vec<_> = inherited.map(|reaching| reaching.assertion.clone()).collect();
        assertions.extend(self.own_assertions(common.assert, reached, &path.key("assert")));
        let inherited = scope.extractors.iter().filter(|reaching| reaching.reach.includes(reached));
        let mut extractors: Vec<_> = inherited.map(|reaching| reaching.extractor.clone()).collect();
        extractors.extend(self.own_extractors(common.extract, reached, &path.key("extract")));
        let mut filters = scope.filters.clone();
        filters.extend(self.filters(common.filters, &path.key("filters")));
        if !Reach::Message.includes(word) {
            // Nothing is read here, so nothing can be discarded.
            filters.clear();
        }
        let mut needs = self.variables.reads_since(reads);
        if Reach::Message.includes(word) {
            self.variables.reader();
            needs.extend_from_slice(&scope.needs);
        }
        let mut timers = scope.timers.clone();
        timers.extend(self.timers(common.timers, &path.key("timers")));
        if let Some(kind) = &kind
            && let Some(filter) = swallowing(&filters, kind, &assertions)
        {
            let filter = filter.source.clone();
            self.note(Warning::Swallowed { kind: word, filter }.at(path, At::Key));
        }
        let read_timeout = read_timeout.unwrap_or(Setting::Fixed(READ_TIMEOUT));
        Some(Sampler {
            name: name?,
            connection: connection?,
            write_timeout,
            read_timeout,
            on_error,
            assertions,
            extractors,
            filters,
            timers,
            needs,
            kind: kind?,
        })
    }

    /// The label of the rows of what stands at `path`.
    pub(super) fn label(
        &mut self,
        name: &plan::Setting<plan::Text>,
        path: &Path,
    ) -> Option<Template> {
        let kind = path.last_key().unwrap_or_default().to_owned();
        let path = path.key("name");
        let template = self.text(name, &path)?;
        let problem = match template.as_constant() {
            Some("all") => {
                Problem::error(&path, "the label `all` stands for all samplers together")
                    .help("use another name")
            }
            Some(text) if text.trim().is_empty() => {
                let problem = Problem::error(&path, "a label cannot be empty");
                match kind.as_str() {
                    "transaction" => problem.help("write what it sums up, such as `checkout`"),
                    kind => problem.help(format!("leave it out for `{kind}`")),
                }
            }
            _ => return Some(template),
        };
        self.note(problem);
        None
    }

    pub(super) fn open(&mut self, open: &plan::Open, place: &Place<'_>) -> Option<SamplerKind> {
        let mut settings = place.scope.connecting.clone();
        let own = ConnectingSettings {
            url: open.url.as_ref(),
            path: open.path.as_ref(),
            connect_timeout: open.connect_timeout.as_ref(),
            headers: open.headers.as_ref(),
            max_message_size: open.max_message_size.as_ref(),
            inbox: open.inbox.as_ref(),
            pings: open.pings.as_ref(),
            answer_pings: open.answer_pings.as_ref(),
            fragments: open.fragments.as_ref(),
            heartbeat: open.heartbeat.as_ref(),
        };
        let before = self.problems.len();
        self.connecting(&mut settings, &own, &place.path);
        let Some(url) = settings.url else {
            // Not if there is a `url` that is wrong, here or in an outer scope.
            if open.url.is_none() && self.problems.len() == before && !self.url_failed() {
                let problem = Problem::error(&place.path, "`open` has no `url`").at(At::Key);
                self.note(
                    problem
                        .help("give it here or in `defaults`, such as `url: ws://127.0.0.1:9000`"),
                );
            }
            return None;
        };
        // One that is wrong is noted, and might have been the one that a reader needs.
        let otherwise = if open.pings.is_some() { Pings::Deliver } else { Pings::Answer };
        let pings = settings.pings.unwrap_or(Setting::Fixed(otherwise));
        if open.answer_pings.is_some()
            && let Setting::Fixed(Pings::Answer | Pings::Ignore) = pings
        {
            let path = place.path.key("answer_pings");
            let title = "`answer_pings` goes with `pings: deliver`";
            let problem = Problem::error(&path, title).at(At::Key);
            self.note(problem.help("write `pings: ignore` for a connection that answers none"));
        }
        let heartbeat = self.resolve_heartbeat(settings.heartbeat, &place.path);
        let bytes = settings.bytes.unwrap_or(Setting::Fixed(INBOX_BYTES));
        Some(SamplerKind::Open(Box::new(Open {
            url,
            path: settings.path,
            connect_timeout: settings.connect_timeout.unwrap_or(Setting::Fixed(CONNECT_TIMEOUT)),
            headers: settings.headers,
            max_message_size: settings.max_message_size.unwrap_or(Setting::Fixed(MAX_MESSAGE_SIZE)),
            inbox: InboxLimits {
                messages: settings.messages.unwrap_or(Setting::Fixed(INBOX_MESSAGES)),
                bytes,
                when_full: settings.when_full.unwrap_or(Setting::Fixed(WhenFull::DropOldest)),
            },
            pings,
            answer_pings: settings.answer_pings.unwrap_or(Setting::Fixed(true)),
            fragments: settings.fragments.unwrap_or(Setting::Fixed(Fragments::Join)),
            heartbeat,
        })))
    }

    /// Warns once for each kind of unnamed samplers that send different things.
    fn unnamed_payload(&mut self, settings: &PayloadSettings<'_>, place: &Place<'_>) {
        let payload = format!("{settings:?}");
        let first = match self.unnamed_payloads.get(place.kind) {
            Some(UnnamedPayload::Different) => return,
            Some(UnnamedPayload::Same(first)) => first,
            None => {
                self.unnamed_payloads.insert(place.kind, UnnamedPayload::Same(payload));
                return;
            }
        };
        if *first != payload {
            self.unnamed_payloads.insert(place.kind, UnnamedPayload::Different);
            let warning = Warning::SharedLabel { kind: place.kind };
            self.note(warning.at(&place.path, At::Key));
        }
    }

    /// Whether some `url` has been refused, so that its lack further in is no news.
    fn url_failed(&self) -> bool {
        self.problems.iter().any(|problem| problem.path.last_key() == Some("url"))
    }

    /// The payload of a step, which has a label of its own or shares that of its kind.
    fn labelled_payload(
        &mut self,
        settings: &PayloadSettings<'_>,
        named: bool,
        place: &Place<'_>,
    ) -> Option<Payload> {
        let payload = self.payload(settings, &place.path);
        if !named {
            self.unnamed_payload(settings, place);
        }
        payload
    }

    pub(super) fn request_response(
        &mut self,
        own: &plan::RequestResponse,
        place: &Place<'_>,
    ) -> Option<SamplerKind> {
        let settings = payload_settings!(own);
        let payload = self.labelled_payload(&settings, own.name.is_some(), place);
        let mut expect = place.scope.expect.clone();
        if let Some(own) = &own.expect {
            replace(&mut expect, self.setting(own, &place.path.key("expect")));
        }
        let expect = expect.unwrap_or(Setting::Fixed(Expect::Same));
        let mut matching = place.scope.matching.clone();
        let settings = MatchingSettings {
            reply: own.reply.as_ref(),
            correlate: own.correlate.as_ref(),
            late_replies: own.late_replies.as_ref(),
            unmatched: own.unmatched.as_ref(),
        };
        self.matching(&mut matching, settings, &place.path);
        let matching = matching.resolve(true);
        self.check_correlation(&matching, payload.as_ref(), &place.path);
        Some(SamplerKind::RequestResponse(RequestResponse { payload: payload?, expect, matching }))
    }

    pub(super) fn single_write(
        &mut self,
        own: &plan::SingleWrite,
        place: &Place<'_>,
    ) -> Option<SamplerKind> {
        let settings = payload_settings!(own);
        let payload = self.labelled_payload(&settings, own.name.is_some(), place);
        Some(SamplerKind::SingleWrite(SingleWrite { payload: payload? }))
    }

    pub(super) fn single_read(&mut self, own: &plan::SingleRead, place: &Place<'_>) -> SamplerKind {
        // An inherited `same` is meant for samplers that send.
        let same = Setting::Fixed(Expect::Same);
        let mut expect = place.scope.expect.clone().filter(|expect| *expect != same);
        if let Some(own) = &own.expect {
            let path = place.path.key("expect");
            let own = self.setting(own, &path);
            if own.as_ref() == Some(&same) {
                let title = "`single_read` sends nothing that a message could be the `same` as";
                let problem = Problem::error(&path, title);
                self.note(problem.help("write `text`, `binary` or `any`"));
            }
            replace(&mut expect, own);
        }
        let mut optional = place.scope.optional.clone();
        if let Some(own) = &own.optional {
            replace(&mut optional, self.setting(own, &place.path.key("optional")));
        }
        let mut matching = place.scope.matching.clone();
        let settings = MatchingSettings {
            reply: own.reply.as_ref(),
            correlate: None,
            late_replies: own.late_replies.as_ref(),
            unmatched: own.unmatched.as_ref(),
        };
        self.matching(&mut matching, settings, &place.path);
        let mut push_delay = place.scope.push_delay.clone();
        if let Some(own) = &own.push_delay {
            replace(&mut push_delay, self.push_delay(own, &place.path.key("push_delay")));
        }
        SamplerKind::SingleRead(SingleRead {
            expect: expect.unwrap_or(Setting::Fixed(Expect::Any)),
            optional: optional.unwrap_or(Setting::Fixed(false)),
            push_delay,
            matching: matching.resolve(false),
        })
    }

    pub(super) fn ping_pong(&mut self, own: &plan::PingPong, place: &Place<'_>) -> SamplerKind {
        let mut payload = place.scope.payload.clone();
        if let Some(own) = &own.payload {
            replace(&mut payload, self.ping_payload(own, &place.path.key("payload")));
        }
        let mut kind = place.scope.kind.clone();
        if let Some(own) = &own.kind {
            replace(&mut kind, self.setting(own, &place.path.key("kind")));
        }
        let kind = kind.unwrap_or(Setting::Fixed(PingKind::PingPong));
        SamplerKind::PingPong(PingPong { payload, kind })
    }

    pub(super) fn close(&mut self, own: &plan::Close, place: &Place<'_>) -> SamplerKind {
        let mut status = place.scope.status.clone();
        if let Some(own) = &own.status {
            replace(&mut status, self.sent_status(own, &place.path.key("status")));
        }
        let mut reason = place.scope.reason.clone();
        if let Some(own) = &own.reason {
            replace(&mut reason, self.reason(own, &place.path.key("reason")));
        }
        let mut expect_status = place.scope.expect_status.clone();
        if let Some(own) = &own.expect_status {
            let path = place.path.key("expect_status");
            expect_status = Some(self.expected_statuses(own, &path));
        }
        SamplerKind::Close(Close {
            status: status.unwrap_or(Setting::Fixed(1000)),
            reason: reason.unwrap_or_default(),
            expect_status: expect_status.unwrap_or_default(),
        })
    }
}

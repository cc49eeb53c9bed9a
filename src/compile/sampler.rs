//! One sampler: its own settings over those of its scope, then the defaults.

use std::cell::Cell;
use std::time::Duration;

use crate::compile::compiler::{Compiler, UnnamedPayload};
use crate::compile::connections::Connections;
use crate::compile::payload::{PayloadSettings, payload_settings};
use crate::compile::reach::{Reach, Reached};
use crate::compile::reply::MatchingSettings;
use crate::compile::scope::{Scope, replace};
use crate::compile::swallow::swallowing;
use crate::compile::warning::Warning;
use crate::plan::{self, At, Common, Path, Problem};
use crate::program::{
    Close, Expect, Payload, PingKind, PingPong, RequestResponse, Sampler, SamplerKind, Setting,
    SingleWrite, Template,
};

const READ_TIMEOUT: Duration = Duration::from_secs(6);
const CONNECTION: &str = "main";

/// What is needed beside the sampler's own kind.
pub(super) struct Place<'a> {
    /// The step's kind, as the plan names it.
    pub(super) kind: &'static str,
    /// The sampler's path.
    pub(super) path: Path,
    pub(super) scope: &'a Scope,
    /// Whether the sampler opens its connection, as `connect` found.
    pub(super) connects: Cell<bool>,
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
        let Place { kind: word, path, scope, .. } = place;
        let opens = *word == "open" || place.connects.get();
        let role = if opens { "open" } else { *word };
        let name = match common.name {
            Some(name) => self.label(name, path),
            None => Some(Template::constant(*word)),
        };
        let connection = self.connection(place, common, kind.as_ref(), role, connections);
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
        let reached = if expect == Some(&Setting::Fixed(Expect::Close)) {
            Reached { kind: "close", opens: false }
        } else {
            Reached { kind: word, opens }
        };
        let inherited = scope.assertions.iter().filter(|reaching| reaching.includes(reached));
        let reads = self.variables.reads_so_far();
        let mut assertions: Vec<_> = inherited.map(|reaching| reaching.assertion.clone()).collect();
        assertions.extend(self.own_assertions(common.assert, reached, &path.key("assert")));
        let inherited = scope.extractors.iter().filter(|reaching| reaching.reach.includes(reached));
        let mut extractors: Vec<_> = inherited.map(|reaching| reaching.extractor.clone()).collect();
        extractors.extend(self.own_extractors(common.extract, reached, &path.key("extract")));
        let mut filters = scope.filters.clone();
        filters.extend(self.filters(common.filters, &path.key("filters")));
        if !Reach::Message.includes(Reached { kind: word, opens }) {
            // Nothing is read here, so nothing can be discarded.
            filters.clear();
        }
        let mut needs = self.variables.reads_since(reads);
        if Reach::Message.includes(Reached { kind: word, opens }) {
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
    /// The connection that a sampler uses, in the `role` of its kind or of an `open`.
    fn connection(
        &mut self,
        place: &Place<'_>,
        common: Common<'_>,
        kind: Option<&SamplerKind>,
        role: &'static str,
        connections: &mut Connections,
    ) -> Option<Template> {
        if place.kind == "http" {
            // Over one of its own, which nothing else uses.
            return Some(Template::constant(CONNECTION));
        }
        let (at, connection) = if let Some(name) = common.connection {
            let path = place.path.key("connection");
            let name = self.connection_name(name, &path);
            (path, name)
        } else {
            let inherited = place.scope.connection.clone();
            let name = inherited.unwrap_or_else(|| Template::constant(CONNECTION));
            (place.path.clone(), Some(name))
        };
        let Some(connection) = connection else {
            connections.unknown(role);
            return None;
        };
        connections.used(role, &connection, at);
        if let Some(open) = kind.and_then(SamplerKind::opening) {
            connections.delivers(&connection, &open.pings);
        }
        if let Some(expect) = kind.and_then(SamplerKind::expect) {
            connections.expects(expect, &connection, &place.path);
        }
        Some(connection)
    }

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
        let connect = self.connect(own.connect.as_ref(), place);
        let (payload, connect) = (payload?, connect.ok()?);
        Some(SamplerKind::RequestResponse(RequestResponse { payload, expect, matching, connect }))
    }

    pub(super) fn single_write(
        &mut self,
        own: &plan::SingleWrite,
        place: &Place<'_>,
    ) -> Option<SamplerKind> {
        let settings = payload_settings!(own);
        let payload = self.labelled_payload(&settings, own.name.is_some(), place);
        let connect = self.connect(own.connect.as_ref(), place);
        Some(SamplerKind::SingleWrite(SingleWrite { payload: payload?, connect: connect.ok()? }))
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

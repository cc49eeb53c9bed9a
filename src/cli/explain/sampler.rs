//! One sampler with all its settings.

use std::fmt::Write as _;

use crate::cli::explain::Page;
use crate::cli::explain::value::{HIDDEN, Shown, named};
use crate::net::{Url, shown};
use crate::program::{
    Body, Close, Correlate, Heartbeat, HeartbeatAnswer, HeartbeatPing, HeartbeatSend, Http,
    JsonPart, Matching, OnError, Open, Part, Payload, PingPong, Pings, Read, Reply, RequestHead,
    Sampler, SamplerKind, SentAt, Setting, SingleRead, Template, Tls,
};

/// Bytes of a binary payload that are shown.
const SHOWN_BYTES: usize = 32;

/// Characters of a text payload that are shown: a file may be long.
const SHOWN_CHARACTERS: usize = 1_000;

pub(super) fn sampler(page: &mut Page, sampler: &Sampler) {
    page.entry(sampler.kind.name(), &sampler.name.source);
    page.below(|page| {
        if !matches!(sampler.kind, SamplerKind::Http(_)) {
            page.entry("connection", &sampler.connection.source);
        }
        match &sampler.kind {
            SamplerKind::Open(own) => {
                open(page, own);
                page.entry("if_open", &own.if_open.shown());
            }
            SamplerKind::RequestResponse(own) => {
                connect(page, own.connect.as_deref());
                payload(page, &own.payload);
                page.entry("expect", &own.expect.shown());
                matching(page, &own.matching);
            }
            SamplerKind::SingleWrite(own) => {
                connect(page, own.connect.as_deref());
                payload(page, &own.payload);
            }
            SamplerKind::SingleRead(own) => {
                connect(page, own.connect.as_deref());
                single_read(page, own);
            }
            SamplerKind::Read(own) => read(page, own),
            SamplerKind::PingPong(own) => ping_pong(page, own),
            SamplerKind::Close(own) => close(page, own),
            SamplerKind::Http(own) => http(page, own),
        }
        let write_timeout = sampler.write_timeout.as_ref().unwrap_or(&sampler.read_timeout);
        page.entry("read_timeout", &sampler.read_timeout.shown());
        page.entry("write_timeout", &write_timeout.shown());
        page.entry("on_error", on_error(sampler.on_error));
        for timer in &sampler.timers {
            page.entry("timer", &timer.shown());
        }
        for assertion in &sampler.assertions {
            page.entry("assert", &assertion.source);
        }
        for filter in &sampler.filters {
            page.entry("filter", &filter.source);
        }
        for extractor in &sampler.extractors {
            page.entry("extract", &extractor.source);
        }
    });
}

/// What a sampler opens for itself, if anything.
fn connect(page: &mut Page, own: Option<&Open>) {
    if let Some(own) = own {
        page.line("connect:");
        page.below(|page| open(page, own));
    }
}

fn open(page: &mut Page, open: &Open) {
    if let Some(backoff) = &open.backoff {
        let (first, max) = (backoff.first.shown(), backoff.max.shown());
        page.entry("backoff", &format!("{first} after a failed attempt, doubled up to {max}"));
    }
    let path = open.path.as_ref();
    let constants = (open.url.as_constant(), path.map(Template::as_constant));
    // Known before the run as a whole, or shown in its parts.
    if let (Some(url), None | Some(Some(_))) = constants {
        let url = Url::parse(url, path.and_then(Template::as_constant));
        let url = url.map_or_else(|_| HIDDEN.to_owned(), |url| shown(&url.uri.to_string()));
        page.entry("url", &url);
    } else {
        page.entry("url", &shown(&open.url.source));
        if let Some(path) = path {
            page.entry("path", &shown(&path.source));
        }
    }
    page.entry("connect_timeout", &open.connect_timeout.shown());
    if let Some(own) = &open.tls {
        tls(page, own);
    }
    request_head(page, &open.head);
    for subprotocol in &open.subprotocols {
        page.entry("subprotocol", &subprotocol.source);
    }
    page.entry("max_message_size", &open.max_message_size.shown());
    let inbox = &open.inbox;
    let (messages, bytes) = (inbox.messages.shown(), inbox.bytes.shown());
    page.entry("inbox", &format!("{messages} messages, {bytes}, {}", inbox.when_full.shown()));
    page.entry("pings", &pings(open));
    page.entry("fragments", &open.fragments.shown());
    heartbeat(page, &open.heartbeat);
}

fn http(page: &mut Page, http: &Http) {
    page.entry("method", &http.method.shown());
    page.entry("url", &shown(&http.url.source));
    if let Some(path) = &http.path {
        page.entry("path", &shown(&path.source));
    }
    page.entry("connect_timeout", &http.connect_timeout.shown());
    if let Some(own) = &http.tls {
        tls(page, own);
    }
    request_head(page, &http.head);
    match &http.body {
        None => {}
        Some(Body::Form(fields)) => {
            for (name, value) in fields {
                page.entry("form", &format!("{name}={}", named(name, &value.source)));
            }
        }
        Some(body @ Body::Json(Payload::Json(parts))) => {
            page.entry("body", body.content_type());
            send(page, "json", &json(parts));
        }
        Some(body @ (Body::Text(own) | Body::Json(own) | Body::File(own))) => {
            page.entry("body", body.content_type());
            payload(page, own);
        }
    }
    page.entry("max_message_size", &http.max_message_size.shown());
}

fn request_head(page: &mut Page, head: &RequestHead) {
    for header in &head.headers {
        let value = named(&header.name, &header.value.source);
        page.entry("header", &format!("{}: {value}", header.name));
    }
    for (name, _) in &head.cookies {
        page.entry("cookie", &format!("{name}={HIDDEN}"));
    }
    if let Some(origin) = &head.origin {
        page.entry("origin", &origin.source);
    }
    if let Some(basic_auth) = &head.basic_auth {
        page.entry("basic_auth", &format!("{}, password {HIDDEN}", basic_auth.user.source));
    }
    page.entry("follow_redirects", &head.follow_redirects.shown());
}

fn tls(page: &mut Page, tls: &Tls) {
    let settings = tls.client.settings();
    let trusted = match (settings.insecure, &tls.ca) {
        (true, _) => "no server is verified".to_owned(),
        (false, Some(ca)) => format!("authorities of {ca}"),
        (false, None) => "authorities of this machine".to_owned(),
    };
    let resumed = if settings.resume { "resumed by each thread" } else { "never resumed" };
    let version = settings.min_version.name();
    page.entry("tls", &format!("{trusted}, TLS {version} or newer, sessions {resumed}"));
    if let Some(cert) = &tls.cert {
        page.entry("client certificate", cert);
    }
    if let Some(name) = &tls.server_name {
        page.entry("server_name", &name.source);
    }
}

fn heartbeat(page: &mut Page, heartbeat: &Heartbeat) {
    if let Some(HeartbeatPing { every, fail_after }) = &heartbeat.ping {
        let text = format!("ping every {}, lost after {}", every.shown(), fail_after.shown());
        page.entry("heartbeat", &text);
    }
    for HeartbeatSend { every, text } in &heartbeat.send {
        page.entry("heartbeat", &format!("every {} send {}", every.shown(), text.source));
    }
    for HeartbeatAnswer { source, send, .. } in &heartbeat.answer {
        page.entry("heartbeat", &format!("answer {source} with {}", send.source));
    }
}

fn pings(open: &Open) -> String {
    let pings = open.pings.shown();
    match (&open.pings, &open.answer_pings) {
        (Setting::Fixed(Pings::Answer | Pings::Ignore), _) => pings,
        (_, Setting::Fixed(true)) => format!("{pings}, answered"),
        (_, Setting::Fixed(false)) => format!("{pings}, not answered"),
        (_, answered) => format!("{pings}, answered: {}", answered.shown()),
    }
}

fn payload(page: &mut Page, payload: &Payload) {
    match payload {
        Payload::FixedText(text) => send(page, "send", text),
        Payload::Text(template) => {
            let stomp =
                matches!(template.parts.last(), Some(Part::Text(end)) if end.ends_with('\0'));
            send(page, "send", &template.source);
            if stomp {
                page.entry("stomp", "true");
            }
        }
        Payload::Hex(template) => send(page, "send_hex", &template.source),
        Payload::Base64(template) => send(page, "send_base64", &template.source),
        Payload::Random(size) => page.entry("send_random", &size.shown()),
        Payload::Json(parts) => send(page, "send_json", &json(parts)),
        Payload::FixedBinary(bytes) => {
            let mut text = String::new();
            for byte in &bytes[..bytes.len().min(SHOWN_BYTES)] {
                // Its result is that of the writer, and writing to a `String` does not fail.
                write!(text, "{byte:02x} ").ok();
            }
            if bytes.len() > SHOWN_BYTES {
                write!(text, "… ({} bytes)", bytes.len()).ok();
            }
            page.entry("send_hex", text.trim_end());
        }
    }
}

/// A text that is sent, cut where it is long, and whether a NUL ends it.
fn send(page: &mut Page, key: &str, text: &str) {
    let (text, stomp) = match text.strip_suffix('\0') {
        Some(text) => (text, true),
        None => (text, false),
    };
    match text.char_indices().nth(SHOWN_CHARACTERS) {
        Some((end, _)) => {
            let shown = &text[..end];
            page.entry(key, &format!("{shown}… ({} bytes)", text.len()));
        }
        None => page.entry(key, text),
    }
    if stomp {
        page.entry("stomp", "true");
    }
}

fn json(parts: &[JsonPart]) -> String {
    parts.iter().fold(String::new(), |text, part| match part {
        JsonPart::Raw(raw) => text + raw,
        JsonPart::String(template) => text + "\"" + &template.source + "\"",
        JsonPart::Value(template) => text + &template.source,
    })
}

fn single_read(page: &mut Page, read: &SingleRead) {
    page.entry("expect", &read.expect.shown());
    page.entry("optional", &read.optional.shown());
    if let Some(delay) = &read.push_delay {
        let place = match &delay.sent_at {
            SentAt::Json(path) => path.text.clone(),
            SentAt::Regex(regex) => format!("regex {regex}"),
        };
        let limit = delay.at_most.as_ref();
        let limit = limit.map_or(String::new(), |limit| format!(", at most {}", limit.shown()));
        page.entry("push_delay", &format!("{place} in {}{limit}", delay.unit.shown()));
    }
    matching(page, &read.matching);
}

fn read(page: &mut Page, read: &Read) {
    if let Some(time) = &read.time {
        page.entry("for", &time.shown());
    }
    if let Some(count) = &read.count {
        page.entry("count", &count.shown());
    }
    for check in &read.until {
        page.entry("until", &check.source);
    }
    page.entry("expect", &read.expect.shown());
    page.entry("optional", &read.optional.shown());
    matching(page, &read.matching);
}

fn matching(page: &mut Page, matching: &Matching) {
    match &matching.reply {
        None => {}
        Some(Reply::Checks(checks)) => {
            for check in checks {
                page.entry("reply", &check.source);
            }
        }
        Some(Reply::Correlate(Correlate::Json { request, reply })) => {
            let (request, reply) = (&request.text, &reply.text);
            page.entry("correlate", &format!("{request} of the request, {reply} of the reply"));
        }
        Some(Reply::Correlate(Correlate::Regex(regex))) => {
            page.entry("correlate", &format!("regex {}", regex.as_str()));
        }
    }
    page.entry("late_replies", &matching.late_replies.shown());
    if matching.reply.is_some() {
        let unmatched = match &matching.unmatched {
            Some(unmatched) => unmatched.shown(),
            None if matching.others_read => "keep, for another step reads them".to_owned(),
            None => "drop, for no other step reads them".to_owned(),
        };
        page.entry("unmatched", &unmatched);
    }
}

fn ping_pong(page: &mut Page, ping: &PingPong) {
    page.entry("kind", &ping.kind.shown());
    let payload = ping.payload.as_ref().map_or("a unique one", |payload| &payload.source);
    page.entry("payload", payload);
}

fn close(page: &mut Page, close: &Close) {
    page.entry("status", &close.status.shown());
    if !close.reason.source.is_empty() {
        page.entry("reason", &close.reason.source);
    }
    let statuses: Vec<String> = close.expect_status.iter().map(Shown::shown).collect();
    let expected = if statuses.is_empty() {
        "1000, 1001, the one sent, or none".to_owned()
    } else {
        statuses.join(", ")
    };
    page.entry("expect_status", &expected);
}

fn on_error(rule: OnError) -> &'static str {
    match rule {
        OnError::Continue => "continue",
        OnError::NextIteration => "next_iteration",
        OnError::StopThread => "stop_thread",
        OnError::StopTest => "stop_test",
        OnError::StopTestNow => "stop_test_now",
    }
}

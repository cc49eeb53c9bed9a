//! `http`: one request and its whole answer, over a connection of its own.

use std::rc::Rc;

use url::form_urlencoded;

use crate::clock;
use crate::exec::asking::Asking;
use crate::exec::assertion;
use crate::exec::connections::Connections;
use crate::exec::evaluate::{Scope, bad_value};
use crate::exec::outcome::{Execution, Failure, Outcome, refused};
use crate::exec::redirects::{Next, Redirects};
use crate::exec::samplers::job::{interrupted, nonzero};
use crate::exec::samplers::open::{dial_failure, shown_address};
use crate::exec::samplers::payload;
use crate::exec::securing::Securing;
use crate::exec::trace::ConnectionTap;
use crate::exec::worker::Worker;
use crate::net::{self, Cookies, HttpError, HttpExchange, HttpLimits, HttpRequest, HttpTally, Url};
use crate::program::{Body, Http, Method, Sampler};
use crate::sample::{Code, DataType};
use crate::ws::{Direction, MessageKind, Tap, header_values};

pub(crate) async fn run<'p>(
    scope: &mut Scope,
    connections: &mut Connections<'p>,
    sampler: &'p Sampler,
    spec: &'p Http,
) -> Result<Execution, Failure> {
    let trip = evaluate(scope, connections, sampler, spec)?;
    let mut shown = shown_address(scope, connections, &trip.url.to_http());
    let mut outcome = Outcome::begun(clock::now());
    let (first, tally) = (trip.url.clone(), Rc::clone(&trip.tally));
    let arrival = connections.drive(Box::pin(trip.travel())).await;
    outcome.end = arrival.as_ref().map_or_else(clock::now, |arrival| arrival.last.end);
    outcome.connect = tally.connected.get().unwrap_or(outcome.end) - outcome.start;
    outcome.first_byte = tally.first_byte.get();
    outcome.bytes = tally.received.get();
    outcome.sent_bytes = tally.sent.get();
    let Some(mut arrival) = arrival else {
        outcome.url = Some(shown);
        let end = outcome.end;
        return Ok(Execution::Row(outcome.failed(interrupted(), end)));
    };
    scope.cookies = std::mem::take(&mut arrival.jar);
    hide(scope, &arrival);
    if arrival.url != first {
        shown = shown_address(scope, connections, &arrival.url.to_http());
    }
    outcome.url = Some(shown);
    Ok(Execution::Row(judge(scope, sampler, outcome, arrival)))
}

/// What an answer means for the sample; or that there is none.
fn judge(scope: &mut Scope, sampler: &Sampler, mut outcome: Outcome, arrival: Arrival) -> Outcome {
    let answer = match arrival.last.result {
        Ok(answer) => answer,
        Err(error) => {
            let end = outcome.end;
            return outcome.failed(describe(&error), end);
        }
    };
    let end = outcome.end;
    outcome.code = Code::Number(answer.status);
    let line = status_line(&answer.head);
    let is_fine = (200..400).contains(&answer.status) && arrival.why.is_none();
    let failure = (!is_fine).then(|| {
        let text = refused(&line, arrival.why.as_deref(), &answer.body);
        Failure::new(outcome.code, text, "the answer is not the one that was asked for")
    });
    outcome.answered(answer.head, answer.body, end);
    outcome.data_type = match outcome.message.as_ref().map(|message| message.kind) {
        Some(MessageKind::Text) => DataType::Text,
        _ => DataType::Binary,
    };
    match failure {
        Some(failure) if !assertion::expect_status(scope, &sampler.assertions, &outcome) => {
            outcome.failed(failure, end)
        }
        _ => outcome,
    }
}

/// `403 Forbidden`
fn status_line(head: &[u8]) -> String {
    let head = String::from_utf8_lossy(head);
    let line = head.lines().next().unwrap_or_default();
    line.split_once(' ').map_or("", |(_, line)| line).trim().to_owned()
}

/// How a request without an answer reads in its row.
fn describe(error: &HttpError) -> Failure {
    let (code, cause) = match error {
        HttpError::Dial(error) => return dial_failure(error),
        HttpError::WriteTimeout => (Code::WriteTimeout, "the request was not written in time"),
        HttpError::ReadTimeout { .. } => (Code::ReadTimeout, "no complete answer in time"),
        HttpError::Disconnected { .. } => {
            (Code::Disconnected, "the connection ended before the answer was complete")
        }
        HttpError::Invalid { .. } => (Code::ProtocolError, "the answer is not HTTP"),
        HttpError::TooLarge { .. } => (Code::TooLarge, "the answer exceeds `max_message_size`"),
    };
    Failure::new(code, error.to_string(), cause)
}

/// Sees to it that no output shows what the server has given: cookies, and what JSON calls a token or
/// the like.
fn hide(scope: &mut Scope, arrival: &Arrival) {
    let body = arrival.last.result.as_ref().map_or(&[][..], |answer| &answer.body);
    scope.hide(|secrets| {
        for url in &arrival.visited {
            secrets.remember_url(&url.uri.to_string());
        }
        for set_cookie in &arrival.set_cookies {
            secrets.remember_set_cookie(set_cookie);
        }
        secrets.remember_body(body);
    });
}

/// A request on its way, with everything evaluated.
struct Trip {
    url: Url,
    securing: Option<Securing>,
    asking: Asking,
    method: Method,
    body: Option<Vec<u8>>,
    /// Whether the body stays with the server that it is meant for.
    body_is_secret: bool,
    connect_timeout: std::time::Duration,
    limits: HttpLimits,
    tap: Option<ConnectionTap>,
    jar: Cookies,
    worker: Rc<Worker>,
    tally: Rc<HttpTally>,
}

/// Where it ended.
struct Arrival {
    url: Url,
    jar: Cookies,
    /// Why the last redirect was not followed.
    why: Option<String>,
    set_cookies: Vec<String>,
    /// All places that it led to, in order.
    visited: Vec<Url>,
    last: HttpExchange,
}

impl Trip {
    /// Goes on until there is an answer that is no redirect, or one that is not to be followed.
    async fn travel(mut self) -> Arrival {
        let mut redirects = Redirects::of_http(self.asking.redirects);
        let mut set_cookies = Vec::new();
        loop {
            let last = self.send().await;
            let next = match &last.result {
                Ok(answer) => {
                    let set = header_values(&answer.head, "Set-Cookie");
                    self.jar.keep(&self.url, &set);
                    set_cookies.extend(set);
                    redirects.next(&self.url, answer.status, &answer.head)
                }
                Err(_) => Next::Stay,
            };
            let why = match (next, &last.result) {
                (Next::Go(there), Ok(answer)) => match self.turn_to(*there, answer.status) {
                    None => continue,
                    why => why,
                },
                (Next::Refuse(why), _) => Some(why),
                _ => None,
            };
            let Self { url, jar, .. } = self;
            let visited = redirects.visited(&url);
            return Arrival { url, jar, why, set_cookies, visited, last };
        }
    }

    /// One request. What is left of its connection lingers in the background.
    async fn send(&mut self) -> HttpExchange {
        let request = HttpRequest {
            method: self.method.name(),
            url: self.url.clone(),
            headers: self.asking.headers(&self.url, &self.jar),
            body: self.body.clone(),
        };
        let tls = self.securing.as_ref().and_then(|securing| securing.to(&self.url));
        let begun = clock::now();
        // Each server has the time to be connected with, however long the one before took to answer.
        let limits = HttpLimits { connect_by: begun + self.connect_timeout, ..self.limits };
        let mut exchange = net::request(request, tls, limits, &self.tally).await;
        if let Some(remains) = exchange.remains.take() {
            self.worker.leave_behind(net::drain(remains));
        }
        if let Some(tap) = &mut self.tap {
            if exchange.sent > 0 {
                let body = self.body.as_deref().unwrap_or_default();
                let bytes = [exchange.request_head.as_bytes(), body].concat();
                tap.head(Direction::Sent, &bytes, begun);
            }
            if let Ok(answer) = &exchange.result {
                let bytes = [answer.head.as_slice(), &answer.body].concat();
                tap.head(Direction::Received, &bytes, exchange.end);
            }
        }
        exchange
    }

    /// Prepares for the request that follows an answer with this status (RFC 9110 15.4); else says why
    /// it is not sent.
    fn turn_to(&mut self, there: Url, status: u16) -> Option<String> {
        let becomes_get = match status {
            303 => self.method != Method::Head,
            301 | 302 => self.method == Method::Post,
            _ => false,
        };
        if becomes_get {
            self.method = Method::Get;
            self.body = None;
            self.asking.unsay("Content-Type");
        }
        if !self.url.trusts(&there) {
            if self.body.is_some() && self.body_is_secret {
                let place = net::shown(&there.to_http());
                return Some(format!("the body holds secrets, and it leads to `{place}`"));
            }
            self.asking.keep_secrets();
        }
        self.url = there;
        None
    }
}

fn evaluate(
    scope: &mut Scope,
    connections: &mut Connections<'_>,
    sampler: &Sampler,
    spec: &Http,
) -> Result<Trip, Failure> {
    let url = scope.text(&spec.url)?;
    let path = match &spec.path {
        Some(path) => Some(scope.text(path)?),
        None => None,
    };
    let url = Url::parse_http(&url, path.as_deref())
        .map_err(|error| bad_value(&error.what, &spec.url.source))?;
    scope.hide(|secrets| secrets.remember_url(&url.uri.to_string()));
    let mut asking = Asking::evaluate(scope, &spec.head, &url)?;
    let mut body_is_secret = false;
    let body = match &spec.body {
        Some(body) => {
            asking.say_by_default("Content-Type", body.content_type());
            let bytes = bytes_of(scope, body)?;
            body_is_secret = scope.holds_secret(&String::from_utf8_lossy(&bytes));
            Some(bytes)
        }
        None => None,
    };
    let read = nonzero(scope.value(&sampler.read_timeout)?, "read_timeout")?;
    let write = match &sampler.write_timeout {
        Some(timeout) => nonzero(scope.value(timeout)?, "write_timeout")?,
        None => read,
    };
    let max_body = scope.value(&spec.max_message_size)?.0;
    let method = scope.value(&spec.method)?;
    let connect_timeout = nonzero(scope.value(&spec.connect_timeout)?, "connect_timeout")?;
    let securing = Securing::evaluate(scope, connections, spec.tls.as_deref(), &url, &asking)?;
    let worker = &connections.worker;
    Ok(Trip {
        url,
        securing,
        asking,
        method,
        body,
        body_is_secret,
        connect_timeout,
        limits: HttpLimits { connect_by: clock::now(), write, read, max_body },
        tap: worker
            .tracer
            .as_ref()
            .map(|tracer| ConnectionTap { tracer: Rc::clone(tracer), connection: String::new() }),
        jar: std::mem::take(&mut scope.cookies),
        worker: Rc::clone(worker),
        tally: Rc::default(),
    })
}

/// The body's bytes. What it calls a password or the like is hidden from here on.
fn bytes_of(scope: &mut Scope, body: &Body) -> Result<Vec<u8>, Failure> {
    let fields = match body {
        Body::Form(fields) => fields,
        Body::Text(payload) | Body::Json(payload) | Body::File(payload) => {
            let bytes = payload::evaluate(scope, payload)?.1.into_owned();
            scope.hide(|secrets| secrets.remember_body(&bytes));
            return Ok(bytes);
        }
    };
    let mut form = form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields {
        let value = scope.text(value)?;
        scope.hide(|secrets| secrets.remember_field(name, &value));
        form.append_pair(name, &value);
    }
    Ok(form.finish().into_bytes())
}

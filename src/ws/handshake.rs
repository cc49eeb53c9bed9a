//! The opening handshake (RFC 6455 4): the request's text and the judgement of its answer.

use http::{Request, Uri, header};
use tungstenite::handshake::client::{generate_key, generate_request};
use tungstenite::handshake::derive_accept_key;

use crate::net::{TLS_ALERT, host_header};

/// An answer's head may be this long, in bytes.
pub const MAX_RESPONSE: usize = 64 * 1024;
/// So many interim answers may come before it, and no more bytes of them than of a head.
pub(crate) const MAX_INTERIM: usize = 100;
const MAX_HEADERS: usize = 128;
/// Offers subprotocols, and names the one that the server chose (RFC 6455 11.3.4).
const SUBPROTOCOL: &str = "Sec-WebSocket-Protocol";

/// What an upgrade request says beside what every one says.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Further headers, as written and in order; names may occur more than once. Their names must be
    /// valid and their values without CR and LF.
    pub headers: Vec<(String, String)>,
    /// The subprotocols that are offered, best first (RFC 6455 1.9); each a token, none twice.
    pub subprotocols: Vec<String>,
}

/// An upgrade request, ready to send.
#[derive(Debug)]
pub struct UpgradeRequest {
    /// What goes on the wire.
    pub bytes: Vec<u8>,
    /// What `Sec-WebSocket-Accept` must be.
    pub accept: String,
    subprotocols: Vec<String>,
}

/// What the answer to an upgrade request is.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// More bytes are needed.
    Incomplete,
    /// An interim answer, which says nothing yet (RFC 9110 15.2): the next one follows after `length`
    /// bytes.
    Interim {
        /// Of the head.
        length: usize,
    },
    /// Accepted; frames follow after `length` bytes.
    Accepted {
        /// Of the head.
        length: usize,
    },
    /// Another status than 101.
    Refused {
        /// The HTTP status.
        status: u16,
        /// Status and reason, as sent.
        line: String,
        /// Of the head.
        length: usize,
    },
    /// Not HTTP, or a 101 that RFC 6455 4.1 tells a client to refuse.
    Invalid {
        /// What is wrong.
        what: String,
    },
}

impl UpgradeRequest {
    /// A request for `uri`.
    pub fn new(uri: &Uri, asked: &Asked) -> Result<Self, String> {
        let key = generate_key();
        let request = Request::get(uri)
            .header(header::HOST, host_header(uri))
            .header(header::CONNECTION, "Upgrade")
            .header(header::UPGRADE, "websocket")
            .header(header::SEC_WEBSOCKET_VERSION, "13")
            .header(header::SEC_WEBSOCKET_KEY, &key)
            .body(())
            .map_err(|error| error.to_string())?;
        let (mut bytes, key) = generate_request(request).map_err(|error| error.to_string())?;
        // The generator would lower names, so ours go before its final blank line.
        bytes.truncate(bytes.len() - 2);
        if !asked.subprotocols.is_empty() {
            let offer = asked.subprotocols.join(", ");
            bytes.extend_from_slice(format!("{SUBPROTOCOL}: {offer}\r\n").as_bytes());
        }
        for (name, value) in &asked.headers {
            if value.contains(['\r', '\n', '\0']) {
                return Err(format!("the value of header `{name}` holds a line break"));
            }
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        bytes.extend_from_slice(b"\r\n");
        let subprotocols = asked.subprotocols.clone();
        Ok(Self { bytes, accept: derive_accept_key(key.as_bytes()), subprotocols })
    }

    /// Judges what has been received so far; the same whatever pieces it came in.
    pub fn judge(&self, received: &[u8]) -> Answer {
        if received == &TLS_ALERT[..1] {
            return Answer::Incomplete;
        }
        if received.starts_with(&TLS_ALERT) {
            let what = "the server speaks TLS on this port: `wss://` may reach it".to_owned();
            return Answer::Invalid { what };
        }
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let head = &received[..received.len().min(MAX_RESPONSE)];
        match response.parse(head) {
            Err(httparse::Error::TooManyHeaders) => {
                Answer::Invalid { what: format!("the answer has more than {MAX_HEADERS} headers") }
            }
            Err(error) => Answer::Invalid { what: format!("the answer is not HTTP: {error}") },
            Ok(httparse::Status::Partial) if head.len() == MAX_RESPONSE => {
                Answer::Invalid { what: format!("the answer's head exceeds {MAX_RESPONSE} bytes") }
            }
            Ok(httparse::Status::Partial) => Answer::Incomplete,
            Ok(httparse::Status::Complete(length)) => self.judge_head(&response, length),
        }
    }

    fn judge_head(&self, response: &httparse::Response<'_, '_>, length: usize) -> Answer {
        let status = response.code.unwrap_or_default();
        if matches!(status, 100 | 102..=199) {
            return Answer::Interim { length };
        }
        if status != 101 {
            let line = format!("{status} {}", response.reason.unwrap_or_default());
            return Answer::Refused { status, line: line.trim_end().to_owned(), length };
        }
        match self.objection(response) {
            Some(what) => Answer::Invalid { what },
            None => Answer::Accepted { length },
        }
    }

    /// What RFC 6455 4.1 finds wrong with a 101.
    fn objection(&self, response: &httparse::Response<'_, '_>) -> Option<String> {
        let has_token = |name: &str, token: &str| {
            values(response, name)
                .any(|value| value.split(',').any(|one| one.trim().eq_ignore_ascii_case(token)))
        };
        if !has_token("Upgrade", "websocket") {
            return Some("the answer has no `Upgrade: websocket`".to_owned());
        }
        if !has_token("Connection", "Upgrade") {
            return Some("the answer has no `Connection: Upgrade`".to_owned());
        }
        let mut accepts = values(response, "Sec-WebSocket-Accept");
        match accepts.next() {
            None => return Some("the answer has no `Sec-WebSocket-Accept`".to_owned()),
            Some(accept) if accept.trim() != self.accept => {
                return Some(format!(
                    "`Sec-WebSocket-Accept` is `{}`, not `{}`",
                    accept.trim(),
                    self.accept
                ));
            }
            Some(_) if accepts.next().is_some() => {
                let what = "the answer has `Sec-WebSocket-Accept` twice (RFC 6455 11.3.3)";
                return Some(what.to_owned());
            }
            Some(_) => {}
        }
        let mut extensions = values(response, "Sec-WebSocket-Extensions");
        if let Some(value) = extensions.find(|value| !value.trim().is_empty()) {
            return Some(format!(
                "the answer chooses an extension that was not offered: `{value}`"
            ));
        }
        self.subprotocol_objection(response)
    }

    /// A server chooses one of the subprotocols that were offered, or none.
    fn subprotocol_objection(&self, response: &httparse::Response<'_, '_>) -> Option<String> {
        let mut chosen = values(response, SUBPROTOCOL);
        let first = chosen.next()?;
        let first = first.trim();
        if let Some(second) = chosen.next() {
            let second = second.trim();
            return Some(format!(
                "the answer chooses two subprotocols, `{first}` and `{second}` (RFC 6455 11.3.4)"
            ));
        }
        // Subprotocols differ by case (RFC 6455 4.1). An empty value chooses none.
        if first.is_empty() || self.subprotocols.iter().any(|offered| offered == first) {
            return None;
        }
        let offered = match self.subprotocols.as_slice() {
            [] => "none was".to_owned(),
            [one] => format!("`{one}` was"),
            offered => format!("`{}` were", offered.join("`, `")),
        };
        let what = "the answer chooses a subprotocol that was not offered";
        Some(format!("{what}: `{first}`; {offered}"))
    }
}

/// The values of the headers of this name, in any case, in the head of an HTTP response; none where
/// it is not one. Bytes that are not UTF-8 are replaced.
pub fn header_values(head: &[u8], name: &str) -> Vec<String> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(head) {
        Ok(_) => values(&response, name).map(|value| value.trim().to_owned()).collect(),
        Err(_) => Vec::new(),
    }
}

fn values<'a>(
    response: &'a httparse::Response<'_, '_>,
    name: &'a str,
) -> impl Iterator<Item = std::borrow::Cow<'a, str>> {
    response
        .headers
        .iter()
        .filter(move |header| header.name.eq_ignore_ascii_case(name))
        .map(|header| String::from_utf8_lossy(header.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(headers: &[(&str, &str)]) -> UpgradeRequest {
        let headers = headers.iter().map(|&(name, value)| (name.into(), value.into())).collect();
        let asked = Asked { headers, ..Asked::default() };
        UpgradeRequest::new(&"ws://h:9000/a?b=1".parse().unwrap(), &asked).unwrap()
    }

    fn offering(subprotocols: &[&str]) -> UpgradeRequest {
        let subprotocols = subprotocols.iter().map(|&name| name.into()).collect();
        let asked = Asked { subprotocols, ..Asked::default() };
        UpgradeRequest::new(&"ws://h/".parse().unwrap(), &asked).unwrap()
    }

    fn accepted(request: &UpgradeRequest, more: &str) -> String {
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\n\
             Connection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: {}\r\n{more}\r\n",
            request.accept
        )
    }

    #[test]
    fn headers_keep_case_order_and_duplicates() {
        let request = request(&[("X-B", "1"), ("X-a", "2"), ("X-B", "3")]);
        let text = String::from_utf8(request.bytes).unwrap();
        assert!(text.starts_with("GET /a?b=1 HTTP/1.1\r\nHost: h:9000\r\n"), "{text}");
        assert!(text.ends_with("X-B: 1\r\nX-a: 2\r\nX-B: 3\r\n\r\n"), "{text}");
    }

    #[test]
    fn a_default_port_is_not_in_the_host_header() {
        let uri = "ws://[::1]:80/".parse().unwrap();
        let request = UpgradeRequest::new(&uri, &Asked::default()).unwrap();
        assert!(String::from_utf8(request.bytes).unwrap().contains("Host: [::1]\r\n"));
    }

    #[test]
    fn an_answer_is_judged_when_its_head_is_complete() {
        let request = request(&[]);
        let answer = accepted(&request, "");
        for length in 0..answer.len() {
            assert_eq!(request.judge(&answer.as_bytes()[..length]), Answer::Incomplete);
        }
        let mut longer = answer.clone().into_bytes();
        longer.extend_from_slice(&[0x81, 0]);
        assert_eq!(request.judge(&longer), Answer::Accepted { length: answer.len() });
    }

    #[test]
    fn a_refusal_keeps_status_and_reason() {
        let head = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 2\r\n\r\n";
        let Answer::Refused { status, line, length } =
            request(&[]).judge(format!("{head}no").as_bytes())
        else {
            panic!("not refused")
        };
        assert_eq!((status, line.as_str(), length), (503, "503 Service Unavailable", head.len()));
    }

    #[test]
    fn answers_that_do_not_conform_are_invalid() {
        let request = request(&[]);
        let good = accepted(&request, "");
        let answers = [
            "SSH-2.0-OpenSSH_9.2\r\n\r\n".to_owned(),
            good.replace("upgrade: WebSocket", "x: y"),
            good.replace("keep-alive, Upgrade", "close"),
            good.replace(&request.accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="),
            good.replace("Sec-WebSocket-Accept", "X"),
            accepted(&request, "Sec-WebSocket-Accept: x\r\n"),
            accepted(&request, "Sec-WebSocket-Extensions: permessage-deflate\r\n"),
            accepted(&request, "Sec-WebSocket-Protocol: chat\r\n"),
            format!("HTTP/1.1 101 A\r\n{}", "x: y\r\n".repeat(20_000)),
        ];
        for answer in answers {
            let judged = request.judge(answer.as_bytes());
            assert!(matches!(judged, Answer::Invalid { .. }), "{answer}: {judged:?}");
        }
    }

    #[test]
    fn a_value_with_a_line_break_is_refused() {
        let headers = vec![("X".to_owned(), "a\r\nHost: b".to_owned())];
        let asked = Asked { headers, ..Asked::default() };
        assert!(UpgradeRequest::new(&"ws://h/".parse().unwrap(), &asked).is_err());
    }

    #[test]
    fn a_server_may_choose_what_was_offered_or_nothing() {
        let request = offering(&["chat.v2", "chat.v1"]);
        let text = String::from_utf8(request.bytes.clone()).unwrap();
        assert!(text.contains("\r\nSec-WebSocket-Protocol: chat.v2, chat.v1\r\n"), "{text}");
        for (chosen, fine) in [
            ("", true),
            ("Sec-WebSocket-Protocol: chat.v1\r\n", true),
            ("sec-websocket-protocol: chat.v2 \r\n", true),
            ("Sec-WebSocket-Protocol:\r\n", true),
            ("Sec-WebSocket-Protocol: Chat.v1\r\n", false),
            ("Sec-WebSocket-Protocol: chat.v2, chat.v1\r\n", false),
            ("Sec-WebSocket-Protocol: chat.v1\r\nSec-WebSocket-Protocol: chat.v1\r\n", false),
        ] {
            let judged = request.judge(accepted(&request, chosen).as_bytes());
            assert_eq!(matches!(judged, Answer::Accepted { .. }), fine, "{chosen}: {judged:?}");
        }
    }
}

//! The head of an HTTP request, and whether it is an opening handshake (RFC 6455 4.2.1). No I/O.

use http::StatusCode;
use httparse::{EMPTY_HEADER, Header, Status};
use tungstenite::handshake::derive_accept_key;

/// The longest request head, in bytes.
pub(super) const MAX_HEAD: usize = 16 * 1024;

/// Offers subprotocols, and names the one that is chosen.
const SUBPROTOCOL: &str = "Sec-WebSocket-Protocol";

/// The most header lines.
const MAX_HEADERS: usize = 100;

/// A request that was understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Path and query.
    pub(super) target: String,
    /// The `Sec-WebSocket-Accept` of the answer, `None` for a request without `Upgrade`, or why the
    /// handshake is refused.
    pub(super) accept: Result<Option<String>, Refusal>,
    /// The subprotocols that are offered, in order.
    pub(super) subprotocols: Vec<String>,
    /// Length of the head in bytes.
    pub(super) length: usize,
}

/// An answer other than what was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    /// One line that says why.
    pub(super) text: String,
}

impl Refusal {
    pub(super) fn new(status: u16, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }
}

/// Reads the head at the start of `bytes`; `None` means that it is not complete yet.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<Request>, Refusal> {
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let length = match request.parse(bytes) {
        Ok(Status::Complete(length)) if length <= MAX_HEAD => length,
        Ok(Status::Partial) if bytes.len() < MAX_HEAD => return Ok(None),
        Ok(_) => return Err(Refusal::new(431, format!("the head is over {MAX_HEAD} bytes"))),
        Err(httparse::Error::TooManyHeaders) => {
            return Err(Refusal::new(431, format!("more than {MAX_HEADERS} header lines")));
        }
        Err(error) => return Err(Refusal::new(400, format!("bad request head: {error}"))),
    };
    if request.method != Some("GET") {
        return Err(Refusal::new(405, "only GET is served here"));
    }
    let target = request.path.unwrap_or("/").to_owned();
    let accept = accept(request.headers, request.version);
    let subprotocols = tokens(request.headers, SUBPROTOCOL).map(lossy).collect();
    Ok(Some(Request { target, accept, subprotocols, length }))
}

fn accept(headers: &[Header<'_>], version: Option<u8>) -> Result<Option<String>, Refusal> {
    if !has_token(headers, "upgrade", "websocket") {
        return Ok(None);
    }
    if version != Some(1) {
        return Err(Refusal::new(400, "a handshake needs HTTP/1.1 (RFC 6455 4.2.1)"));
    }
    if !has_token(headers, "connection", "upgrade") {
        return Err(Refusal::new(400, "the handshake has no `Connection: Upgrade`"));
    }
    if value(headers, "host").is_none() {
        return Err(Refusal::new(400, "the handshake has no `Host`"));
    }
    if value(headers, "sec-websocket-version") != Some(b"13") {
        return Err(Refusal::new(426, "only `Sec-WebSocket-Version: 13` is spoken here"));
    }
    match value(headers, "sec-websocket-key") {
        Some(key) if is_key(key) => Ok(Some(derive_accept_key(key))),
        Some(_) => Err(Refusal::new(400, "`Sec-WebSocket-Key` is not 16 bytes in Base64")),
        None => Err(Refusal::new(400, "the handshake has no `Sec-WebSocket-Key`")),
    }
}

fn value<'a>(headers: &[Header<'a>], name: &str) -> Option<&'a [u8]> {
    let header = headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
    Some(header.value.trim_ascii())
}

/// The elements of a header that is a list, perhaps over several lines.
fn tokens<'a>(headers: &'a [Header<'a>], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    headers
        .iter()
        .filter(move |header| header.name.eq_ignore_ascii_case(name))
        .flat_map(|header| header.value.split(|&byte| byte == b','))
        .map(<[u8]>::trim_ascii)
}

fn has_token(headers: &[Header<'_>], name: &str, token: &str) -> bool {
    tokens(headers, name).any(|part| part.eq_ignore_ascii_case(token.as_bytes()))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// 16 bytes in Base64 are 22 characters and two of padding.
fn is_key(key: &[u8]) -> bool {
    let base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    key.len() == 24 && key[..22].iter().all(base64) && key.ends_with(b"==")
}

/// The bytes that accept a handshake, with this subprotocol if there is one.
pub(super) fn accepted(accept: &str, subprotocol: Option<&str>) -> Vec<u8> {
    let chosen = subprotocol.map(|name| format!("{SUBPROTOCOL}: {name}\r\n")).unwrap_or_default();
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n{chosen}\r\n"
    )
    .into_bytes()
}

/// The bytes of any other answer, after which the server closes. `body` is text or JSON.
pub(super) fn answer(status: u16, content_type: &str, body: &str) -> Vec<u8> {
    let code = StatusCode::from_u16(status).ok();
    let reason = code.and_then(|code| code.canonical_reason()).unwrap_or("Unknown");
    let mut head = format!("HTTP/1.1 {status} {reason}\r\nConnection: close\r\n");
    if status == 426 {
        head += "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";
    }
    // RFC 9110 6.4.1: these two have no content.
    if matches!(status, 204 | 304) {
        return (head + "\r\n").into_bytes();
    }
    let length = body.len();
    let fields = format!("Content-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n");
    (head + &fields + body).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDSHAKE: &str = "GET /echo?a=1 HTTP/1.1\r\nHost: h\r\nUpgrade: WebSocket\r\n\
        Connection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n\
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

    #[test]
    fn the_handshake_of_the_rfc_gets_the_key_of_the_rfc() {
        let bytes = format!("{HANDSHAKE}rest");
        let request = parse(bytes.as_bytes()).unwrap().unwrap();
        assert_eq!(request.target, "/echo?a=1");
        assert_eq!(request.accept, Ok(Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=".to_owned())));
        assert_eq!(&bytes[request.length..], "rest");
    }

    #[test]
    fn a_head_is_not_there_until_its_last_byte_is() {
        for length in 0..HANDSHAKE.len() {
            assert_eq!(parse(&HANDSHAKE.as_bytes()[..length]), Ok(None), "{length} bytes");
        }
    }

    #[test]
    fn what_is_missing_from_a_handshake_is_named() {
        let cases = [
            ("Connection: keep-alive, Upgrade", "Connection: close", 400, "Connection"),
            ("Host: h", "Hose: h", 400, "Host"),
            ("Version: 13", "Version: 8", 426, "Version"),
            ("HTTP/1.1", "HTTP/1.0", 400, "HTTP/1.1"),
            ("Sec-WebSocket-Key:", "X:", 400, "no `Sec-WebSocket-Key`"),
            ("dGhlIHNhbXBsZSBub25jZQ==", "dGhl", 400, "16 bytes"),
        ];
        for (part, replacement, status, text) in cases {
            let head = HANDSHAKE.replace(part, replacement);
            let refusal = parse(head.as_bytes()).unwrap().unwrap().accept.unwrap_err();
            assert_eq!(refusal.status, status, "{replacement}");
            assert!(refusal.text.contains(text), "{}", refusal.text);
        }
    }

    #[test]
    fn a_plain_request_is_no_handshake() {
        let request = parse(b"GET /count HTTP/1.1\r\n\r\n").unwrap().unwrap();
        assert_eq!((request.target.as_str(), request.accept), ("/count", Ok(None)));
    }

    #[test]
    fn heads_that_cannot_be_served_are_refused() {
        let status = |bytes: &[u8]| parse(bytes).unwrap_err().status;
        assert_eq!(status(b"POST / HTTP/1.1\r\n\r\n"), 405);
        assert_eq!(status(b"\x16\x03\x01\x02\x00 TLS"), 400);
        let endless = format!("GET /{}", "x".repeat(MAX_HEAD));
        assert_eq!(status(endless.as_bytes()), 431);
        let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(MAX_HEAD));
        assert_eq!(status(long.as_bytes()), 431);
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(MAX_HEADERS + 1));
        assert_eq!(status(many.as_bytes()), 431);
    }

    #[test]
    fn answers_say_how_long_they_are() {
        let bytes = answer(403, "text/plain", "no\n");
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{text}");
        assert!(text.ends_with("Content-Length: 3\r\n\r\nno\n"), "{text}");
        assert!(answer(204, "text/plain", "no").ends_with(b"close\r\n\r\n"));
    }
}

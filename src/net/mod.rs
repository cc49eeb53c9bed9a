//! Reaching a server: URLs, name lookup, TCP. The only module that will name a TLS crate.

mod client;
mod cookies;
mod dial;
mod url;
mod web;

pub use client::{HttpAnswer, HttpError, HttpExchange, HttpLimits, HttpRequest, drain, request};
pub use cookies::Cookies;
pub use dial::{DialError, Dialed, dial};
pub use url::{Url, UrlError, encoded, is_secret, password, shown};
pub use web::host_header;

/// A connected byte stream.
pub type Stream = tokio::net::TcpStream;

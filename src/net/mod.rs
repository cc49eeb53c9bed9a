//! Reaching a server: URLs, name lookup, TCP. The only module that will name a TLS crate.

mod dial;
mod url;

pub use dial::{DialError, Dialed, dial};
pub use url::{Url, UrlError, encoded, is_secret, shown};

/// A connected byte stream.
pub type Stream = tokio::net::TcpStream;

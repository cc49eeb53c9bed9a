//! Reaching a server: URLs, name lookup, TCP. The only module that will name a TLS crate.

mod dial;
mod url;

pub use dial::{DialError, Dialed, dial};
pub use url::{Url, UrlError};
pub(crate) use url::{hide_secrets, is_secret};

/// A connected byte stream.
pub type Stream = tokio::net::TcpStream;

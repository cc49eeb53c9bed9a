//! Reaching a server: URLs, name lookup, TCP, TLS. The only module to name a TLS crate.

mod client;
mod cookies;
mod dial;
mod stream;
mod tls;
mod turn;
mod url;
mod web;

use std::io;

pub use client::{HttpAnswer, HttpError, HttpExchange, HttpLimits, HttpRequest, drain, request};
pub use cookies::Cookies;
pub use dial::{DialError, Dialed, TlsPhase, TlsTo, dial};
pub use stream::Stream;
pub use tls::{
    Certificates, PemError, PrivateKey, TlsClient, TlsConnector, TlsError, TlsSettings,
    TlsSettingsError, TlsVersion, is_server_name,
};
pub use turn::give_way;
pub use url::{Url, UrlError, encoded, is_secret, password, shown};
pub use web::host_header;

/// What TLS has to say in an error of a [`Stream`], if it comes from there.
pub fn tls_error(error: &io::Error) -> Option<&TlsError> {
    tls::tls_error(error)
}

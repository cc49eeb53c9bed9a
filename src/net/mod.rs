//! Reaching a server: URLs, name lookup, TCP, TLS. The only module to name a TLS crate.

mod client;
mod cookies;
mod dial;
mod shown;
mod stream;
mod tls;
mod turn;
mod url;
mod web;

use std::io;

pub use client::{
    HttpAnswer, HttpError, HttpExchange, HttpLimits, HttpRequest, HttpTally, drain, request,
};
pub use cookies::Cookies;
pub use dial::{DialError, Dialed, TlsPhase, TlsTo, dial};
pub use shown::{is_secret, is_secret_parameter, password, shown, user_info};
pub use stream::Stream;
pub use tls::{
    Certificates, PemError, PrivateKey, TlsClient, TlsConnector, TlsError, TlsSettings,
    TlsSettingsError, TlsVersion, is_server_name,
};
pub use turn::give_way;
pub use url::{Url, UrlError, encoded};
pub use web::host_header;

/// How a server that speaks TLS begins its answer to one who does not: a record that is an alert, and the
/// first byte of its version (RFC 8446 5.1).
pub const TLS_ALERT: [u8; 2] = [0x15, 3];

/// What TLS has to say in an error of a [`Stream`], if it comes from there.
pub fn tls_error(error: &io::Error) -> Option<&TlsError> {
    tls::tls_error(error)
}

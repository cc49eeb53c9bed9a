//! `tls` of an `open`, its files read.

use std::sync::Arc;

use crate::net::{TlsClient, TlsVersion};
use crate::program::{BadValue, FromText, Template};

/// How an `open` makes `wss://` connections.
#[derive(Debug)]
pub struct Tls {
    /// Shared by all that have the same settings.
    pub client: Arc<TlsClient>,
    /// Instead of the host of the URL.
    pub server_name: Option<Template>,
    /// The file of the authorities, as written.
    pub ca: Option<String>,
    /// The file of the client's certificate, as written.
    pub cert: Option<String>,
}

impl FromText for TlsVersion {
    fn from_text(text: &str) -> Result<Self, BadValue> {
        match text {
            "1.2" => Ok(Self::Tls12),
            "1.3" => Ok(Self::Tls13),
            "1.0" | "1.1" => Err(BadValue::new(format!("TLS {text} is not spoken"))
                .with_help("it was withdrawn by RFC 8996; write `1.2` or `1.3`")),
            _ => Err(BadValue::new(format!("`{text}` is none of `1.2`, `1.3`"))),
        }
    }
}

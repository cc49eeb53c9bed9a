//! TLS: what a plan's `tls` means, files with certificates and keys, and the encrypted side of a
//! [`Stream`](crate::net::Stream).
//!
//! Servers are verified unless a plan says otherwise. All connections with the same settings share
//! one configuration; sessions for resumption belong to one thread (see [`TlsConnector`]).

mod authorities;
mod client;
mod error;
mod insecure;
mod own_root;
mod pem;
mod session;
mod tickets;

pub use client::{TlsClient, TlsConnector, TlsSettings, TlsVersion, is_server_name};
pub(super) use error::tls_error;
pub use error::{TlsError, TlsSettingsError};
pub use pem::{Certificates, PemError, PrivateKey};
pub(super) use session::TlsSession;

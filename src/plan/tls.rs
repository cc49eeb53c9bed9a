//! `tls`, as written: how `wss://` connections are made.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::plan::setting::{Flag, Removable, Setting, Text, Version, given};

/// `tls`: how `wss://` connections are made. Files are PEM, relative to the file in which this stands,
/// and read once, before the run.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// A file with the certificates of the only authorities that may vouch for the server; those that
    /// this machine trusts where there is none.
    #[serde(default, deserialize_with = "given")]
    pub ca: Option<Removable<Setting<Text>>>,
    /// A file with the client's certificate, and those between it and its authority behind it; for
    /// servers that ask for one.
    #[serde(default, deserialize_with = "given")]
    pub cert: Option<Removable<Setting<Text>>>,
    /// The file with the private key of `cert`, not encrypted.
    #[serde(default, deserialize_with = "given")]
    pub key: Option<Removable<Setting<Text>>>,
    /// The name that the server is told and that its certificate must have, instead of the host of
    /// the URL.
    #[serde(default, deserialize_with = "given")]
    pub server_name: Option<Removable<Setting<Text>>>,
    /// Whether any server will do, whatever certificate it shows.
    #[serde(default, deserialize_with = "given")]
    pub insecure: Option<Removable<Setting<Flag>>>,
    /// The oldest version of TLS that is spoken.
    #[serde(default, deserialize_with = "given")]
    pub min_version: Option<Removable<Setting<Version>>>,
    /// Whether a thread resumes its earlier TLS sessions; each connection costs a full handshake where
    /// not.
    #[serde(default, deserialize_with = "given")]
    pub resume: Option<Removable<Setting<Flag>>>,
}

//! Configurations: one for all connections with the same settings, and a thread's own.

use std::sync::Arc;

use rustls::client::{Resumption, Tls12Resumption, WebPkiServerVerifier};
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, Error, InconsistentKeys, SupportedProtocolVersion, version};

use crate::net::tls::authorities;
use crate::net::tls::insecure::AcceptAll;
use crate::net::tls::own_root::OrItself;
use crate::net::tls::session::TlsSession;
use crate::net::tls::tickets::Tickets;
use crate::net::tls::{Certificates, PrivateKey, TlsError, TlsSettingsError};

/// `tls` of a plan, its files read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsSettings {
    /// The only authorities that may vouch for a server; `None` for those that this machine trusts.
    pub authorities: Option<Certificates>,
    /// What the client shows to servers that ask: its own certificate first, and the key of that.
    pub identity: Option<(Certificates, PrivateKey)>,
    /// Whether any server will do.
    pub insecure: bool,
    /// Servers that only speak older versions are refused.
    pub min_version: TlsVersion,
    /// Whether sessions are resumed.
    pub resume: bool,
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    /// RFC 5246
    Tls12,
    /// RFC 8446
    Tls13,
}

impl TlsVersion {
    /// As a plan writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tls12 => "1.2",
            Self::Tls13 => "1.3",
        }
    }

    fn and_newer(self) -> Vec<&'static SupportedProtocolVersion> {
        match self {
            Self::Tls12 => vec![&version::TLS13, &version::TLS12],
            Self::Tls13 => vec![&version::TLS13],
        }
    }
}

impl Default for TlsSettings {
    fn default() -> Self {
        Self {
            authorities: None,
            identity: None,
            insecure: false,
            min_version: TlsVersion::Tls12,
            resume: true,
        }
    }
}

/// What all connections with the same settings share.
#[derive(Debug)]
pub struct TlsClient {
    /// Without resumption.
    config: Arc<ClientConfig>,
    settings: TlsSettings,
    trusts_nobody: bool,
}

impl TlsClient {
    /// Makes the configuration; reads the authorities that this machine trusts, if they count. Fails
    /// if the key is not that of the certificate (see [`Certificates::check_key`]).
    pub fn new(settings: TlsSettings) -> Result<Self, TlsSettingsError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&settings.min_version.and_newer())
            .map_err(TlsSettingsError::Other)?;
        let mut trusts_nobody = false;
        let builder = match &settings.authorities {
            _ if settings.insecure => {
                let schemes = provider.signature_verification_algorithms.supported_schemes();
                let verifier = Arc::new(AcceptAll { schemes });
                builder.dangerous().with_custom_certificate_verifier(verifier)
            }
            Some(trusted) => {
                let roots = authorities::only(trusted);
                let library = WebPkiServerVerifier::builder_with_provider(roots, provider).build();
                let library = library.map_err(|error| Error::General(error.to_string()));
                let library = library.map_err(TlsSettingsError::Other)?;
                let verifier = Arc::new(OrItself { library, trusted: trusted.clone() });
                builder.dangerous().with_custom_certificate_verifier(verifier)
            }
            None => {
                let roots = authorities::of_this_machine();
                trusts_nobody = roots.is_empty();
                builder.with_root_certificates(roots)
            }
        };
        let mut config = match &settings.identity {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => builder
                .with_client_auth_cert(chain.0.to_vec(), key.0.clone_key())
                .map_err(TlsSettingsError::Other)?,
        };
        config.resumption = Resumption::disabled();
        Ok(Self { config: Arc::new(config), settings, trusts_nobody })
    }

    /// What it was made of.
    pub fn settings(&self) -> &TlsSettings {
        &self.settings
    }

    /// Whether no server can pass, because this machine trusts no authority.
    pub fn trusts_nobody(&self) -> bool {
        self.trusts_nobody
    }

    /// What one thread connects with.
    pub fn connector(self: &Arc<Self>) -> TlsConnector {
        let config = if self.settings.resume {
            let mut config = ClientConfig::clone(&self.config);
            config.resumption = Resumption::store(Arc::new(Tickets::default()))
                .tls12_resumption(Tls12Resumption::SessionIdOrTickets);
            Arc::new(config)
        } else {
            Arc::clone(&self.config)
        };
        TlsConnector { client: Arc::clone(self), config }
    }
}

impl Certificates {
    /// Whether the key is that of the first certificate.
    pub fn check_key(&self, key: &PrivateKey) -> Result<(), TlsSettingsError> {
        let provider = ring::default_provider();
        let fits = |from: usize| {
            let (chain, key) = (self.0[from..].to_vec(), key.0.clone_key());
            CertifiedKey::from_der(chain, key, &provider).map(|_| ())
        };
        match fits(0) {
            Ok(()) => Ok(()),
            Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => {
                let is_behind = (1..self.0.len()).any(|from| fits(from).is_ok());
                Err(if is_behind {
                    TlsSettingsError::WrongOrder
                } else {
                    TlsSettingsError::KeyMismatch
                })
            }
            Err(error) => Err(TlsSettingsError::Other(error)),
        }
    }
}

/// What one thread connects with. Its sessions are its own, as a browser's are: the first connection
/// of each thread costs a full handshake, and only what the same thread opens later resumes. With
/// sessions shared by all, a server would see next to no full handshakes, however many users arrive.
#[derive(Debug, Clone)]
pub struct TlsConnector {
    client: Arc<TlsClient>,
    config: Arc<ClientConfig>,
}

impl TlsConnector {
    /// Whether it is one of this client's.
    pub fn is_of(&self, client: &Arc<TlsClient>) -> bool {
        Arc::ptr_eq(&self.client, client)
    }

    /// The state of a handshake that nothing was sent of. `host` is what the server's certificate must
    /// be for, and what the server is told (RFC 6066 3) if it is a name.
    pub(in crate::net) fn begin(&self, host: &str) -> Result<TlsSession, TlsError> {
        let name = server_name(host).ok_or_else(|| TlsError::bad_name(host))?;
        let settings = &self.client.settings;
        TlsSession::new(Arc::clone(&self.config), name, settings)
    }
}

/// A host as TLS knows it: a name or an address.
fn server_name(host: &str) -> Option<ServerName<'static>> {
    // A dot at its end makes a name absolute; no certificate has it.
    let host = host.strip_suffix('.').unwrap_or(host);
    ServerName::try_from(host.to_owned()).ok()
}

/// Whether a server can have this name.
pub fn is_server_name(host: &str) -> bool {
    server_name(host).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_server_names() {
        for good in ["h", "a.example.com", "a.example.com.", "127.0.0.1", "::1", "a_b"] {
            assert!(is_server_name(good), "{good}");
        }
        for bad in ["", "a b", "h:80", "[::1]", "-a"] {
            assert!(!is_server_name(bad), "{bad}");
        }
    }
}

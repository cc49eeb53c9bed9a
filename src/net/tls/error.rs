//! Why there is no TLS connection, in words.

use std::io;

use chrono::{DateTime, Utc};
use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};

use crate::net::tls::own_root::is_authority;
use crate::net::tls::{TlsSettings, TlsVersion};

/// Settings that fit nothing.
#[derive(Debug, thiserror::Error)]
pub enum TlsSettingsError {
    /// The key is another certificate's.
    #[error("the key does not fit the certificate")]
    KeyMismatch,
    /// The key is that of a certificate that does not stand first.
    #[error("the certificate of the key does not stand first")]
    WrongOrder,
    /// What else the TLS library may refuse.
    #[error("{0}")]
    Other(Error),
}

/// Why a handshake failed, or a TLS connection ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct TlsError {
    /// With names and times.
    pub text: String,
    /// The same without what differs from server to server.
    pub cause: String,
}

impl TlsError {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { cause: text.clone(), text }
    }

    fn new(text: String, cause: &str) -> Self {
        Self { text, cause: cause.to_owned() }
    }

    pub(super) fn bad_name(host: &str) -> Self {
        let cause = "the host is no name that a certificate can have";
        Self::new(format!("`{host}` is no name that a certificate can have"), cause)
    }

    /// The server did not answer in time.
    pub(in crate::net) fn timeout() -> Self {
        Self::plain("the TLS handshake was not complete in time")
    }

    /// What the server sent first is an answer in HTTP.
    pub(super) fn plain_http() -> Self {
        Self::plain(
            "the server speaks plain HTTP on this port, not TLS; `ws://` or `http://` may reach it",
        )
    }

    /// TCP ended before the handshake did.
    pub(super) fn closed() -> Self {
        Self::plain("the server closed the connection during the TLS handshake")
    }

    /// The library takes nothing more to send.
    pub(super) fn ended() -> Self {
        Self::plain("TLS has ended, or its keys are used up")
    }

    /// TCP failed before the handshake ended.
    pub(super) fn io(error: &io::Error) -> Self {
        let text = format!("the connection failed during the TLS handshake: {error}");
        Self::new(text, "the connection failed during the TLS handshake")
    }

    /// What the library found wrong, or the server told.
    pub(super) fn of(error: &Error, told: Told) -> Self {
        match error {
            Error::InvalidCertificate(error) => certificate(error, told),
            Error::AlertReceived(alert) => refusal(*alert, told),
            Error::PeerIncompatible(
                PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
                | PeerIncompatible::ServerDoesNotSupportTls12Or13
                | PeerIncompatible::Tls12NotOffered
                | PeerIncompatible::Tls12NotOfferedOrEnabled
                | PeerIncompatible::Tls13RequiredForQuic,
            ) => version(told),
            Error::InvalidMessage(
                InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion,
            ) if told.is_handshaking => Self::plain("what the server sent is not TLS"),
            other => {
                let text = format!("TLS failed: {other}");
                Self::plain(text)
            }
        }
    }
}

/// What we told the server, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    pub(super) is_handshaking: bool,
    /// A certificate of our own.
    pub(super) has_identity: bool,
    /// The plan names the authorities.
    pub(super) has_authorities: bool,
    pub(super) min_version: TlsVersion,
}

impl Told {
    pub(super) fn by(settings: &TlsSettings) -> Self {
        Self {
            is_handshaking: true,
            has_identity: settings.identity.is_some(),
            has_authorities: settings.authorities.is_some(),
            min_version: settings.min_version,
        }
    }
}

fn certificate(error: &CertificateError, told: Told) -> TlsError {
    match error {
        CertificateError::ExpiredContext { not_after, .. } => TlsError::new(
            format!("the server's certificate expired on {}", date(*not_after)),
            "the server's certificate has expired",
        ),
        // Those that have expired or are not valid yet come with their times.
        CertificateError::Expired => {
            TlsError::plain("the server's certificate is never valid: it ends before it begins")
        }
        CertificateError::NotValidYetContext { not_before, .. } => TlsError::new(
            format!("the server's certificate is not valid before {}", date(*not_before)),
            "the server's certificate is not valid yet",
        ),
        CertificateError::UnknownIssuer => TlsError::plain(if told.has_authorities {
            "unknown issuer: the server's certificate is not from an authority in `ca`"
        } else {
            "unknown issuer: the server's certificate is not from an authority that this machine \
             trusts; name another as `tls: { ca: ca.pem }`"
        }),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<String> = presented.iter().map(|name| bare(name)).collect();
            let has = if names.is_empty() { "no name".to_owned() } else { names.join(", ") };
            let expected = expected.to_str();
            TlsError::new(
                format!("wrong name: the server's certificate has {has}, not `{expected}`"),
                "wrong name: the server's certificate is for another",
            )
        }
        error if is_authority(error) => TlsError::plain(
            "the server's certificate is marked as an authority's (CA:TRUE): name it as `ca` if it \
             is to be trusted itself",
        ),
        other => TlsError::plain(format!("the server's certificate is refused: {other}")),
    }
}

/// What the server's alert means (RFC 8446 6.2).
fn refusal(alert: AlertDescription, told: Told) -> TlsError {
    use AlertDescription as Alert;
    let name = alert.as_str().unwrap_or("unknown");
    match alert {
        Alert::CertificateRequired => {
            TlsError::plain("the server requires a client certificate: `tls: { cert, key }`")
        }
        Alert::BadCertificate
        | Alert::UnsupportedCertificate
        | Alert::CertificateRevoked
        | Alert::CertificateExpired
        | Alert::CertificateUnknown
        | Alert::UnknownCA
        | Alert::AccessDenied
        | Alert::DecryptError
            if told.has_identity =>
        {
            TlsError::plain(format!("the server refused the client certificate ({name})"))
        }
        Alert::BadCertificate | Alert::HandshakeFailure if !told.has_identity => {
            TlsError::plain(format!(
                "the server refused the handshake ({name}): no cipher in common, or it requires a \
                 client certificate"
            ))
        }
        Alert::ProtocolVersion => version(told),
        Alert::UnrecognisedName => {
            TlsError::plain("the server knows no such name; `tls: { server_name }` sends another")
        }
        _ => TlsError::plain(format!("the server ended TLS ({name})")),
    }
}

fn version(told: Told) -> TlsError {
    TlsError::plain(match told.min_version {
        TlsVersion::Tls12 => "protocol version: the server speaks neither TLS 1.2 nor 1.3",
        TlsVersion::Tls13 => {
            "protocol version: the server does not speak TLS 1.3, and `min_version` is 1.3"
        }
    })
}

/// `DnsName("a.example")` and the like without their kind.
fn bare(name: &str) -> String {
    let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    format!("`{}`", inner.unwrap_or(name).trim_matches('"'))
}

fn date(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let date: Option<DateTime<Utc>> = DateTime::from_timestamp(seconds, 0);
    date.map_or_else(|| "a day far away".to_owned(), |date| date.format("%F %TZ").to_string())
}

/// The TLS error in an error of a stream.
pub(in crate::net) fn tls_error(error: &io::Error) -> Option<&TlsError> {
    error.get_ref()?.downcast_ref()
}

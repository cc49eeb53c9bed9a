//! A server that shows the very certificate that is trusted as an authority's: what `openssl req -x509`
//! makes, which is often all that a test system has.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

use crate::net::tls::Certificates;

/// Verifies as the library does, and takes one of the trusted certificates itself for a server's too.
#[derive(Debug)]
pub(super) struct OrItself {
    pub(super) library: Arc<WebPkiServerVerifier>,
    pub(super) trusted: Certificates,
}

/// Whether a server shows a certificate that is marked as an authority's. The library comes to that
/// after it has found the certificate valid at the time.
pub(super) fn is_authority(error: &CertificateError) -> bool {
    matches!(error, CertificateError::Other(_)) && error.to_string().contains("CaUsedAsEndEntity")
}

impl ServerCertVerifier for OrItself {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.library.verify_server_cert(own, others, name, ocsp_response, now) {
            Err(Error::InvalidCertificate(error))
                if is_authority(&error) && self.trusted.0.contains(own) =>
            {
                verify_server_name(&ParsedCertificate::try_from(own)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            judged => judged,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.library.verify_tls12_signature(message, own, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.library.verify_tls13_signature(message, own, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.library.supported_verify_schemes()
    }
}

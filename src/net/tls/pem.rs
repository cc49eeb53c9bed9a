//! Certificates and keys in files: PEM (RFC 7468), and what is often given in its place.

use std::sync::Arc;

use rustls::RootCertStore;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::ParsedCertificate;

/// One or more certificates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Certificates(pub(super) Arc<[CertificateDer<'static>]>);

/// The private key of a certificate. Its `Debug` shows nothing of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateKey(pub(super) Arc<PrivateKeyDer<'static>>);

/// A file that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct PemError {
    /// What is wrong; completes a sentence that begins with the file's name.
    pub what: String,
    /// How to mend it.
    pub help: String,
}

/// What a file should hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Certificate,
    Key,
}

impl Certificates {
    /// Those that the file holds, in its order.
    pub fn from_pem(bytes: &[u8]) -> Result<Self, PemError> {
        look_at(bytes, Wanted::Certificate)?;
        let mut certificates = Vec::new();
        for certificate in CertificateDer::pem_slice_iter(bytes) {
            let certificate = certificate.map_err(|error| damaged("a certificate", &error))?;
            ParsedCertificate::try_from(&certificate)
                .map_err(|error| broken("a certificate", &error))?;
            certificates.push(certificate);
        }
        Ok(Self(certificates.into()))
    }

    /// Those of authorities that the file holds.
    pub fn of_authorities_from_pem(bytes: &[u8]) -> Result<Self, PemError> {
        let certificates = Self::from_pem(bytes)?;
        let mut roots = RootCertStore::empty();
        for certificate in certificates.0.iter() {
            roots.add(certificate.clone()).map_err(|error| broken("a certificate", &error))?;
        }
        Ok(certificates)
    }
}

impl PrivateKey {
    /// The first that the file holds.
    pub fn from_pem(bytes: &[u8]) -> Result<Self, PemError> {
        look_at(bytes, Wanted::Key)?;
        let key = PrivateKeyDer::from_pem_slice(bytes).map_err(|error| damaged("a key", &error))?;
        ring::sign::any_supported_type(&key).map_err(|_| PemError {
            what: "has a private key of a kind that cannot be used".to_owned(),
            help: "use RSA with 2048 bits or more, ECDSA on P-256 or P-384, or Ed25519".to_owned(),
        })?;
        Ok(Self(Arc::new(key)))
    }
}

/// PEM itself is wrong.
fn damaged(what: &str, error: &pem::Error) -> PemError {
    let why = match error {
        pem::Error::MissingSectionEnd { .. } => "its line `-----END …-----` is missing",
        pem::Error::Base64Decode(_) => "it is not Base64",
        _ => "it is not PEM",
    };
    broken(what, &why)
}

fn broken(what: &str, error: &dyn std::fmt::Display) -> PemError {
    PemError {
        what: format!("has {what} that cannot be read: {error}"),
        help: "make the file anew: a part of it may be lost".to_owned(),
    }
}

/// Fails with the reason where the file has nothing of the wanted kind.
fn look_at(bytes: &[u8], wanted: Wanted) -> Result<(), PemError> {
    let error =
        |what: &str, help: &str| Err(PemError { what: what.to_owned(), help: help.to_owned() });
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return error("is empty", "write the certificate or key into it, in PEM");
    }
    let labels = labels(bytes);
    let has = |part: &str| labels.iter().any(|label| label.contains(part));
    let is_encrypted = has("ENCRYPTED PRIVATE KEY") || contains(bytes, b"Proc-Type: 4,ENCRYPTED");
    match wanted {
        Wanted::Certificate if labels.iter().any(|label| label == "CERTIFICATE") => Ok(()),
        Wanted::Key if is_encrypted => {
            error("is encrypted", "write it in clear: `openssl pkey -in KEY -out CLEAR`")
        }
        Wanted::Key if has("PRIVATE KEY") => Ok(()),
        Wanted::Certificate if has("PRIVATE KEY") => error(
            "has a private key and no certificate",
            "name the certificate's file here, and this one as `key`",
        ),
        Wanted::Key if has("CERTIFICATE") => error(
            "has a certificate and no private key",
            "name the key's file here, and this one as `cert`",
        ),
        _ if !labels.is_empty() => {
            let wanted = if wanted == Wanted::Key { "private key" } else { "certificate" };
            error(
                &format!("has `{}` and no {wanted}", labels.join("`, `")),
                "look for `-----BEGIN CERTIFICATE-----` or `-----BEGIN PRIVATE KEY-----` in it",
            )
        }
        _ => not_pem(bytes, wanted),
    }
}

fn not_pem(bytes: &[u8], wanted: Wanted) -> Result<(), PemError> {
    let (what, help) = match bytes {
        // SEQUENCE { INTEGER 3, …}: RFC 7292 4.
        [0x30, 0x80..=0xff, _, _, 2, 1, 3, ..] => (
            "is a PKCS #12 store, not PEM",
            "take it apart: `openssl pkcs12 -in STORE -out FILE -nodes`",
        ),
        [0x30, 0x80..=0xff, ..] if wanted == Wanted::Certificate => {
            ("is DER, not PEM", "convert it: `openssl x509 -inform der -in FILE -out PEM`")
        }
        [0x30, ..] if wanted == Wanted::Key => {
            ("is DER, not PEM", "convert it: `openssl pkey -inform der -in FILE -out PEM`")
        }
        _ => ("is not PEM", "PEM begins with a line such as `-----BEGIN CERTIFICATE-----`"),
    };
    Err(PemError { what: what.to_owned(), help: help.to_owned() })
}

/// What stands behind `-----BEGIN `, each.
fn labels(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let label = |line: &str| {
        let label = line.trim().strip_prefix("-----BEGIN ")?.strip_suffix("-----")?;
        Some(label.to_owned())
    };
    text.lines().filter_map(label).collect()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate() -> (String, String, Vec<u8>) {
        let made = rcgen::generate_simple_self_signed(["h".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem(), made.cert.der().to_vec())
    }

    #[test]
    fn certificates_and_keys_are_found_among_others() {
        let (certificate, key, _) = certificate();
        let both = format!("some text\n{key}\n{certificate}{certificate}");
        assert_eq!(Certificates::from_pem(both.as_bytes()).unwrap().0.len(), 2);
        let found = PrivateKey::from_pem(both.as_bytes()).unwrap();
        assert!(!format!("{found:?}").contains(&key[40..60]));
    }

    #[test]
    fn each_wrong_file_is_named_for_what_it_is() {
        let (certificate, key, der) = certificate();
        let cut = &certificate[..certificate.len() / 2];
        let cut = format!("{cut}\n-----END CERTIFICATE-----\n");
        let wrong_inside = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let request =
            "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----";
        let cases: [(&[u8], &str); 9] = [
            (b"", "is empty"),
            (b" \n", "is empty"),
            (&der, "is DER, not PEM"),
            (b"\x30\x82\x01\x01\x02\x01\x03\x30", "is a PKCS #12 store, not PEM"),
            (b"hello", "is not PEM"),
            (key.as_bytes(), "has a private key and no certificate"),
            (request.as_bytes(), "has `CERTIFICATE REQUEST` and no certificate"),
            (cut.as_bytes(), "has a certificate that cannot be read"),
            (wrong_inside.as_bytes(), "has a certificate that cannot be read"),
        ];
        for (bytes, wanted) in cases {
            let error = Certificates::from_pem(bytes).unwrap_err();
            assert!(error.what.starts_with(wanted), "{error:?}");
        }
        let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n";
        let old = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n";
        let unknown = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
        let cases: [(&[u8], &str); 6] = [
            (certificate.as_bytes(), "has a certificate and no private key"),
            (encrypted.as_bytes(), "is encrypted"),
            (old.as_bytes(), "is encrypted"),
            (unknown.as_bytes(), "has a private key of a kind that cannot be used"),
            (b"-----BEGIN PUBLIC KEY-----", "has `PUBLIC KEY` and no private key"),
            (b"\x30\x2e\x02\x01\x00", "is DER, not PEM"),
        ];
        for (bytes, wanted) in cases {
            let error = PrivateKey::from_pem(bytes).unwrap_err();
            assert!(error.what.starts_with(wanted), "{error:?}");
        }
    }
}

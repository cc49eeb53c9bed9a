//! Which authorities may vouch for a server.

use std::sync::{Arc, OnceLock};

use rustls::RootCertStore;

use crate::net::tls::Certificates;

/// Those that this machine trusts, read once in a process. Empty if it has none.
pub(super) fn of_this_machine() -> Arc<RootCertStore> {
    static ROOTS: OnceLock<Arc<RootCertStore>> = OnceLock::new();
    let load = || {
        let mut roots = RootCertStore::empty();
        // What cannot be read vouches for nobody; a server that needs it is refused by name.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        Arc::new(roots)
    };
    Arc::clone(ROOTS.get_or_init(load))
}

/// These alone.
pub(super) fn only(certificates: &Certificates) -> Arc<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(certificates.0.iter().cloned());
    Arc::new(roots)
}

//! The server's side of TLS: certificates of every kind, and a relay in front of a plain server.
//!
//! It knows TLS by the same library as the client, and ends it for whatever listens behind: the
//! embedded target or a scripted peer.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, date_time_ymd,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{HandshakeKind, RootCertStore, ServerConfig, SupportedProtocolVersion, version};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

/// An authority that vouches for certificates.
pub(crate) struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM.
#[derive(Debug, Clone)]
pub(crate) struct Issued {
    pub(crate) cert: String,
    pub(crate) key: String,
}

/// The years between which a certificate is valid.
pub(crate) const VALID: (i32, i32) = (2020, 2090);

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names are fine");
        params.distinguished_name = named(name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        limit(&mut params, VALID);
        let key = KeyPair::generate().expect("a key can be made");
        let pem = params.self_signed(&key).expect("it can be signed").pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    /// A server's certificate for these names.
    pub(crate) fn issue(&self, names: &[&str]) -> Issued {
        self.issue_for(names, VALID)
    }

    /// The same, valid for these years.
    pub(crate) fn issue_for(&self, names: &[&str], valid: (i32, i32)) -> Issued {
        self.sign(names, valid, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// Its own certificate as a server's, for these names: what `openssl req -x509` makes.
    pub(crate) fn self_signed(names: &[&str], valid: (i32, i32)) -> Issued {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("the names are right");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        limit(&mut params, valid);
        let key = KeyPair::generate().expect("a key can be made");
        let cert = params.self_signed(&key).expect("it can be signed");
        Issued { cert: cert.pem(), key: key.serialize_pem() }
    }

    /// A client's certificate.
    pub(crate) fn issue_to_client(&self) -> Issued {
        self.sign(&["client"], VALID, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn sign(&self, names: &[&str], valid: (i32, i32), usage: ExtendedKeyUsagePurpose) -> Issued {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("the names are right");
        params.distinguished_name = named("a certificate");
        params.extended_key_usages = vec![usage];
        limit(&mut params, valid);
        let key = KeyPair::generate().expect("a key can be made");
        let cert = params.signed_by(&key, &self.issuer).expect("it can be signed");
        Issued { cert: cert.pem(), key: key.serialize_pem() }
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates(&self.pem));
        roots
    }
}

fn named(name: &str) -> DistinguishedName {
    let mut distinguished = DistinguishedName::new();
    distinguished.push(DnType::CommonName, name);
    distinguished
}

fn limit(params: &mut CertificateParams, (from, until): (i32, i32)) {
    params.not_before = date_time_ymd(from, 1, 1);
    params.not_after = date_time_ymd(until, 1, 1);
}

fn certificates(pem: &str) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).map(|one| one.expect("it is PEM")).collect()
}

/// What a server of TLS is like.
pub(crate) struct TlsServer<'a> {
    pub(crate) identity: Issued,
    pub(crate) versions: Vec<&'static SupportedProtocolVersion>,
    /// Who must have issued the client's certificate, if one is required.
    pub(crate) clients: Option<&'a Authority>,
}

impl TlsServer<'_> {
    pub(crate) fn new(identity: Issued) -> Self {
        Self { identity, versions: vec![&version::TLS12, &version::TLS13], clients: None }
    }

    pub(crate) fn with_version(self, version: &'static SupportedProtocolVersion) -> Self {
        Self { versions: vec![version], ..self }
    }

    fn config(&self) -> ServerConfig {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&self.versions)
            .expect("the versions are supported");
        let builder = match self.clients {
            None => builder.with_no_client_auth(),
            Some(authority) => builder.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(Arc::new(authority.roots()), provider)
                    .build()
                    .expect("there is an authority"),
            ),
        };
        let key = PrivateKeyDer::from_pem_slice(self.identity.key.as_bytes()).expect("a key");
        let chain = certificates(&self.identity.cert);
        builder.with_single_cert(chain, key).expect("the key fits")
    }
}

/// A server on a free loopback port that hands on what it gets; it ends when this is dropped.
pub(crate) struct Front {
    address: SocketAddr,
    counts: Arc<Counts>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// How handshakes ended.
#[derive(Debug, Default)]
struct Counts {
    full: AtomicUsize,
    resumed: AtomicUsize,
    failed: AtomicUsize,
}

impl Front {
    /// Ends TLS and hands the plain bytes on.
    pub(crate) fn tls(server: &TlsServer<'_>, behind: SocketAddr) -> Self {
        let acceptor = TlsAcceptor::from(Arc::new(server.config()));
        Self::start(move |client, counts| {
            let acceptor = acceptor.clone();
            async move {
                let Ok(mut client) = acceptor.accept(client).await else {
                    counts.failed.fetch_add(1, Ordering::Relaxed);
                    return;
                };
                let kind = client.get_ref().1.handshake_kind();
                let is_resumed = kind == Some(HandshakeKind::Resumed);
                let count = if is_resumed { &counts.resumed } else { &counts.full };
                count.fetch_add(1, Ordering::Relaxed);
                let mut server = connect(behind).await;
                // Either side may end it.
                copy_bidirectional(&mut client, &mut server).await.ok();
                client.shutdown().await.ok();
            }
        })
    }

    /// The same, but ends TCP without ending TLS once the server has ended.
    pub(crate) fn cutting(server: &TlsServer<'_>, behind: SocketAddr) -> Self {
        let acceptor = TlsAcceptor::from(Arc::new(server.config()));
        Self::start(move |client, _| {
            let acceptor = acceptor.clone();
            async move {
                let Ok(client) = acceptor.accept(client).await else { return };
                let (mut from_client, mut to_client) = tokio::io::split(client);
                let (mut from_server, mut to_server) = connect(behind).await.into_split();
                tokio::select! {
                    _ = tokio::io::copy(&mut from_server, &mut to_client) => {}
                    _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
                }
            }
        })
    }

    /// Hands on what the client sends, and of the server's records only the first `whole`, and half of
    /// the next; then nothing more, for as long as the client stays.
    pub(crate) fn stalling(whole: usize, behind: SocketAddr) -> Self {
        Self::start(move |client, _| async move {
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = connect(behind).await.into_split();
            let records = async {
                for number in 0..=whole {
                    let mut record = vec![0; 5];
                    if from_server.read_exact(&mut record).await.is_err() {
                        break;
                    }
                    let length = u16::from_be_bytes([record[3], record[4]]);
                    record.resize(5 + usize::from(length), 0);
                    from_server.read_exact(&mut record[5..]).await.expect("a whole record");
                    let part = if number < whole { record.len() } else { record.len() / 2 };
                    if to_client.write_all(&record[..part]).await.is_err() {
                        break;
                    }
                }
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = records => {}
                _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
            }
        })
    }

    /// Hands everything on, in pieces of at most so many bytes to the client.
    pub(crate) fn in_pieces(size: usize, behind: SocketAddr) -> Self {
        Self::start(move |client, _| async move {
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = connect(behind).await.into_split();
            let pieces = async {
                let mut piece = vec![0; size];
                while let Ok(length @ 1..) = from_server.read(&mut piece).await {
                    if to_client.write_all(&piece[..length]).await.is_err() {
                        break;
                    }
                    // The client may have read it before the next.
                    tokio::task::yield_now().await;
                }
            };
            tokio::join!(pieces, async {
                tokio::io::copy(&mut from_client, &mut to_server).await.ok();
                to_server.shutdown().await.ok();
            });
        })
    }

    /// Hands everything on, but for one byte to each client, which is another: to the first client the
    /// first byte, to the next the one that is `step` further, and so on.
    pub(crate) fn corrupting(step: usize, behind: SocketAddr) -> Self {
        let clients = AtomicUsize::new(0);
        Self::start(move |client, _| {
            let wrong = clients.fetch_add(1, Ordering::Relaxed) * step;
            async move {
                let (mut from_client, mut to_client) = client.into_split();
                let (mut from_server, mut to_server) = connect(behind).await.into_split();
                let answers = async {
                    let (mut piece, mut seen) = (vec![0; 4_096], 0);
                    while let Ok(length @ 1..) = from_server.read(&mut piece).await {
                        if (seen..seen + length).contains(&wrong) {
                            piece[wrong - seen] ^= 0x55;
                        }
                        seen += length;
                        if to_client.write_all(&piece[..length]).await.is_err() {
                            break;
                        }
                    }
                };
                tokio::select! {
                    () = answers => {}
                    _ = tokio::io::copy(&mut from_client, &mut to_server) => {}
                }
            }
        })
    }

    fn start<F: Future<Output = ()> + Send + 'static>(
        serve: impl Fn(TcpStream, Arc<Counts>) -> F + Send + 'static,
    ) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).expect("it can be non-blocking");
        let address = listener.local_addr().expect("it has an address");
        let (stop, stopped) = oneshot::channel();
        let counts = Arc::new(Counts::default());
        let own = Arc::clone(&counts);
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async move {
                let listener = TcpListener::from_std(listener).expect("a listener");
                let accept = async {
                    loop {
                        let (client, _) = listener.accept().await.expect("a client");
                        client.set_nodelay(true).expect("it can be set");
                        tokio::spawn(serve(client, Arc::clone(&own)));
                    }
                };
                tokio::select! {
                    () = accept => {}
                    _ = stopped => {}
                }
            });
        });
        Self { address, counts, stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// `wss://127.0.0.1:<port>` and the path.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("wss://{}{path}", self.address)
    }

    /// `wss://localhost:<port>` and the path.
    pub(crate) fn named_url(&self, path: &str) -> String {
        format!("wss://localhost:{}{path}", self.address.port())
    }

    /// Full and resumed handshakes, and those that failed.
    pub(crate) fn handshakes(&self) -> (usize, usize, usize) {
        let count = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        (count(&self.counts.full), count(&self.counts.resumed), count(&self.counts.failed))
    }
}

async fn connect(behind: SocketAddr) -> TcpStream {
    let server = TcpStream::connect(behind).await.expect("the server listens");
    server.set_nodelay(true).expect("it can be set");
    server
}

impl Drop for Front {
    fn drop(&mut self) {
        // It is there until it is told to end.
        self.stop.take().map(|stop| stop.send(()));
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

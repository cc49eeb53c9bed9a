//! `tls`: its files are read and checked before anything is sent.

use std::sync::Arc;

use crate::compile::compiler::Compiler;
use crate::compile::send_file::{Limit, read_at_most};
use crate::compile::warning::Warning;
use crate::net::{
    Certificates, PemError, PrivateKey, TlsClient, TlsSettings, TlsSettingsError, TlsVersion,
    is_server_name,
};
use crate::plan::{self, At, Path, Problem, Removable, Text};
use crate::program::{BadValue, Part, RequestHead, Setting, Template, Tls};

/// The largest file.
const LIMIT: Limit = Limit {
    bytes: 4 << 20,
    title: "is larger than 4 MiB",
    help: "a certificate or key has a few kilobytes: name its file",
};

/// The settings that hold at one point of the plan.
#[derive(Debug, Clone, Default)]
pub(super) struct ScopedTls {
    ca: Option<(String, Certificates)>,
    cert: Option<(String, Certificates)>,
    key: Option<PrivateKey>,
    server_name: Option<Template>,
    insecure: Option<bool>,
    min_version: Option<TlsVersion>,
    resume: Option<bool>,
    /// Something is wrong, and that has been noted.
    is_wrong: bool,
}

/// What an entry of `tls` means for the one of the scope around.
enum Change<T> {
    None,
    Removed,
    To(T),
}

impl<T> Change<T> {
    fn apply(self, outer: &mut Option<T>) {
        match self {
            Self::None => {}
            Self::Removed => *outer = None,
            Self::To(inner) => *outer = Some(inner),
        }
    }
}

impl Compiler<'_> {
    /// Applies the settings at `path` to those of the scope around.
    pub(super) fn tls(&mut self, outer: &mut ScopedTls, own: &plan::Tls, path: &Path) {
        let before = self.errors();
        let authorities = Certificates::of_authorities_from_pem;
        self.change(own.ca.as_ref(), &path.key("ca"), |compiler, name, path| {
            compiler.tls_file(name, path, authorities)
        })
        .apply(&mut outer.ca);
        self.change(own.cert.as_ref(), &path.key("cert"), |compiler, name, path| {
            compiler.tls_file(name, path, Certificates::from_pem)
        })
        .apply(&mut outer.cert);
        self.change(own.key.as_ref(), &path.key("key"), |compiler, name, path| {
            compiler.tls_file(name, path, PrivateKey::from_pem).map(|(_, key)| key)
        })
        .apply(&mut outer.key);
        self.change(own.server_name.as_ref(), &path.key("server_name"), Self::server_name)
            .apply(&mut outer.server_name);
        self.change(own.insecure.as_ref(), &path.key("insecure"), |compiler, flag, path| {
            let insecure = compiler.fixed(flag, path)?;
            if insecure {
                compiler.note(Warning::Insecure.at(path, At::Value));
            }
            Some(insecure)
        })
        .apply(&mut outer.insecure);
        self.change(own.min_version.as_ref(), &path.key("min_version"), Self::fixed)
            .apply(&mut outer.min_version);
        self.change(own.resume.as_ref(), &path.key("resume"), Self::fixed).apply(&mut outer.resume);
        if own.cert.is_some() || own.key.is_some() {
            self.check_pair(outer, own, path);
        }
        outer.is_wrong |= self.errors() > before;
    }

    fn change<K, T>(
        &mut self,
        own: Option<&Removable<plan::Setting<K>>>,
        path: &Path,
        read: impl FnOnce(&mut Self, &plan::Setting<K>, &Path) -> Option<T>,
    ) -> Change<T> {
        match own {
            None => Change::None,
            Some(Removable::Removed) => Change::Removed,
            Some(Removable::Given(own)) => read(self, own, path).map_or(Change::None, Change::To),
        }
    }

    /// The name of a file, as written, and what is in it.
    fn tls_file<T>(
        &mut self,
        setting: &plan::Setting<Text>,
        path: &Path,
        read: fn(&[u8]) -> Result<T, PemError>,
    ) -> Option<(String, T)> {
        let name = self.fixed_text(setting, path)?;
        let bytes = match read_at_most(&self.loaded.folder(path).join(&name), &name, &LIMIT) {
            Ok(bytes) => bytes,
            Err((title, help)) => {
                self.note(Problem::error(path, title).help(help));
                return None;
            }
        };
        match read(&bytes) {
            Ok(found) => Some((name, found)),
            Err(PemError { what, help }) => {
                self.note(Problem::error(path, format!("`{name}` {what}")).help(help));
                None
            }
        }
    }

    fn server_name(&mut self, setting: &plan::Setting<Text>, path: &Path) -> Option<Template> {
        let template = self.text(setting, path)?;
        if let Some(name) = template.as_constant()
            && !is_server_name(name)
        {
            let bad = BadValue::new(format!("`{name}` is no name of a server"));
            let help = "write a name or an address, without port: `chat.example.com`";
            self.bad_value(bad.with_help(help), path, "");
            return None;
        }
        Some(template)
    }

    /// Whether the key is that of the certificate, where both are known.
    fn check_pair(&mut self, tls: &ScopedTls, own: &plan::Tls, path: &Path) {
        let (Some((name, chain)), Some(key)) = (&tls.cert, &tls.key) else { return };
        let at = path.key(if own.key.is_some() { "key" } else { "cert" });
        let problem = match chain.check_key(key) {
            Ok(()) => return,
            Err(TlsSettingsError::WrongOrder) => Problem::error(
                &path.key(if own.cert.is_some() { "cert" } else { "key" }),
                format!("`{name}` does not begin with the certificate of the key"),
            )
            .help("put the client's own certificate first, and the authorities' behind it"),
            Err(TlsSettingsError::KeyMismatch) => {
                Problem::error(&at, format!("the key does not fit the certificate in `{name}`"))
                    .help("name the key that the certificate was made for")
            }
            Err(error) => Problem::error(&at, format!("`{name}` cannot be used: {error}")),
        };
        self.note(problem);
    }

    /// What the `open` or `http` at `path` does about TLS; `None` where its URL is known to need none.
    pub(super) fn resolve_tls(
        &mut self,
        scoped: ScopedTls,
        url: &Template,
        head: &RequestHead,
        path: &Path,
    ) -> Option<Box<Tls>> {
        let start = match url.parts.first() {
            Some(Part::Text(start)) => start.as_str(),
            _ => "",
        };
        let is_plain = start.starts_with("ws://") || start.starts_with("http://");
        // A redirect may lead to a secure server.
        let stays = matches!(head.follow_redirects, Setting::Fixed(0));
        if (is_plain && stays) || scoped.is_wrong {
            return None;
        }
        let ScopedTls { ca, cert, key, server_name, insecure, min_version, resume, .. } = scoped;
        let default = TlsSettings::default();
        let (cert, chain) = cert.unzip();
        let (ca, authorities) = ca.unzip();
        let identity = match (chain, key) {
            (Some(chain), Some(key)) => Some((chain, key)),
            (None, None) => None,
            (chain, _) => {
                let (one, other) = if chain.is_some() { ("cert", "key") } else { ("key", "cert") };
                let title = format!("`tls` has a `{one}` and no `{other}`");
                let help = format!("name the file of its `{other}` too");
                self.note(Problem::error(path, title).at(At::Key).help(help));
                return None;
            }
        };
        let settings = TlsSettings {
            authorities,
            identity,
            insecure: insecure.unwrap_or(default.insecure),
            min_version: min_version.unwrap_or(default.min_version),
            resume: resume.unwrap_or(default.resume),
        };
        let client = self.tls_client(settings, path)?;
        let is_secure = start.starts_with("wss://") || start.starts_with("https://");
        if is_secure && client.trusts_nobody() {
            let title = "this machine trusts no authority, so no server could be verified";
            let help = "install its `ca-certificates`, or name a file: `tls: { ca: ca.pem }`";
            self.note(Problem::error(path, title).at(At::Key).help(help));
        }
        Some(Box::new(Tls { client, server_name, ca, cert }))
    }

    /// One for all `open`s with the same settings: a thread resumes over any of them.
    fn tls_client(&mut self, settings: TlsSettings, path: &Path) -> Option<Arc<TlsClient>> {
        if let Some(known) = self.tls_clients.iter().find(|known| *known.settings() == settings) {
            return Some(Arc::clone(known));
        }
        match TlsClient::new(settings) {
            Ok(client) => {
                let client = Arc::new(client);
                self.tls_clients.push(Arc::clone(&client));
                Some(client)
            }
            Err(error) => {
                let title = format!("`tls` cannot be used: {error}");
                self.note(Problem::error(path, title).at(At::Key));
                None
            }
        }
    }

    fn errors(&self) -> usize {
        let is_error = |problem: &&Problem| problem.severity == crate::diag::Severity::Error;
        self.problems.iter().filter(is_error).count()
    }
}

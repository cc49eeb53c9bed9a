//! How servers are reached over TLS, everything evaluated.

use crate::exec::asking::Asking;
use crate::exec::connections::Connections;
use crate::exec::evaluate::{Scope, bad_value};
use crate::exec::outcome::Failure;
use crate::net::{TlsConnector, TlsTo, Url, is_server_name};
use crate::program::Tls;

/// For one request, and those that redirects lead to.
#[derive(Debug)]
pub(crate) struct Securing {
    /// The thread's.
    connector: TlsConnector,
    /// The first server, and the name that it must have if that is another one.
    first: (String, Option<String>),
}

impl Securing {
    /// `None` where a request to `url` cannot meet TLS.
    pub(crate) fn evaluate(
        scope: &mut Scope,
        connections: &mut Connections<'_>,
        tls: Option<&Tls>,
        url: &Url,
        asking: &Asking,
    ) -> Result<Option<Self>, Failure> {
        let may_meet = url.is_secure() || asking.redirects > 0;
        let Some(tls) = tls.filter(|_| may_meet) else { return Ok(None) };
        let name = match &tls.server_name {
            Some(template) => {
                let name = scope.text(template)?.into_owned();
                if !is_server_name(&name) {
                    let what = format!("`{name}` is no name of a server");
                    return Err(bad_value(&what, &template.source));
                }
                Some(name)
            }
            None => None,
        };
        let connector = connections.tls_connector(&tls.client);
        Ok(Some(Self { connector, first: (url.host.clone(), name) }))
    }

    /// With whom TLS is spoken at `url`, if it is.
    pub(crate) fn to<'a>(&'a self, url: &'a Url) -> Option<TlsTo<'a>> {
        let server_name = match &self.first {
            (host, Some(name)) if host.eq_ignore_ascii_case(&url.host) => name,
            _ => &url.host,
        };
        url.is_secure().then_some(TlsTo { connector: &self.connector, server_name })
    }
}

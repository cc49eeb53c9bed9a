//! From an address to an accepted upgrade or a refused one, along redirects.

use std::time::Instant;

use crate::exec::asking::Asking;
use crate::exec::evaluate::Scope;
use crate::exec::redirects::{Next, Redirects};
use crate::exec::securing::Securing;
use crate::exec::trace::ConnectionTap;
use crate::net::{Cookies, Url};
use crate::ws::{
    Asked, ConnectError, ConnectFailure, Connected, Limits, Tap, connect, header_values,
};

/// What is asked for, everything evaluated.
#[derive(Debug)]
pub(super) struct Journey {
    pub(super) url: Url,
    pub(super) securing: Option<Securing>,
    pub(super) asking: Asking,
    /// Each with whether it holds a secret, and stays with the server that it is meant for.
    pub(super) subprotocols: Vec<(String, bool)>,
    pub(super) limits: Limits,
    pub(super) deadline: Instant,
    pub(super) tap: Option<ConnectionTap>,
    /// The thread's.
    pub(super) jar: Cookies,
}

/// Where it ended.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) result: Result<Connected, ConnectFailure>,
    pub(super) url: Url,
    pub(super) jar: Cookies,
    /// Why the last redirect was not followed.
    pub(super) why: Option<String>,
    /// What servers have set on the way.
    set_cookies: Vec<String>,
    /// All places that it led to, in order.
    visited: Vec<Url>,
    /// Bytes received and sent before the last answer.
    pub(super) before: (u64, u64),
}

impl Journey {
    /// Goes on until there is an answer that is no redirect, or one that is not to be followed.
    pub(super) async fn travel(mut self) -> Arrival {
        let mut redirects = Redirects::new(self.asking.redirects);
        let (mut before, mut set_cookies) = ((0, 0), Vec::new());
        loop {
            let headers = self.asking.headers(&self.url, &self.jar);
            let subprotocols = self.subprotocols.iter().map(|(name, _)| name.clone()).collect();
            let asked = Asked { headers, subprotocols };
            let tls = self.securing.as_ref().and_then(|securing| securing.to(&self.url));
            let tap = self.tap.clone().map(|tap| Box::new(tap) as Box<dyn Tap>);
            let result = connect(&self.url, tls, &asked, self.limits, self.deadline, tap).await;
            let head = head_of(&result);
            let set = header_values(head, "Set-Cookie");
            self.jar.keep(&self.url, &set);
            set_cookies.extend(set);
            let next = match &result {
                Err(ConnectFailure { error: ConnectError::Refused { status, .. }, .. }) => {
                    redirects.next(&self.url, *status, head)
                }
                _ => Next::Stay,
            };
            let why = match (next, &result) {
                (Next::Go(there), Err(failure)) => {
                    before = (before.0 + failure.bytes, before.1 + failure.sent_bytes);
                    if !self.url.trusts(&there) {
                        self.asking.keep_secrets();
                        self.subprotocols.retain(|(_, is_secret)| !is_secret);
                    }
                    self.url = *there;
                    continue;
                }
                (Next::Refuse(why), _) => Some(why),
                _ => None,
            };
            let Self { url, jar, .. } = self;
            let visited = redirects.visited(&url);
            return Arrival { result, url, jar, why, set_cookies, visited, before };
        }
    }
}

impl Arrival {
    /// Sees to it that no output shows what servers have set, or secrets of the address.
    pub(super) fn hide(&self, scope: &mut Scope) {
        scope.hide(|secrets| {
            for url in &self.visited {
                secrets.remember_url(&url.uri.to_string());
            }
            for set_cookie in &self.set_cookies {
                secrets.remember_set_cookie(set_cookie);
            }
        });
    }
}

fn head_of(result: &Result<Connected, ConnectFailure>) -> &[u8] {
    match result {
        Ok(connected) => &connected.head,
        Err(failure) => failure.refusal.as_ref().map_or(&[], |refusal| &refusal.head),
    }
}

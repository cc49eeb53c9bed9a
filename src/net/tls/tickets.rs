//! What a client remembers of its sessions, to resume them (RFC 8446 2.2, RFC 5246 7.3).

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;

/// So many servers are remembered; the oldest is forgotten first.
const MAX_SERVERS: usize = 16;

/// The newest session with each server. One is enough: a thread opens one connection at a time, and
/// each brings a new one. There may be as many of these as threads, and a session holds the server's
/// whole chain of certificates.
#[derive(Debug, Default)]
pub(super) struct Tickets {
    servers: Mutex<Vec<Server>>,
}

/// What is remembered of one.
#[derive(Debug)]
struct Server {
    name: ServerName<'static>,
    group: Option<NamedGroup>,
    tls12: Option<Box<Tls12ClientSessionValue>>,
    tls13: Option<Box<Tls13ClientSessionValue>>,
}

impl Tickets {
    fn lock(&self) -> MutexGuard<'_, Vec<Server>> {
        // It is whole at any time.
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, name: &ServerName<'_>, use_it: impl FnOnce(&mut Server) -> T) -> Option<T> {
        self.lock().iter_mut().find(|server| server.name == *name).map(use_it)
    }

    fn remember(&self, name: ServerName<'static>, remember: impl FnOnce(&mut Server)) {
        let mut servers = self.lock();
        let known = servers.iter().position(|server| server.name == name);
        let at = known.unwrap_or_else(|| {
            if servers.len() == MAX_SERVERS {
                servers.remove(0);
            }
            // Most threads know one, and there are many threads.
            servers.reserve_exact(1);
            servers.push(Server { name, group: None, tls12: None, tls13: None });
            servers.len() - 1
        });
        remember(&mut servers[at]);
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, name: ServerName<'static>, group: NamedGroup) {
        self.remember(name, |server| server.group = Some(group));
    }

    fn kx_hint(&self, name: &ServerName<'_>) -> Option<NamedGroup> {
        self.with(name, |server| server.group).flatten()
    }

    fn set_tls12_session(&self, name: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.remember(name, |server| server.tls12 = Some(Box::new(session)));
    }

    fn tls12_session(&self, name: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.with(name, |server| server.tls12.as_deref().cloned()).flatten()
    }

    fn remove_tls12_session(&self, name: &ServerName<'static>) {
        self.with(name, |server| server.tls12 = None);
    }

    fn insert_tls13_ticket(&self, name: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        self.remember(name, |server| server.tls13 = Some(Box::new(ticket)));
    }

    fn take_tls13_ticket(&self, name: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.with(name, |server| server.tls13.take()).flatten().map(|ticket| *ticket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_many_servers_is_forgotten() {
        let tickets = Tickets::default();
        let name = |number: usize| ServerName::try_from(format!("h{number}")).unwrap();
        for number in 0..=MAX_SERVERS {
            tickets.set_kx_hint(name(number), NamedGroup::X25519);
        }
        assert_eq!(tickets.kx_hint(&name(0)), None);
        assert_eq!(tickets.kx_hint(&name(1)), Some(NamedGroup::X25519));
        assert_eq!(tickets.lock().len(), MAX_SERVERS);
    }
}

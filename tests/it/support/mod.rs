//! What the integration tests share. Nothing in here waits without a deadline, so no test can hang.

pub(crate) mod client;
pub(crate) mod env;
pub(crate) mod jtl;
pub(crate) mod peer;
pub(crate) mod peer_connection;
pub(crate) mod peer_frame;
pub(crate) mod time;
pub(crate) mod tls;

use std::net::{Ipv4Addr, SocketAddr};

use wsmeter::target::Server;

/// A free port of the loopback interface.
pub(crate) const ANY_PORT: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// The embedded server, in this process.
pub(crate) fn target() -> Server {
    Server::start(ANY_PORT).expect("a loopback address can be listened on")
}

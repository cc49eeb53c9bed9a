//! What has passed over a connection.

/// What has passed over a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traffic {
    /// Bytes read from the socket, before TLS: the upgrade, and all frames.
    pub received: u64,
    /// Bytes handed to the kernel, or waiting for it; as with `received`.
    pub sent: u64,
    /// Frames that the kernel did not take at once: the peer, or the network, did not keep up.
    pub write_stalls: u64,
}

//! SIGINT, SIGTERM and SIGHUP.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for the signals that ask the program to end. Must be made within a runtime.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    /// `None` where the caller ignores it, as `nohup` does: the run is to outlive its terminal.
    hangup: Option<Signal>,
}

impl Signals {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: (!is_hangup_ignored()).then(|| signal(SignalKind::hangup())).transpose()?,
        })
    }

    /// Resolves at the next one.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            true = received(&mut self.hangup) => {}
        }
    }
}

/// Resolves with true at the next signal, with false if there can be none.
async fn received(signal: &mut Option<Signal>) -> bool {
    match signal {
        Some(signal) => signal.recv().await.is_some(),
        None => false,
    }
}

/// Whether this process was started with SIGHUP ignored. Only Linux tells; elsewhere it is not.
fn is_hangup_ignored() -> bool {
    let mask = fs_err::read_to_string("/proc/self/status").ok().and_then(|status| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?.trim();
        u64::from_str_radix(mask, 16).ok()
    });
    // Bit 0 stands for signal 1.
    mask.is_some_and(|mask| mask >> (SignalKind::hangup().as_raw_value() - 1) & 1 == 1)
}

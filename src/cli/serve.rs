//! `wsmeter serve`: the embedded target, until a signal ends it.

use std::net::{Ipv4Addr, SocketAddr};

use crate::cli::args::ServeArguments;
use crate::cli::error::CliError;
use crate::cli::signals::Signals;
use crate::console::Console;
use crate::target::Server;

/// Serves until a signal; exits 0.
pub(crate) fn serve(console: Console, arguments: &ServeArguments) -> Result<u8, CliError> {
    let server = Server::start(SocketAddr::from((Ipv4Addr::LOCALHOST, arguments.port)))?;
    console.data(&format!("serving on ws://{}\n", server.address())).map_err(CliError::Print)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CliError::Runtime)?;
    runtime
        .block_on(async {
            Signals::new()?.next().await;
            Ok(())
        })
        .map_err(CliError::Runtime)?;
    server.stop();
    Ok(0)
}

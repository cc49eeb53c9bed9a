//! The six samplers, one file each.

mod close;
mod job;
mod open;
mod payload;
mod ping_pong;
mod push_delay;
mod read;
mod request_response;
mod single_read;
mod single_write;
mod take;

use crate::exec::connections::Connections;
use crate::exec::evaluate::Scope;
use crate::exec::outcome::{Execution, Failure, Outcome};
use crate::program::{Sampler, SamplerKind};

pub(crate) use close::close_all;
use job::Job;
pub(crate) use job::nonzero;

/// Executes a sampler once.
pub(crate) async fn run<'p>(
    scope: &mut Scope,
    connections: &mut Connections<'p>,
    sampler: &'p Sampler,
    label: &str,
) -> Execution {
    match execute(scope, connections, sampler, label).await {
        Ok(execution) => execution,
        Err(failure) if failure.is_skip => Execution::Skipped(failure.code),
        Err(failure) => Execution::Row(Outcome::unstarted(failure)),
    }
}

/// Tells a sampler's connection that it failed, or is skipped, before it could begin: an `open`
/// leaves none behind.
pub(crate) async fn not_begun(
    scope: &mut Scope,
    connections: &mut Connections<'_>,
    sampler: &Sampler,
    failure: Failure,
) {
    // Without a name there is no connection to speak of.
    if let (SamplerKind::Open(_), Ok(name)) = (&sampler.kind, scope.text(&sampler.connection)) {
        let id = connections.slot(&name);
        Box::pin(open::give_up(connections, id, failure)).await;
    }
}

/// Fails where a setting cannot be evaluated; nothing was sent then.
async fn execute<'p>(
    scope: &mut Scope,
    connections: &mut Connections<'p>,
    sampler: &'p Sampler,
    label: &str,
) -> Result<Execution, Failure> {
    if let Some(cause) = scope.missing(&sampler.needs) {
        let failure = Failure::plain(cause, "the connection was not opened");
        not_begun(scope, connections, sampler, failure).await;
        return Ok(Execution::Skipped(cause));
    }
    let mut job = Job::begin(scope, connections, sampler, label).await?;
    match &sampler.kind {
        // Opening is rare and its state large: kept out of each thread's own.
        SamplerKind::Open(open) => Box::pin(open::run(&mut job, open)).await,
        SamplerKind::RequestResponse(request) => request_response::run(&mut job, request).await,
        SamplerKind::SingleWrite(write) => single_write::run(&mut job, write).await,
        SamplerKind::SingleRead(read) => single_read::run(&mut job, read).await,
        // Rarer than the others, and its state larger.
        SamplerKind::Read(read) => Box::pin(read::run(&mut job, read)).await,
        SamplerKind::PingPong(ping) => ping_pong::run(&mut job, ping).await,
        SamplerKind::Close(close) => Box::pin(close::run(&mut job, close)).await,
    }
}

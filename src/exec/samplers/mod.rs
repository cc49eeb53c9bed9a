//! The samplers, one file each.

mod close;
mod http;
mod job;
mod journey;
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

/// What an execution comes to: a failure is a row, or says why there is none.
pub(crate) fn row_or_skip(execution: Result<Execution, Failure>) -> Execution {
    match execution {
        Ok(Execution::Row(outcome)) => match &outcome.failure {
            Some(failure) if failure.is_skip => Execution::Skipped(failure.code),
            _ => Execution::Row(outcome),
        },
        Ok(execution) => execution,
        Err(failure) if failure.is_skip => Execution::Skipped(failure.code),
        Err(failure) => Execution::Row(Outcome::unstarted(failure)),
    }
}

/// Tells a sampler's connection that it failed, or is skipped, before it could begin: one that opens
/// leaves none behind.
pub(crate) async fn not_begun(
    scope: &mut Scope,
    connections: &mut Connections<'_>,
    sampler: &Sampler,
    failure: Failure,
) {
    // Without a name there is no connection to speak of.
    if let (Some(_), Ok(name)) = (sampler.kind.opening(), scope.text(&sampler.connection)) {
        let id = connections.slot(&name);
        Box::pin(open::give_up(connections, id, failure)).await;
    }
}

/// Executes a sampler once. Fails where a setting cannot be evaluated; nothing was sent then.
pub(crate) async fn run<'p>(
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
    if let SamplerKind::Http(spec) = &sampler.kind {
        // Rare, its state large, and it needs none of the connections.
        return Box::pin(http::run(scope, connections, sampler, spec)).await;
    }
    let mut job = Job::begin(scope, connections, sampler, label).await?;
    if sampler.kind.opening().is_some() {
        // Opening is rare and its state large: kept out of each thread's own.
        return Box::pin(run_opening(&mut job)).await;
    }
    run_kind(&mut job).await
}

/// A sampler that opens its connection. What fails before it tries leaves no connection behind.
async fn run_opening(job: &mut Job<'_, '_>) -> Result<Execution, Failure> {
    let execution = run_kind(job).await;
    if let Err(failure) = &execution {
        open::give_up(job.connections, job.id, failure.clone()).await;
    }
    execution
}

async fn run_kind(job: &mut Job<'_, '_>) -> Result<Execution, Failure> {
    match &job.sampler.kind {
        SamplerKind::Open(open) => Box::pin(open::run(job, open)).await,
        SamplerKind::RequestResponse(request) => request_response::run(job, request).await,
        SamplerKind::SingleWrite(write) => single_write::run(job, write).await,
        SamplerKind::SingleRead(read) => single_read::run(job, read).await,
        // Rarer than the others, and their state larger.
        SamplerKind::Read(read) => Box::pin(read::run(job, read)).await,
        SamplerKind::PingPong(ping) => Box::pin(ping_pong::run(job, ping)).await,
        SamplerKind::Close(close) => Box::pin(close::run(job, close)).await,
        // It was run before there was a job.
        SamplerKind::Http(spec) => {
            Box::pin(http::run(job.scope, job.connections, job.sampler, spec)).await
        }
    }
}

//! `single_write`: sends a message.

use crate::clock;
use crate::exec::outcome::{Execution, Failure};
use crate::exec::samplers::job::Job;
use crate::exec::samplers::payload;
use crate::exec::samplers::take::ReadOn;
use crate::program;

pub(crate) async fn run(
    job: &mut Job<'_>,
    spec: &program::SingleWrite,
) -> Result<Execution, Failure> {
    if let Some(refusal) = job.refusal() {
        return Ok(refusal);
    }
    let write_timeout = job.write_timeout()?;
    let (kind, bytes) = payload::evaluate(job.scope, &spec.payload)?;
    let mut outcome = job.outcome();
    let sent = job.send(&mut outcome, kind.opcode(), &bytes, &mut ReadOn, write_timeout).await;
    outcome.end = clock::now();
    Ok(Execution::Row(match sent {
        Ok(()) => outcome,
        Err(failure) => {
            let end = outcome.end;
            outcome.failed(failure, end)
        }
    }))
}

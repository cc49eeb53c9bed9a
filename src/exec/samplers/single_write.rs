//! `single_write`: sends a message.

use crate::exec::outcome::{Execution, Failure};
use crate::exec::samplers::job::Job;
use crate::exec::samplers::payload;
use crate::program;

pub(crate) async fn run<'p>(
    job: &mut Job<'_, 'p>,
    spec: &'p program::SingleWrite,
) -> Result<Execution, Failure> {
    if spec.connect.is_none()
        && let Some(refusal) = job.refusal()
    {
        return Ok(refusal);
    }
    let write_timeout = job.write_timeout()?;
    let (kind, bytes) = payload::evaluate(job.scope, &spec.payload)?;
    let outcome = match job.connect(spec.connect.as_deref()).await? {
        Ok(Some(opened)) => opened,
        Ok(None) => job.outcome(),
        Err(over) => return Ok(over),
    };
    Ok(job.send_only(outcome, kind.opcode(), &bytes, write_timeout).await)
}

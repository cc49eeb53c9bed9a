//! `single_write`: sends a message.

use crate::exec::outcome::{Execution, Failure};
use crate::exec::samplers::job::Job;
use crate::exec::samplers::payload;
use crate::program;

pub(crate) async fn run(
    job: &mut Job<'_, '_>,
    spec: &program::SingleWrite,
) -> Result<Execution, Failure> {
    if let Some(refusal) = job.refusal() {
        return Ok(refusal);
    }
    let write_timeout = job.write_timeout()?;
    let (kind, bytes) = payload::evaluate(job.scope, &spec.payload)?;
    Ok(job.send_only(kind.opcode(), &bytes, write_timeout).await)
}

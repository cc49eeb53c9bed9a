//! What runs until the run is interrupted.

use std::time::Duration;

use crate::compile::compiler::Compiler;
use crate::compile::warning::Warning;
use crate::plan::{At, Path};
use crate::program::{Jump, OnError, Step, Times};

impl Compiler<'_> {
    /// Notes what only an interrupt of the run ends.
    pub(super) fn endless(
        &mut self,
        path: &Path,
        loops: Times,
        duration: Option<Duration>,
        steps: &[Step],
    ) {
        let loops_in_it = std::mem::take(&mut self.endless);
        if duration.is_some() {
            return;
        }
        if loops == Times::Forever && !can_end(steps, Ended::Group) {
            let warning = Warning::Endless { what: "the group" };
            self.note(warning.at(&path.key("loops"), At::Value));
            return;
        }
        for path in loops_in_it {
            let warning = Warning::Endless { what: "the loop" };
            self.note(warning.at(&path, At::Value));
        }
    }
}

/// What may never end by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Group,
    Loop,
}

/// Whether some step can end the loop or group around it.
pub(super) fn can_end(steps: &[Step], what: Ended) -> bool {
    ends(steps, what, false)
}

/// `inner`: the steps are those of a loop within it.
fn ends(steps: &[Step], what: Ended, inner: bool) -> bool {
    steps.iter().any(|step| match step {
        Step::Sampler(sampler) => match sampler.on_error {
            OnError::Continue => false,
            OnError::NextIteration => what == Ended::Loop,
            OnError::StopThread | OnError::StopTest | OnError::StopTestNow => true,
        },
        Step::Controller(controller) => {
            let inner = inner || controller.is_loop();
            controller.parts().into_iter().any(|part| ends(part, what, inner))
        }
        Step::Jump(jump) => match jump {
            Jump::NextPass => false,
            Jump::Break => what == Ended::Loop && !inner,
            Jump::NextIteration => what == Ended::Loop,
            Jump::StopThread | Jump::StopTest | Jump::StopTestNow => true,
        },
        Step::Pause(_) | Step::Pace(_) | Step::Rendezvous(_) | Step::Set(_) | Step::Log(_) => false,
    })
}

//! Waiting until a moment, as precisely as the system can.
//!
//! The runtime's timers go by milliseconds and round up. At 5,000 arrivals a second that would be late
//! for all of them, so the last milliseconds are left to a timer of the kernel's.

use std::time::{Duration, Instant};

use tokio::time::{Instant as RuntimeInstant, sleep, sleep_until};

use crate::clock;

/// The runtime's timer sleeps until so long before.
const MARGIN: Duration = Duration::from_millis(2);

/// Wakes one task at a time.
#[derive(Debug)]
pub(crate) struct Alarm(Option<kernel::Timer>);

impl Alarm {
    /// With a timer of the kernel's, where there is one; in unit tests with the runtime's, which
    /// simulated time moves.
    pub(crate) fn new() -> Self {
        Self(if cfg!(test) { None } else { kernel::Timer::new() })
    }

    /// Waits until `moment`.
    pub(crate) async fn wait_until(&self, moment: Instant) {
        let Some(timer) = &self.0 else {
            return sleep_until(RuntimeInstant::from_std(moment)).await;
        };
        while let Some(left) = moment.checked_duration_since(clock::now())
            && !left.is_zero()
        {
            if left > MARGIN {
                sleep(left.saturating_sub(MARGIN)).await;
            } else if !timer.wait(left).await {
                sleep(left).await;
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;

    /// A timerfd.
    #[derive(Debug)]
    pub(super) struct Timer(AsyncFd<OwnedFd>);

    impl Timer {
        /// `None` where the system has none left.
        #[expect(
            deprecated,
            reason = "what replaces it is unsafe, which is forbidden here, and asks for a descriptor that stays open: it is owned"
        )]
        pub(super) fn new() -> Option<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let fd = timerfd_create(TimerfdClockId::Monotonic, flags).ok()?;
            AsyncFd::with_interest(fd, Interest::READABLE).ok().map(Self)
        }

        /// Waits for so long, which is not zero; false if that cannot be.
        pub(super) async fn wait(&self, time: Duration) -> bool {
            let nothing = Timespec { tv_sec: 0, tv_nsec: 0 };
            let Ok(it_value) = Timespec::try_from(time) else { return false };
            let once = Itimerspec { it_interval: nothing, it_value };
            if timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &once).is_err() {
                return false;
            }
            let mut expirations = [0; 8];
            let mut read =
                |fd: &AsyncFd<OwnedFd>| Ok(rustix::io::read(fd.get_ref(), &mut expirations)?);
            loop {
                let Ok(mut ready) = self.0.readable().await else { return false };
                // It may still be taken for readable because of the time before.
                if let Ok(read) = ready.try_io(&mut read) {
                    return read.is_ok();
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::time::Duration;

    /// There is none.
    #[derive(Debug)]
    pub(super) struct Timer;

    impl Timer {
        pub(super) fn new() -> Option<Self> {
            None
        }

        pub(super) async fn wait(&self, _: Duration) -> bool {
            false
        }
    }
}

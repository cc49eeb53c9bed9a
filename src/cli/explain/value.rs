//! Values as a plan would write them.

use std::time::Duration;

use crate::net::is_secret;
use crate::program::{
    ByteSize, Expect, Fragments, IfOpen, LateReplies, Pace, PaceShare, Pause, PingKind, Pings,
    Rate, Rendezvous, Setting, TimeUnit, Times, Unmatched, WhenFull,
};

/// What stands in place of a secret.
pub(super) const HIDDEN: &str = "***";

/// A value as a plan would write it.
pub(super) trait Shown {
    fn shown(&self) -> String;
}

impl<T: Shown> Shown for Setting<T> {
    fn shown(&self) -> String {
        match self {
            Self::Fixed(value) => value.shown(),
            Self::Template(template) => template.source.clone(),
        }
    }
}

/// `value`, or `***` if `name` says that it is a secret.
pub(super) fn named(name: &str, value: &str) -> String {
    if is_secret(name) { HIDDEN.to_owned() } else { value.to_owned() }
}

/// `1.5s`
pub(super) fn duration(time: Duration) -> String {
    format!("{time:?}").replace('µ', "u")
}

impl Shown for Duration {
    fn shown(&self) -> String {
        duration(*self)
    }
}

impl Shown for ByteSize {
    fn shown(&self) -> String {
        let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
        let unit =
            units.into_iter().find(|(_, shift)| self.0 > 0 && self.0.is_multiple_of(1 << shift));
        unit.map_or_else(
            || format!("{}B", self.0),
            |(unit, shift)| format!("{}{unit}", self.0 >> shift),
        )
    }
}

impl Shown for Times {
    fn shown(&self) -> String {
        match self {
            Self::Forever => "forever".to_owned(),
            Self::Count(times) => format!("{times} times"),
        }
    }
}

impl Shown for Pause {
    fn shown(&self) -> String {
        match self {
            Self::Constant(time) => time.shown(),
            Self::Uniform(min, max) => format!("{} to {}, evenly", min.shown(), max.shown()),
            Self::Gaussian { mean, deviation } => {
                format!("about {}, give or take {} (gaussian)", mean.shown(), deviation.shown())
            }
            Self::Exponential(mean) => format!("{} on average (exponential)", mean.shown()),
            Self::Poisson(mean) => format!("{} on average (poisson)", mean.shown()),
        }
    }
}

impl Shown for Rate {
    fn shown(&self) -> String {
        format!("one every {}", self.0.shown())
    }
}

impl Shown for Pace {
    fn shown(&self) -> String {
        let whose = match self.share {
            PaceShare::Thread => "each thread",
            PaceShare::Group => "the group",
        };
        format!("{}, of {whose}", self.rate.shown())
    }
}

impl Shown for Rendezvous {
    fn shown(&self) -> String {
        format!("of {} threads, for {} at most", self.threads, self.timeout.shown())
    }
}

macro_rules! shown {
    ($($type:ty: |$value:ident| $text:expr;)*) => {$(
        impl Shown for $type {
            fn shown(&self) -> String {
                let $value = self;
                $text.to_string()
            }
        }
    )*};
}

shown! {
    bool: |flag| flag;
    u16: |number| number;
    u32: |number| number;
    u64: |number| number;
    f64: |number| number;
    Expect: |expect| match expect {
        Expect::Same => "same",
        Expect::Text => "text",
        Expect::Binary => "binary",
        Expect::Any => "any",
        Expect::Close => "close",
        Expect::Ping => "ping",
        Expect::Pong => "pong",
    };
    Pings: |pings| match pings {
        Pings::Answer => "answer",
        Pings::Ignore => "ignore",
        Pings::Deliver => "deliver",
    };
    Fragments: |fragments| match fragments {
        Fragments::Join => "join",
        Fragments::Deliver => "deliver",
    };
    PingKind: |kind| match kind {
        PingKind::PingPong => "ping_pong",
        PingKind::Pong => "pong",
    };
    IfOpen: |rule| match rule {
        IfOpen::Replace => "replace",
        IfOpen::Keep => "keep",
    };
    LateReplies: |policy| match policy {
        LateReplies::Skip => "skip",
        LateReplies::Discard => "discard",
        LateReplies::Accept => "accept",
    };
    TimeUnit: |unit| unit.name();
    Unmatched: |rule| match rule {
        Unmatched::Keep => "keep",
        Unmatched::Drop => "drop",
    };
    WhenFull: |rule| match rule {
        WhenFull::DropOldest => "drop_oldest",
        WhenFull::Wait => "wait",
        WhenFull::Fail => "fail",
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_read_as_they_are_written() {
        for (bytes, text) in [(0, "0B"), (1_000, "1000B"), (4_096, "4KiB"), (16 << 20, "16MiB")] {
            assert_eq!(ByteSize(bytes).shown(), text);
        }
        assert_eq!(duration(Duration::from_micros(250)), "250us");
        assert_eq!(duration(Duration::from_millis(1_500)), "1.5s");
    }
}

//! How a run under way is shown: a bar on a terminal, lines elsewhere, or nothing.

use std::time::Duration;

use indicatif::ProgressDrawTarget;

use crate::clock;
use crate::console::Console;
use crate::report::Live;
use crate::report::progress::{Bar, Lines};

/// How often the bar is redrawn.
const REDRAW: Duration = Duration::from_secs(1);

/// How progress is shown.
pub(crate) enum Progress {
    Bar { bar: Bar, drawn: std::time::Instant },
    Lines { console: Console, lines: Lines, started: std::time::Instant },
    None(Console),
}

impl Progress {
    pub(crate) fn new(console: Console, off: bool, live: &Live) -> Self {
        let now = clock::now();
        if off {
            Self::None(console)
        } else if console.is_live() {
            {
                live.show_percentiles();
                Self::Bar { bar: Bar::new(ProgressDrawTarget::stderr()), drawn: now }
            }
        } else {
            Self::Lines { console, lines: Lines::default(), started: now }
        }
    }

    pub(crate) fn tick(&mut self, live: &Live) {
        let now = clock::now();
        match self {
            Self::Bar { bar, drawn } if now - *drawn >= REDRAW => {
                bar.tick(live, now - *drawn);
                *drawn = now;
            }
            Self::Lines { console, lines, started } => {
                if let Some(text) = lines.tick(live, now - *started) {
                    console.info(&text);
                }
            }
            _ => {}
        }
    }

    /// Shows a line beside the progress.
    pub(crate) fn say(&self, line: &str) {
        match self {
            Self::Bar { bar, .. } => bar.say(line),
            Self::Lines { console, .. } | Self::None(console) => console.info(&format!("{line}\n")),
        }
    }

    pub(crate) fn say_all(&self, lines: &[String]) {
        for line in lines {
            self.say(line);
        }
    }

    pub(crate) fn finish(&mut self, live: &Live) {
        match self {
            Self::Bar { bar, .. } => bar.finish(),
            Self::Lines { console, lines, started } => {
                console.info(&lines.finish(live, clock::now() - *started));
            }
            Self::None(_) => {}
        }
    }
}

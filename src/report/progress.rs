//! Progress while a run goes on: a bar on a terminal, JMeter's summariser lines elsewhere.

use std::fmt::Write as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::report::units;
use crate::report::{Interval, Live};
use crate::stats::thousands;

/// Seconds between two lines, as in JMeter.
const LINE_EVERY: Duration = Duration::from_secs(30);

/// The last line of a terminal, redrawn once a second.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    total: Interval,
}

impl Bar {
    /// A bar that is drawn to `target`.
    pub fn new(target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(None, target);
        let template = "{spinner} {elapsed_precise}  {msg}";
        // The template is constant; were it wrong, indicatif's own style would do.
        bar.set_style(
            ProgressStyle::with_template(template)
                .unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        Self { bar, total: Interval::default() }
    }

    /// Shows the last second.
    pub fn tick(&mut self, live: &Live, since_last: Duration) {
        let recent = live.take();
        self.total.merge(&recent);
        let seconds = since_last.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a rate needs no 53 bits")]
        let rate = (seconds > 0.0).then(|| recent.count as f64 / seconds);
        self.bar.set_message(format!(
            "{} threads  {} connections  {}  {} samples  {} errors  p95 {}",
            thousands(live.threads.now()),
            thousands(live.connections.now()),
            units::rate(rate),
            thousands(self.total.count),
            thousands(self.total.failed),
            units::time(self.total.times.percentile(95.0)),
        ));
        self.bar.tick();
    }

    /// Shows a line above the bar.
    pub fn say(&self, line: &str) {
        self.bar.println(line);
    }

    /// Takes the bar off the terminal.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// JMeter's summariser: `summary +` for what came since the last line, `summary =` for all.
#[derive(Debug, Default)]
pub struct Lines {
    recent: Interval,
    total: Interval,
    last: Duration,
    has_begun: bool,
}

impl Lines {
    /// Lines that are due `elapsed` after the start of the run.
    pub fn tick(&mut self, live: &Live, elapsed: Duration) -> Option<String> {
        self.recent.merge(&live.take());
        if elapsed.saturating_sub(self.last) < LINE_EVERY || self.recent.count == 0 {
            return None;
        }
        let first = !self.has_begun;
        let plus = self.plus(live, elapsed);
        // After the first line the total would say the same again.
        Some(if first { plus } else { plus + &line("=", &self.total, elapsed, None) })
    }

    /// The last lines of a run: the rest, and the total.
    pub fn finish(&mut self, live: &Live, elapsed: Duration) -> String {
        self.recent.merge(&live.take());
        let plus = if self.has_begun && self.recent.count > 0 {
            self.plus(live, elapsed)
        } else {
            self.total.merge(&std::mem::take(&mut self.recent));
            String::new()
        };
        plus + &line("=", &self.total, elapsed, None)
    }

    fn plus(&mut self, live: &Live, elapsed: Duration) -> String {
        let text = line("+", &self.recent, elapsed.saturating_sub(self.last), Some(live));
        self.total.merge(&std::mem::take(&mut self.recent));
        self.last = elapsed;
        self.has_begun = true;
        text
    }
}

/// One line in JMeter's format (its `Summariser`).
fn line(sign: &str, interval: &Interval, time: Duration, threads: Option<&Live>) -> String {
    let count = interval.count;
    let seconds = time.as_secs_f64();
    let whole = time.as_secs() + u64::from(time.subsec_millis() >= 500);
    let clock = format!("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
    #[expect(clippy::cast_precision_loss, reason = "rates and ratios need no 53 bits")]
    let (rate, percent) =
        (count as f64 / seconds, 100.0 * interval.failed as f64 / count.max(1) as f64);
    let rate = if seconds > 0.0 { format!("{rate:6.1}") } else { "******".to_owned() };
    let ms = |time: Option<Duration>| time.unwrap_or_default().as_millis();
    let times = &interval.times;
    let mut text = format!(
        "summary {sign} {count:6} in {clock} = {rate}/s Avg: {:5} Min: {:5} Max: {:5} Err: {:5} ({percent:.2}%)",
        ms(times.mean()),
        ms(times.min()),
        ms(times.max()),
        interval.failed,
    );
    if let Some(live) = threads {
        let (active, started) = (live.threads.now(), live.started.now());
        let finished = started.saturating_sub(active);
        // Writing to a `String` does not fail.
        write!(text, " Active: {active} Started: {started} Finished: {finished}").ok();
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Code, Sample};

    fn interval(milliseconds: &[u64], failed: u64) -> Interval {
        let count = milliseconds.len() as u64;
        let mut interval = Interval { count, failed, ..Interval::default() };
        for one in milliseconds {
            interval.times.record(Duration::from_millis(*one));
        }
        interval
    }

    #[test]
    fn lines_are_jmeters() {
        let live = Live::default();
        live.started.up();
        live.threads.up();
        assert_eq!(
            line("+", &interval(&[1, 583], 0), Duration::from_millis(1_350), Some(&live)),
            "summary +      2 in 00:00:01 =    1.5/s Avg:   292 Min:     1 Max:   583 Err:     0 \
             (0.00%) Active: 1 Started: 1 Finished: 0\n"
        );
        let four = interval(&[6, 7_000, 14_881, 21_473], 2);
        assert_eq!(
            line("=", &four, Duration::from_millis(47_900), None),
            "summary =      4 in 00:00:48 =    0.1/s Avg: 10840 Min:     6 Max: 21473 Err:     2 \
             (50.00%)\n"
        );
    }

    #[test]
    fn optional_reads_that_found_nothing_count_and_do_not_slow_the_average() {
        let live = Live::default();
        let (mut found, nothing) = (Interval::default(), Code::NoMessage);
        found.record(&Sample::plain(), true);
        found.record(
            &Sample { code: nothing, elapsed: Duration::from_secs(6), ..Sample::plain() },
            true,
        );
        live.add(&found);
        let last = Lines::default().finish(&live, Duration::from_secs(2));
        assert!(last.contains(" 2 in ") && last.contains("Max:     2 "), "{last}");
    }

    #[test]
    fn a_short_run_ends_with_one_total() {
        let live = Live::default();
        live.add(&interval(&[5], 0));
        let mut lines = Lines::default();
        assert_eq!(lines.tick(&live, Duration::from_secs(1)), None);
        let last = lines.finish(&live, Duration::from_secs(2));
        assert!(last.starts_with("summary =      1 in 00:00:02"), "{last}");
    }

    #[test]
    fn nothing_is_counted_twice() {
        let live = Live::default();
        let mut lines = Lines::default();
        live.add(&interval(&[5], 0));
        let first = lines.tick(&live, Duration::from_secs(30)).unwrap();
        assert!(first.starts_with("summary +      1 ") && !first.contains("summary ="));
        live.add(&interval(&[5, 6], 0));
        let second = lines.tick(&live, Duration::from_mins(1)).unwrap();
        assert!(second.contains("summary +      2 ") && second.contains("summary =      3 "));
        live.add(&interval(&[5], 1));
        let last = lines.finish(&live, Duration::from_secs(61));
        assert!(last.contains("summary +      1 ") && last.contains("summary =      4 "), "{last}");
    }
}

//! `compare`: which changes of a later run are none; the same texts on the command line.

use std::time::Duration;

use crate::compile::compiler::Compiler;
use crate::compile::threshold::share;
use crate::plan::{self, Path, Problem};
use crate::program::{BadValue, FromText};
use crate::verdict::compare::{Metric, Tolerances};

/// Sets what a text says of `key`: a metric, `at_least` or `confidence`.
pub fn set_tolerance(tolerances: &mut Tolerances, key: &str, text: &str) -> Result<(), BadValue> {
    match key {
        "at_least" => tolerances.at_least = Duration::from_text(text)?,
        "confidence" => {
            let confidence = share(text)?;
            if !(0.5..1.0).contains(&confidence) {
                let bad = format!("`{text}` is no confidence that would be of use");
                return Err(BadValue::new(bad).with_help("write 50% to 99.9%; 95% is usual"));
            }
            tolerances.confidence = confidence;
        }
        _ => {
            let Some(metric) = Metric::ALL.into_iter().find(|metric| metric.name() == key) else {
                let names = Metric::ALL.map(Metric::name).join(", ");
                let help = format!("write one of {names}");
                return Err(
                    BadValue::new(format!("`{key}` is nothing that is compared")).with_help(help)
                );
            };
            tolerances.set(metric, growth(text)?);
        }
    }
    Ok(())
}

/// A share that may be more than all: a p99 may be allowed to double.
fn growth(text: &str) -> Result<f64, BadValue> {
    let number = match text.strip_suffix('%') {
        Some(percent) => f64::from_text(percent.trim_end()).map(|percent| percent / 100.0),
        None => f64::from_text(text),
    };
    number.ok().filter(|share| (0.0..=100.0).contains(share)).ok_or_else(|| {
        BadValue::new(format!("`{text}` is not a change"))
            .with_help("write a percentage, such as `20%`")
    })
}

impl Compiler<'_> {
    /// What the plan says; `None` if it says nothing.
    pub(super) fn tolerances(&mut self, written: Option<&plan::Compare>) -> Option<Tolerances> {
        let written = written?;
        let top = Path::root().key("compare");
        let mut tolerances = Tolerances::default();
        if let Some(at_least) = &written.at_least
            && let Some(time) = self.fixed(at_least, &top.key("at_least"))
        {
            tolerances.at_least = time;
        }
        for (key, setting) in written.shares() {
            let path = top.key(key);
            let Some(text) = setting.and_then(|setting| self.fixed_text(setting, &path)) else {
                continue;
            };
            if let Err(bad) = set_tolerance(&mut tolerances, key, &text) {
                let mut problem = Problem::error(&path, bad.what);
                problem.help = bad.help;
                self.note(problem);
            }
        }
        Some(tolerances)
    }
}

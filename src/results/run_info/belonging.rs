//! Whether a summary is of the rows beside it.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::results::run_info::{LabelInfo, RunInfo};
use crate::sample::one_line;
use crate::stats::{Named, OTHER_LABELS, Stats, Times, thousands};

impl RunInfo {
    /// What tells that it is of other rows than these; `None` if nothing does.
    pub(in crate::results) fn contradiction(&self, stats: &Stats) -> Option<String> {
        let unreadable = self.labels.iter().find_map(|(name, value)| {
            let error = LabelInfo::deserialize(value).err()?;
            Some(format!("its figures of `{}` cannot be read: {error}", one_line(name)))
        });
        unreadable
            .or_else(|| self.other_rows(stats).map(|why| format!("it is of other rows: {why}")))
    }

    fn other_rows(&self, stats: &Stats) -> Option<String> {
        let labels = self.figures();
        let rows = |named: &Named<'_>| (named.figures.count, named.figures.failed);
        let named = stats.named();
        let samplers = named.iter().filter(|one| !one.transaction).map(rows);
        let infos = labels.values().filter(|info| !info.transaction);
        let (told, there) = (sum(infos.map(LabelInfo::rows)), sum(samplers));
        if told != there {
            return Some(format!("it tells of {}, the rows are {}", samples(told), samples(there)));
        }
        if let Some(why) = self.other_times(&stats.all().all) {
            return Some(why);
        }
        let there: BTreeMap<&str, _> = named.iter().map(|one| (&*one.name, rows(one))).collect();
        // Which of many labels were counted as others depends on which came first, to whichever worker.
        if labels.contains_key(OTHER_LABELS) || there.contains_key(OTHER_LABELS) {
            return None;
        }
        let names = labels.keys().map(String::as_str).chain(there.keys().copied());
        names.into_iter().find_map(|name| {
            let told = labels.get(name).map_or((0, 0), LabelInfo::rows);
            let there = there.get(name).copied().unwrap_or_default();
            let (of, label) = (samples(told), one_line(name));
            (told != there)
                .then(|| format!("of `{label}` it tells of {of}, the rows are {}", samples(there)))
        })
    }

    /// The mean and the longest time can only be those of the rows, but for what their milliseconds leave out.
    fn other_times(&self, there: &Times) -> Option<String> {
        let all = LabelInfo::deserialize(self.labels.get("all")?).ok()?.times;
        let figures =
            [("mean", all.mean_ms, there.mean()), ("longest time", all.max_ms, there.max())];
        figures.into_iter().find_map(|(what, told, there)| {
            let (told, there) = (told?, there?.as_secs_f64() * 1e3);
            let is_other = (told - there).abs() > 2.0 + there * 0.005;
            is_other.then(|| {
                format!("it tells of a {what} of {told:.1} ms, that of the rows is {there:.1} ms")
            })
        })
    }
}

/// Rows, and those that failed, of all.
fn sum(rows: impl Iterator<Item = (u64, u64)>) -> (u64, u64) {
    rows.fold((0, 0), |all, one| (all.0.saturating_add(one.0), all.1.saturating_add(one.1)))
}

fn samples((count, failed): (u64, u64)) -> String {
    let plural = if count == 1 { "" } else { "s" };
    match failed {
        0 => format!("{} sample{plural}", thousands(count)),
        _ => format!("{} sample{plural} ({} failed)", thousands(count), thousands(failed)),
    }
}

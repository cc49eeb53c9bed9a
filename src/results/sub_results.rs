//! Tells JMeter's sub-results: the redirects and embedded resources of a sampler, as rows of their own.
//!
//! Since version 5.0 JMeter writes them right behind the row that sums them up, as `<its label>-0`, `-1` and
//! so on, each perhaps with sub-results of its own. Nothing else marks them. Counted like samplers they
//! would double the totals.

use crate::results::row::Row;

/// Levels that JMeter itself writes at most.
const MAX_DEPTH: usize = 10;

/// The last rows that may have sub-results, outermost first.
#[derive(Debug, Default)]
pub(super) struct SubResults {
    parents: Vec<Parent>,
    depth: usize,
}

#[derive(Debug, Default)]
struct Parent {
    label: String,
    thread: String,
    start_ms: u64,
    end_ms: u64,
    /// The number of its next sub-result.
    next: u32,
}

impl SubResults {
    /// Whether the row is a sub-result of one before it; rows must come in the order of the file.
    pub(super) fn is_one(&mut self, row: &Row<'_>) -> bool {
        let numbered = numbered(&row.label);
        let mut depth = self.depth;
        while depth > 0 {
            let parent = &mut self.parents[depth - 1];
            if numbered.is_some_and(|(label, number)| parent.has(label, number, row)) {
                parent.next += 1;
                if depth < MAX_DEPTH {
                    self.remember(depth, row);
                }
                return true;
            }
            depth -= 1;
        }
        self.remember(0, row);
        false
    }

    fn remember(&mut self, depth: usize, row: &Row<'_>) {
        if self.parents.len() == depth {
            self.parents.push(Parent::default());
        }
        let parent = &mut self.parents[depth];
        parent.label.clear();
        parent.label.push_str(&row.label);
        parent.thread.clear();
        parent.thread.push_str(&row.thread);
        (parent.start_ms, parent.end_ms, parent.next) = (row.time_ms, row.end_ms(), 0);
        self.depth = depth + 1;
    }
}

impl Parent {
    fn has(&self, label: &str, number: u32, row: &Row<'_>) -> bool {
        number == self.next
            && label == self.label
            && row.thread == self.thread
            && row.time_ms >= self.start_ms
            // Both are rounded.
            && row.end_ms() <= self.end_ms + 1
    }
}

/// `page-7` is `page` and 7.
fn numbered(label: &str) -> Option<(&str, u32)> {
    // Nearly no label ends in a digit.
    label.bytes().last().filter(u8::is_ascii_digit)?;
    let (label, number) = label.rsplit_once('-')?;
    Some((label, number.parse().ok()?))
}

//! Which times of a file are far from all others: a clock that was wrong for a moment would make rates and
//! charts of the whole file worthless.

/// Times that are further apart belong to different clusters, in milliseconds: a day.
const APART_MS: u64 = 24 * 60 * 60 * 1_000;

/// Clusters that are told apart; of a file with more of them no time is an outlier.
const MOST_CLUSTERS: usize = 32;

/// Rows that a cluster of outliers has at most.
const MOST_ROWS: u64 = 10;

/// The largest cluster has so many times the rows of a cluster of outliers, at least.
const TIMES_MORE: u64 = 10;

/// Times that are close to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cluster {
    pub(super) first_ms: u64,
    pub(super) last_ms: u64,
    pub(super) rows: u64,
    /// The line of its first row.
    pub(super) line: u64,
}

/// The clusters of a file's times.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    known: Vec<Cluster>,
    /// That of the row before.
    last: usize,
    too_many: bool,
}

/// Times that do not count.
#[derive(Debug)]
pub(super) struct Outliers {
    pub(super) clusters: Vec<Cluster>,
    /// What stands for the time of one that nothing is before.
    near_ms: u64,
}

impl Outliers {
    /// The time that counts for a row: its own, or that of the last one before it whose own counts.
    pub(super) fn counted(&mut self, time_ms: u64) -> u64 {
        if !self.clusters.iter().any(|cluster| cluster.has(time_ms)) {
            self.near_ms = time_ms;
        }
        self.near_ms
    }
}

impl Cluster {
    /// Whether a time is in it or close to it.
    fn takes(&self, time_ms: u64) -> bool {
        time_ms.saturating_add(APART_MS) >= self.first_ms
            && time_ms <= self.last_ms.saturating_add(APART_MS)
    }

    /// Whether a time is in it.
    fn has(&self, time_ms: u64) -> bool {
        (self.first_ms..=self.last_ms).contains(&time_ms)
    }

    fn add(&mut self, time_ms: u64) {
        self.first_ms = self.first_ms.min(time_ms);
        self.last_ms = self.last_ms.max(time_ms);
        self.rows += 1;
    }
}

impl Clusters {
    /// Adds the time of the row in a line.
    #[inline]
    pub(super) fn add(&mut self, time_ms: u64, line: u64) {
        match self.known.get_mut(self.last) {
            Some(last) if last.takes(time_ms) => last.add(time_ms),
            _ => self.add_elsewhere(time_ms, line),
        }
    }

    #[cold]
    fn add_elsewhere(&mut self, time_ms: u64, line: u64) {
        if let Some(at) = self.known.iter().position(|cluster| cluster.takes(time_ms)) {
            self.known[at].add(time_ms);
            self.last = at;
        } else if self.known.len() < MOST_CLUSTERS {
            self.last = self.known.len();
            self.known.push(Cluster { first_ms: time_ms, last_ms: time_ms, rows: 1, line });
        } else {
            self.too_many = true;
        }
    }

    /// Those of few rows, far from one of many; `None` without any.
    pub(super) fn outliers(&self) -> Option<Outliers> {
        let largest = self.known.iter().max_by_key(|cluster| cluster.rows)?;
        let is_few = |cluster: &&Cluster| {
            cluster.rows <= MOST_ROWS && largest.rows >= cluster.rows.saturating_mul(TIMES_MORE)
        };
        let clusters: Vec<_> = self.known.iter().filter(is_few).copied().collect();
        let found = !self.too_many && !clusters.is_empty();
        found.then_some(Outliers { clusters, near_ms: largest.first_ms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outliers(times: impl IntoIterator<Item = u64>) -> Vec<(u64, u64)> {
        let mut clusters = Clusters::default();
        for (time_ms, line) in times.into_iter().zip(2..) {
            clusters.add(time_ms, line);
        }
        let found = clusters.outliers().map(|found| found.clusters).unwrap_or_default();
        found.iter().map(|cluster| (cluster.line, cluster.rows)).collect()
    }

    #[test]
    fn few_rows_far_from_many_are_outliers_wherever_they_stand() {
        let near = || (0..200).map(|number| 1_700_000_000_000 + number * 1_000);
        assert_eq!(outliers(near()), []);
        assert_eq!(outliers([5].into_iter().chain(near())), [(2, 1)]);
        let far = [1_800_000_000_000, 1_800_000_000_500, 3];
        assert_eq!(outliers(near().chain(far).chain(near())), [(202, 2), (204, 1)]);
    }

    #[test]
    fn nights_that_were_joined_and_long_runs_have_none() {
        let night = |number: u64| (0..50).map(move |row| number * 7 * APART_MS + row);
        assert_eq!(outliers((0..3).flat_map(night)), []);
        assert_eq!(outliers((0..300).map(|number| number * APART_MS)), []);
        assert_eq!(outliers((0..300).map(|number| number * 2 * APART_MS)), [], "too many");
        assert_eq!(outliers([0, 5 * APART_MS]), []);
    }
}

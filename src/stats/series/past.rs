//! Intervals that are over, never too many.

use crate::stats::series::packed::{Packed, Times};
use crate::stats::series::{Event, MOST};

/// What an interval counts beside its times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) rows: u64,
    pub(super) failed: u64,
    pub(super) opened: u64,
    pub(super) refused: u64,
    /// Connections that are gone.
    pub(super) ended: u64,
    /// Active threads, at most.
    pub(super) threads: u32,
}

impl Counts {
    pub(super) fn add(&mut self, event: Event) {
        match event {
            Event::Row { success, threads, .. } => {
                self.rows += 1;
                self.failed += u64::from(!success);
                self.threads = self.threads.max(threads);
            }
            Event::Opened => self.opened += 1,
            Event::Refused => self.refused += 1,
            Event::Ended => self.ended += 1,
        }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        self.failed += other.failed;
        self.opened += other.opened;
        self.refused += other.refused;
        self.ended += other.ended;
        self.threads = self.threads.max(other.threads);
    }
}

/// The beginning of the interval of so many seconds in which a second is.
pub(super) fn floor(second: i64, width: i64) -> i64 {
    second.div_euclid(width).saturating_mul(width)
}

/// An interval that is over.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// Its first second.
    pub(super) from: i64,
    pub(super) counts: Counts,
    pub(super) times: Packed,
}

impl Part {
    fn absorb(&mut self, others: &[Self]) {
        for other in others {
            self.counts.merge(other.counts);
        }
        let times = others.iter().map(|other| &other.times).filter(|times| !times.is_empty());
        self.times = self.times.with(times);
    }
}

/// Intervals that are over, in the order of their time.
#[derive(Debug, Clone)]
pub(super) struct Past {
    pub(super) parts: Vec<Part>,
    /// Seconds of an interval, a power of two. Parts from `widened` on may still be shorter.
    width: i64,
    widened: usize,
}

impl Default for Past {
    fn default() -> Self {
        Self { parts: Vec::new(), width: 1, widened: 0 }
    }
}

impl Past {
    /// Seconds of an interval.
    pub(super) fn width(&self) -> i64 {
        self.width
    }

    /// Adds an interval at its place in time.
    pub(super) fn push(&mut self, part: Part) {
        let at = self.parts.partition_point(|known| known.from <= part.from);
        match at.checked_sub(1).and_then(|before| self.parts.get_mut(before)) {
            Some(same) if same.from == part.from => same.absorb(&[part]),
            _ => {
                self.widened += usize::from(at < self.widened);
                self.parts.insert(at, part);
                if self.parts.len() > MOST {
                    self.join_a_pair();
                }
            }
        }
    }

    /// Makes two neighbours one. After as many calls as there are pairs all intervals are twice as long.
    fn join_a_pair(&mut self) {
        loop {
            if self.widened >= self.parts.len() {
                let Some(width) = self.width.checked_mul(2) else { return };
                (self.width, self.widened) = (width, 0);
            }
            if self.widen_next() {
                return;
            }
        }
    }

    /// Widens the next interval; whether it took up others.
    fn widen_next(&mut self) -> bool {
        let (at, width) = (self.widened, self.width);
        self.widened += 1;
        let from = floor(self.parts[at].from, width);
        self.parts[at].from = from;
        let mut others = 0;
        while let Some(other) = self.parts.get(at + 1 + others)
            && floor(other.from, width) == from
        {
            others += 1;
        }
        if others > 0 {
            let taken: Vec<Part> = self.parts.drain(at + 1..=at + others).collect();
            self.parts[at].absorb(&taken);
        }
        others > 0
    }

    /// Adds events, each with its second; so many at once that each interval is packed but once.
    pub(super) fn enter(&mut self, mut events: Vec<(i64, Event)>) {
        let width = self.width;
        events.sort_by_key(|(second, _)| *second);
        for events in events.chunk_by(|one, other| floor(one.0, width) == floor(other.0, width)) {
            let (mut counts, mut times) = (Counts::default(), Times::default());
            for (_, event) in events {
                counts.add(*event);
                if let Event::Row { us: Some(us), .. } = event {
                    times.record(*us);
                }
            }
            let from = self.part_of(events[0].0);
            self.push(Part { from, counts, times: times.pack() });
        }
    }

    /// The beginning of the interval to which a second belongs: one that there is, or a new one.
    fn part_of(&self, second: i64) -> i64 {
        let from = floor(second, self.width);
        let known = self.parts.partition_point(|part| part.from <= second);
        let before = known.checked_sub(1).and_then(|before| self.parts.get(before));
        before.map_or(from, |part| part.from.max(from))
    }

    /// Adds the intervals of others; their seconds are so much later than they say.
    pub(super) fn merge(&mut self, others: impl Iterator<Item = (Self, i64)>) {
        for (other, later) in others {
            self.width = self.width.max(other.width);
            self.parts.extend(other.parts.into_iter().map(|mut part| {
                part.from = part.from.saturating_add(later);
                part
            }));
        }
        self.parts.sort_by_key(|part| part.from);
        self.settle(MOST);
    }

    /// Makes all intervals equally long, and so long that there are at most so many even if those in
    /// which nothing happened are counted.
    pub(super) fn settle(&mut self, most: usize) {
        let mut width = self.width;
        if let (Some(first), Some(last)) = (self.parts.first(), self.parts.last()) {
            let most = i64::try_from(most.max(1)).unwrap_or(i64::MAX);
            let long = |width: i64| {
                let (first, last) = (floor(first.from, width), floor(last.from, width));
                last.saturating_sub(first) / width + 1
            };
            while long(width) > most {
                width *= 2;
            }
        }
        (self.width, self.widened) = (width, 0);
        while self.widened < self.parts.len() {
            self.widen_next();
        }
    }
}

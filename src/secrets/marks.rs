//! A set of byte strings that can be found in a text and not be read out of it: of each only its length,
//! its first bytes and a hash are kept. So it holds many in little memory, however long they are.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// Bytes by which a string is first looked for; shorter ones are kept as they are.
const START: usize = 4;

/// Where a text was cut off, so many bytes of a string before that are recognised as its beginning, if
/// there are as many; else [`START`].
const BEGINNING: usize = 8;

/// Texts are searched in pieces of so many bytes, which bounds the memory that it takes.
const PIECE: usize = 64 * 1024;

/// 2^61 - 1, a prime: the hash is a polynomial of the bytes modulo this.
const MODULUS: u64 = (1 << 61) - 1;
const BASE: u64 = 0x0f3a_95c1_8d27_6e4b;

/// The set.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks {
    /// Lengths of the strings that begin with these bytes, in ascending order.
    lengths: HashMap<u32, Vec<usize>, Quick>,
    /// The strings, and the beginnings of those that are longer than [`BEGINNING`].
    hashes: HashSet<u64, Quick>,
    short: Vec<Box<[u8]>>,
    /// The hashes of strings in the letters that they were given in.
    words: HashSet<u64, Quick>,
    longest: usize,
}

impl Marks {
    pub(super) fn is_empty(&self) -> bool {
        self.hashes.is_empty() && self.short.is_empty()
    }

    /// How many there are, their beginnings counted.
    pub(super) fn len(&self) -> usize {
        self.hashes.len() + self.short.len()
    }

    pub(super) fn contains(&self, bytes: &[u8]) -> bool {
        match start(bytes) {
            Some(_) => self.hashes.contains(&of_length(hash(bytes), bytes.len())),
            None => self.short.iter().any(|own| **own == *bytes),
        }
    }

    /// All that are not shorter than [`START`].
    pub(super) fn without_short(&self) -> Self {
        Self { short: Vec::new(), ..self.clone() }
    }

    /// Adds a string; an empty one is in every text, and not found.
    pub(super) fn insert(&mut self, bytes: &[u8]) {
        let Some(start) = start(bytes) else {
            if !bytes.is_empty() && !self.contains(bytes) {
                self.longest = self.longest.max(bytes.len());
                self.short.push(bytes.into());
            }
            return;
        };
        if !self.hashes.insert(of_length(hash(bytes), bytes.len())) {
            return;
        }
        self.longest = self.longest.max(bytes.len());
        let lengths = self.lengths.entry(start).or_default();
        if let Err(at) = lengths.binary_search(&bytes.len()) {
            lengths.insert(at, bytes.len());
        }
        if let Some(beginning) = bytes.get(..BEGINNING).filter(|_| bytes.len() > BEGINNING) {
            // It is none of the strings, so its length is another one.
            self.hashes.insert(of_length(hash(beginning), usize::MAX));
        }
    }

    /// Keeps a string as it is, for [`Self::has_word`].
    pub(super) fn insert_word(&mut self, bytes: &[u8]) {
        self.words.insert(of_length(hash(bytes), bytes.len()));
    }

    pub(super) fn has_word(&self, bytes: &[u8]) -> bool {
        self.words.contains(&of_length(hash(bytes), bytes.len()))
    }

    /// Where the longest string ends that begins here, or what of it there is before `cut`.
    fn end_at(
        &self,
        text: &Hashed<'_>,
        at: usize,
        cut: Option<usize>,
        is_found: &impl Fn(Range<usize>) -> bool,
    ) -> Option<usize> {
        let bytes = text.bytes;
        let short = self.short.iter().filter(|own| bytes[at..].starts_with(own));
        let short = short.map(|own| at + own.len()).filter(|end| is_found(at..*end)).max();
        let lengths = start(&bytes[at..]).and_then(|start| self.lengths.get(&start));
        let Some(lengths) = lengths else { return short };
        let is_here = |length: &&usize| {
            let end = at + **length;
            end <= bytes.len()
                && self.hashes.contains(&of_length(text.hash(at..end), **length))
                && is_found(at..end)
        };
        let whole = lengths.iter().rev().find(is_here).map(|length| at + length);
        let begun = cut.filter(|cut| {
            let there = cut.saturating_sub(at);
            let may_go_on = lengths.last().is_some_and(|longest| *longest > there);
            let is_beginning = || {
                let hash = text.hash(at..at + BEGINNING);
                self.hashes.contains(&of_length(hash, usize::MAX))
            };
            there >= START && may_go_on && (there < BEGINNING || is_beginning())
        });
        short.max(whole).max(begun)
    }
}

/// Where strings of these sets stand in a text, in order; they may overlap. Where the text was cut off,
/// at `cuts` in ascending order, the beginning of one is enough. `is_found` has the last word about a whole one.
pub(super) fn find(
    sets: &[&Marks],
    text: &[u8],
    mut cuts: &[usize],
    is_found: &impl Fn(Range<usize>) -> bool,
) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let longest = sets.iter().map(|marks| marks.longest).max().unwrap_or(0);
    let mut from = 0;
    while longest > 0 && from < text.len() {
        let until = text.len().min(from + PIECE);
        let piece = Hashed::of(&text[from..text.len().min(until + longest)]);
        for at in 0..until - from {
            while cuts.first().is_some_and(|cut| *cut <= from + at) {
                cuts = &cuts[1..];
            }
            let cut = cuts.first().map(|cut| cut - from).filter(|cut| *cut <= piece.bytes.len());
            let is_found = |range: Range<usize>| is_found(from + range.start..from + range.end);
            let ends = sets.iter().filter_map(|marks| marks.end_at(&piece, at, cut, &is_found));
            let end = ends.max();
            found.extend(end.map(|end| from + at..from + end));
        }
        from = until;
    }
    found
}

/// A text of which the hash of any part is known.
struct Hashed<'t> {
    bytes: &'t [u8],
    /// Of so many first bytes.
    hashes: Vec<u64>,
    powers: Vec<u64>,
}

impl<'t> Hashed<'t> {
    fn of(bytes: &'t [u8]) -> Self {
        let (mut hashes, mut powers) = (vec![0], vec![1]);
        let (mut hash, mut power) = (0, 1);
        for byte in bytes {
            hash = and_then(hash, *byte);
            power = times(power, BASE);
            hashes.push(hash);
            powers.push(power);
        }
        Self { bytes, hashes, powers }
    }

    fn hash(&self, range: Range<usize>) -> u64 {
        let before = times(self.hashes[range.start], self.powers[range.len()]);
        reduced(self.hashes[range.end] + MODULUS - before)
    }
}

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |hash, byte| and_then(hash, *byte))
}

fn and_then(hash: u64, byte: u8) -> u64 {
    // Zeros count, too.
    reduced(times(hash, BASE) + u64::from(byte) + 1)
}

fn times(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    // Both are at most 2^61 - 1, and not both are that.
    reduced(low_half(product & u128::from(MODULUS)).wrapping_add(low_half(product >> 61)))
}

/// Modulo [`MODULUS`], of what is less than twice as much.
fn reduced(sum: u64) -> u64 {
    if sum >= MODULUS { sum - MODULUS } else { sum }
}

/// The lower 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "the upper ones are not wanted")]
fn low_half(number: u128) -> u64 {
    number as u64
}

/// The hash of a string of this length: others with the same polynomial are told apart.
fn of_length(hash: u64, length: usize) -> u64 {
    hash ^ (length as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn start(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().copied().map(u32::from_le_bytes)
}

/// For keys that are spread well, or nearly so.
type Quick = BuildHasherDefault<Spread>;

#[derive(Debug, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, key: u32) {
        self.write_u64(u64::from(key));
    }

    fn write_u64(&mut self, key: u64) {
        let product = u128::from(self.0 ^ key) * 0x9e37_79b9_7f4a_7c15;
        self.0 = low_half(product >> 64) ^ low_half(product);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(strings: &[&str]) -> Marks {
        let mut marks = Marks::default();
        for one in strings {
            marks.insert(one.as_bytes());
        }
        marks
    }

    fn found(marks: &Marks, text: &str, cuts: &[usize]) -> Vec<String> {
        let found = find(&[marks], text.as_bytes(), cuts, &|_| true);
        found.into_iter().map(|range| text[range].to_owned()).collect()
    }

    #[test]
    fn strings_of_all_lengths_are_found() {
        let marks = marks(&["a", "bcd", "wxyz", "hunter2-hunter2", "hunter2-hunter3", ""]);
        let text = "a bc bcd wxy wxyz hunter2-hunter hunter2-hunter3";
        assert_eq!(found(&marks, text, &[]), ["a", "bcd", "wxyz", "hunter2-hunter3"]);
        assert!(marks.contains(b"wxyz") && !marks.contains(b"hunter2-") && !marks.is_empty());
        assert!(found(&Marks::default(), text, &[]).is_empty());
    }

    #[test]
    fn the_longest_is_found_and_what_overlaps_it() {
        let marks = marks(&["abcd", "abcdefgh", "ghij", "cdef"]);
        assert_eq!(found(&marks, "xabcdefghij abcd", &[]), ["abcdefgh", "cdef", "ghij", "abcd"]);
    }

    #[test]
    fn where_a_text_is_cut_a_beginning_is_enough() {
        let marks = marks(&["hunter2-hunter2"]);
        assert_eq!(found(&marks, "my hunter2-hun… no", &[14]), ["hunter2-hun"]);
        assert_eq!(found(&marks, "my hunt… no", &[7]), ["hunt"]);
        assert!(found(&marks, "my hun… no", &[6]).is_empty());
        assert!(found(&marks, "my hunter3-hun… no", &[14]).is_empty());
        assert!(found(&marks, "my hunter2-hun no", &[]).is_empty());
    }

    #[test]
    fn what_spans_two_pieces_is_found_once() {
        let marks = marks(&["hunter2-hunter2"]);
        for before in PIECE - 20..PIECE + 2 {
            let text = format!("{}hunter2-hunter2{}", "x".repeat(before), "y".repeat(PIECE));
            let places = find(&[&marks], text.as_bytes(), &[], &|_| true);
            assert_eq!(places.as_slice(), std::slice::from_ref(&(before..before + 15)));
        }
    }

    #[test]
    fn of_many_strings_each_is_found_and_nothing_else() {
        let mut marks = Marks::default();
        for number in 0..100_000 {
            marks.insert(format!("token-{number:06}-{}", number * 7).as_bytes());
        }
        assert!(found(&marks, "token-000077-540 token-100000-700000", &[]).is_empty());
        assert_eq!(found(&marks, "a token-000077-539 b", &[]), ["token-000077-539"]);
    }
}

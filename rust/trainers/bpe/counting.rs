//! Counting pairs from scratch: a sketch of all, then exactly the few that can reach a threshold.

use std::ops::Range;

use std::sync::atomic::{AtomicU32, Ordering};

use super::arena::Arena;
use super::pairs::{LengthLimit, PairTable, key};
use super::tokens::Tokens;
use crate::Result;
use crate::structures::flat_map::FlatMap;
use crate::structures::huge_pages::vec_filled;
use crate::structures::progress::OnProgress;
use crate::structures::workers::{METER_EVERY, Meter, run_parts};

const STAGE: &str = "count pairs";

/// At most this many sums in a sketch, 4 MB: what stays near the processor.
const SKETCH_BITS: u32 = 20;

/// How often one pair occurs.
#[derive(Clone, Copy, Debug, Default)]
struct PairCount {
    weight: u64,
    occurrences: u32,
}

type Counts = FlatMap<PairCount>;

/// Counts of pairs summed by hash, up to `u32::MAX`: never below a pair's true count, rarely far above.
#[derive(Clone, Debug)]
pub(super) struct Sketch {
    sums: Vec<u32>,
    hash: Hash,
}

/// A hash of `bits` bits.
#[derive(Clone, Copy, Debug)]
struct Hash {
    bits: u32,
}

impl Hash {
    #[inline]
    fn of(self, key: u64) -> usize {
        // Another odd constant than the hash map's, so that what collides here does not collide there.
        (key.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> (64 - self.bits)) as usize
    }
}

impl Sketch {
    fn new(bits: u32) -> Self {
        Self { sums: vec![0; 1 << bits], hash: Hash { bits } }
    }

    #[inline]
    fn add(&mut self, key: u64, weight: u64) {
        let sum = &mut self.sums[self.hash.of(key)];
        *sum = sum.saturating_add(u32::try_from(weight).unwrap_or(u32::MAX));
    }

    fn add_all(&mut self, other: &Self) {
        for (sum, other) in self.sums.iter_mut().zip(&other.sums) {
            *sum = sum.saturating_add(*other);
        }
    }

    /// The highest sum.
    pub(super) fn highest(&self) -> u64 {
        self.sums.iter().copied().max().map_or(0, u64::from)
    }

    /// The sum that `rank` others reach, 0 if there are too few.
    pub(super) fn nth_highest(&self, rank: usize) -> u64 {
        if rank >= self.sums.len() {
            return 0;
        }
        let mut sums = self.sums.clone();
        u64::from(*sums.select_nth_unstable_by(rank, |one, other| other.cmp(one)).1)
    }

    /// The pairs whose counts may reach `threshold`.
    fn filter(&self, threshold: u64) -> Filter {
        let threshold = u32::try_from(threshold).unwrap_or(u32::MAX);
        let mut filter = Filter::new(self.hash);
        for (slot, &sum) in self.sums.iter().enumerate() {
            filter.bits[slot / 64] |= u64::from(sum >= threshold) << (slot % 64);
        }
        filter
    }
}

/// A set of pairs that may hold a few more: small enough to stay close, it spares most look-ups elsewhere.
#[derive(Debug)]
struct Filter {
    bits: Vec<u64>,
    hash: Hash,
}

impl Filter {
    fn new(hash: Hash) -> Self {
        Self { bits: vec![0; (1usize << hash.bits).div_ceil(64)], hash }
    }

    fn add(&mut self, key: u64) {
        let slot = self.hash.of(key);
        self.bits[slot / 64] |= 1 << (slot % 64);
    }

    #[inline]
    fn may_hold(&self, key: u64) -> bool {
        let slot = self.hash.of(key);
        self.bits[slot / 64] >> (slot % 64) & 1 != 0
    }
}

/// What one recount looks at.
#[derive(Clone, Copy)]
pub(super) struct Counter<'a> {
    /// The words, compact.
    pub(super) arena: &'a Arena,
    /// The vocabulary so far.
    pub(super) tokens: &'a Tokens,
    /// Which pairs count.
    pub(super) length_limit: LengthLimit,
    /// How many threads count.
    pub(super) threads: usize,
}

impl Counter<'_> {
    /// About equal ranges of cells.
    fn parts(self) -> Vec<Range<usize>> {
        let cells = self.arena.len() - 1;
        let share = (cells / self.threads.max(1) + 1).max(METER_EVERY);
        (0..cells.max(1)).step_by(share).map(|start| start..(start + share).min(cells)).collect()
    }

    fn run<P: Send, R: Send>(
        self,
        parts: Vec<P>,
        on_progress: &mut OnProgress<'_>,
        work: impl Fn(P, &Meter) -> R + Sync,
    ) -> Result<Vec<R>> {
        run_parts(STAGE, self.arena.len() as u64, parts, on_progress, work)
    }

    /// Visits the pairs of a range for as long as the result is wanted.
    #[inline]
    fn visit(self, part: Range<usize>, meter: &Meter, mut each: impl FnMut(u64, u32, u64)) {
        for start in part.clone().step_by(METER_EVERY) {
            let end = (start + METER_EVERY).min(part.end);
            self.arena.for_each_pair(start..end, |left, right, position, weight| {
                if self.length_limit.allows(self.tokens, left, right) {
                    each(key(left, right), position, weight);
                }
            });
            if !meter.add(end - start) {
                return;
            }
        }
    }

    /// Sums all counts by hash.
    pub(super) fn sketch(self, on_progress: &mut OnProgress<'_>) -> Result<Sketch> {
        // More sums than pairs there can be would only be slower to reach.
        let ids = self.tokens.len() + 1;
        let bits = (2 * ids.ilog2() + 2).min(self.arena.len().ilog2() + 1).clamp(6, SKETCH_BITS);
        let sketches = self.run(self.parts(), on_progress, |part, meter| {
            let mut sketch = Sketch::new(bits);
            self.visit(part, meter, |key, _, weight| sketch.add(key, weight));
            sketch
        })?;
        let mut sketches = sketches.into_iter();
        let mut sum = sketches.next().unwrap_or_else(|| Sketch::new(bits));
        sketches.for_each(|other| sum.add_all(&other));
        Ok(sum)
    }

    /// Builds the table of all pairs that reach `threshold`.
    pub(super) fn table(
        self,
        sketch: Sketch,
        threshold: u64,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<PairTable> {
        let mut filter = sketch.filter(threshold);
        drop(sketch);
        let counted = self.run(self.parts(), on_progress, |part, meter| {
            let mut counts = Counts::with_capacity(1 << 10);
            self.visit(part, meter, |key, _, weight| {
                if filter.may_hold(key) {
                    let count = counts.entry(key);
                    count.weight += weight;
                    count.occurrences += 1;
                }
            });
            counts
        })?;
        let mut pairs = sum(&counted);
        pairs.retain(|&(_, weight, _)| weight >= threshold);
        let part_lens: Vec<Vec<u32>> = counted.iter().map(|counts| lens(counts, &pairs)).collect();
        drop(counted);
        let mut by_ids = FlatMap::with_capacity(pairs.len());
        filter.bits.fill(0);
        for (&(key, ..), index) in pairs.iter().zip(0..) {
            *by_ids.entry(key) = index;
            filter.add(key);
        }
        let (starts, total) = starts(part_lens);
        // The same memory throughout: an atomic number is laid out as the number itself.
        let places: Vec<_> = vec_filled(0, total).into_iter().map(AtomicU32::new).collect();
        let parts = self.parts().into_iter().zip(starts).collect();
        self.run(parts, on_progress, |(part, next), meter| {
            self.list(part, next, &places, &by_ids, &filter, meter);
        })?;
        let places = places.into_iter().map(AtomicU32::into_inner).collect();
        Ok(PairTable::new(threshold, self.length_limit, by_ids, &pairs, places))
    }

    /// Writes the places of all tracked pairs in a range to where `next` says for each pair.
    ///
    /// No two threads write to the same place, so they need nothing but memory that may be shared.
    fn list(
        self,
        part: Range<usize>,
        mut next: Vec<u32>,
        places: &[AtomicU32],
        by_ids: &FlatMap<u32>,
        filter: &Filter,
        meter: &Meter,
    ) {
        self.visit(part, meter, |key, position, _| {
            if !filter.may_hold(key) {
                return;
            }
            if let Some(index) = by_ids.get(key) {
                let next = &mut next[index as usize];
                places[*next as usize].store(position, Ordering::Relaxed);
                *next += 1;
            }
        });
    }
}

/// Pairs with their counts and occurrences, summed over all parts.
fn sum(counted: &[Counts]) -> Vec<(u64, u64, u32)> {
    let flat = |(key, count): (u64, PairCount)| (key, count.weight, count.occurrences);
    if let [counts] = counted {
        return counts.iter().map(flat).collect();
    }
    let mut summed = Counts::with_capacity(counted.first().map_or(0, Counts::len));
    for (key, count) in counted.iter().flat_map(Counts::iter) {
        let entry = summed.entry(key);
        entry.weight += count.weight;
        entry.occurrences += count.occurrences;
    }
    summed.iter().map(flat).collect()
}

/// How many places each pair has in one part.
fn lens(counts: &Counts, pairs: &[(u64, u64, u32)]) -> Vec<u32> {
    pairs.iter().map(|&(key, ..)| counts.get(key).map_or(0, |count| count.occurrences)).collect()
}

/// Where the places of each pair start in each part, if they lie pair by pair and earlier parts first; and how many there
/// are in all.
fn starts(mut part_lens: Vec<Vec<u32>>) -> (Vec<Vec<u32>>, usize) {
    let mut total = 0;
    for index in 0..part_lens.first().map_or(0, Vec::len) {
        for lens in &mut part_lens {
            let len = std::mem::replace(&mut lens[index], total);
            total += len;
        }
    }
    (part_lens, total as usize)
}

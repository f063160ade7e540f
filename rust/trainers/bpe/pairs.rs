//! The pairs that can still win, with their counts and the places where they occur.

use std::ops::Range;

use super::arena::Arena;
use super::neighbours::{Tally, UNPLACED};
use super::tokens::Tokens;
use crate::Result;
use crate::structures::flat_map::FlatMap;
use crate::structures::progress::OnProgress;
use crate::structures::workers::{METER_EVERY, Meter, run_parts};

const STAGE: &str = "count pairs";

/// A pair above the threshold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// The two ids.
    pub(super) left: u32,
    /// The two ids.
    pub(super) right: u32,
    /// How often the pair occurs.
    pub(super) count: u64,
    // Its part of all places.
    start: usize,
    len: u32,
}

/// How often one pair occurs, while counting.
#[derive(Clone, Copy, Debug, Default)]
struct PairCount {
    weight: u64,
    occurrences: u32,
}

type Counts = FlatMap<PairCount>;

/// All pairs counted at least `threshold` times; the others are not looked at until the table is built anew.
#[derive(Debug)]
pub(super) struct PairTable {
    threshold: u64,
    max_token_length: u64,
    by_ids: FlatMap<u32>,
    pairs: Vec<Pair>,
    // Positions of left tokens, ascending for each pair; a pair may have gone from them.
    places: Vec<u32>,
}

#[inline]
fn key(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

#[inline]
fn ids(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}

/// Whether two tokens may join. As Hugging Face's, the limit is exclusive and spares pairs of single characters.
#[inline]
fn may_join(tokens: &Tokens, left: u32, right: u32, max_token_length: u64) -> bool {
    let length = u64::from(tokens.length(left)) + u64::from(tokens.length(right));
    length < max_token_length || length == 2
}

impl PairTable {
    /// Counts all pairs of a compact arena and keeps those that reach the threshold, which `choose` sets from all counts.
    pub(super) fn build(
        arena: &Arena,
        tokens: &Tokens,
        max_token_length: Option<usize>,
        choose: impl FnOnce(&mut Vec<u64>) -> u64,
        threads: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<Self> {
        let max_token_length = max_token_length.map_or(u64::MAX, |length| length as u64);
        let parts = parts_of(arena.len() - 1, threads);
        let total = 2 * arena.len() as u64;
        let counted = run_parts(STAGE, total, parts.clone(), on_progress, |part, meter| {
            count(arena, part, meter)
        })?;
        let summed = sum(&counted);
        let all = summed.as_ref().unwrap_or(&counted[0]);
        let mut candidates: Vec<(u64, u64)> =
            all.iter().map(|(key, count)| (key, count.weight)).collect();
        candidates.retain(|&(key, _)| may_join(tokens, ids(key).0, ids(key).1, max_token_length));
        let threshold = choose(&mut candidates.iter().map(|&(_, weight)| weight).collect());
        candidates.retain(|&(_, weight)| weight >= threshold);

        let mut by_ids = FlatMap::with_capacity(candidates.len());
        for ((key, _), index) in candidates.iter().zip(0..) {
            *by_ids.entry(*key) = index;
        }
        let lens = |counts: &Counts| -> Vec<u32> {
            candidates
                .iter()
                .map(|&(key, _)| counts.get(key).map_or(0, |count| count.occurrences))
                .collect()
        };
        let part_lens: Vec<Vec<u32>> = counted.iter().map(lens).collect();
        drop((summed, counted));
        let listed = run_parts(
            STAGE,
            total,
            parts.into_iter().zip(&part_lens).collect(),
            on_progress,
            |part, meter| list_places(arena, part.0, part.1, &by_ids, meter),
        )?;
        let (places, lens) = interleave(listed, part_lens);
        let mut start = 0;
        let pairs = candidates.iter().zip(&lens).map(|(&(key, count), &len)| {
            let (left, right) = ids(key);
            start += len as usize;
            Pair {
                left,
                right,
                count,
                start: start - len as usize,
                len,
            }
        });
        Ok(Self {
            threshold,
            max_token_length,
            pairs: pairs.collect(),
            by_ids,
            places,
        })
    }

    /// The least count that is tracked.
    pub(super) fn threshold(&self) -> u64 {
        self.threshold
    }

    /// Number of pairs tracked so far.
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// A tracked pair.
    #[inline]
    pub(super) fn get(&self, index: u32) -> Pair {
        self.pairs[index as usize]
    }

    /// The count of a tracked pair, 0 if it is below the threshold.
    #[inline]
    pub(super) fn live_count(&self, index: u32) -> u64 {
        let count = self.pairs[index as usize].count;
        if count < self.threshold { 0 } else { count }
    }

    /// The places of a tracked pair, dead ones among them.
    pub(super) fn places(&self, index: u32) -> &[u32] {
        let pair = self.pairs[index as usize];
        &self.places[pair.start..pair.start + pair.len as usize]
    }

    /// The first place where the pair still is; forgets the dead ones before it.
    pub(super) fn first_place(&mut self, index: u32, arena: &Arena) -> Option<u32> {
        let pair = self.get(index);
        let dead = self
            .places(index)
            .iter()
            .take_while(|&&at| !arena.holds_pair(at, pair.left, pair.right))
            .count();
        let pair = &mut self.pairs[index as usize];
        pair.start += dead;
        pair.len -= dead as u32;
        self.places(index).first().copied()
    }

    /// Takes `weight` off a pair's count, if it is tracked.
    #[inline]
    pub(super) fn lower(&mut self, left: u32, right: u32, weight: u64) {
        if let Some(index) = self.by_ids.get(key(left, right)) {
            self.pairs[index as usize].count -= weight;
        }
    }

    /// Ends a pair that has been merged.
    pub(super) fn retire(&mut self, index: u32) {
        self.pairs[index as usize].count = 0;
    }

    /// Where places of pairs opened from now on will start.
    pub(super) fn next_place(&self) -> usize {
        self.places.len()
    }

    /// Tracks a new pair if it reaches the threshold; returns where its places go, counted from `base`.
    #[inline]
    pub(super) fn open(
        &mut self,
        left: u32,
        right: u32,
        tally: Tally,
        tokens: &Tokens,
        base: usize,
    ) -> u32 {
        if tally.weight < self.threshold || !may_join(tokens, left, right, self.max_token_length) {
            return UNPLACED;
        }
        let start = self.places.len();
        *self.by_ids.entry(key(left, right)) = self.pairs.len() as u32;
        self.pairs.push(Pair {
            left,
            right,
            count: tally.weight,
            start,
            len: tally.occurrences,
        });
        self.places.resize(start + tally.occurrences as usize, 0);
        (start - base) as u32
    }

    /// The places from `base` on, to be filled.
    pub(super) fn places_from(&mut self, base: usize) -> &mut [u32] {
        &mut self.places[base..]
    }
}

/// About equal ranges of cells.
fn parts_of(cells: usize, threads: usize) -> Vec<Range<usize>> {
    let share = (cells / threads.max(1) + 1).max(METER_EVERY);
    (0..cells.max(1))
        .step_by(share)
        .map(|start| start..(start + share).min(cells))
        .collect()
}

/// Visits the pairs of a range for as long as the result is wanted.
#[inline]
fn visit(
    arena: &Arena,
    part: Range<usize>,
    meter: &Meter,
    mut each: impl FnMut(u32, u32, u32, u64),
) {
    for start in part.clone().step_by(METER_EVERY) {
        let end = (start + METER_EVERY).min(part.end);
        arena.for_each_pair(start..end, &mut each);
        if !meter.add(end - start) {
            return;
        }
    }
}

fn count(arena: &Arena, part: Range<usize>, meter: &Meter) -> Counts {
    let mut counts = Counts::with_capacity(1 << 10);
    visit(arena, part, meter, |left, right, _, weight| {
        let count = counts.entry(key(left, right));
        count.weight += weight;
        count.occurrences += 1;
    });
    counts
}

/// The sum of several counts; `None` if there is only one.
fn sum(counted: &[Counts]) -> Option<Counts> {
    let (first, rest) = counted.split_first()?;
    if rest.is_empty() {
        return None;
    }
    let mut summed = first.clone();
    for (key, count) in rest.iter().flat_map(Counts::iter) {
        let entry = summed.entry(key);
        entry.weight += count.weight;
        entry.occurrences += count.occurrences;
    }
    Some(summed)
}

/// The places of all tracked pairs in a range, pair by pair.
fn list_places(
    arena: &Arena,
    part: Range<usize>,
    lens: &[u32],
    by_ids: &FlatMap<u32>,
    meter: &Meter,
) -> Vec<u32> {
    let mut total = 0;
    let mut next: Vec<usize> = Vec::with_capacity(lens.len());
    for &len in lens {
        next.push(total);
        total += len as usize;
    }
    let mut places = vec![0; total];
    visit(arena, part, meter, |left, right, position, _| {
        if let Some(index) = by_ids.get(key(left, right)) {
            let next = &mut next[index as usize];
            places[*next] = position;
            *next += 1;
        }
    });
    places
}

/// Joins the parts' lists pair by pair, earlier parts first; returns them with their lengths.
fn interleave(mut listed: Vec<Vec<u32>>, mut part_lens: Vec<Vec<u32>>) -> (Vec<u32>, Vec<u32>) {
    if let ([places], [lens]) = (&mut listed[..], &mut part_lens[..]) {
        return (std::mem::take(places), std::mem::take(lens));
    }
    let mut places = Vec::with_capacity(listed.iter().map(Vec::len).sum());
    let mut starts = vec![0; listed.len()];
    let mut lens = Vec::with_capacity(part_lens[0].len());
    for index in 0..part_lens[0].len() {
        let before = places.len();
        for ((part, part_lens), start) in listed.iter().zip(&part_lens).zip(&mut starts) {
            let end = *start + part_lens[index] as usize;
            places.extend_from_slice(&part[*start..end]);
            *start = end;
        }
        lens.push((places.len() - before) as u32);
    }
    (places, lens)
}

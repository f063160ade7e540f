//! Counting pairs from scratch at the start of each threshold.
//!
//! With few ids, one pass counts all pairs exactly. With more, a first pass sums counts in a sketch, from which the
//! threshold follows; a second one counts exactly the pairs that can reach the threshold. A last pass lists their positions.

use std::ops::Range;

use std::sync::atomic::{AtomicU32, Ordering};

use super::arena::Arena;
use super::pair_key::{ids, key};
use super::pair_stats::{self, Counts, DenseCounts, ExactCounts, PairCount, PairStats};
use super::pairs::{LengthLimit, PairTable};
use super::sketch::{Filter, Hash, Sketch};
use super::text_limit::TextLimit;
use super::tokens::Tokens;
use crate::Result;
use crate::structures::flat_map::FlatMap;
use crate::structures::huge_pages;
use crate::structures::parallel::OnProgress;
use crate::structures::parallel::{METER_EVERY, Meter, run_parts};

const STAGE: &str = "count pairs";

/// Initial capacity of the count tables.
const FIRST_PAIRS: usize = 1 << 10;

/// The input of a recount.
#[derive(Clone, Copy)]
pub(super) struct Counter<'a> {
    /// The words; the arena is compact.
    pub(super) arena: &'a Arena,
    /// The vocabulary so far.
    pub(super) tokens: &'a Tokens,
    /// Which pairs may be merged.
    pub(super) length_limit: LengthLimit,
    /// Which of these may be merged by their texts.
    pub(super) text_limit: &'a TextLimit,
    /// How many threads count.
    pub(super) threads: usize,
    /// Pairs of more ids are counted in a sketch first; also where [`pair_stats::fit_densely`] says so.
    pub(super) dense_ids: usize,
}

impl Counter<'_> {
    /// Ranges of cells of about the same length, one for each thread.
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

    /// Visits the pairs of a range, until the meter stops.
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

    /// True if pairs are counted in matrices.
    fn is_dense(self) -> bool {
        let ids = self.tokens.len();
        ids <= self.dense_ids && pair_stats::fit_densely(ids, self.arena.len(), self.threads)
    }

    /// Counts or sketches all pairs.
    pub(super) fn pair_stats(self, on_progress: &mut OnProgress<'_>) -> Result<PairStats> {
        if self.is_dense() {
            Ok(PairStats::Exact(ExactCounts::new(self.count_all(on_progress)?)))
        } else {
            self.sketch(on_progress).map(PairStats::Sketch)
        }
    }

    fn count_all(self, on_progress: &mut OnProgress<'_>) -> Result<Vec<Counts>> {
        self.run(self.parts(), on_progress, |part, meter| {
            let mut dense_counts: DenseCounts<PairCount> = DenseCounts::new(self.tokens.len());
            self.visit(part, meter, |key, _, weight| dense_counts.get_mut(key).add(weight));
            let mut counts = Counts::with_capacity(FIRST_PAIRS);
            for (key, count) in dense_counts.iter().filter(|(_, count)| count.occurrences > 0) {
                *counts.entry(key) = count;
            }
            counts
        })
    }

    fn sketch(self, on_progress: &mut OnProgress<'_>) -> Result<Sketch> {
        let sketches = self.run(self.parts(), on_progress, |part, meter| {
            let mut sketch = Sketch::new(self.hash());
            self.visit(part, meter, |key, _, weight| sketch.add(key, weight));
            sketch
        })?;
        let mut sketches = sketches.into_iter();
        let mut sum = sketches.next().unwrap_or_else(|| Sketch::new(self.hash()));
        sketches.for_each(|other| sum.add_all(&other));
        Ok(sum)
    }

    fn hash(self) -> Hash {
        Hash::new(self.tokens.len(), self.arena.len())
    }

    fn count_filtered(self, filter: &Filter, on_progress: &mut OnProgress<'_>) -> Result<Vec<Counts>> {
        self.run(self.parts(), on_progress, |part, meter| {
            let mut counts = Counts::with_capacity(FIRST_PAIRS);
            self.visit(part, meter, |key, _, weight| {
                if filter.may_hold(key) {
                    counts.entry(key).add(weight);
                }
            });
            counts
        })
    }

    /// Builds the table of all pairs that reach `threshold`, or a higher one if they have more than `most` positions.
    ///
    /// The most frequent pairs are in the table in any case.
    pub(super) fn table(
        self,
        pair_stats: PairStats,
        threshold: u64,
        most: usize,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<PairTable> {
        let ExactCounts { parts, sums: mut pairs } = match pair_stats {
            PairStats::Exact(counted) => counted,
            PairStats::Sketch(sketch) => {
                ExactCounts::new(self.count_filtered(&sketch.filter(threshold), on_progress)?)
            }
        };
        pairs.retain(|&(_, weight, _)| weight >= threshold);
        self.drop_forbidden(&mut pairs)?;
        let raised = raised(&pairs, most);
        let threshold = raised.max(threshold);
        pairs.retain(|&(_, weight, _)| weight >= threshold);
        let part_lens: Vec<Vec<u32>> = parts.iter().map(|counts| lens(counts, &pairs)).collect();
        drop(parts);
        let mut by_ids = FlatMap::with_capacity(pairs.len());
        for (&(key, ..), index) in pairs.iter().zip(0..) {
            *by_ids.entry(key) = index;
        }
        let (starts, total) = starts(part_lens);
        // Room for the positions of pairs that merges create; untouched memory costs nothing.
        let mut places = huge_pages::vec_zeroed(total + total / 2);
        places.truncate(total);
        // No copy: an atomic integer has the layout of the integer.
        let places: Vec<_> = places.into_iter().map(AtomicU32::new).collect();
        let parts = self.parts().into_iter().zip(starts).collect();
        if self.is_dense() {
            let mut dense_counts = DenseCounts::new(self.tokens.len());
            for (&(key, ..), index) in pairs.iter().zip(0..) {
                *dense_counts.get_mut(key) = Some(index);
            }
            let index_of = |key| dense_counts.get(key);
            self.list(parts, &places, index_of, on_progress)?;
        } else {
            let mut filter = Filter::new(self.hash());
            for &(key, ..) in &pairs {
                filter.add(key);
            }
            let index_of = |key| if filter.may_hold(key) { by_ids.get(key) } else { None };
            self.list(parts, &places, index_of, on_progress)?;
        }
        let places = places.into_iter().map(AtomicU32::into_inner).collect();
        let text_limit = self.text_limit.clone();
        Ok(PairTable::new(threshold, self.length_limit, text_limit, by_ids, &pairs, places))
    }

    /// Removes the counted pairs (key, count, occurrences) that may not be merged by their texts.
    fn drop_forbidden(self, pairs: &mut Vec<(u64, u64, u32)>) -> Result<()> {
        if self.text_limit.allows_all() {
            return Ok(());
        }
        let mut outcome = Ok(());
        pairs.retain(|&(key, ..)| {
            let (left, right) = ids(key);
            outcome.is_ok()
                && self.text_limit.allows(self.tokens, left, right).unwrap_or_else(|error| {
                    outcome = Err(error);
                    false
                })
        });
        outcome
    }

    /// Writes the positions of all tracked pairs; `parts` tell where each part starts to write for each pair.
    ///
    /// No two threads write to the same index, so relaxed atomic stores suffice.
    fn list(
        self,
        parts: Vec<(Range<usize>, Vec<u32>)>,
        places: &[AtomicU32],
        index_of: impl Fn(u64) -> Option<u32> + Sync,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<()> {
        self.run(parts, on_progress, |(part, mut next), meter| {
            self.visit(part, meter, |key, position, _| {
                if let Some(index) = index_of(key) {
                    let next = &mut next[index as usize];
                    places[*next as usize].store(position, Ordering::Relaxed);
                    *next += 1;
                }
            });
        })?;
        Ok(())
    }
}

/// The least threshold that leaves at most `most` positions, or else only the most frequent pairs; 0 if all pairs may stay.
fn raised(pairs: &[(u64, u64, u32)], most: usize) -> u64 {
    let total: usize = pairs.iter().map(|&(.., occurrences)| occurrences as usize).sum();
    if total <= most {
        return 0;
    }
    let mut by_weight: Vec<(u64, u32)> =
        pairs.iter().map(|&(_, weight, occurrences)| (weight, occurrences)).collect();
    by_weight.sort_unstable_by(|one, other| other.cmp(one));
    let mut places = 0;
    let mut threshold = by_weight.first().map_or(0, |&(weight, _)| weight);
    for equals in by_weight.chunk_by(|one, other| one.0 == other.0) {
        places += equals.iter().map(|&(_, occurrences)| occurrences as usize).sum::<usize>();
        if places > most {
            break;
        }
        threshold = equals[0].0;
    }
    threshold
}

/// How many positions each pair has in one part.
fn lens(counts: &Counts, pairs: &[(u64, u64, u32)]) -> Vec<u32> {
    pairs.iter().map(|&(key, ..)| counts.get(key).map_or(0, |count| count.occurrences)).collect()
}

/// Where each part starts to write the positions of each pair, and the number of all positions.
///
/// Positions lie pair by pair, and the positions of one pair lie in the order of the parts.
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

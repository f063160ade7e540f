//! Statistics of all pairs, from which the next threshold is chosen.

use super::pair_key::{ids, key};
use super::sketch::Sketch;
use crate::structures::flat_map::FlatMap;
use crate::structures::huge_pages::vec_mapped_filled;

/// The most ids for a dense matrix of all pairs on any number of threads: its 4 MB are as fast to reach as a sketch.
const DENSE_IDS: usize = 512;

/// The most ids for dense matrices of 16 MB. Matrices spare a pass over the words, so these need many words.
const MOST_DENSE_IDS: usize = 1024;

/// The most threads that have a matrix of 16 MB each.
const MOST_DENSE_THREADS: usize = 4;

/// Cells of the words for each value of a matrix of more than 4 MB.
const CELLS_PER_VALUE: usize = 4;

/// True if `ids` ids in `cells` cells are few enough for [`DenseCounts`] on each of `threads` threads.
pub(super) fn fit_densely(ids: usize, cells: usize, threads: usize) -> bool {
    let fit_largest =
        ids <= MOST_DENSE_IDS && threads <= MOST_DENSE_THREADS && ids * ids * CELLS_PER_VALUE <= cells;
    ids <= DENSE_IDS || fit_largest
}

/// How often one pair occurs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PairCount {
    /// Weighted by the words' counts.
    pub(super) weight: u64,
    /// In distinct words.
    pub(super) occurrences: u32,
}

impl PairCount {
    /// Counts an occurrence in a word of the count `weight`.
    #[inline]
    pub(super) fn add(&mut self, weight: u64) {
        self.weight += weight;
        self.occurrences += 1;
    }
}

/// Counts of pairs, by key.
pub(super) type Counts = FlatMap<PairCount>;

/// A matrix with a value for each pair of a few ids.
#[derive(Debug)]
pub(super) struct DenseCounts<V> {
    side: usize,
    values: Vec<V>,
}

impl<V: Copy + Default> DenseCounts<V> {
    /// Default values for the pairs of `ids` ids.
    pub(super) fn new(ids: usize) -> Self {
        // Threads may keep small memory for later, but large memory returns to the system.
        let values = if ids <= DENSE_IDS {
            vec![V::default(); ids * ids]
        } else {
            vec_mapped_filled(V::default(), ids * ids)
        };
        Self { side: ids, values }
    }

    /// The value of a pair.
    #[inline]
    pub(super) fn get(&self, key: u64) -> V {
        let (left, right) = ids(key);
        self.values[left as usize * self.side + right as usize]
    }

    /// The value of a pair, mutable.
    #[inline]
    pub(super) fn get_mut(&mut self, key: u64) -> &mut V {
        let (left, right) = ids(key);
        &mut self.values[left as usize * self.side + right as usize]
    }

    /// All pairs with their values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, V)> + '_ {
        let side = self.side as u32;
        let keys = (0..side).flat_map(move |left| (0..side).map(move |right| key(left, right)));
        keys.zip(self.values.iter().copied())
    }
}

/// Exact counts of pairs.
#[derive(Debug)]
pub(super) struct ExactCounts {
    /// The counts of each part of the words.
    pub(super) parts: Vec<Counts>,
    /// Keys of pairs with their counts and occurrences, summed over all parts.
    pub(super) sums: Vec<(u64, u64, u32)>,
}

impl ExactCounts {
    /// Sums the counts of all parts.
    pub(super) fn new(parts: Vec<Counts>) -> Self {
        let flat = |(key, count): (u64, PairCount)| (key, count.weight, count.occurrences);
        let sums = if let [counts] = &parts[..] {
            counts.iter().map(flat).collect()
        } else {
            let mut summed = Counts::with_capacity(parts.first().map_or(0, Counts::len));
            for (key, count) in parts.iter().flat_map(Counts::iter) {
                let entry = summed.entry(key);
                entry.weight += count.weight;
                entry.occurrences += count.occurrences;
            }
            summed.iter().map(flat).collect()
        };
        Self { parts, sums }
    }

    fn weights(&self) -> impl Iterator<Item = u64> + '_ {
        self.sums.iter().map(|&(_, weight, _)| weight)
    }
}

/// Counts of all pairs before the threshold is chosen.
#[derive(Debug)]
pub(super) enum PairStats {
    /// Exact counts.
    Exact(ExactCounts),
    /// Upper bounds, rarely far above the counts.
    Sketch(Sketch),
}

impl PairStats {
    /// The highest count.
    pub(super) fn highest(&self) -> u64 {
        match self {
            Self::Exact(counted) => counted.weights().max().unwrap_or(0),
            Self::Sketch(sketch) => sketch.highest(),
        }
    }

    /// The count at index `rank` in descending order; 0 if there are too few pairs.
    pub(super) fn nth_highest(&self, rank: usize) -> u64 {
        match self {
            Self::Exact(counted) => {
                let mut weights: Vec<u64> = counted.weights().collect();
                weights.sort_unstable_by(|one, other| other.cmp(one));
                weights.get(rank).copied().unwrap_or(0)
            }
            Self::Sketch(sketch) => sketch.nth_highest(rank),
        }
    }
}

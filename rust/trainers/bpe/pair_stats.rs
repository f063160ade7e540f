//! Statistics of all pairs, from which the next threshold is chosen.

use super::pairs::{ids, key};
use super::sketch::Sketch;
use crate::structures::flat_map::FlatMap;

/// The most ids for a dense matrix of all pairs; its 4 MB are as fast to reach as a sketch.
const DENSE_IDS: usize = 512;

/// Whether `ids` ids are few enough for [`DenseCounts`].
pub(super) fn fit_densely(ids: usize) -> bool {
    ids <= DENSE_IDS
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
        Self { side: ids, values: vec![V::default(); ids * ids] }
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

/// Counts of all pairs before the threshold is chosen.
#[derive(Debug)]
pub(super) enum PairStats {
    /// Exact counts, for each part of the words.
    Exact(Vec<Counts>),
    /// Upper bounds, rarely far above the counts.
    Sketch(Sketch),
}

impl PairStats {
    /// The highest count.
    pub(super) fn highest(&self) -> u64 {
        match self {
            Self::Exact(parts) => sum(parts).into_iter().map(|(_, weight, _)| weight).max().unwrap_or(0),
            Self::Sketch(sketch) => sketch.highest(),
        }
    }

    /// The count at index `rank` in descending order; 0 if there are too few pairs.
    pub(super) fn nth_highest(&self, rank: usize) -> u64 {
        match self {
            Self::Exact(parts) => {
                let mut weights: Vec<u64> = sum(parts).into_iter().map(|(_, weight, _)| weight).collect();
                weights.sort_unstable_by(|one, other| other.cmp(one));
                weights.get(rank).copied().unwrap_or(0)
            }
            Self::Sketch(sketch) => sketch.nth_highest(rank),
        }
    }
}

/// Keys of pairs with their counts and occurrences, summed over all parts.
pub(super) fn sum(counted: &[Counts]) -> Vec<(u64, u64, u32)> {
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

//! Hash table of merges: from a pair of neighbouring ids to the rank of their merge and the id that it makes.

use crate::structures::huge_pages::vec_filled;
use crate::structures::prefetch::prefetch;

/// Open addressing with linear probing, keyed by `(left, right)`; read-only after construction, 16 bytes a slot.
///
/// Most pairs that are looked up do not merge. A blocked Bloom filter answers nearly all of these without reading the table,
/// which is too large for the second-level cache: two bits for each pair, one word of 64 bits for every four pairs.
#[derive(Clone, Debug)]
pub struct PairTable {
    slots: Vec<(u64, u64)>,
    shift: u32,
    filter: Vec<u64>,
    filter_shift: u32,
}

/// The most pairs for each word of the filter.
const PAIRS_PER_WORD: usize = 4;

/// Key of an empty slot. A pair may have the same key, so a slot is empty if nothing merges there.
const EMPTY: u64 = u64::MAX;

/// The answer of [`PairTable::merge`] for a pair that does not merge; it sorts after every merge, and no rank is as high.
pub(super) const NO_MERGE: u64 = u64::MAX;

/// The rank in a packed merge.
pub(super) fn rank_of(merge: u64) -> u32 {
    (merge >> 32) as u32
}

/// The id in a packed merge: the id of the token that the merge makes.
pub(super) fn id_of(merge: u64) -> u32 {
    merge as u32
}

fn key((left, right): (u32, u32)) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// Fibonacci hashing: the upper bits of the product depend on all bits of both ids.
fn hash(key: u64) -> u64 {
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

impl PairTable {
    /// Builds the table; the rank of a pair is its index, the later one if it is listed twice.
    pub fn new(pairs: impl ExactSizeIterator<Item = ((u32, u32), u32)>) -> Self {
        // Load factor up to 4/5: fitting into the second-level cache is worth a few more probes.
        let capacity = pairs.len() * 5 / 4 + 1;
        Self::with_capacity(pairs, capacity)
    }

    /// As [`Self::new`], for few pairs of which many are looked up: in eight times as many slots, nearly all are found at the first probe.
    pub fn sparse(pairs: impl ExactSizeIterator<Item = ((u32, u32), u32)>) -> Self {
        let capacity = pairs.len() * 8;
        Self::with_capacity(pairs, capacity)
    }

    fn with_capacity(pairs: impl ExactSizeIterator<Item = ((u32, u32), u32)>, capacity: usize) -> Self {
        let capacity = capacity.next_power_of_two().max(2);
        let words = (pairs.len() / PAIRS_PER_WORD + 1).next_power_of_two().max(2);
        let mut table = Self {
            slots: vec_filled((EMPTY, NO_MERGE), capacity),
            shift: 64 - capacity.trailing_zeros(),
            filter: vec![0; words],
            filter_shift: 64 - words.trailing_zeros(),
        };
        for (rank, (pair, id)) in (0u64..).zip(pairs) {
            let hash = hash(key(pair));
            let (word, bits) = table.filter_place(hash);
            table.filter[word] |= bits;
            let slot = table.slot(key(pair), hash);
            table.slots[slot] = (key(pair), rank << 32 | u64::from(id));
        }
        table
    }

    /// The word of the filter, and the bits in it that are set if the pair merges.
    fn filter_place(&self, hash: u64) -> (usize, u64) {
        ((hash >> self.filter_shift) as usize, 1 << (hash >> 32 & 63) | 1 << (hash >> 26 & 63))
    }

    fn slot(&self, key: u64, hash: u64) -> usize {
        let mut slot = (hash >> self.shift) as usize;
        while self.slots[slot].0 != key && self.slots[slot].1 != NO_MERGE {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }

    /// The merge of a pair as `rank << 32 | id`, or [`NO_MERGE`].
    #[inline]
    pub(super) fn merge(&self, left: u32, right: u32) -> u64 {
        let key = key((left, right));
        let hash = hash(key);
        let (word, bits) = self.filter_place(hash);
        if self.filter[word] & bits == bits { self.slots[self.slot(key, hash)].1 } else { NO_MERGE }
    }

    /// The merges of two pairs, as two calls of [`Self::merge`], but the first slot of both is on its way before either is read: a new
    /// symbol is looked up with both neighbours, and each lookup alone would wait for memory.
    #[inline]
    pub(super) fn merge_both(&self, pairs: [(u32, u32); 2]) -> [u64; 2] {
        let lookups = pairs.map(|pair| {
            let key = key(pair);
            let hash = hash(key);
            prefetch(&self.slots, (hash >> self.shift) as usize);
            let (word, bits) = self.filter_place(hash);
            (key, hash, self.filter[word] & bits == bits)
        });
        lookups.map(
            |(key, hash, may_merge)| if may_merge { self.slots[self.slot(key, hash)].1 } else { NO_MERGE },
        )
    }

    /// The rank of a pair's merge.
    pub fn rank(&self, pair: (u32, u32)) -> Option<u32> {
        let merge = self.merge(pair.0, pair.1);
        (merge != NO_MERGE).then(|| rank_of(merge))
    }

    /// The id of the token that a pair makes.
    pub fn made_id(&self, pair: (u32, u32)) -> Option<u32> {
        let merge = self.merge(pair.0, pair.1);
        (merge != NO_MERGE).then(|| id_of(merge))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pair_table_matches_naive(
            pairs in prop::collection::vec(((0..40u32, 0..40u32), 0..100u32), 0..300),
            far in prop::collection::vec(((any::<u32>(), any::<u32>()), 0..100u32), 0..50),
        ) {
            let pairs: Vec<((u32, u32), u32)> = pairs.into_iter().chain(far).collect();
            let mut naive = HashMap::new();
            for (rank, &(pair, id)) in (0u32..).zip(&pairs) {
                naive.insert(pair, (rank, id));
            }
            for table in [PairTable::new(pairs.iter().copied()), PairTable::sparse(pairs.iter().copied())] {
                for pair in (0..40).flat_map(|left| (0..40).map(move |right| (left, right))) {
                    let found = table.rank(pair).zip(table.made_id(pair));
                    prop_assert_eq!(found, naive.get(&pair).copied());
                }
                for both in pairs.windows(2).map(|both| [both[0].0, (both[1].0.0, both[0].0.1)]) {
                    let naive = both.map(|(left, right)| table.merge(left, right));
                    prop_assert_eq!(table.merge_both(both), naive);
                }
                for &(pair, _) in &pairs {
                    prop_assert_eq!(table.rank(pair).zip(table.made_id(pair)), naive.get(&pair).copied());
                }
            }
        }
    }

    #[test]
    fn finds_every_pair_and_no_other() {
        let pairs = (0..1000u32).map(|i| ((i, i * 7), i + 5000)).collect::<Vec<_>>();
        let table = PairTable::new(pairs.iter().copied());
        for (rank, &(pair, id)) in (0u32..).zip(&pairs) {
            assert_eq!((table.rank(pair), table.made_id(pair)), (Some(rank), Some(id)));
            assert_eq!(table.rank((pair.0, pair.1 + 1)), None);
        }
    }

    #[test]
    fn the_largest_id_merges_with_itself_alone() {
        let last = (u32::MAX, u32::MAX);
        let pairs = (0..100u32).map(|i| ((i, i), i + 500));
        let all: Vec<_> = std::iter::once((last, 7)).chain(pairs).collect();
        let table = PairTable::new(all.into_iter());
        assert_eq!((table.rank(last), table.made_id(last)), (Some(0), Some(7)));
        assert!((0..100).all(|i| table.made_id((i, i)) == Some(i + 500)));
        assert!((0..100_000).all(|i| table.rank((i, u32::MAX)).is_none()));
    }

    #[test]
    fn a_repeated_pair_takes_its_later_rank() {
        let table = PairTable::new([((1, 2), 9), ((3, 4), 8), ((1, 2), 9)].into_iter());
        assert_eq!(table.rank((1, 2)), Some(2));
    }
}

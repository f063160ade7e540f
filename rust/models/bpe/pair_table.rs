//! From a pair of adjacent ids to its rank and the id it makes.

use crate::structures::huge_pages::vec_filled;

/// Open addressing over `(left, right)`; read-only after construction, 16 bytes a slot.
#[derive(Clone, Debug)]
pub struct PairTable {
    slots: Vec<(u64, u64)>,
    shift: u32,
}

/// No pair of ids reaches this key: ids stay below `u32::MAX`.
const EMPTY: u64 = u64::MAX;

/// What [`PairTable::merge`] answers for a pair that does not merge; it sorts after every merge.
pub(super) const NO_MERGE: u64 = u64::MAX;

/// The rank in a packed merge.
pub(super) fn rank_of(merge: u64) -> u32 {
    (merge >> 32) as u32
}

/// The id that a packed merge makes.
pub(super) fn id_of(merge: u64) -> u32 {
    merge as u32
}

fn key((left, right): (u32, u32)) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

impl PairTable {
    /// The rank of a pair is its place; a pair listed twice takes the later one.
    pub fn new(pairs: impl ExactSizeIterator<Item = ((u32, u32), u32)>) -> Self {
        let capacity = (pairs.len() * 2 + 1).next_power_of_two().max(2);
        let mut table =
            Self { slots: vec_filled((EMPTY, NO_MERGE), capacity), shift: 64 - capacity.trailing_zeros() };
        for (rank, (pair, id)) in (0u64..).zip(pairs) {
            let slot = table.slot(key(pair));
            table.slots[slot] = (key(pair), rank << 32 | u64::from(id));
        }
        table
    }

    fn slot(&self, key: u64) -> usize {
        // Fibonacci hashing: the top bits of the product depend on all bits of both ids.
        let mut slot = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> self.shift) as usize;
        while self.slots[slot].0 != key && self.slots[slot].0 != EMPTY {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }

    /// The merge of a pair as `rank << 32 | id`, or [`NO_MERGE`].
    #[inline]
    pub(super) fn merge(&self, left: u32, right: u32) -> u64 {
        self.slots[self.slot(key((left, right)))].1
    }

    /// The rank of a pair.
    pub fn rank(&self, pair: (u32, u32)) -> Option<u32> {
        let merge = self.merge(pair.0, pair.1);
        (merge != NO_MERGE).then(|| rank_of(merge))
    }

    /// The id that a pair makes.
    pub fn made_id(&self, pair: (u32, u32)) -> Option<u32> {
        let merge = self.merge(pair.0, pair.1);
        (merge != NO_MERGE).then(|| id_of(merge))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_repeated_pair_takes_its_later_rank() {
        let table = PairTable::new([((1, 2), 9), ((3, 4), 8), ((1, 2), 9)].into_iter());
        assert_eq!(table.rank((1, 2)), Some(2));
    }
}

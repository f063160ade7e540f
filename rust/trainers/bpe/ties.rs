//! Ties: the choice among equally frequent pairs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::TieBreak;
use super::arena::Arena;
use super::pairs::PairTable;

impl TieBreak {
    /// The rank of a pair among equals; the lowest is merged first.
    pub(super) fn rank(self, index: u32, pairs: &mut PairTable, arena: &Arena) -> u64 {
        match self {
            Self::SmallestIds => {
                let pair = pairs.get(index);
                u64::from(pair.left) << 32 | u64::from(pair.right)
            }
            Self::FirstSeen => pairs.first_place(index, arena).map_or(u64::MAX, u64::from),
        }
    }
}

/// The pairs of the highest count, best first.
#[derive(Debug)]
pub(super) struct Ties {
    rule: TieBreak,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
}

impl Ties {
    /// No pairs yet.
    pub(super) fn new(rule: TieBreak) -> Self {
        Self { rule, heap: BinaryHeap::new() }
    }

    /// Adds a pair.
    ///
    /// Its rank holds as long as its count does: a pair that keeps its count has lost no occurrence, so its first occurrence is
    /// the same.
    pub(super) fn push(&mut self, index: u32, pairs: &mut PairTable, arena: &Arena) {
        self.heap.push(Reverse((self.rule.rank(index, pairs, arena), index)));
    }

    /// Removes the best pair; its count may have fallen since it was added.
    pub(super) fn pop(&mut self) -> Option<u32> {
        self.heap.pop().map(|Reverse((_, index))| index)
    }

    /// Removes all pairs.
    pub(super) fn clear(&mut self) {
        self.heap.clear();
    }
}

//! Ties: the choice among equally frequent pairs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::TieBreak;
use super::arena::Arena;
use super::pairs::{Pair, PairTable};

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
    // For each token, how many pairs here have it on the left, and how many on the right.
    lefts: Vec<u32>,
    rights: Vec<u32>,
}

impl Ties {
    /// No pairs yet.
    pub(super) fn new(rule: TieBreak) -> Self {
        Self { rule, heap: BinaryHeap::new(), lefts: Vec::new(), rights: Vec::new() }
    }

    /// Adds a pair.
    ///
    /// Its rank holds as long as its count does: a pair that keeps its count has lost no occurrence, so its first occurrence is
    /// the same.
    pub(super) fn push(&mut self, index: u32, pairs: &mut PairTable, arena: &Arena) {
        let Pair { left, right, .. } = pairs.get(index);
        let ids = left.max(right) as usize + 1;
        for (side, token) in [(&mut self.lefts, left), (&mut self.rights, right)] {
            if side.len() < ids {
                side.resize(ids.next_power_of_two(), 0);
            }
            side[token as usize] += 1;
        }
        self.heap.push(Reverse((self.rule.rank(index, pairs, arena), index)));
    }

    /// Removes the best pair; its count may have fallen since it was added.
    pub(super) fn pop(&mut self, pairs: &PairTable) -> Option<u32> {
        let Reverse((_, index)) = self.heap.pop()?;
        let Pair { left, right, .. } = pairs.get(index);
        self.lefts[left as usize] -= 1;
        self.rights[right as usize] -= 1;
        Some(index)
    }

    /// Whether a merge of `pair` takes occurrences from a pair here.
    pub(super) fn suffer_from(&self, pair: Pair) -> bool {
        let held = |side: &[u32], token: u32| side.get(token as usize).is_some_and(|&pairs| pairs > 0);
        held(&self.rights, pair.left) || held(&self.lefts, pair.right)
    }

    /// Removes all pairs.
    pub(super) fn clear(&mut self) {
        self.heap.clear();
        self.lefts.fill(0);
        self.rights.fill(0);
    }
}

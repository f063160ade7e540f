//! Merges in a very long pre-token: a queue of places for each rank instead of one heap for all.
//!
//! Places of one rank are taken from left to right, so memory is walked through and not jumped about in, and what is
//! ordered all the time are no more than the ranks that occur.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use foldhash::fast::FixedState;

use super::PairTable;
use super::pair_table::{NO_MERGE, id_of, rank_of};

const NONE: u32 = u32::MAX;

/// The candidates of one rank.
#[derive(Debug, Default)]
struct Queue {
    /// Places known before the first was taken, in descending order from then on.
    places: Vec<u32>,
    /// Places that came later.
    later: BinaryHeap<Reverse<u32>>,
    is_begun: bool,
}

impl Queue {
    fn push(&mut self, place: u32) {
        if self.is_begun {
            self.later.push(Reverse(place));
        } else {
            self.places.push(place);
        }
    }

    /// The leftmost place.
    fn pop(&mut self) -> Option<u32> {
        if !self.is_begun {
            self.is_begun = true;
            self.places.sort_unstable_by_key(|&place| Reverse(place));
        }
        match (self.places.last(), self.later.peek()) {
            (Some(&place), Some(&Reverse(later))) if later < place => {
                self.later.pop().map(|Reverse(place)| place)
            }
            (Some(_), _) => self.places.pop(),
            (None, _) => self.later.pop().map(|Reverse(place)| place),
        }
    }

    fn is_empty(&self) -> bool {
        self.places.is_empty() && self.later.is_empty()
    }
}

/// Queues by rank, and the ranks whose queues are not empty.
#[derive(Debug, Default)]
struct Queues {
    by_rank: HashMap<u32, Queue, FixedState>,
    ranks: BinaryHeap<Reverse<u32>>,
}

impl Queues {
    fn push(&mut self, rank: u32, place: u32) {
        let queue = self.by_rank.entry(rank).or_default();
        if queue.is_empty() {
            self.ranks.push(Reverse(rank));
        }
        queue.push(place);
    }

    /// The lowest rank and its leftmost place.
    fn pop(&mut self) -> Option<(u32, u32)> {
        let &Reverse(rank) = self.ranks.peek()?;
        let queue = self.by_rank.get_mut(&rank)?;
        let place = queue.pop()?;
        if queue.is_empty() {
            self.ranks.pop();
            self.by_rank.remove(&rank);
        }
        Some((rank, place))
    }
}

/// Merges symbols whose merges with the next ones are `merges`; symbols that were merged away are left with length 0.
pub(super) fn merge_by_rank(pairs: &PairTable, ids: &mut [u32], lens: &mut [u32], merges: &[u64]) {
    let count = ids.len() as u32;
    let mut prev: Vec<u32> = (0..count).map(|at| at.wrapping_sub(1)).collect();
    let mut next: Vec<u32> = (1..=count).collect();
    let mut queues = Queues::default();
    for (place, &merge) in (0u32..).zip(merges).filter(|&(_, &merge)| merge != NO_MERGE) {
        queues.push(rank_of(merge), place);
    }
    while let Some((rank, place)) = queues.pop() {
        let at = place as usize;
        let right = next[at] as usize;
        if lens[at] == 0 || right == ids.len() {
            continue;
        }
        let merge = pairs.merge(ids[at], ids[right]);
        if merge == NO_MERGE || rank_of(merge) != rank {
            continue;
        }
        ids[at] = id_of(merge);
        lens[at] += lens[right];
        lens[right] = 0;
        let after = next[right];
        next[at] = after;
        if let Some(before_after) = prev.get_mut(after as usize) {
            *before_after = place;
            let merge = pairs.merge(ids[at], ids[after as usize]);
            if merge != NO_MERGE {
                queues.push(rank_of(merge), place);
            }
        }
        if prev[at] != NONE {
            let merge = pairs.merge(ids[prev[at] as usize], ids[at]);
            if merge != NO_MERGE {
                queues.push(rank_of(merge), prev[at]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn queues_matches_naive(steps in prop::collection::vec(prop::option::of((0..4u32, 0..20u32)), 0..200)) {
            let (mut queues, mut naive) = (Queues::default(), BTreeMap::<(u32, u32), usize>::new());
            for step in steps {
                if let Some((rank, place)) = step {
                    queues.push(rank, place);
                    *naive.entry((rank, place)).or_default() += 1;
                    continue;
                }
                let first = naive.first_entry().map(|mut entry| {
                    *entry.get_mut() -= 1;
                    if *entry.get() == 0 { entry.remove_entry().0 } else { *entry.key() }
                });
                prop_assert_eq!(queues.pop(), first);
            }
        }
    }
}

//! Candidate merges of a very long pre-token: one queue for each rank, instead of one heap for all.
//!
//! The candidates of one rank are taken from left to right, so memory is read in order instead of at random. Only the
//! ranks that occur are kept in a heap, and these are far fewer than the candidates.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use foldhash::fast::FixedState;

use super::candidates::Candidates;

/// The candidates of one rank.
#[derive(Debug, Default)]
struct Queue {
    /// Places pushed before the first pop, which sorts them in descending order.
    places: Vec<u32>,
    /// Places pushed after the first pop.
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

    /// Removes the leftmost place.
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

/// The queues by rank, and a heap of the ranks whose queues are not empty.
#[derive(Debug, Default)]
pub(super) struct Queues {
    by_rank: HashMap<u32, Queue, FixedState>,
    ranks: BinaryHeap<Reverse<u32>>,
}

impl Candidates for Queues {
    fn push(&mut self, rank: u32, place: u32) {
        let queue = self.by_rank.entry(rank).or_default();
        if queue.is_empty() {
            self.ranks.push(Reverse(rank));
        }
        queue.push(place);
    }

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

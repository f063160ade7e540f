//! Candidate merges of one pre-token: the queue, and a heap for all ranks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::pair_table::rank_of;

/// Queue of candidate merges.
pub(super) trait Candidates {
    /// Adds the candidate of rank `rank` whose left symbol is at `place`.
    fn push(&mut self, rank: u32, place: u32);

    /// Removes the candidate of the lowest rank, the leftmost of equals; returns its rank and place.
    fn pop(&mut self) -> Option<(u32, u32)>;
}

/// One heap for all candidates; dropout skips a candidate until the next merge.
pub(super) struct Heap<'a> {
    pub(super) waiting: &'a mut BinaryHeap<Reverse<u64>>,
    pub(super) skipped: &'a mut Vec<Reverse<u64>>,
    pub(super) dropout: Option<f32>,
    pub(super) random: &'a mut fastrand::Rng,
}

impl Candidates for Heap<'_> {
    fn push(&mut self, rank: u32, place: u32) {
        self.waiting.push(Reverse(u64::from(rank) << 32 | u64::from(place)));
    }

    fn pop(&mut self) -> Option<(u32, u32)> {
        loop {
            let top = self.waiting.pop()?;
            if self.dropout.is_some_and(|dropout| self.random.f32() < dropout) {
                self.skipped.push(top);
                continue;
            }
            self.waiting.extend(self.skipped.drain(..));
            return Some((rank_of(top.0), top.0 as u32));
        }
    }
}

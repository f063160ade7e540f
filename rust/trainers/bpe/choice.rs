//! Which pair is merged next.

use super::TieBreak;
use super::arena::Arena;
use super::likelihood::{Likelihood, Merged};
use super::pairs::PairTable;
use super::ties::Ties;
use crate::structures::bucket_queue::BucketQueue;

/// The rule, and what it remembers of the pairs.
#[derive(Debug)]
pub(super) enum Choice {
    /// The most frequent pair.
    Frequency(Frequency),
    /// The pair whose parts are seldom found apart.
    Likelihood(Likelihood),
}

impl Choice {
    /// Begins with a new table of pairs.
    pub(super) fn start(&mut self, pairs: &mut PairTable, arena: &Arena) {
        match self {
            Self::Frequency(frequency) => frequency.start(pairs),
            Self::Likelihood(likelihood) => likelihood.start(pairs, arena),
        }
    }

    /// The best pair.
    pub(super) fn next(&mut self, pairs: &mut PairTable, arena: &Arena) -> Option<u32> {
        match self {
            Self::Frequency(frequency) => frequency.next(pairs, arena),
            Self::Likelihood(likelihood) => likelihood.next(),
        }
    }

    /// Takes note of a merge, after which the table is up to date.
    pub(super) fn update(&mut self, merged: Merged, pairs: &mut PairTable, arena: &Arena) {
        match self {
            Self::Frequency(frequency) => frequency.update(merged.first_new, pairs, arena),
            Self::Likelihood(likelihood) => likelihood.update(merged, pairs, arena),
        }
    }

    /// Takes note of a merge after which a new table follows.
    pub(super) fn recount(&mut self, merged: Merged) {
        match self {
            Self::Frequency(_) => {}
            Self::Likelihood(likelihood) => likelihood.recount(merged),
        }
    }

    /// Whether pairs of any count may be the best.
    pub(super) fn needs_all_pairs(&self) -> bool {
        matches!(self, Self::Likelihood(_))
    }
}

/// The most frequent pair, ties broken.
#[derive(Debug)]
pub(super) struct Frequency {
    queue: BucketQueue,
    ties: Ties,
    group: Vec<u32>,
}

impl Frequency {
    /// No pairs yet.
    pub(super) fn new(rule: TieBreak) -> Self {
        Self { queue: BucketQueue::new(), ties: Ties::new(rule), group: Vec::new() }
    }

    fn start(&mut self, pairs: &PairTable) {
        self.queue = BucketQueue::new();
        self.ties.clear();
        for index in 0..pairs.len() as u32 {
            self.queue.push(index, pairs.count(index));
        }
    }

    fn next(&mut self, pairs: &mut PairTable, arena: &Arena) -> Option<u32> {
        loop {
            while let Some(index) = self.ties.pop() {
                let count = pairs.live_count(index);
                if count == self.queue.level() {
                    return Some(index);
                }
                if count > 0 {
                    self.queue.push(index, count);
                }
            }
            self.queue.pop_group(|index| pairs.live_count(index), &mut self.group)?;
            for index in self.group.drain(..) {
                self.ties.push(index, pairs, arena);
            }
        }
    }

    fn update(&mut self, first_new: u32, pairs: &mut PairTable, arena: &Arena) {
        for new in first_new..pairs.len() as u32 {
            let count = pairs.count(new);
            if count == self.queue.level() {
                self.ties.push(new, pairs, arena);
            } else {
                self.queue.push(new, count);
            }
        }
    }
}

//! The choice of the next pair to merge: by frequency or by likelihood.

use super::TieBreak;
use super::arena::Arena;
use super::likelihood::{Likelihood, Merged};
use super::pairs::{Pair, PairTable};
use super::ties::Ties;
use crate::structures::bucket_queue::BucketQueue;

/// The rule of the choice, with its state.
#[derive(Debug)]
pub(super) enum Choice {
    /// The most frequent pair.
    Frequency(Frequency),
    /// The pair with the highest count(ab) / (count(a) count(b)).
    Likelihood(Likelihood),
}

impl Choice {
    /// Restarts with a new table of pairs.
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

    /// The pair that will be the best once the pairs in `merged` are merged, if that is certain now; see
    /// [`Frequency::next_beside`].
    pub(super) fn next_beside(
        &mut self,
        merged: &[Pair],
        pairs: &mut PairTable,
        arena: &Arena,
    ) -> Option<u32> {
        match self {
            Self::Frequency(frequency) => frequency.next_beside(merged, pairs, arena),
            Self::Likelihood(_) => None,
        }
    }

    /// Takes back the last pair that was returned.
    pub(super) fn give_back(&mut self, index: u32, pairs: &mut PairTable, arena: &Arena) {
        if let Self::Frequency(frequency) = self {
            frequency.ties.push(index, pairs, arena);
        }
    }

    /// Updates the state after a merge; the table is up to date.
    pub(super) fn update(&mut self, merged: Merged, pairs: &mut PairTable, arena: &Arena) {
        match self {
            Self::Frequency(frequency) => frequency.update(merged.first_new, pairs, arena),
            Self::Likelihood(likelihood) => likelihood.update(merged, pairs, arena),
        }
    }

    /// Updates the state after a merge that makes the table obsolete; [`Self::start`] follows.
    pub(super) fn recount(&mut self, merged: Merged) {
        match self {
            Self::Frequency(_) => {}
            Self::Likelihood(likelihood) => likelihood.recount(merged),
        }
    }

    /// True if a pair of any count may be the best.
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
        self.next_beside(&[], pairs, arena)
    }

    /// The pair that will be the best once the pairs in `merged` are merged, if that is certain now.
    ///
    /// `merged` are the best pairs of this state, in order. None of them joins a token with itself, and each makes a token with a
    /// larger id than all tokens before.
    ///
    /// Merging `a` and `b` takes occurrences only from pairs `x a` and `b y`, and the pairs that it makes, `x ab` and `ab y`, occur
    /// at most as often as these did. So the best pair of those left comes next, unless it is one of these itself. A new pair that
    /// is as frequent comes after it: by ids, since `ab` has the largest id; by first appearance, since `x` keeps its position,
    /// and `ab` starts before the best pair only if `b` does.
    fn next_beside(&mut self, merged: &[Pair], pairs: &mut PairTable, arena: &Arena) -> Option<u32> {
        loop {
            while let Some(index) = self.ties.pop() {
                let count = pairs.live_count(index);
                if count == self.queue.level() {
                    let best = pairs.get(index);
                    if merged.iter().any(|&pair| best.suffers_from(pair)) {
                        self.ties.push(index, pairs, arena);
                        return None;
                    }
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

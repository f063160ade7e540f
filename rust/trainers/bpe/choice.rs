//! Which pair is merged next.

use super::TieBreak;
use super::arena::Arena;
use super::likelihood::{Likelihood, Merged};
use super::pairs::{Pair, PairTable};
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

    /// The pair that will be the best once `merged` are merged, if that is known beforehand; see
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

    /// Takes back the last pair that was handed out.
    pub(super) fn give_back(&mut self, index: u32, pairs: &mut PairTable, arena: &Arena) {
        if let Self::Frequency(frequency) = self {
            frequency.ties.push(index, pairs, arena);
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
        self.next_beside(&[], pairs, arena)
    }

    /// The pair that will be the best once `merged` are merged, if that is known beforehand.
    ///
    /// `merged` are the best pairs of this state, in order, none with the same token twice. Merging `a` and `b` takes
    /// occurrences from pairs that end in `a` or begin with `b` alone, and a new pair has at most as many as one of these had.
    /// So if no pair of the present highest count is one of those for any of `merged`, nothing new reaches that count and
    /// nothing of that count changes. All pairs above it are among `merged`. Pairs whose count has fallen may be taken for
    /// ones of the highest count; then less is known than could be.
    fn next_beside(&mut self, merged: &[Pair], pairs: &mut PairTable, arena: &Arena) -> Option<u32> {
        loop {
            if merged.iter().any(|&pair| self.ties.suffer_from(pair)) {
                return None;
            }
            while let Some(index) = self.ties.pop(pairs) {
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

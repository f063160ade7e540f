//! The tracked pairs, which can still win under the current threshold, with counts and positions.

use super::arena::Arena;
use super::neighbours::{Tally, UNPLACED};
use super::pair_key::{ids, key};
use super::text_limit::TextLimit;
use super::tokens::Tokens;
use crate::structures::flat_map::FlatMap;
use crate::{Error, Result};

/// A tracked pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    /// The left id.
    pub(super) left: u32,
    /// The right id.
    pub(super) right: u32,
    // Its range of the positions.
    start: usize,
    len: u32,
}

impl Pair {
    /// True if merging `other` takes occurrences from this pair.
    pub(super) fn suffers_from(self, other: Self) -> bool {
        self.right == other.left || self.left == other.right
    }
}

/// All pairs that reached `threshold` when they were counted or made; others are ignored until the next recount.
#[derive(Debug)]
pub(super) struct PairTable {
    threshold: u64,
    length_limit: LengthLimit,
    text_limit: TextLimit,
    // The first error of the limit on texts.
    failed: Option<Error>,
    by_ids: FlatMap<u32>,
    pairs: Vec<Pair>,
    // Counts of the pairs in an array of their own: most steps need only these.
    counts: Vec<u64>,
    // Positions of left tokens, ascending for each pair; some are stale, because the pair there has been merged away.
    places: Vec<u32>,
}

/// The limits on the length of merged tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct LengthLimit {
    /// More characters than merged tokens may have.
    pub(super) chars: Option<usize>,
    /// The most words of a merged token.
    pub(super) words: Option<usize>,
}

impl LengthLimit {
    /// True if the tokens may be merged. As in Hugging Face, the limit is exclusive and spares pairs of single characters.
    #[inline]
    pub(super) fn allows(self, tokens: &Tokens, left: u32, right: u32) -> bool {
        let is_short = || {
            let Some(limit) = self.chars else { return true };
            let length = tokens.length(left) as usize + tokens.length(right) as usize;
            length < limit || length == 2
        };
        let has_few_words = || self.words.is_none_or(|limit| tokens.joined_words(left, right) <= limit);
        is_short() && has_few_words()
    }
}

impl PairTable {
    /// A table of counted pairs (key, count, occurrences), whose positions lie in `places` one pair after the other.
    pub(super) fn new(
        threshold: u64,
        length_limit: LengthLimit,
        text_limit: TextLimit,
        by_ids: FlatMap<u32>,
        counted: &[(u64, u64, u32)],
        places: Vec<u32>,
    ) -> Self {
        let mut start = 0;
        let pairs = counted.iter().map(|&(key, _, len)| {
            let (left, right) = ids(key);
            start += len as usize;
            Pair { left, right, start: start - len as usize, len }
        });
        let counts = counted.iter().map(|&(_, count, _)| count).collect();
        let pairs = pairs.collect();
        Self { threshold, length_limit, text_limit, failed: None, pairs, counts, by_ids, places }
    }

    /// The least count that is tracked.
    pub(super) fn threshold(&self) -> u64 {
        self.threshold
    }

    /// Number of pairs tracked so far.
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// The index of a pair that is tracked.
    pub(super) fn find(&self, left: u32, right: u32) -> Option<u32> {
        self.by_ids.get(key(left, right))
    }

    /// A tracked pair.
    #[inline]
    pub(super) fn get(&self, index: u32) -> Pair {
        self.pairs[index as usize]
    }

    /// How often a tracked pair occurs.
    #[inline]
    pub(super) fn count(&self, index: u32) -> u64 {
        self.counts[index as usize]
    }

    /// The count of a tracked pair; 0 if it is below the threshold.
    #[inline]
    pub(super) fn live_count(&self, index: u32) -> u64 {
        let count = self.count(index);
        if count < self.threshold { 0 } else { count }
    }

    /// The positions of a tracked pair, including stale ones.
    pub(super) fn places(&self, index: u32) -> &[u32] {
        let pair = self.pairs[index as usize];
        &self.places[pair.start..pair.start + pair.len as usize]
    }

    /// The first position where the pair still is; drops the stale ones before it.
    pub(super) fn first_place(&mut self, index: u32, arena: &Arena) -> Option<u32> {
        let pair = self.get(index);
        let dead =
            self.places(index).iter().take_while(|&&at| !arena.holds_pair(at, pair.left, pair.right)).count();
        let pair = &mut self.pairs[index as usize];
        pair.start += dead;
        pair.len -= dead as u32;
        self.places(index).first().copied()
    }

    /// Subtracts `weight` from a pair's count, if the pair is tracked.
    #[inline]
    pub(super) fn lower(&mut self, left: u32, right: u32, weight: u64) {
        if let Some(index) = self.by_ids.get(key(left, right)) {
            self.counts[index as usize] -= weight;
        }
    }

    /// Sets the count of a merged pair to 0.
    pub(super) fn retire(&mut self, index: u32) {
        self.counts[index as usize] = 0;
    }

    /// Where the positions of the next new pairs will start.
    pub(super) fn next_place(&self) -> usize {
        self.places.len()
    }

    /// Tracks a new pair if it reaches the threshold; returns where its positions start, relative to `base`.
    #[inline]
    pub(super) fn open(&mut self, left: u32, right: u32, tally: Tally, tokens: &Tokens, base: usize) -> u32 {
        if tally.weight < self.threshold || !self.length_limit.allows(tokens, left, right) {
            return UNPLACED;
        }
        if !self.text_limit.allows_all() && !self.allows_text(tokens, left, right) {
            return UNPLACED;
        }
        let start = self.places.len();
        *self.by_ids.entry(key(left, right)) = self.pairs.len() as u32;
        self.pairs.push(Pair { left, right, start, len: tally.occurrences });
        self.counts.push(tally.weight);
        self.places.resize(start + tally.occurrences as usize, 0);
        (start - base) as u32
    }

    fn allows_text(&mut self, tokens: &Tokens, left: u32, right: u32) -> bool {
        self.text_limit.allows(tokens, left, right).unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            false
        })
    }

    /// The error of a pattern for the pairs that [`Self::open`] was asked to track.
    ///
    /// # Errors
    /// The errors of [`TextLimit::allows`].
    pub(super) fn check(&mut self) -> Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// The positions from `base` on, to be filled.
    pub(super) fn places_from(&mut self, base: usize) -> &mut [u32] {
        &mut self.places[base..]
    }
}

//! Applies merges to the symbols of one pre-token, lowest rank first, equal ranks from left to right.
//!
//! * Short pre-tokens scan an array of ranks for each merge: quadratic, and faster than any queue at this size.
//! * Longer ones keep a binary heap of candidate merges over a linked list of symbols: O(n log n).
//! * Very long ones replace the heap by one queue for each rank ([`super::by_rank`]): O(n log n), with better locality.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::by_rank::Queues;
use super::candidates::{Candidates, Heap};
use super::char_ids::CharPlace;
use super::longest_match::MatchScratch;
use super::pair_table::{NO_MERGE, id_of, rank_of};
use super::sentencepiece::TurnScratch;
use super::{Bpe, ByteSymbols, PairTable};
use crate::models::Tokens;
use crate::structures::reused::reused;

/// Up to this many symbols, scanning for the lowest rank is cheaper than a heap.
const SHORT: usize = 24;

/// Above this many symbols, a heap of all candidates outgrows the near caches.
#[cfg(not(test))]
const LONG: usize = 1 << 14;
#[cfg(test)]
const LONG: usize = 100;

const NONE: u32 = u32::MAX;

/// Buffers that one thread reuses from pre-token to pre-token.
#[derive(Debug)]
pub struct Scratch {
    pub(super) ids: Vec<u32>,
    pub(super) lens: Vec<u32>,
    /// The merge of each symbol with the next one.
    merges: Vec<u64>,
    prev: Vec<u32>,
    next: Vec<u32>,
    heap: BinaryHeap<Reverse<u64>>,
    skipped: Vec<Reverse<u64>>,
    pub(super) random: fastrand::Rng,
    pub(super) matching: MatchScratch,
    pub(super) turns: TurnScratch,
    /// The texts to encode are fragments of pre-tokens, so rules for whole pre-tokens do not apply.
    pub(super) in_context: bool,
}

reused!(Scratch: ids, lens, merges, prev, next, heap, skipped, matching, turns);

impl Default for Scratch {
    fn default() -> Self {
        Self {
            ids: Vec::new(),
            lens: Vec::new(),
            merges: Vec::new(),
            prev: Vec::new(),
            next: Vec::new(),
            heap: BinaryHeap::new(),
            skipped: Vec::new(),
            random: fastrand::Rng::with_seed(0),
            matching: MatchScratch::default(),
            turns: TurnScratch::default(),
            in_context: false,
        }
    }
}

impl Scratch {
    /// Seeds dropout and sampling.
    pub fn seed(&mut self, seed: u64) {
        self.random.seed(seed);
    }

    /// Marks the next texts as fragments of pre-tokens if `in_context`, else as whole pre-tokens.
    pub fn set_in_context(&mut self, in_context: bool) {
        self.in_context = in_context;
    }

    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.lens.clear();
    }

    pub(super) fn push(&mut self, id: u32, len: u32) {
        self.ids.push(id);
        self.lens.push(len);
    }

    /// Pushes one symbol for each byte, and their merges in `pairs`; returns false if a byte has no id.
    pub(super) fn push_byte_symbols(
        &mut self,
        word: &[u8],
        symbols: &ByteSymbols,
        pairs: &PairTable,
    ) -> bool {
        self.ids.extend(word.iter().map(|&byte| symbols.id(byte, CharPlace::INNER)));
        self.lens.resize(word.len(), 1);
        self.merges.clear();
        self.merges.extend(word.windows(2).map(|pair| symbols.merge(pair[0], pair[1])));
        if symbols.has_affixes() {
            self.affix_ends(word, symbols, pairs);
        }
        !self.ids.contains(&NONE)
    }

    /// Gives the first and the last symbol of a pre-token their affixes.
    fn affix_ends(&mut self, word: &[u8], symbols: &ByteSymbols, pairs: &PairTable) {
        let Some(last) = word.len().checked_sub(1) else { return };
        for at in [0, last] {
            self.ids[at] = symbols.id(word[at], CharPlace { is_first: at == 0, is_last: at == last });
        }
        for at in [0, last.saturating_sub(1)] {
            if let [left, right, ..] = self.ids[at..] {
                self.merges[at] = pairs.merge(left, right);
            }
        }
    }
}

impl Bpe {
    /// Merges the symbols in `scratch` and appends the resulting tokens.
    pub(super) fn merge(&self, dropout: Option<f32>, scratch: &mut Scratch, tokens: &mut Tokens) {
        let Scratch { ids, merges, .. } = scratch;
        merges.clear();
        merges.extend(ids.windows(2).map(|pair| self.pairs.merge(pair[0], pair[1])));
        self.merge_started(dropout, scratch, tokens);
    }

    /// As [`Self::merge`], with `scratch.merges` filled already.
    pub(super) fn merge_started(&self, dropout: Option<f32>, scratch: &mut Scratch, tokens: &mut Tokens) {
        let count = scratch.ids.len();
        let Scratch { ids, lens, merges, .. } = scratch;
        if dropout.is_none() && count <= SHORT {
            merge_short(&self.pairs, ids, lens, merges);
        } else if dropout.is_none() && count > LONG {
            merge_by_rank(&self.pairs, scratch);
        } else {
            merge_long(&self.pairs, dropout, scratch);
        }
        for (&id, &len) in scratch.ids.iter().zip(&scratch.lens) {
            if len != 0 {
                tokens.push(id, len);
            }
        }
    }
}

impl Bpe {
    /// The ids that the merges make of the initial `symbols` of a pre-token; as [`Self::encode_word`] without options for whole
    /// pre-tokens, unknown characters or sampling. They replace the content of `tokens`.
    pub fn merge_symbols(
        &self,
        symbols: impl Iterator<Item = u32>,
        scratch: &mut Scratch,
        tokens: &mut Tokens,
    ) {
        scratch.clear();
        tokens.clear();
        symbols.for_each(|id| scratch.push(id, 1));
        self.merge(None, scratch, tokens);
    }

    /// Merges the symbols in `scratch`; calls `on_merge` with the rank and the ids of each merge, and returns the resulting ids.
    pub(super) fn merge_traced(
        &self,
        scratch: &mut Scratch,
        on_merge: impl FnMut(u32, (u32, u32)),
    ) -> Vec<u32> {
        let Scratch { ids, lens, merges, prev, next, heap, skipped, random, .. } = scratch;
        merges.clear();
        merges.extend(ids.windows(2).map(|pair| self.pairs.merge(pair[0], pair[1])));
        heap.clear();
        let mut candidates = Heap { waiting: heap, skipped, dropout: None, random };
        merge_in_turn(&self.pairs, &mut candidates, (ids, lens), merges, (prev, next), on_merge);
        ids.iter().zip(&*lens).filter(|&(_, &len)| len != 0).map(|(&id, _)| id).collect()
    }
}

/// Merges by scanning for the lowest rank; a symbol that was merged into its left neighbour keeps the length 0.
fn merge_short(pairs: &PairTable, ids: &mut [u32], lens: &mut [u32], merges: &mut [u64]) {
    let count = ids.len();
    // Linked list of indices: moving so few symbols together would cost more than scanning over the gaps.
    let mut prev: [u8; SHORT + 1] = std::array::from_fn(|at| (at as u8).wrapping_sub(1));
    let mut next: [u8; SHORT + 1] = std::array::from_fn(|at| at as u8 + 1);
    loop {
        let (mut best, mut at) = (NO_MERGE, 0);
        for (place, &merge) in merges.iter().enumerate() {
            if merge < best {
                (best, at) = (merge, place);
            }
        }
        if best == NO_MERGE {
            return;
        }
        let right = usize::from(next[at]);
        let after = usize::from(next[right]);
        ids[at] = id_of(best);
        lens[at] += lens[right];
        lens[right] = 0;
        next[at] = after as u8;
        prev[after] = at as u8;
        if let Some(gone) = merges.get_mut(right) {
            *gone = NO_MERGE;
        }
        if at == 0 {
            merges[at] = if after < count { pairs.merge(ids[at], ids[after]) } else { NO_MERGE };
            continue;
        }
        let before = usize::from(prev[at]);
        if after < count {
            let both = [(ids[before], ids[at]), (ids[at], ids[after])];
            [merges[before], merges[at]] = pairs.merge_both(both);
        } else {
            merges[before] = pairs.merge(ids[before], ids[at]);
            merges[at] = NO_MERGE;
        }
    }
}

/// Merges with a heap over a linked list; a symbol that was merged into its left neighbour keeps the length 0.
fn merge_long(pairs: &PairTable, dropout: Option<f32>, scratch: &mut Scratch) {
    let Scratch { ids, lens, merges, prev, next, heap, skipped, random, .. } = scratch;
    heap.clear();
    skipped.clear();
    merge_in_turn(
        pairs,
        &mut Heap { waiting: heap, skipped, dropout, random },
        (ids, lens),
        merges,
        (prev, next),
        |_, _| (),
    );
}

/// As [`merge_long`], without dropout, with the queues of [`super::by_rank`].
fn merge_by_rank(pairs: &PairTable, scratch: &mut Scratch) {
    let Scratch { ids, lens, merges, .. } = scratch;
    let links = (&mut Vec::new(), &mut Vec::new());
    merge_in_turn(pairs, &mut Queues::default(), (ids, lens), merges, links, |_, _| ());
}

fn merge_in_turn(
    pairs: &PairTable,
    candidates: &mut impl Candidates,
    (ids, lens): (&mut [u32], &mut [u32]),
    merges: &[u64],
    (prev, next): (&mut Vec<u32>, &mut Vec<u32>),
    mut on_merge: impl FnMut(u32, (u32, u32)),
) {
    let count = ids.len() as u32;
    prev.clear();
    prev.extend((0..count).map(|at| at.wrapping_sub(1)));
    next.clear();
    next.extend(1..=count);
    if let Some(last) = next.last_mut() {
        *last = NONE;
    }
    for (place, &merge) in (0u32..).zip(merges).filter(|&(_, &merge)| merge != NO_MERGE) {
        candidates.push(rank_of(merge), place);
    }
    while let Some((rank, place)) = candidates.pop() {
        let at = place as usize;
        let right = next[at];
        if lens[at] == 0 || right == NONE {
            continue;
        }
        let right = right as usize;
        let merge = pairs.merge(ids[at], ids[right]);
        if merge == NO_MERGE || rank_of(merge) != rank {
            continue;
        }
        on_merge(rank, (ids[at], ids[right]));
        ids[at] = id_of(merge);
        lens[at] += lens[right];
        lens[right] = 0;
        let after = next[right];
        next[at] = after;
        if after != NONE {
            prev[after as usize] = place;
            let merge = pairs.merge(ids[at], ids[after as usize]);
            if merge != NO_MERGE {
                candidates.push(rank_of(merge), place);
            }
        }
        if prev[at] != NONE {
            let merge = pairs.merge(ids[prev[at] as usize], ids[at]);
            if merge != NO_MERGE {
                candidates.push(rank_of(merge), prev[at]);
            }
        }
    }
}

#[cfg(test)]
mod naive {
    use super::super::PairTable;

    /// The naive algorithm: finds the lowest rank, leftmost first, and merges it, until no pair merges.
    pub(super) fn merge(pairs: &PairTable, mut symbols: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
        loop {
            let ranks = symbols.windows(2).map(|pair| pairs.rank((pair[0].0, pair[1].0)));
            let best = ranks.enumerate().filter_map(|(at, rank)| Some((rank?, at))).min();
            let Some((_, at)) = best else { return symbols };
            let (left, right) = (symbols[at], symbols.remove(at + 1));
            let id = pairs.made_id((left.0, right.0)).expect("it has a rank");
            symbols[at] = (id, left.1 + right.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::BpeOptions;
    use super::*;
    use crate::testing::cases;
    use crate::vocab::Vocab;

    fn bpe(pairs: &[((u32, u32), u32)]) -> Bpe {
        Bpe::from_pairs(Arc::new(Vocab::new()), pairs, BpeOptions::default()).expect("no dropout")
    }

    /// Merges over the ids 0..4, each of which makes the next free id; in that order or shuffled.
    ///
    /// Shuffled merges may use a token of a later merge, as in files converted from SentencePiece.
    fn any_pairs() -> impl Strategy<Value = Vec<((u32, u32), u32)>> {
        let in_order = prop::collection::vec((0..12u32, 0..12u32), 0..30).prop_map(|pairs| {
            let bound = |i: u32| 4 + i;
            let pairs = (0u32..).zip(pairs);
            pairs.map(|(i, (a, b))| ((a % bound(i), b % bound(i)), bound(i))).collect::<Vec<_>>()
        });
        prop_oneof![in_order.clone(), in_order.prop_shuffle()]
    }

    fn run(bpe: &Bpe, ids: &[u32], dropout: Option<f32>) -> Vec<(u32, u32)> {
        let (mut scratch, mut tokens) = (Scratch::default(), Tokens::default());
        for &id in ids {
            scratch.push(id, 1);
        }
        bpe.merge(dropout, &mut scratch, &mut tokens);
        tokens.ids.into_iter().zip(tokens.lens).collect()
    }

    proptest! {
        #![proptest_config(cases(3000))]

        #[test]
        fn merge_short_matches_naive(pairs in any_pairs(), ids in prop::collection::vec(0..4u32, 0..=SHORT)) {
            let bpe = bpe(&pairs);
            let expected = naive::merge(&bpe.pairs, ids.iter().map(|&id| (id, 1)).collect());
            prop_assert_eq!(run(&bpe, &ids, None), expected);
        }

        #[test]
        fn merge_long_matches_naive(pairs in any_pairs(), ids in prop::collection::vec(0..4u32, 0..200)) {
            let bpe = bpe(&pairs);
            let expected = naive::merge(&bpe.pairs, ids.iter().map(|&id| (id, 1)).collect());
            // A dropout of 0 selects the heap even for short input, and skips nothing.
            prop_assert_eq!(run(&bpe, &ids, Some(0.0)), expected);
        }

        #[test]
        fn merge_by_rank_matches_naive(pairs in any_pairs(), ids in prop::collection::vec(0..4u32, LONG + 1..4 * LONG)) {
            let bpe = bpe(&pairs);
            let expected = naive::merge(&bpe.pairs, ids.iter().map(|&id| (id, 1)).collect());
            prop_assert_eq!(run(&bpe, &ids, None), expected);
        }

        #[test]
        fn full_dropout_merges_nothing(pairs in any_pairs(), ids in prop::collection::vec(0..4u32, 0..50)) {
            let expected: Vec<_> = ids.iter().map(|&id| (id, 1)).collect();
            prop_assert_eq!(run(&bpe(&pairs), &ids, Some(1.0)), expected);
        }
    }

    #[test]
    fn a_huge_word_is_not_quadratic() {
        let doubling: Vec<_> = (0..20).map(|i| ((i, i), i + 1)).collect();
        let tokens = run(&bpe(&doubling), &vec![0; 1 << 20], None);
        assert_eq!(tokens, [(20, 1 << 20)]);
    }
}

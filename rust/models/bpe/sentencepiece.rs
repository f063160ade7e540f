//! Merging as SentencePiece does it where that differs: unused pieces, and sampling.
//!
//! The candidates of merges lie in a heap: the piece with the highest score first, equal scores from left to right.
//!
//! * Unused pieces are merged like all others. One that is left over is cut into the two halves of its last candidate in
//!   the pre-token, and so are its halves. An unused piece of one character is unknown.
//! * Sampling drops a candidate when its turn comes, with the probability `alpha`. It comes back only after one of its two
//!   symbols has changed. (With `dropout`, which is Hugging Face's, it comes back after the next merge anywhere.)
//!
//! Time: O(n log n) in the symbols of a pre-token. Sources: Provilkov et al. 2020, "BPE-Dropout"; experiments with
//! sentencepiece 0.2.3.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use super::options::is_positive;
use super::pair_table::{NO_MERGE, id_of, rank_of};
use super::{Bpe, BpeOptions, PairTable, Scratch};
use crate::models::Tokens;
use crate::models::piece_kind::PieceKind;
use crate::structures::reused::reused;
use crate::{Error, Result};

const NONE: u32 = u32::MAX;

/// When the candidate of each merge has its turn: the merges of one token have equal turns.
#[derive(Clone, Debug)]
pub(super) struct Turns(Vec<u32>);

impl Turns {
    /// By the scores of the tokens that the merges make, highest first.
    pub(super) fn of_scores(pairs: &PairTable, merges: &[(u32, u32)], scores: &[f32]) -> Self {
        let mut sorted = scores.to_vec();
        sorted.sort_by(|left, right| right.total_cmp(left));
        let turn = |id: u32| {
            let score = scores.get(id as usize).copied().unwrap_or(f32::NEG_INFINITY);
            // Zero and minus zero are equal here, which `total_cmp` tells apart.
            sorted.partition_point(|&other| other > score) as u32
        };
        Self::new(pairs, merges, turn)
    }

    /// By the lowest rank of a merge that makes the token.
    pub(super) fn of_ranks(pairs: &PairTable, merges: &[(u32, u32)]) -> Self {
        let mut first = HashMap::new();
        for (turn, &pair) in (0u32..).zip(merges) {
            first.entry(pairs.made_id(pair)).or_insert(turn);
        }
        Self::new(pairs, merges, |id| first.get(&Some(id)).copied().unwrap_or(NONE))
    }

    fn new(pairs: &PairTable, merges: &[(u32, u32)], turn: impl Fn(u32) -> u32) -> Self {
        let mut turns = Vec::with_capacity(merges.len());
        for merge in merges.iter().map(|&(left, right)| pairs.merge(left, right)) {
            // A pair that was given twice has only its later rank, so some ranks have no merge.
            turns.resize(rank_of(merge) as usize, NONE);
            turns.push(turn(id_of(merge)));
        }
        Self(turns)
    }
}

/// A merge that waits for its turn: of equal turns the leftmost goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    turn: u32,
    left: u32,
    /// Bytes of both symbols: one of them has changed since if they have another number now.
    len: u32,
}

/// How a token was about to be made: the ids of both halves, and the bytes of the left one.
#[derive(Clone, Copy, Debug)]
struct Halves {
    left: u32,
    right: u32,
    left_len: u32,
}

/// Buffers that one thread reuses.
#[derive(Debug, Default)]
pub(super) struct TurnScratch {
    waiting: BinaryHeap<Reverse<Candidate>>,
    prev: Vec<u32>,
    next: Vec<u32>,
    /// The last candidate for each unused piece.
    halves: HashMap<u32, Halves>,
    /// Symbols that are still to be cut, the leftmost last.
    stack: Vec<(u32, u32)>,
}

reused!(TurnScratch: waiting, prev, next, halves, stack);

/// The symbols of one pre-token; one that was merged into its left neighbour keeps the length 0.
struct Symbols<'a> {
    ids: &'a mut [u32],
    lens: &'a mut [u32],
    scratch: &'a mut TurnScratch,
}

impl Symbols<'_> {
    fn link(&mut self) {
        let count = self.ids.len() as u32;
        let TurnScratch { waiting, prev, next, halves, .. } = &mut *self.scratch;
        waiting.clear();
        halves.clear();
        prev.clear();
        prev.extend((0..count).map(|at| at.wrapping_sub(1)));
        next.clear();
        next.extend((1..count).chain([NONE]));
    }

    /// Adds the candidate of two neighbours, if there is a merge for them.
    fn offer(&mut self, bpe: &Bpe, turns: &Turns, left: u32, right: u32) {
        if left == NONE || right == NONE {
            return;
        }
        let (at, after) = (left as usize, right as usize);
        let merge = bpe.pairs.merge(self.ids[at], self.ids[after]);
        if merge == NO_MERGE {
            return;
        }
        if bpe.is_unused(id_of(merge)) {
            let halves = Halves { left: self.ids[at], right: self.ids[after], left_len: self.lens[at] };
            self.scratch.halves.insert(id_of(merge), halves);
        }
        let turn = turns.0.get(rank_of(merge) as usize).copied().unwrap_or(NONE);
        let len = self.lens[at] + self.lens[after];
        self.scratch.waiting.push(Reverse(Candidate { turn, left, len }));
    }

    /// Merges two symbols if neither has changed since they became a candidate; returns the left one's neighbours.
    fn merge(
        &mut self,
        bpe: &Bpe,
        candidate: Candidate,
        is_dropped: impl FnOnce() -> bool,
    ) -> Option<(u32, u32)> {
        let at = candidate.left as usize;
        let right = self.scratch.next[at] as usize;
        let right_len = *self.lens.get(right)?;
        if self.lens[at] == 0 || self.lens[at] + right_len != candidate.len || is_dropped() {
            return None;
        }
        self.ids[at] = bpe.pairs.made_id((self.ids[at], self.ids[right]))?;
        self.lens[at] = candidate.len;
        self.lens[right] = 0;
        let after = self.scratch.next[right];
        self.scratch.next[at] = after;
        if let Some(prev) = self.scratch.prev.get_mut(after as usize) {
            *prev = candidate.left;
        }
        Some((self.scratch.prev[at], after))
    }
}

impl Bpe {
    /// Adds the scores of the tokens by id, from a `SentencePiece` file, to a model with kinds.
    ///
    /// Text is then merged to unused tokens too, which are cut up again where they are left over: highest score first.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if there are not as many scores as kinds; [`Error::InvalidOption`] for a score that is not
    /// finite, or if `dropout` is set.
    pub fn with_scores(mut self, scores: Vec<f32>) -> Result<Self> {
        let pieces = self.pieces.as_deref().cloned();
        let pieces = pieces.ok_or_else(|| Error::Unsupported("scores need kinds".to_owned()))?;
        let pieces = pieces.with_scores(scores)?;
        self.pieces = Some(Arc::new(pieces));
        self.set_symbol_ids();
        let options = self.options.clone();
        self.set_options(options)?;
        Ok(self)
    }

    /// Scores of tokens by id, if the model has them.
    pub fn scores(&self) -> Option<&[f32]> {
        self.pieces.as_ref().and_then(|pieces| pieces.scores())
    }

    pub(super) fn set_turns(&mut self) {
        self.turns = match self.scores() {
            Some(scores) => Some(Turns::of_scores(&self.pairs, &self.merges, scores)),
            None if is_positive(self.options.alpha) => Some(Turns::of_ranks(&self.pairs, &self.merges)),
            None => None,
        }
        .map(Arc::new);
    }

    pub(super) fn check_sampling(&self, options: &BpeOptions) -> Result<()> {
        options.check()?;
        if is_positive(options.dropout) && self.scores().is_some() {
            let value = options.dropout.unwrap_or_default().to_string();
            let expected = "None for a model with unused pieces, which is sampled by `alpha`".to_owned();
            return Err(Error::InvalidOption { name: "dropout", value, expected });
        }
        Ok(())
    }

    /// Merges the symbols in `scratch` by `turns`, drops candidates with the probability `alpha`, and appends the tokens.
    ///
    /// # Errors
    /// [`Error::TokenNotInVocab`] if an unused character needs `unk_token` and that has no id.
    pub(super) fn merge_in_turns(
        &self,
        turns: &Turns,
        scratch: &mut Scratch,
        tokens: &mut Tokens,
    ) -> Result<()> {
        let alpha = self.options.alpha.filter(|&alpha| alpha > 0.0);
        let Scratch { ids, lens, random, turns: buffers, .. } = scratch;
        let mut symbols = Symbols { ids, lens, scratch: buffers };
        symbols.link();
        (1..symbols.ids.len() as u32).for_each(|right| symbols.offer(self, turns, right - 1, right));
        while let Some(Reverse(candidate)) = symbols.scratch.waiting.pop() {
            let is_dropped = || alpha.is_some_and(|alpha| random.f32() < alpha);
            if let Some((before, after)) = symbols.merge(self, candidate, is_dropped) {
                symbols.offer(self, turns, before, candidate.left);
                symbols.offer(self, turns, candidate.left, after);
            }
        }
        let TurnScratch { halves, stack, .. } = buffers;
        let first = tokens.ids.len();
        for (&id, &len) in ids.iter().zip(&*lens).filter(|&(_, &len)| len > 0) {
            stack.push((id, len));
            while let Some((id, len)) = stack.pop() {
                match halves.get(&id) {
                    _ if !self.is_unused(id) => self.push_used(id, len, first, tokens),
                    // Both halves are shorter than the whole, even if a file is wrong, so this ends.
                    Some(half) if 0 < half.left_len && half.left_len < len => {
                        stack.push((half.right, len - half.left_len));
                        stack.push((half.left, half.left_len));
                    }
                    _ => self.push_unused(id, len, first, tokens)?,
                }
            }
        }
        Ok(())
    }

    fn is_unused(&self, id: u32) -> bool {
        let kind = self.kinds().and_then(|kinds| kinds.get(id as usize));
        kind == Some(&PieceKind::Unused)
    }

    /// Appends a token; joins it with the unknown token before it if it is unknown too. The pre-token's tokens begin at
    /// `first`.
    fn push_used(&self, id: u32, len: u32, first: usize, tokens: &mut Tokens) {
        let is_fused =
            self.options.fuse_unk && Some(id) == self.unk_id && tokens.ids[first..].last() == Some(&id);
        match tokens.lens.last_mut().filter(|_| is_fused) {
            Some(last) => *last += len,
            None => tokens.push(id, len),
        }
    }

    /// Appends the tokens of an unused character, which is unknown: its bytes, or the unknown token.
    fn push_unused(&self, id: u32, len: u32, first: usize, tokens: &mut Tokens) -> Result<()> {
        let text = self.vocab.token(id).unwrap_or_default();
        if self.options.byte_fallback
            && let Some(bytes) = text.bytes().map(|byte| self.fallback_ids[usize::from(byte)]).collect()
        {
            let bytes: Vec<u32> = bytes;
            for id in bytes {
                tokens.push(id, 1);
            }
            return Ok(());
        }
        if let Some(id) = self.id_of_unknown()? {
            self.push_used(id, len, first, tokens);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::cases;
    use crate::vocab::Vocab;

    fn merged(bpe: &Bpe, ids: &[u32], is_in_turns: bool) -> Vec<(u32, u32)> {
        let (mut scratch, mut tokens) = (Scratch::default(), Tokens::default());
        for &id in ids {
            scratch.push(id, 1);
        }
        if is_in_turns {
            let turns = Turns::of_ranks(&bpe.pairs, &bpe.merges);
            bpe.merge_in_turns(&turns, &mut scratch, &mut tokens).expect("no token is unused");
        } else {
            bpe.merge(None, &mut scratch, &mut tokens);
        }
        tokens.ids.into_iter().zip(tokens.lens).collect()
    }

    proptest! {
        #![proptest_config(cases(3000))]

        // Each merge makes another token, so turns are ranks.
        #[test]
        fn merging_in_turns_matches_merging_by_rank(
            pairs in prop::collection::vec((0..12u32, 0..12u32), 0..30),
            ids in prop::collection::vec(0..4u32, 0..200),
        ) {
            let pairs = (4u32..).zip(pairs).map(|(id, (left, right))| ((left % id, right % id), id));
            let pairs: Vec<_> = pairs.collect();
            let bpe = Bpe::from_pairs(Arc::new(Vocab::new()), &pairs, BpeOptions::default()).expect("no dropout");
            prop_assert_eq!(merged(&bpe, &ids, true), merged(&bpe, &ids, false));
        }
    }

    #[test]
    fn equal_scores_have_equal_turns() {
        let pairs = [((0, 0), 1), ((0, 1), 2), ((1, 1), 3), ((2, 2), 4)];
        let bpe = Bpe::from_pairs(Arc::new(Vocab::new()), &pairs, BpeOptions::default()).expect("no dropout");
        let Turns(turns) = Turns::of_scores(&bpe.pairs, &bpe.merges, &[9.0, -0.0, 3.0, 0.0, -1.0]);
        assert_eq!(turns, [2, 1, 2, 4]);
    }
}

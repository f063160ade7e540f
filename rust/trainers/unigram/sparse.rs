//! Sparse pruning: expectation maximization with an L1 penalty in the place of pruning by loss.
//!
//! Each round subtracts a penalty from all expected counts and removes the pieces whose count is below it. The penalty never
//! falls; while there are too many pieces, it rises to the count that the share of pieces to keep does not reach. A last round
//! without penalty refits the scores. Source: SentencePiece 0.2.3, `use_sparse_pruning`; `docs/algorithms/unigram-training.md`
//! has the exact definition.
//!
//! A character whose count is below the penalty is dropped too. Its edges stay in the lattice, since every word needs a
//! segmentation, with the score of unknown characters.

use std::cmp::Reverse;

use super::em::{Pieces, by_score};
use super::nearest;
use crate::Result;
use crate::structures::parallel::OnProgress;

/// The last round of expectation maximization, counted from 0.
const LAST_ROUND: u32 = 50;

/// A dropped character scores this much less than the worst piece.
const UNKNOWN_PENALTY: f64 = 10.0;

/// The least count of a piece that is kept.
const LEAST: f64 = 1e-4;

/// By this much the scores of dropped characters differ that get a piece in the end.
const SCORE_STEP: f64 = 1e-4;

/// The numbers of pieces that end the rounds, and the share of pieces that a round keeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// The rounds end at this number of pieces.
    pub(super) pieces: usize,
    pub(super) shrinking_factor: f64,
}

/// The result of the rounds.
pub(super) struct Sparse<'a> {
    pieces: Pieces<'a>,
    /// By character.
    is_dropped: Vec<bool>,
}

/// Runs the rounds, refits the scores, and removes the pieces that are not their own best segmentation.
pub(super) fn train<'a>(
    pieces: Pieces<'a>,
    target: Target,
    on_progress: &mut OnProgress<'_>,
) -> Result<Sparse<'a>> {
    let is_dropped = vec![false; pieces.fixed_pieces()];
    let mut sparse = Sparse { pieces, is_dropped };
    let mut penalty = 0;
    for _ in 0..=LAST_ROUND {
        let expected = sparse.pieces.expect(on_progress)?;
        let mut counts: Vec<u64> = sparse.active().map(|id| expected[id]).collect();
        let active = counts.len();
        penalty = raised(penalty, &mut counts, target);
        sparse.maximise(&expected, penalty);
        if active <= target.pieces {
            break;
        }
    }
    let expected = sparse.pieces.expect(on_progress)?;
    sparse.maximise(&expected, 0);
    let id = |id: u32, _: &[u32]| id as usize;
    // The refit removed nothing, so the lattice has the ids of the pieces.
    let reachable = sparse.pieces.with_alternatives(|_| true, id, on_progress)?;
    let mut is_kept = vec![false; sparse.pieces.len()];
    is_kept[..sparse.pieces.fixed_pieces()].fill(true);
    for id in reachable {
        is_kept[id] = true;
    }
    sparse.pieces.keep(&is_kept);
    Ok(sparse)
}

/// The penalty of a round: the penalty of the round before, or the largest count that too many pieces reach; at most the largest count.
fn raised(penalty: u64, counts: &mut [u64], target: Target) -> u64 {
    let Some(&largest) = counts.iter().max() else { return penalty };
    let mut raised = penalty;
    // More than 1.05 times the target, in integers.
    if counts.len() as u128 * 20 > target.pieces as u128 * 21 {
        let share = (target.shrinking_factor * nearest(counts.len() as u128)) as usize;
        let kept = target.pieces.max(share.min(counts.len() - 1));
        raised = raised.max(*counts.select_nth_unstable_by_key(kept, |&count| Reverse(count)).1);
    }
    raised.min(largest)
}

impl Sparse<'_> {
    /// The ids of all pieces but dropped characters.
    fn active(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.pieces.len()).filter(|&id| !self.is_dropped.get(id).is_some_and(|&dropped| dropped))
    }

    /// Removes pieces and drops characters whose count is below the penalty, and scores the others.
    fn maximise(&mut self, expected: &[u64], penalty: u64) {
        let least = ((LEAST * self.pieces.precision) as u64).max(1);
        let mut is_kept = vec![false; expected.len()];
        for id in self.active() {
            is_kept[id] = expected[id] >= penalty;
        }
        let count = |id: usize| u128::from((expected[id] - penalty).max(least));
        let log_total = nearest((0..expected.len()).filter(|&id| is_kept[id]).map(count).sum()).ln();
        let mut worst = f64::INFINITY;
        for id in (0..expected.len()).filter(|&id| is_kept[id]) {
            self.pieces.scores[id] = nearest(count(id)).ln() - log_total;
            worst = worst.min(self.pieces.scores[id]);
        }
        for (id, is_dropped) in self.is_dropped.iter_mut().enumerate() {
            *is_dropped = !is_kept[id];
            if *is_dropped {
                self.pieces.scores[id] = worst - UNKNOWN_PENALTY;
            }
            is_kept[id] = true;
        }
        self.pieces.keep(&is_kept);
    }

    /// All characters and the best other pieces, `n` in all. Dropped characters, in descending order of their counts, have the score of
    /// the worst piece, and a step more each.
    pub(super) fn finish(mut self, n: usize) -> Vec<(String, f64)> {
        let worst = self.active().map(|id| self.pieces.scores[id]).fold(f64::INFINITY, f64::min);
        let mut dropped: Vec<usize> = (0..self.is_dropped.len()).filter(|&id| self.is_dropped[id]).collect();
        dropped.sort_by_key(|&id| Reverse(self.pieces.corpus.char_counts[id]));
        for (rank, id) in dropped.into_iter().enumerate() {
            self.pieces.scores[id] = worst + nearest(rank as u128) * SCORE_STEP;
        }
        self.pieces.finish(n)
    }

    /// The `n` best pieces, characters among them.
    pub(super) fn finish_alike(self, n: usize) -> Vec<(String, f64)> {
        let texts = self.pieces.texts();
        let mut best: Vec<(String, f64)> = self.active().map(|id| texts[id].clone()).collect();
        best.sort_unstable_by(by_score);
        best.truncate(n);
        best
    }
}

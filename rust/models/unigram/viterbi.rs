//! Viterbi search without unpredictable branches.
//!
//! The branch predictor cannot foresee if a piece ends at a node of the trie, nor if the piece gives a better path, and one
//! misprediction costs as much as ten steps. So a node where no piece ends adds minus infinity, and conditional moves select
//! the better path.

use std::hint::select_unpredictable;

use super::Unigram;
use super::path_nodes::{NOWHERE, Node};
use crate::Result;

/// Larger scores could add up to an infinity, and minus infinity stands for *no path yet*.
const LARGE: f64 = f64::MAX / (u32::MAX as f64 * 2.0);

impl Unigram {
    /// True if [`Self::viterbi_branchless`] may be used: sums are not rounded to 32 bits, and stay finite.
    pub(super) fn has_finite_sums(&self, base: f64) -> bool {
        self.kinds.is_none() && self.largest_score < LARGE && base.abs() < f64::MAX / 2.0
    }

    /// As [`Self::viterbi`], allowed only if [`Self::has_finite_sums`].
    ///
    /// If `IS_ASKED`, returns the least difference between two sums that were compared.
    #[inline]
    pub(super) fn viterbi_branchless<const IS_ASKED: bool>(
        &self,
        word: &str,
        base: f64,
        nodes: &mut Vec<Node>,
    ) -> Result<f64> {
        let (bytes, scores) = (word.as_bytes(), self.effective_scores.as_slice());
        // The last score belongs to no piece: it is minus infinity, for nodes where no piece ends.
        let none = (scores.len() - 1) as u32;
        nodes.clear();
        nodes.resize(word.len() + 1, Node { score: f64::NEG_INFINITY, start: NOWHERE, id: 0 });
        nodes[0].score = base;
        let (mut least, mut start) = (f64::INFINITY, 0);
        while let Some(c) = word[start..].chars().next() {
            let so_far = nodes[start].score;
            let mut offer = |end: usize, id: u32, score: f64| {
                let node = &mut nodes[end];
                let sum = score + so_far;
                if IS_ASKED {
                    // The difference of two infinities is NaN, which `min` ignores.
                    least = least.min((sum - node.score).abs());
                }
                let is_better = sum > node.score;
                node.score = select_unpredictable(is_better, sum, node.score);
                node.start = select_unpredictable(is_better, start as u32, node.start);
                node.id = select_unpredictable(is_better, id, node.id);
                is_better
            };
            let char_end = start + c.len_utf8();
            let mut own = none;
            if let Some(mut node) = self.chars.node(c, &self.trie) {
                own = self.trie.value_or(node, none);
                offer(char_end, own, scores[own as usize]);
                let mut end = char_end;
                while let Some(&byte) = bytes.get(end)
                    && let Some(next) = self.trie.step(node, byte)
                {
                    (end, node) = (end + 1, next);
                    let id = self.trie.value_or(node, none);
                    offer(end, id, scores[id as usize]);
                }
            }
            if own == none {
                let is_better = offer(char_end, self.options.unk_id.unwrap_or(NOWHERE), self.unknown_score);
                if is_better && self.options.unk_id.is_none() {
                    return Err(self.no_unk_id(word, start));
                }
            }
            start = char_end;
        }
        Ok(least)
    }
}

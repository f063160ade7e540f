//! The best segmentation: Viterbi search (Viterbi 1967) from left to right over the lattice of pieces.

use super::Unigram;
#[cfg(test)]
use super::path_nodes::trace;
use super::path_nodes::{Margin, NOWHERE, Node};
use super::scratch::Scratch;
use super::sums::{F32Scores, F64Scores, Sums};
use crate::Result;

impl Unigram {
    /// Calls `each` with the end, id and score of every piece that starts at `start`, shorter ones first.
    ///
    /// Returns true if one of them is the single character at `start`.
    #[inline]
    pub(super) fn pieces_at(&self, word: &str, start: usize, mut each: impl FnMut(usize, u32, f64)) -> bool {
        let Some(c) = word[start..].chars().next() else { return false };
        let Some(mut node) = self.chars.node(c, &self.trie) else { return false };
        let char_end = start + c.len_utf8();
        let own = self.trie.value(node);
        if let Some(id) = own {
            each(char_end, id, self.effective_scores[id as usize]);
        }
        for (at, &byte) in word.as_bytes().iter().enumerate().skip(char_end) {
            let Some(next) = self.trie.step(node, byte) else { break };
            node = next;
            if let Some(id) = self.trie.value(node) {
                each(at + 1, id, self.effective_scores[id as usize]);
            }
        }
        own.is_some()
    }

    /// Score of an unknown character.
    pub(super) fn unknown_score(&self) -> f64 {
        self.unknown_score
    }

    /// Fills `scratch.path` with the best segmentation of `word`, which is not empty.
    pub(super) fn best_path(&self, word: &str, scratch: &mut Scratch) -> Result<()> {
        let cuts = self.word_cuts(word.len());
        if self.kinds.is_some() {
            self.best_path_by_fragments::<F32Scores>(word, cuts, scratch)
        } else {
            self.best_path_by_fragments::<F64Scores>(word, cuts, scratch)
        }
    }

    /// As [`Self::best_path`], without fragments: the naive twin.
    #[cfg(test)]
    pub(super) fn best_path_of_whole<S: Sums>(&self, word: &str, scratch: &mut Scratch) -> Result<()> {
        let Scratch { nodes, path, .. } = scratch;
        self.viterbi::<false, S>(word, 0.0, nodes)?;
        path.clear();
        trace(nodes, |edge| path.push(edge));
        Ok(())
    }

    /// Finds the best path to every position of `word`, before which the sum is `base`.
    ///
    /// If `IS_ASKED`, returns how close the closest comparison of two sums was, and never rebases sums; otherwise the margin
    /// is without meaning.
    #[inline]
    pub(super) fn viterbi<const IS_ASKED: bool, S: Sums>(
        &self,
        word: &str,
        base: f64,
        nodes: &mut Vec<Node>,
    ) -> Result<Margin> {
        nodes.clear();
        nodes.resize(word.len() + 1, Node { score: base, start: NOWHERE, id: 0 });
        let mut margin = Margin::default();
        let (mut start, mut furthest) = (0, 0);
        while start < word.len() {
            if !IS_ASKED && nodes[start].score.abs() > S::LARGEST {
                rebase_scores::<S>(&mut nodes[start..=furthest]);
            }
            let so_far = nodes[start].score;
            let mut offer = |end: usize, id: u32, score: f64| {
                let (node, sum) = (&mut nodes[end], S::rounded(score + so_far));
                furthest = furthest.max(end);
                let is_first = node.start == NOWHERE;
                let is_better = is_first || sum > node.score;
                if IS_ASKED {
                    margin.note(sum, if is_first { f64::INFINITY } else { (sum - node.score).abs() });
                }
                if is_better {
                    *node = Node { score: sum, start: start as u32, id };
                }
                is_better
            };
            let char_end = start + char_len(word.as_bytes()[start]);
            let has_char = self.pieces_at(word, start, |end, id, score| {
                offer(end, id, score);
            });
            if !has_char {
                let is_better = offer(char_end, self.options.unk_id.unwrap_or(NOWHERE), self.unknown_score);
                if is_better && self.options.unk_id.is_none() {
                    return Err(self.no_unk_id(word, start));
                }
            }
            start = char_end;
        }
        Ok(margin)
    }
}

/// Rebases sums: subtracts the sum at the first position from the sums at all positions reached so far, and from itself.
#[cold]
fn rebase_scores<S: Sums>(nodes: &mut [Node]) {
    let Some((first, ahead)) = nodes.split_first_mut() else { return };
    for node in ahead.iter_mut().filter(|node| node.start != NOWHERE) {
        node.score = S::rounded(node.score - first.score);
    }
    first.score = 0.0;
}

/// Bytes of the character that begins with `lead`.
pub(super) fn char_len(lead: u8) -> usize {
    match lead {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0..=0xFF => 4,
    }
}

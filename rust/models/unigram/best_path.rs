//! The best segmentation: Viterbi search (Viterbi 1967) from left to right over the lattice of pieces.

use super::fragments::FragmentMemo;
#[cfg(test)]
use super::fragments::trace;
use super::sums::{F32Scores, F64Scores, Sums};
use super::{Edge, Unigram};
use crate::Result;
use crate::structures::reused::reused;

/// Start of a node that no path reaches yet.
pub(super) const NOWHERE: u32 = u32::MAX;

/// End of the best path to a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) score: f64,
    /// Where the last piece of the path starts.
    pub(super) start: u32,
    pub(super) id: u32,
}

/// Buffers that one thread reuses from pre-token to pre-token.
#[derive(Debug)]
pub struct Scratch {
    pub(super) nodes: Vec<Node>,
    /// The chosen path, from right to left.
    pub(super) path: Vec<Edge>,
    pub(super) random: fastrand::Rng,
    pub(super) fragments: FragmentMemo,
    /// The path of a fragment, from right to left, on its way to the memo.
    pub(super) edges: Vec<(Edge, f64)>,
    /// The next text continues a pre-token: other text stands before it.
    pub(super) is_continuation: bool,
    /// The tokens of the last continuation may depend on the text before it.
    pub(super) depends: bool,
}

reused!(Scratch: nodes, path, fragments, edges);

impl Default for Scratch {
    fn default() -> Self {
        let random = fastrand::Rng::with_seed(0);
        let (nodes, path, fragments, edges) = (Vec::new(), Vec::new(), FragmentMemo::default(), Vec::new());
        Self { nodes, path, random, fragments, edges, is_continuation: false, depends: false }
    }
}

impl Scratch {
    /// Seeds the sampler.
    pub fn seed(&mut self, seed: u64) {
        self.random.seed(seed);
    }

    /// Marks the next texts as continuations of a pre-token if `is_continuation`: other text stands before them.
    pub fn set_in_context(&mut self, is_continuation: bool) {
        self.is_continuation = is_continuation;
        self.depends = false;
    }

    /// True if the fragment encoded last may have other tokens after other text.
    pub fn is_context_dependent(&self) -> bool {
        self.depends
    }
}

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

/// How close the comparisons of a search were.
#[derive(Clone, Copy, Debug)]
pub(super) struct Margin {
    /// The least difference between two sums that were compared.
    pub(super) least: f64,
    /// The largest magnitude of a sum.
    pub(super) largest: f64,
}

impl Default for Margin {
    fn default() -> Self {
        Self { least: f64::INFINITY, largest: 0.0 }
    }
}

impl Margin {
    #[inline]
    fn note(&mut self, sum: f64, difference: f64) {
        self.largest = self.largest.max(sum.abs());
        // The difference of two equal infinities is NaN: the margin is then 0.
        if difference < self.least || difference.is_nan() {
            self.least = difference.max(0.0);
        }
    }

    /// True only if a fragment of `len` bytes has the same best path after the sum `base`, and no sum in it is rebased.
    ///
    /// Two sums are compared, once in the search from 0 and once after `base`. Each takes at most `len` additions, and each
    /// addition is off by at most half of `epsilon` times its result. The bound allows for twice that error.
    pub(super) fn holds_at<S: Sums>(&self, base: f64, len: usize) -> bool {
        let additions = u32::try_from(len).map_or(f64::INFINITY, f64::from) + 2.0;
        let (error, most) = (additions * S::EPSILON, base.abs() + self.largest);
        self.least > 4.0 * error * most && most * (1.0 + 4.0 * error) < S::LARGEST
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

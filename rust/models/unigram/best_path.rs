//! The best segmentation, from left to right (Viterbi 1967).

use super::fragments::FragmentMemo;
#[cfg(test)]
use super::fragments::trace;
use super::sums::{F32Scores, F64Scores, Sums};
use super::{Edge, Unigram};
use crate::Result;

/// No piece ends here yet.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The best way to a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) score: f64,
    /// Where its last piece starts.
    pub(super) start: u32,
    pub(super) id: u32,
}

/// Memory that one thread reuses from pre-token to pre-token.
#[derive(Debug)]
pub struct Scratch {
    pub(super) nodes: Vec<Node>,
    /// The path chosen, from right to left.
    pub(super) path: Vec<Edge>,
    pub(super) random: fastrand::Rng,
    pub(super) fragments: FragmentMemo,
    /// What is encoded next goes on with another word.
    pub(super) is_continuation: bool,
    /// What went on last depends on what was before.
    pub(super) depends: bool,
}

impl Default for Scratch {
    fn default() -> Self {
        let random = fastrand::Rng::with_seed(0);
        let (nodes, path, fragments) = (Vec::new(), Vec::new(), FragmentMemo::default());
        Self { nodes, path, random, fragments, is_continuation: false, depends: false }
    }
}

impl Scratch {
    /// Seeds the sampling that follows.
    pub fn seed(&mut self, seed: u64) {
        self.random.seed(seed);
    }

    /// Says whether what is encoded next is a part of a pre-token with something before it.
    pub fn set_in_context(&mut self, is_continuation: bool) {
        self.is_continuation = is_continuation;
        self.depends = false;
    }

    /// Whether the part that was encoded last may have other tokens where something else is before it.
    pub fn is_context_dependent(&self) -> bool {
        self.depends
    }
}

impl Unigram {
    /// Calls `each` with the end, id and score of every piece that starts at `start`, shorter ones first; answers
    /// whether one of them is the character there.
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

    /// Fills `scratch.path` with the best segmentation of a word that is not empty.
    pub(super) fn best_path(&self, word: &str, scratch: &mut Scratch) -> Result<()> {
        let cuts = self.word_cuts(word.len());
        if self.kinds.is_some() {
            self.best_path_by_fragments::<F32Scores>(word, cuts, scratch)
        } else {
            self.best_path_by_fragments::<F64Scores>(word, cuts, scratch)
        }
    }

    /// As [`Self::best_path`], in one go.
    #[cfg(test)]
    pub(super) fn best_path_of_whole<S: Sums>(&self, word: &str, scratch: &mut Scratch) -> Result<()> {
        let Scratch { nodes, path, .. } = scratch;
        self.viterbi::<false, S>(word, 0.0, nodes)?;
        path.clear();
        trace(nodes, |edge| path.push(edge));
        Ok(())
    }

    /// Finds the best way to every place of `word`, whose beginning has the score `base`; answers how close the
    /// closest decision was, if that `IS_ASKED`, and then no sum begins anew.
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

/// How close the decisions in a word were.
#[derive(Clone, Copy, Debug)]
pub(super) struct Margin {
    /// The least difference between two sums that were compared.
    pub(super) least: f64,
    /// The largest sum, without its sign.
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
        // No number where both sums are infinite.
        if difference < self.least || difference.is_nan() {
            self.least = difference.max(0.0);
        }
    }

    /// Whether every decision in a unit of `len` bytes is the same from the sum `base` on, and no sum begins anew in it.
    ///
    /// Each of two sums takes at most `len` additions to make, there and here, and each of these is off by half of
    /// `epsilon` of its result at most; twice as much is allowed for.
    pub(super) fn holds_at<S: Sums>(&self, base: f64, len: usize) -> bool {
        let additions = u32::try_from(len).map_or(f64::INFINITY, f64::from) + 2.0;
        let (error, most) = (additions * S::EPSILON, base.abs() + self.largest);
        self.least > 4.0 * error * most && most * (1.0 + 4.0 * error) < S::LARGEST
    }
}

/// Takes the sum to the first place from those to all places that there is a way to, and from itself.
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

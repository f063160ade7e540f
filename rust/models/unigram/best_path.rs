//! The best segmentation, from left to right (Viterbi 1967).

use super::{Edge, Unigram};
use crate::Result;
use crate::structures::byte_trie::ByteTrie;

/// No piece ends here yet.
const NOWHERE: u32 = u32::MAX;

/// The best way to a place.
#[derive(Clone, Copy, Debug)]
struct Node {
    score: f64,
    /// Where its last piece starts.
    start: u32,
    id: u32,
}

/// Memory that one thread reuses from pre-token to pre-token.
#[derive(Debug)]
pub struct Scratch {
    nodes: Vec<Node>,
    /// The path chosen, from right to left.
    pub(super) path: Vec<Edge>,
    pub(super) random: fastrand::Rng,
}

impl Default for Scratch {
    fn default() -> Self {
        Self { nodes: Vec::new(), path: Vec::new(), random: fastrand::Rng::with_seed(0) }
    }
}

impl Scratch {
    /// Seeds the sampling that follows.
    pub fn seed(&mut self, seed: u64) {
        self.random.seed(seed);
    }
}

impl Unigram {
    /// Calls `each` with the end, id and score of every piece that starts at `start`, shorter ones first; answers
    /// whether one of them is the character there.
    #[inline]
    pub(super) fn pieces_at(&self, word: &str, start: usize, mut each: impl FnMut(usize, u32, f64)) -> bool {
        let bytes = word.as_bytes();
        let char_end = start + char_len(bytes[start]);
        let (mut node, mut has_char) = (ByteTrie::ROOT, false);
        for (at, &byte) in bytes.iter().enumerate().skip(start) {
            let Some(next) = self.trie.step(node, byte) else { break };
            node = next;
            if let Some(id) = self.trie.value(node) {
                each(at + 1, id, self.effective_scores[id as usize]);
                has_char |= at + 1 == char_end;
            }
        }
        has_char
    }

    /// Score of an unknown character.
    pub(super) fn unknown_score(&self) -> f64 {
        self.unknown_score
    }

    /// Fills `scratch.path` with the best segmentation of a word that is not empty.
    pub(super) fn best_path(&self, word: &str, scratch: &mut Scratch) -> Result<()> {
        if self.kinds.is_some() {
            self.best_path_rounded(word, f64_of_32_bits, scratch)
        } else {
            self.best_path_rounded(word, |sum| sum, scratch)
        }
    }

    /// As [`Self::best_path`]; `rounded` is what becomes of a sum.
    #[inline]
    fn best_path_rounded(
        &self,
        word: &str,
        rounded: impl Fn(f64) -> f64,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { nodes, path, .. } = scratch;
        nodes.clear();
        nodes.resize(word.len() + 1, Node { score: 0.0, start: NOWHERE, id: 0 });
        let mut start = 0;
        while start < word.len() {
            let so_far = nodes[start].score;
            let mut offer = |end: usize, id: u32, score: f64| {
                let (node, sum) = (&mut nodes[end], rounded(score + so_far));
                let is_better = node.start == NOWHERE || sum > node.score;
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
        path.clear();
        let mut end = word.len();
        while end > 0 {
            let Node { start, id, .. } = nodes[end];
            path.push(Edge { start, end: end as u32, id });
            end = start as usize;
        }
        Ok(())
    }
}

/// The nearest number of 32 bits.
fn f64_of_32_bits(sum: f64) -> f64 {
    f64::from(sum as f32)
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

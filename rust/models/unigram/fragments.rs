//! Best path through a long pre-token, fragment by fragment, with a memo.
//!
//! A fragment is the text between two neighbouring cut points: no piece crosses either of them. The same fragments occur
//! again and again in long text, so each thread keeps a memo of their best paths.
//!
//! In exact arithmetic the best path through the whole is the best paths through its fragments, one after the other. But
//! sums of scores are rounded, and the error grows with the sum: two paths through a fragment that tie, or nearly tie, may
//! be ordered by the score of the text before it. The memo therefore stores with each path its [`Margin`], which tells how
//! close the closest comparison was. If rounding at the current sum cannot change any comparison, the stored path is used;
//! otherwise the fragment is searched again from the current sum.

use foldhash::fast::FixedState;
use std::hash::BuildHasher;

use super::chars::Place;
use super::path_nodes::{Margin, Node, trace};
use super::scratch::Scratch;
use super::sums::Sums;
use super::{Edge, Unigram};
use crate::Result;
use crate::models::bpe::CutPoints;

/// Shorter pre-tokens are not cut into fragments.
const LONG: usize = 32;

/// Longer fragments are not stored: they rarely repeat.
const LONGEST: usize = 64;

impl Unigram {
    /// Cut points for a pre-token of `len` bytes; `None` if it is short, or if too little has been encoded so far for
    /// computing cut points to pay.
    pub(super) fn word_cuts(&self, len: usize) -> Option<&CutPoints> {
        if len < LONG {
            return None;
        }
        self.cuts
            .get(len, self.scores.len(), || Some(CutPoints::new(self.vocab.iter().map(|(piece, _)| piece))))
    }

    /// As [`Self::best_path`]: isolated characters one by one, the text between them by fragments if there are `cuts`.
    pub(super) fn best_path_by_fragments<S: Sums>(
        &self,
        word: &str,
        cuts: Option<&CutPoints>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        scratch.path.clear();
        let (mut start, mut sum) = (0, 0.0_f64);
        // Everything before this position is joined: the next isolated character starts here or later.
        let mut joined_end = 0;
        while let Some(c) = word[start..].chars().next() {
            let char_end = start + c.len_utf8();
            // All paths meet here, so the whole sum is removed, as `rebase_scores` does.
            if sum.abs() > S::LARGEST {
                sum = 0.0;
            }
            if start >= joined_end {
                let place = self.chars.place(c);
                if place != Place::Joined {
                    let unknown = || self.options.unk_id.map(|id| (id, self.unknown_score));
                    let found = if place == Place::Unknown { unknown() } else { self.piece_of_char(c) };
                    let (id, score) = found.ok_or_else(|| self.no_unk_id(word, start))?;
                    scratch.path.push(Edge { start: start as u32, end: char_end as u32, id });
                    sum = S::rounded(score + sum);
                    start = char_end;
                    continue;
                }
                joined_end = char_end + self.chars.joined_len(&word[char_end..]);
            }
            let end = cuts.map_or(joined_end, |cuts| cuts.fragment_end(word.as_bytes(), start, joined_end));
            if end == char_end {
                // A fragment of one character has one path: the memo would cost more than it saves.
                let (id, score) = self.piece_of_char(c).ok_or_else(|| self.no_unk_id(word, start))?;
                scratch.path.push(Edge { start: start as u32, end: end as u32, id });
                sum = S::rounded(score + sum);
            } else if cuts.is_some() && end - start <= LONGEST {
                sum = self.push_fragment::<S>(&word[start..end], start, sum, scratch)?;
            } else {
                sum = self.push_viterbi::<S>(&word[start..end], start, sum, scratch)?;
            }
            start = end;
        }
        scratch.path.reverse();
        Ok(())
    }

    /// Appends the best path through the fragment at `start`, before which the sum is `sum`; returns the sum after it.
    ///
    /// Takes the path from the memo if its margin allows; a fragment that is new to the memo is added.
    fn push_fragment<S: Sums>(
        &self,
        fragment: &str,
        start: usize,
        mut sum: f64,
        scratch: &mut Scratch,
    ) -> Result<f64> {
        let Scratch { nodes, path, fragments, edges, .. } = &mut *scratch;
        let hash = FixedState::default().hash_one(fragment.as_bytes());
        let known = if let Some(known) = fragments.get(hash, fragment.as_bytes()) {
            known
        } else {
            let margin = self.margin_of::<S>(fragment, nodes)?;
            trace(nodes, |edge| edges.push((edge, self.score_of(fragment, edge))));
            fragments.insert(hash, fragment.as_bytes(), margin, edges.drain(..).rev())
        };
        if !known.margin.holds_at::<S>(sum, fragment.len()) {
            return self.push_viterbi::<S>(fragment, start, sum, scratch);
        }
        let (first, last) = known.edges;
        for &(Edge { start: from, end: to, id }, score) in &fragments.edges[first as usize..last as usize] {
            path.push(Edge { start: start as u32 + from, end: start as u32 + to, id });
            sum = S::rounded(score + sum);
        }
        Ok(sum)
    }

    /// Finds the best path through a fragment before which the sum is 0; returns the margin of the search, whose `largest` may be an
    /// upper bound.
    fn margin_of<S: Sums>(&self, fragment: &str, nodes: &mut Vec<Node>) -> Result<Margin> {
        if !self.has_finite_sums(0.0) {
            return self.viterbi::<true, S>(fragment, 0.0, nodes);
        }
        let least = self.viterbi_branchless::<true>(fragment, 0.0, nodes)?;
        // A path has at most one piece a byte, so no sum is larger but by rounding, for which `holds_at` leaves room.
        let pieces = u32::try_from(fragment.len()).map_or(f64::INFINITY, f64::from);
        Ok(Margin { least, largest: pieces * self.largest_score })
    }

    /// As [`Self::push_fragment`], without the memo.
    fn push_viterbi<S: Sums>(
        &self,
        fragment: &str,
        start: usize,
        sum: f64,
        scratch: &mut Scratch,
    ) -> Result<f64> {
        let Scratch { nodes, path, .. } = scratch;
        if self.has_finite_sums(sum) {
            self.viterbi_branchless::<false>(fragment, sum, nodes)?;
        } else {
            self.viterbi::<false, S>(fragment, sum, nodes)?;
        }
        let first = path.len();
        trace(nodes, |Edge { start: from, end: to, id }| {
            path.push(Edge { start: start as u32 + from, end: start as u32 + to, id });
        });
        path[first..].reverse();
        Ok(nodes[fragment.len()].score)
    }

    /// The piece that `c` is, else the unknown token if there is one; with its score.
    pub(super) fn piece_of_char(&self, c: char) -> Option<(u32, f64)> {
        let node = self.chars.node(c, &self.trie);
        match node.and_then(|node| self.trie.value(node)) {
            Some(id) => Some((id, self.effective_scores[id as usize])),
            None => self.options.unk_id.map(|id| (id, self.unknown_score)),
        }
    }

    /// The score that `edge` adds to a path through `word`.
    fn score_of(&self, word: &str, Edge { start, end, id }: Edge) -> f64 {
        let is_piece =
            || self.kinds.is_none() && self.vocab.id(&word[start as usize..end as usize]) == Some(id);
        if self.options.unk_id == Some(id) && !is_piece() {
            return self.unknown_score;
        }
        self.effective_scores[id as usize]
    }
}

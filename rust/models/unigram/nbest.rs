//! The n best segmentations: Viterbi search that keeps the n best paths to each position instead of one.
//!
//! No other paths can matter: each of the n best segmentations begins with one of the n best paths to any of its positions.

use super::best_path::char_len;
use super::{Edge, Scratch, Unigram, check_nbest};
use crate::Result;
use crate::models::Tokens;

/// One of the best paths to a position, as its last piece and the path before it.
#[derive(Clone, Copy, Debug)]
struct Way {
    score: f64,
    start: u32,
    /// Index of the path before the last piece, among the paths to `start`.
    rank: u32,
    /// The last piece; `None` for an unknown character without an id.
    id: Option<u32>,
}

/// One of the best segmentations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segmentation {
    /// Its tokens.
    pub tokens: Tokens,
    /// The sum of the scores of its pieces.
    pub score: f64,
}

impl Unigram {
    /// The `n` best segmentations of a pre-token, highest score first; all of them if there are fewer.
    ///
    /// Equal scores are ordered by the pieces from the last to the first, the longer piece first. Two segmentations may have
    /// the same tokens, because neighbouring unknown characters are joined. Memory: O(length of the pre-token times `n`).
    ///
    /// # Errors
    /// [`crate::Error::InvalidOption`] if `n` exceeds [`super::MOST_BEST`], [`crate::Error::TokenNotInVocab`] if an
    /// unknown character needs `unk_id` and that is not set.
    pub fn encode_nbest(&self, word: &str, n: usize) -> Result<Vec<Segmentation>> {
        check_nbest("n", n)?;
        let ways = self.ways(word, n)?;
        let mut path = Vec::new();
        let segmentation = |(rank, &Way { score, .. }): (usize, &Way)| {
            trace(&ways, word.len(), rank, &mut path);
            let mut tokens = Tokens::default();
            self.push_path(word, &path, &mut tokens);
            Segmentation { tokens, score }
        };
        Ok(ways[word.len()].iter().enumerate().map(segmentation).collect())
    }

    /// Fills `scratch.path` with one of the `n` best segmentations; its probability is proportional to exp(alpha * score).
    pub(super) fn sample_of_best(
        &self,
        word: &str,
        alpha: f64,
        n: usize,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let ways = self.ways(word, n)?;
        let logs = ways[word.len()].iter().map(|way| alpha * way.score);
        let rank = scratch.choose(logs);
        trace(&ways, word.len(), rank, &mut scratch.path);
        Ok(())
    }

    /// The `n` best paths to every position, best first.
    fn ways(&self, word: &str, n: usize) -> Result<Vec<Vec<Way>>> {
        let mut ways = vec![Vec::new(); word.len() + 1];
        ways[0].extend((n > 0).then_some(Way { score: 0.0, start: 0, rank: 0, id: None }));
        let mut start = 0;
        while start < word.len() && n > 0 {
            let char_end = start + char_len(word.as_bytes()[start]);
            let (before, after) = ways.split_at_mut(start + 1);
            let mut offer = |end: usize, id: Option<u32>, score: f64| {
                let of = |(rank, way): (u32, &Way)| Way {
                    score: score + way.score,
                    start: start as u32,
                    rank,
                    id,
                };
                after[end - start - 1].extend((0u32..).zip(&before[start]).map(of));
            };
            if !self.pieces_at(word, start, |end, id, score| offer(end, Some(id), score)) {
                offer(char_end, self.options.unk_id, self.unknown_score());
            }
            start = char_end;
            // All pieces that end here start further left, so the list is complete. The stable sort keeps the order of ties.
            let here = &mut ways[start];
            here.sort_by(|left, right| right.score.total_cmp(&left.score));
            if let Some(Way { id: None, start, .. }) = here.first() {
                return Err(self.no_unk_id(word, *start as usize));
            }
            here.retain(|way| way.id.is_some());
            here.truncate(n);
            here.shrink_to_fit();
        }
        Ok(ways)
    }
}

/// Follows a path back to the beginning.
fn trace(ways: &[Vec<Way>], mut end: usize, mut rank: usize, path: &mut Vec<Edge>) {
    path.clear();
    while end > 0 {
        let Way { start, rank: next, id, .. } = ways[end][rank];
        // `Unigram::ways` kept only paths with an id.
        path.push(Edge { start, end: end as u32, id: id.unwrap_or_default() });
        (end, rank) = (start as usize, next as usize);
    }
}

//! How merging makes each token out of its own text.
//!
//! Encoding always makes the allowed merge of the lowest rank, the leftmost of equals. A token of an encoded text was made by
//! merges inside its bytes alone, for no merge crossed its borders. Merges elsewhere neither add candidates inside nor take
//! some away, so the merges inside have the same order as when the text of the token is encoded alone. Hence
//!
//! * a token occurs in some pre-token only if its own text is encoded as this token;
//! * with the first `k` merges alone, the bytes of a token are encoded as beside any other text: as the token if all ranks of
//!   its merges are below `k`, else as the two parts of its last merge are, which is the same rule again.
//!
//! The second holds because a cut list of merges makes the same merges up to the first one of a rank that was cut off: the
//! lowest rank that is allowed is the lowest of all until then.
//!
//! Tokens that are taken whole (`ignore_merges`) need no merge, and models that merge by scores, sample, or have merges of
//! unknown tokens are left out.

use std::collections::HashSet;

use super::{Bpe, Scratch};

/// The last merge that makes a token of its own text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastMerge {
    /// The id of the left part.
    pub left: u32,
    /// The id of the right part.
    pub right: u32,
    /// The highest rank of all merges that make the token: merging makes the token if the first `rank + 1` merges are there.
    pub rank: u32,
}

impl Bpe {
    /// The last merge of each token, by id; `None` for ids without a token and tokens that merging does not make.
    ///
    /// O(n log n) in the bytes of the vocabulary. The result is `None` if the text around a token may change the merges
    /// inside it.
    pub fn last_merges(&self) -> Option<Vec<Option<LastMerge>>> {
        if !self.has_fixed_formation() {
            return None;
        }
        let mut last = vec![None; self.vocab.id_bound()];
        let mut scratch = Scratch::default();
        for (token, id) in self.vocab.iter() {
            last[id as usize] = self.last_merge(token, id, &mut scratch);
        }
        Some(last)
    }

    fn has_fixed_formation(&self) -> bool {
        let unknown: HashSet<u32> = self.fallback_ids().chain(self.unk_id).collect();
        let is_unknown = |(left, right): &(u32, u32)| unknown.contains(left) || unknown.contains(right);
        self.is_deterministic()
            && self.turns.is_none()
            && self.pieces.is_none()
            && !self.vocab.shares_ids()
            && !self.merges.iter().any(is_unknown)
    }

    fn last_merge(&self, token: &str, id: u32, scratch: &mut Scratch) -> Option<LastMerge> {
        scratch.clear();
        if !self.push_token_symbols(token, scratch) {
            return None;
        }
        let mut last: Option<LastMerge> = None;
        let left = self.merge_traced(scratch, |rank, (left, right)| {
            let highest = last.map_or(rank, |last| last.rank.max(rank));
            last = Some(LastMerge { left, right, rank: highest });
        });
        last.filter(|_| left == [id])
    }
}

#[cfg(test)]
mod naive {
    use super::Bpe;
    use crate::models::bpe::pair_table::{NO_MERGE, id_of, rank_of};

    /// Encodes symbols with the merges of ranks below `bound`: the lowest rank first, the leftmost of equals.
    pub(super) fn cut(bpe: &Bpe, mut ids: Vec<u32>, bound: u32) -> Vec<u32> {
        loop {
            let merges = ids.windows(2).map(|pair| bpe.pairs.merge(pair[0], pair[1]));
            let best = merges.enumerate().filter(|&(_, merge)| merge != NO_MERGE && rank_of(merge) < bound);
            let Some((at, merge)) = best.min_by_key(|&(at, merge)| (rank_of(merge), at)) else { return ids };
            ids[at] = id_of(merge);
            ids.remove(at + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::models::Tokens;
    use crate::models::bpe::BpeOptions;
    use crate::testing::cases;
    use crate::vocab::Vocab;

    /// A model over `ab`, whose merges may name tokens that are made later or in several ways.
    fn bpe(merges: &[(String, String)], order: &[usize]) -> Bpe {
        let mut tokens = vec!["a".to_owned(), "b".to_owned()];
        tokens.extend(
            merges.iter().flat_map(|(left, right)| [left.clone(), right.clone(), format!("{left}{right}")]),
        );
        let mut seen = HashSet::new();
        tokens.retain(|token| seen.insert(token.clone()));
        let vocab = Vocab::from_tokens(tokens.iter().map(String::as_str));
        let mut merges: Vec<_> = merges.iter().map(|(left, right)| (left.as_str(), right.as_str())).collect();
        order.iter().enumerate().for_each(|(at, &other)| {
            let len = merges.len();
            merges.swap(at % len, other % len);
        });
        Bpe::new(vocab, &merges, BpeOptions::default()).expect("all tokens are there")
    }

    /// The tokens that a token is encoded as with the merges of ranks below `bound`.
    fn parts(id: u32, bound: u32, last: &[Option<LastMerge>]) -> Vec<u32> {
        match last[id as usize] {
            Some(merge) if merge.rank >= bound => {
                [parts(merge.left, bound, last), parts(merge.right, bound, last)].concat()
            }
            _ => vec![id],
        }
    }

    proptest! {
        #![proptest_config(cases(2000))]

        #[test]
        fn last_merges_matches_naive(
            merges in prop::collection::vec(("[ab]{1,3}", "[ab]{1,3}"), 1..20),
            order in prop::collection::vec(0..20usize, 0..20),
            word in "[ab]{1,40}",
            bound in 0..24u32,
        ) {
            let bpe = bpe(&merges, &order);
            let last = bpe.last_merges().expect("it merges by rank");
            let (mut scratch, mut tokens) = (Scratch::default(), Tokens::default());
            bpe.encode_word(&word, &mut scratch, &mut tokens).expect("no character is unknown");
            let symbols = word.chars().map(|c| bpe.vocab.id(c.encode_utf8(&mut [0; 4])).expect("a or b")).collect();
            let cut: Vec<u32> = tokens.ids.iter().flat_map(|&id| parts(id, bound, &last)).collect();
            prop_assert_eq!(cut, naive::cut(&bpe, symbols, bound));
            for (token, id) in bpe.vocab.iter() {
                let symbols = token.chars().map(|c| bpe.vocab.id(c.encode_utf8(&mut [0; 4])).expect("a or b")).collect();
                let is_made = naive::cut(&bpe, symbols, u32::MAX) == [id];
                prop_assert_eq!(last[id as usize].is_some(), is_made && token.len() > 1);
            }
        }
    }

    fn of(tokens: &[&str], merges: &[(&str, &str)], options: BpeOptions) -> Bpe {
        Bpe::new(Vocab::from_tokens(tokens.iter().copied()), merges, options).expect("all tokens are there")
    }

    #[test]
    fn affixes_belong_to_symbols() {
        let end = BpeOptions { end_of_word_suffix: Some("</w>".to_owned()), ..BpeOptions::default() };
        let bpe = of(&["a", "b", "b</w>", "ab</w>", "ab"], &[("a", "b</w>"), ("a", "b")], end);
        let last = bpe.last_merges().expect("it merges by rank");
        assert_eq!(last[3], Some(LastMerge { left: 0, right: 2, rank: 0 }));
        assert_eq!(last[4], Some(LastMerge { left: 0, right: 1, rank: 1 }));
        let inner = BpeOptions { continuing_subword_prefix: Some("##".to_owned()), ..BpeOptions::default() };
        let bpe = of(&["a", "##a", "##b", "##ab", "ab"], &[("##a", "##b"), ("a", "##b")], inner);
        let last = bpe.last_merges().expect("it merges by rank");
        assert_eq!(last[3], Some(LastMerge { left: 1, right: 2, rank: 0 }));
        assert_eq!(last[4], Some(LastMerge { left: 0, right: 2, rank: 1 }));
    }

    #[test]
    fn a_token_whose_parts_are_merged_otherwise_is_not_made() {
        let bpe =
            of(&["a", "b", "ab", "ba", "aba"], &[("a", "b"), ("b", "a"), ("a", "ba")], BpeOptions::default());
        let last = bpe.last_merges().expect("it merges by rank");
        assert_eq!(last.iter().map(Option::is_some).collect::<Vec<_>>(), [false, false, true, true, false]);
    }

    #[test]
    fn what_depends_on_other_text_has_no_answer() {
        let sampled = BpeOptions { dropout: Some(0.5), ..BpeOptions::default() };
        assert!(of(&["a"], &[], sampled).last_merges().is_none());
        let unknown = BpeOptions { unk_token: Some("a".to_owned()), ..BpeOptions::default() };
        assert!(of(&["a", "b", "ab"], &[("a", "b")], unknown).last_merges().is_none());
        let mut shared = Vocab::new();
        shared.insert("a", 0);
        shared.insert("b", 0);
        let shared = Bpe::from_pairs(Arc::new(shared), &[], BpeOptions::default()).expect("no dropout");
        assert!(shared.last_merges().is_none());
    }
}

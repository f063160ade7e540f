//! Early and late merges: a long pre-token is encoded in two steps, the first of which falls into short fragments.
//!
//! Some vocabularies learn their merges inside words first and merges across words later, superwords for example. Let `t` be a
//! rank, and let the merges of ranks below `t` be *early* and the others *late*.
//!
//! 1. If no late merge makes a part of an early merge, all early merges come before all late ones: a late merge makes a token
//!    that no early merge takes, so it makes no early merge possible.
//! 2. No early merge crosses a border that no early token crosses. So the first step encodes the *early fragments* between such
//!    borders apart, and these repeat as words do.
//! 3. A *joint* is a pair of neighbours of the first step with a border that some late merge may cross. No late merge crosses
//!    other borders. So the second step merges the *runs* between these borders apart, and most runs are one token.
//!
//! The rank `t` follows from the vocabulary: it is the one that keeps most merges early and cuts most words off at the next space.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::joints::joints;
use super::pair_table::{NO_MERGE, id_of};
use super::{Bpe, ByteSymbols, CutPoints, PairTable};
use crate::byte_level::BYTE_TO_CHAR;
use crate::metaspace::VISIBLE_SPACE;
use crate::models::{Scratch, Tokens};

/// If less than one merge out of this many is early, words fall into too many tokens.
const FEWEST_EARLY: usize = 8;

/// If tokens cross less than one word end out of this many, cut points leave short fragments anyway.
const FEWEST_CROSSED: usize = 4;

/// In place of an id: the two tokens of a joint are not merged themselves.
const NO_ID: u32 = u32::MAX;

/// The early and the late merges of one model.
#[derive(Debug)]
pub struct LateMerges {
    early: Bpe,
    fragments: CutPoints,
    /// As [`Bpe::apart_from_space`], for the first step.
    apart_from_space: Option<[bool; 256]>,
    late: Bpe,
    /// Pairs of tokens of the first step, each with the id of its merge or [`NO_ID`].
    joints: PairTable,
}

/// The border between two tokens of the first step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// No late merge crosses it.
    Closed,
    /// A late merge may cross it, but none joins the two tokens themselves.
    Open,
    /// A late merge joins the two tokens to one with this id.
    Merged(u32),
}

impl LateMerges {
    /// The early and late merges of `bpe`; `None` if two steps might give other tokens, or would be no faster.
    ///
    /// `symbols` are given if pre-tokens are raw bytes. With `is_spaced`, spaces may stand for U+2581 in pre-tokens. Linear in the
    /// bytes of the vocabulary.
    pub fn new(bpe: &Bpe, symbols: Option<&ByteSymbols>, is_spaced: bool) -> Option<Self> {
        let bound = bpe.vocab.id_bound();
        let is_simple = bpe.is_deterministic() && bpe.turns.is_none() && !bpe.options.ignore_merges;
        if !is_simple || bound > 4 * bpe.vocab.len() + (1 << 20) {
            return None;
        }
        let made: Vec<((u32, u32), u32)> =
            bpe.merges.iter().copied().zip(bpe.made_ids().map(|(_, id)| id)).collect();
        let first_late = exact_rank(&made, best_rank(bpe, &made)?, bound);
        if first_late * FEWEST_EARLY < made.len() {
            return None;
        }
        Self::split_at(bpe, &made, first_late, symbols, is_spaced)
    }

    /// The merges below and from `first_late` on, which [`exact_rank`] allows.
    fn split_at(
        bpe: &Bpe,
        made: &[((u32, u32), u32)],
        first_late: usize,
        symbols: Option<&ByteSymbols>,
        is_spaced: bool,
    ) -> Option<Self> {
        let (early, late) = made.split_at(first_late);
        let mut is_early = vec![false; bpe.vocab.id_bound()];
        for &(_, id) in early {
            is_early[id as usize] = true;
        }
        let fragments = match symbols {
            Some(symbols) => bpe.byte_cut_points_of(symbols, |id| is_early[id as usize]),
            None => bpe.cut_points_of(is_spaced, |id| is_early[id as usize]),
        }?;
        let apart_from_space = symbols.and_then(|_| bpe.apart_from_space_of(|id| is_early[id as usize]));
        // A token that stands for unknown text covers other text than its spelling.
        let unknown: HashSet<u32> = bpe.fallback_ids().chain(bpe.unk_id).collect();
        if made.iter().any(|(_, id)| unknown.contains(id)) {
            return None;
        }
        let late_pairs = PairTable::new(late.iter().copied());
        let is_character = |id| bpe.vocab.token(id).is_none_or(|token| token.chars().nth(1).is_none());
        let joints = joints(late, |id| is_early[id as usize] || is_character(id))?;
        let joined = |pair: (u32, u32)| (pair, late_pairs.made_id(pair).unwrap_or(NO_ID));
        let joints = PairTable::sparse(joints.into_iter().map(joined));
        let early = Bpe {
            merges: Arc::new(early.iter().map(|&(pair, _)| pair).collect()),
            pairs: Arc::new(PairTable::new(early.iter().copied())),
            ..bpe.clone()
        };
        let late = Bpe { pairs: Arc::new(late_pairs), ..Bpe::default() };
        Some(Self { early, fragments, apart_from_space, late, joints })
    }

    /// The model of the first step.
    pub fn early(&self) -> &Bpe {
        &self.early
    }

    /// Where the first step may be cut.
    pub fn fragments(&self) -> &CutPoints {
        &self.fragments
    }

    /// For each byte: true if the first step encodes a space after the byte, and the pre-token from there on, apart from the rest. None if
    /// nothing is known, or if pre-tokens are no raw bytes.
    pub fn apart_from_space(&self) -> Option<&[bool; 256]> {
        self.apart_from_space.as_ref()
    }

    /// The border between two neighbours of the first step.
    #[inline]
    pub fn border(&self, left: u32, right: u32) -> Border {
        match self.joints.merge(left, right) {
            NO_MERGE => Border::Closed,
            joint if id_of(joint) == NO_ID => Border::Open,
            joint => Border::Merged(id_of(joint)),
        }
    }

    /// The second step for one run: merges `ids`, and replaces the content of `tokens`, whose lengths count the tokens of the run.
    pub fn merge(&self, ids: &[u32], scratch: &mut Scratch, tokens: &mut Tokens) {
        self.late.merge_symbols(ids.iter().copied(), &mut scratch.bpe, tokens);
    }
}

/// The rank that has the most early merges, weighted with the share of words that are cut off at the next space; `None` if the vocabulary
/// crosses few word ends, or if the best is to have no late merge. A character counts as often as tokens end with it.
fn best_rank(bpe: &Bpe, made: &[((u32, u32), u32)]) -> Option<usize> {
    let spaces = [' ', VISIBLE_SPACE, BYTE_TO_CHAR[usize::from(b' ')]];
    let (mut ends, mut first_crossed) = (BTreeMap::<char, usize>::new(), BTreeMap::new());
    for (rank, &(_, id)) in made.iter().enumerate() {
        let mut left = ' ';
        for right in bpe.vocab.token(id)?.chars() {
            if spaces.contains(&right) && !spaces.contains(&left) {
                first_crossed.entry(left).or_insert(rank);
            }
            left = right;
        }
        *ends.entry(left).or_default() += usize::from(!spaces.contains(&left));
    }
    let all: usize = ends.values().sum();
    let mut crossed: Vec<(usize, usize)> =
        first_crossed.iter().map(|(end, &rank)| (rank, ends.get(end).copied().unwrap_or_default())).collect();
    crossed.sort_unstable();
    let never_cut: usize = crossed.iter().map(|&(_, count)| count).sum();
    if never_cut * FEWEST_CROSSED < all {
        return None;
    }
    let (mut best, mut best_score, mut cut) = (None, made.len() * (all - never_cut), all);
    for (rank, count) in crossed {
        if rank * cut > best_score {
            (best, best_score) = (Some(rank), rank * cut);
        }
        cut -= count;
    }
    best
}

/// The highest rank up to `rank` such that no late merge makes a part of an early one; 0 always is such a rank.
fn exact_rank(made: &[((u32, u32), u32)], rank: usize, bound: usize) -> usize {
    // By id: one more than the rank of the last merge that makes it.
    let mut latest = vec![0; bound];
    made.iter().enumerate().for_each(|(rank, &(_, id))| latest[id as usize] = rank + 1);
    // The highest rank so far such that no later merge makes a part of a merge below it.
    let (mut exact, mut latest_part) = (0, 0);
    for first_late in 1..=rank.min(made.len()) {
        let ((left, right), _) = made[first_late - 1];
        let part = |id: u32| latest.get(id as usize).copied().unwrap_or_default();
        latest_part = latest_part.max(part(left)).max(part(right));
        if latest_part <= first_late {
            exact = first_late;
        }
    }
    exact
}

#[cfg(test)]
mod naive {
    /// The highest rank up to `rank` such that no merge from it on makes a part of a merge below it.
    pub(super) fn exact_rank(made: &[((u32, u32), u32)], rank: usize) -> usize {
        let is_exact = |&first_late: &usize| {
            let (early, late) = made.split_at(first_late);
            let is_part = |&(_, id): &((u32, u32), u32)| {
                early.iter().any(|&((left, right), _)| left == id || right == id)
            };
            !late.iter().any(is_part)
        };
        (0..=rank).rev().find(is_exact).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::BpeOptions;
    use super::*;
    use crate::testing::cases;
    use crate::vocab::Vocab;

    type Made = Vec<((u32, u32), u32)>;

    /// Tokens of the characters of `ab é`, which merges make in any order, some in several ways; the first token stands for unknown
    /// characters.
    fn any_bpe() -> impl Strategy<Value = Bpe> {
        let splits = prop::collection::vec(("[ab é]{1,3}", "[ab é]{1,3}"), 1..24);
        (splits.clone(), splits.prop_shuffle(), any::<bool>()).prop_map(|(splits, others, is_mixed)| {
            let splits = if is_mixed { [others, splits].concat() } else { splits };
            let mut tokens: Vec<String> = ["?", "a", "b", " ", "é"].map(str::to_owned).into();
            for token in splits
                .iter()
                .flat_map(|(left, right)| [left.clone(), right.clone(), format!("{left}{right}")])
            {
                if !tokens.contains(&token) {
                    tokens.push(token);
                }
            }
            let merges: Vec<(&str, &str)> = splits.iter().map(|(left, right)| (&**left, &**right)).collect();
            let options = BpeOptions { unk_token: Some("?".to_owned()), ..BpeOptions::default() };
            Bpe::new(Vocab::from_tokens(&tokens), &merges, options).expect("all tokens are there")
        })
    }

    fn made(bpe: &Bpe) -> Made {
        bpe.merges.iter().copied().zip(bpe.made_ids().map(|(_, id)| id)).collect()
    }

    /// Ids and lengths by both steps.
    fn in_two_steps(merges: &LateMerges, text: &str) -> Vec<(u32, u32)> {
        let (mut scratch, mut tokens) = (Scratch::default(), Tokens::default());
        let (mut runs, mut start) = (Vec::<Vec<(u32, u32)>>::new(), 0);
        while start < text.len() {
            let end = merges.fragments().fragment_end(text.as_bytes(), start, text.len());
            tokens.clear();
            merges.early().encode_word(&text[start..end], &mut scratch.bpe, &mut tokens).expect("valid");
            for token in tokens.ids.iter().copied().zip(tokens.lens.iter().copied()) {
                let last = runs.last().and_then(|run| run.last());
                match last.map(|last| merges.border(last.0, token.0)) {
                    Some(Border::Open | Border::Merged(_)) => runs.last_mut().expect("one").push(token),
                    _ => runs.push(vec![token]),
                }
            }
            start = end;
        }
        let mut all = Vec::new();
        for run in runs {
            let ids: Vec<u32> = run.iter().map(|token| token.0).collect();
            merges.merge(&ids, &mut scratch, &mut tokens);
            if let ([left, right], Border::Merged(id)) =
                (&*ids, merges.border(ids[0], *ids.last().expect("one")))
            {
                assert_eq!(
                    (tokens.ids.as_slice(), merges.late.made_id((*left, *right))),
                    (&[id][..], Some(id))
                );
            }
            let mut lens = run.iter().map(|token| token.1);
            all.extend(
                tokens
                    .ids
                    .iter()
                    .zip(&tokens.lens)
                    .map(|(&id, &count)| (id, lens.by_ref().take(count as usize).sum::<u32>())),
            );
        }
        all
    }

    proptest! {
        #![proptest_config(cases(3000))]

        #[test]
        fn late_merges_matches_naive(bpe in any_bpe(), texts in prop::collection::vec("[ab é?日]{1,40}", 1..6)) {
            let made = made(&bpe);
            for rank in 0..=made.len() {
                let first_late = exact_rank(&made, rank, bpe.vocab.id_bound());
                prop_assert_eq!(first_late, naive::exact_rank(&made, rank));
                let Some(merges) = LateMerges::split_at(&bpe, &made, first_late, None, false) else { continue };
                for text in &texts {
                    let (mut scratch, mut tokens) = (Scratch::default(), Tokens::default());
                    bpe.encode_word(text, &mut scratch.bpe, &mut tokens).expect("valid");
                    let expected: Vec<_> = tokens.ids.iter().copied().zip(tokens.lens.iter().copied()).collect();
                    prop_assert_eq!(in_two_steps(&merges, text), expected, "{} at {}", text, first_late);
                }
            }
        }
    }

    /// Merges of characters, each written as two tokens with a `+`.
    fn of(merges: &str) -> Bpe {
        let merges: Vec<(&str, &str)> =
            merges.split(',').map(|merge| merge.split_once('+').expect("two")).collect();
        let mut tokens: Vec<String> = ["?", "a", "b", "▁"].map(str::to_owned).into();
        tokens.extend(merges.iter().map(|(left, right)| format!("{left}{right}")));
        let options = BpeOptions { unk_token: Some("?".to_owned()), ..BpeOptions::default() };
        Bpe::new(Vocab::from_tokens(&tokens), &merges, options).expect("all tokens are there")
    }

    #[test]
    fn merges_across_words_are_late() {
        let bpe = of("a+b,▁+ab,▁+a,▁ab+▁a,▁a+▁ab");
        let merges = LateMerges::new(&bpe, None, false).expect("the last two cross words");
        assert_eq!(merges.early().merges().len(), 3);
        assert_eq!(in_two_steps(&merges, "▁ab▁ab▁a"), [(5, 5), (7, 9)]);
    }

    #[test]
    fn a_part_that_is_made_later_leaves_fewer_early_merges() {
        // The merge of `▁` and `ab▁`, of rank 1, takes a token of the last merge.
        let bpe = of("a+b,▁+ab▁,▁+a,▁+ab,ab+▁");
        assert_eq!(exact_rank(&made(&bpe), 4, bpe.vocab.id_bound()), 1);
    }

    #[test]
    fn merges_inside_words_have_no_late_ones() {
        assert!(LateMerges::new(&of("a+b,▁+ab,▁+a"), None, false).is_none());
        assert!(LateMerges::new(&Bpe::default(), None, false).is_none());
        let mut bpe = of("a+b,▁+ab,▁+a,▁ab+▁a,▁a+▁ab");
        for options in [
            BpeOptions { ignore_merges: true, ..bpe.options().clone() },
            BpeOptions { dropout: Some(0.5), ..bpe.options().clone() },
            BpeOptions { fuse_unk: true, ..bpe.options().clone() },
            BpeOptions { end_of_word_suffix: Some("b".to_owned()), ..bpe.options().clone() },
        ] {
            bpe.set_options(options).expect("valid");
            assert!(LateMerges::new(&bpe, None, false).is_none());
        }
    }

    #[test]
    fn a_huge_run_is_not_quadratic() {
        // Every border is a joint.
        let merges: Vec<String> = (0..17).map(|i| format!("{0}+{0}", "▁a".repeat(1 << i))).collect();
        let bpe = of(&format!("▁+a,{}", merges.join(",")));
        let merges = LateMerges::split_at(&bpe, &made(&bpe), 1, None, false).expect("all others are late");
        let (mut scratch, mut tokens) = (Scratch::default(), Tokens::default());
        merges.merge(&vec![4; 1 << 18], &mut scratch, &mut tokens);
        assert_eq!(tokens.lens, [1 << 17; 2]);
    }
}

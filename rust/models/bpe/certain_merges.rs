//! Merges of two bytes that are certain from the bytes beside them, so that they need no turn.
//!
//! The merge of two bytes `a` and `b`, of rank `r`, is certain between the bytes `p` and `n` if all these ranks are higher than `r`:
//! 1. of the merges of a token that ends with `p`, and `a`;
//! 2. of the merges of `b`, and a token that begins with `n`;
//! 3. of the merges of the token `ab`, with any token on either side.
//!
//! Then the pre-token has the same tokens if `a` and `b` are merged first. Proof: let one copy of the pre-token hold `a b`, another `ab`. In
//! the first, a merge that takes `a` or `b` and is not theirs has a rank above `r` by 1 and 2. In the second, a merge that takes `ab` has one by
//! 3. As long as a merge below `r` is left, it is the same in both, so both take the same steps. Then `r` is the lowest rank. Its places further
//! left are the same in both, and they share no byte with this one, or 1 would not hold. After them the first copy merges `a` and `b`, and both
//! are equal. Other merges change neither the last byte before `a` nor the first one after `b`, so certain merges stay certain after each other,
//! in any order.
//!
//! In published vocabularies about half of all merges of a word are certain.

use super::char_ids::CharPlace;
use super::pair_table::{NO_MERGE, id_of, rank_of};
use super::{Bpe, ByteSymbols, PairTable, Scratch};
use crate::byte_level::char_to_byte_of;

/// A byte without a token.
const NONE: u32 = u32::MAX;

/// No rank: higher than every rank.
const NO_RANK: u32 = u32::MAX;

/// Added to the id of a merge that condition 3 forbids before its turn.
const IN_TURN: u32 = 1 << 31;

/// Two neighbouring bytes.
#[derive(Clone, Copy, Debug)]
struct BytePair {
    /// The rank of their merge.
    rank: u32,
    /// The id that their merge makes, and [`IN_TURN`].
    id: u32,
    /// The lowest rank of a merge of a token that ends with the first byte, and the second byte.
    before: u32,
    /// The lowest rank of a merge of the first byte, and a token that begins with the second byte.
    after: u32,
}

impl BytePair {
    const NONE: Self = Self { rank: NO_RANK, id: 0, before: NO_RANK, after: NO_RANK };

    fn merge(self) -> u64 {
        if self.rank == NO_RANK {
            NO_MERGE
        } else {
            u64::from(self.rank) << 32 | u64::from(self.id & !IN_TURN)
        }
    }
}

/// All pairs of bytes, by `first << 8 | second`.
#[derive(Debug)]
pub(super) struct CertainMerges(Box<[BytePair]>);

/// The bytes at both ends of a token.
#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u8,
    last: u8,
    is_byte: bool,
}

impl Ends {
    /// None if the token is empty, or a character at an end stands for no byte.
    fn new(token: &str) -> Option<Self> {
        let mut chars = token.chars();
        let first = char_to_byte_of(chars.next()?)?;
        let is_byte = chars.as_str().is_empty();
        let last = if is_byte { first } else { char_to_byte_of(chars.next_back()?)? };
        Some(Self { first, last, is_byte })
    }
}

impl CertainMerges {
    /// Looks at all merges; `None` if one is of tokens that spell no bytes.
    pub(super) fn new(bpe: &Bpe) -> Option<Self> {
        let vocab = bpe.vocab();
        let bound = vocab.id_bound();
        if !bpe.has_plain_symbols() || vocab.shares_ids() || bound > 4 * vocab.len() + (1 << 20) {
            return None;
        }
        let mut ends = vec![None; bound];
        for (token, id) in vocab.iter() {
            ends[id as usize] = Ends::new(token);
        }
        // First by index in the list of merges, which is in the order of ranks and far smaller than the table of pairs.
        let mut pairs = vec![BytePair::NONE; 1 << 16].into_boxed_slice();
        let mut lowest = vec![NO_RANK; bound];
        let ends_of = |id: u32| *ends.get(id as usize)?;
        for (index, &(left_id, right_id)) in (0u32..).zip(bpe.merges.iter()) {
            let (left, right) = (ends_of(left_id)?, ends_of(right_id)?);
            for id in [left_id, right_id] {
                lowest[id as usize] = index.min(lowest[id as usize]);
            }
            let pair = &mut pairs[usize::from(left.last) << 8 | usize::from(right.first)];
            if right.is_byte {
                pair.before = index.min(pair.before);
            }
            if left.is_byte {
                pair.after = index.min(pair.after);
            }
            if left.is_byte && right.is_byte {
                pair.rank = index;
            }
        }
        let merge_of = |index| match bpe.merges.get(index as usize) {
            Some(&(left, right)) => bpe.pairs.merge(left, right),
            None => NO_MERGE,
        };
        for pair in &mut pairs {
            let merge = merge_of(pair.rank);
            if merge != NO_MERGE {
                let is_taken_earlier =
                    lowest.get(id_of(merge) as usize).is_none_or(|&lowest| lowest < pair.rank);
                pair.id = id_of(merge) | if is_taken_earlier { IN_TURN } else { 0 };
            }
            for rank in [&mut pair.rank, &mut pair.before, &mut pair.after] {
                *rank = rank_of(merge_of(*rank));
            }
        }
        Some(Self(pairs))
    }

    /// The first two of `bytes`.
    #[inline]
    fn pair(&self, bytes: &[u8]) -> BytePair {
        match *bytes {
            [first, second, ..] => self.0[usize::from(first) << 8 | usize::from(second)],
            _ => BytePair::NONE,
        }
    }
}

impl Scratch {
    /// As [`Self::push_byte_symbols`], with bytes merged where that is certain.
    pub(super) fn push_merged_bytes(
        &mut self,
        word: &[u8],
        symbols: &ByteSymbols,
        certain: &CertainMerges,
        pairs: &PairTable,
    ) -> bool {
        let Self { ids, lens, merges, .. } = self;
        ids.resize(word.len(), NONE);
        lens.resize(word.len(), 0);
        merges.resize(word.len(), NO_MERGE);
        let (mut at, mut count) = (0, 0);
        // The last byte of the symbol before `at`, with the byte at `at`.
        let mut joint = BytePair::NONE;
        while at < word.len() {
            let pair = certain.pair(&word[at..]);
            let beyond = certain.pair(&word[at + 1..]);
            let is_certain = pair.rank < joint.before && pair.rank < beyond.after && pair.id & IN_TURN == 0;
            let len = 1 + usize::from(is_certain);
            ids[count] = if is_certain { pair.id } else { symbols.id(word[at], CharPlace::INNER) };
            lens[count] = len as u32;
            if count > 0 {
                let are_bytes = lens[count - 1] == 1 && len == 1;
                merges[count - 1] =
                    if are_bytes { joint.merge() } else { pairs.merge(ids[count - 1], ids[count]) };
            }
            joint = if is_certain { beyond } else { pair };
            (at, count) = (at + len, count + 1);
        }
        ids.truncate(count);
        lens.truncate(count);
        merges.truncate(count.saturating_sub(1));
        !ids.contains(&NONE)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{BpeOptions, Tokens};
    use super::*;
    use crate::testing::cases;
    use crate::vocab::Vocab;

    /// A model over a few bytes, whose merges may come before the merges that make their tokens.
    fn any_bpe() -> impl Strategy<Value = Bpe> {
        let choices =
            prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..40);
        let merges = choices.prop_map(|choices| {
            let mut tokens: Vec<String> = ["a", "b", "Ġ", "Ã", "©"].map(str::to_owned).into();
            let mut merges = Vec::new();
            for (left, right) in choices {
                let (left, right) = (left.get(&tokens).clone(), right.get(&tokens).clone());
                tokens.push(format!("{left}{right}"));
                merges.push((left, right));
            }
            merges
        });
        prop_oneof![merges.clone(), merges.prop_shuffle()].prop_map(|merges| {
            let made = merges.iter().map(|(left, right)| format!("{left}{right}"));
            let vocab =
                Vocab::from_tokens(["a", "b", "Ġ", "Ã", "©"].map(str::to_owned).into_iter().chain(made));
            let merges: Vec<(&str, &str)> = merges.iter().map(|(left, right)| (&**left, &**right)).collect();
            Bpe::new(vocab, &merges, BpeOptions::default()).expect("all tokens are there")
        })
    }

    proptest! {
        #![proptest_config(cases(3000))]

        #[test]
        fn push_merged_bytes_matches_naive(bpe in any_bpe(), words in prop::collection::vec("[ab é]{0,40}", 1..8)) {
            let symbols = bpe.byte_symbols();
            let certain = CertainMerges::new(&bpe).expect("all tokens spell bytes");
            let mut scratch = Scratch::default();
            for word in words {
                let (mut fast, mut naive) = (Tokens::default(), Tokens::default());
                scratch.clear();
                prop_assert!(scratch.push_merged_bytes(word.as_bytes(), &symbols, &certain, &bpe.pairs));
                bpe.merge_started(None, &mut scratch, &mut fast);
                scratch.clear();
                prop_assert!(scratch.push_byte_symbols(word.as_bytes(), &symbols, &bpe.pairs));
                bpe.merge_started(None, &mut scratch, &mut naive);
                prop_assert_eq!((fast.ids, fast.lens), (naive.ids, naive.lens), "{:?}", word);
            }
        }
    }

    #[test]
    fn a_merge_is_certain_between_some_bytes_only() {
        let vocab = Vocab::from_tokens(["a", "b", "c", "ca", "ab"]);
        let bpe =
            Bpe::new(vocab, &[("c", "a"), ("a", "b")], BpeOptions::default()).expect("all tokens are there");
        let (symbols, certain) =
            (bpe.byte_symbols(), CertainMerges::new(&bpe).expect("all tokens spell bytes"));
        let mut scratch = Scratch::default();
        for (word, expected) in [("bab", vec![1, 4]), ("cab", vec![3, 1])] {
            scratch.clear();
            scratch.push_merged_bytes(word.as_bytes(), &symbols, &certain, &bpe.pairs);
            assert_eq!(scratch.ids, expected, "{word}");
        }
    }
}

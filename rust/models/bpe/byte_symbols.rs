//! Tables of a byte-level tokenizer, indexed by raw bytes, which encode a pre-token without spelling it as characters.

use std::sync::Arc;

use super::char_ids::CharPlace;
use super::derivations::Derivations;
use super::longest_match::LongestMatch;
use super::pair_table::NO_MERGE;
use super::spelled::Spelled;
use super::{Bpe, CutPoints};
use crate::byte_level::BYTE_TO_CHAR;
use crate::structures::amortized_lazy::AmortizedLazy;

/// The symbol of each byte, and the merge of each pair of bytes.
///
/// Every pre-token begins with one lookup for each pair of neighbouring bytes; a table of half a megabyte answers these
/// without hashing.
#[derive(Clone, Debug)]
pub struct ByteSymbols {
    /// By [`CharPlace::index`] and byte; `u32::MAX` where the vocabulary lacks the byte's character with its affixes.
    ids: Box<[[u32; 256]; 4]>,
    has_affixes: bool,
    /// By `left << 8 | right`, for bytes that are neither first nor last if characters have affixes.
    merges: Vec<u64>,
    longest_match: Arc<AmortizedLazy<LongestMatch>>,
}

/// Price of preparing one token for longest match, in bytes of long pre-tokens that are merged without it.
const BYTES_PER_ENTRY: usize = 6;

/// Shorter pre-tokens are faster to merge than to match: walks in the trie wait for memory more often.
const LONG: usize = 64;

impl ByteSymbols {
    pub(super) fn id(&self, byte: u8, place: CharPlace) -> u32 {
        self.ids[place.index()][usize::from(byte)]
    }

    pub(super) fn has_affixes(&self) -> bool {
        self.has_affixes
    }

    pub(super) fn merge(&self, left: u8, right: u8) -> u64 {
        self.merges[usize::from(left) << 8 | usize::from(right)]
    }

    /// The longest match, if `word` is long and the vocabulary proper.
    ///
    /// It is prepared as soon as enough bytes of long pre-tokens have been encoded without it.
    #[inline]
    pub(super) fn longest_match(&self, bpe: &Bpe, word: &[u8]) -> Option<&LongestMatch> {
        if word.len() < LONG || self.has_affixes {
            return None;
        }
        let price = bpe.vocab.len() * BYTES_PER_ENTRY;
        self.longest_match.get(word.len(), price, || bpe.longest_match())
    }
}

impl Bpe {
    /// Builds the tables for encoding raw bytes, with the affixes of the present options. Other affixes need other tables.
    pub fn byte_symbols(&self) -> ByteSymbols {
        let ids_at = |place| BYTE_TO_CHAR.map(|c| self.symbol_ids.get(c, place).unwrap_or(u32::MAX));
        let ids = Box::new(CharPlace::ALL.map(ids_at));
        let inner = &ids[CharPlace::INNER.index()];
        let mut merges = vec![NO_MERGE; 1 << 16];
        for (left, &left_id) in inner.iter().enumerate() {
            for (right, &right_id) in inner.iter().enumerate() {
                merges[left << 8 | right] = self.pairs.merge(left_id, right_id);
            }
        }
        let has_affixes = !self.has_plain_symbols();
        ByteSymbols { ids, has_affixes, merges, longest_match: Arc::default() }
    }

    /// The derivations of all tokens, and a bound of their ids; `None` if the vocabulary is not proper.
    pub(super) fn derivations(&self) -> Option<(Derivations, usize)> {
        let mut byte_ids = [0; 256];
        for (id, c) in byte_ids.iter_mut().zip(BYTE_TO_CHAR) {
            *id = self.vocab.id(c.encode_utf8(&mut [0; 4]))?;
        }
        let bound = self.vocab.iter().map(|(_, id)| id as usize + 1).max()?;
        if bound > 4 * self.vocab.len() + (1 << 20) {
            return None;
        }
        Some((Derivations::new(bound, &byte_ids, &self.merges, &self.pairs)?, bound))
    }

    /// Prepares encoding by longest match; `None` if the vocabulary is not proper.
    pub(super) fn longest_match(&self) -> Option<LongestMatch> {
        let (derivations, bound) = self.derivations()?;
        LongestMatch::new(derivations, &Spelled::new(&self.vocab), bound)
    }

    /// The cut points of pre-tokens given as raw bytes; `None` if text on one side of a cut may change tokens on the other.
    pub fn byte_cut_points(&self, symbols: &ByteSymbols) -> Option<CutPoints> {
        self.byte_cut_points_of(symbols, |_| true)
    }

    /// As [`Self::byte_cut_points`], for merges that make only tokens that `is_made` accepts.
    pub(super) fn byte_cut_points_of(
        &self,
        symbols: &ByteSymbols,
        is_made: impl Fn(u32) -> bool,
    ) -> Option<CutPoints> {
        let is_spelled = self.has_plain_symbols() && !self.vocab.shares_ids();
        let are_apart = is_spelled && !symbols.ids[CharPlace::INNER.index()].contains(&u32::MAX);
        are_apart.then(|| {
            let spelled = Spelled::new(&self.vocab);
            CutPoints::new(spelled.iter().filter(|&(_, id)| is_made(id)).map(|(bytes, _)| bytes))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{BpeOptions, Scratch};
    use super::*;
    use crate::byte_level::push_mapped;
    use crate::models::Tokens;
    use crate::testing::cases;
    use crate::vocab::Vocab;

    const LETTERS: [&str; 5] = ["a", "b", "Ġ", "Ã", "©"];

    proptest! {
        #![proptest_config(cases(2000))]

        #[test]
        fn encode_bytes_matches_naive(
            (prefix, suffix) in ("(##|a)?", "(</w>|b)?"),
            choices in prop::collection::vec((any::<usize>(), any::<usize>()), 0..40),
            missing in prop::option::of(any::<usize>()),
            ignore_merges in any::<bool>(),
            words in prop::collection::vec("[ab é]{0,40}", 1..8),
        ) {
            let mut tokens = Vec::new();
            for letter in LETTERS {
                tokens.extend(CharPlace::ALL.map(|place| {
                    let prefix = if place.is_first { "" } else { &*prefix };
                    let suffix = if place.is_last { &*suffix } else { "" };
                    format!("{prefix}{letter}{suffix}")
                }));
            }
            if let Some(missing) = missing {
                tokens.remove(missing % tokens.len());
            }
            let mut merges = Vec::new();
            for (left, right) in choices {
                let (left, right) = (tokens[left % tokens.len()].clone(), tokens[right % tokens.len()].clone());
                if let Some(rest) = right.strip_prefix(&*prefix).filter(|rest| !rest.is_empty()) {
                    tokens.push(format!("{left}{rest}"));
                    merges.push((left, right));
                }
            }
            let mut vocab = Vocab::new();
            for token in tokens {
                if vocab.id(&token).is_none() {
                    vocab.insert(&token, vocab.len() as u32);
                }
            }
            let options = BpeOptions {
                continuing_subword_prefix: Some(prefix),
                end_of_word_suffix: Some(suffix),
                ignore_merges,
                ..BpeOptions::default()
            };
            let merges: Vec<(&str, &str)> = merges.iter().map(|(left, right)| (&**left, &**right)).collect();
            let mut bpe = Bpe::new(vocab, &merges, options.clone()).expect("all tokens are there");
            // Other affixes in between leave no trace.
            bpe.set_options(BpeOptions { end_of_word_suffix: Some("é".to_owned()), ..BpeOptions::default() }).expect("valid");
            bpe.set_options(options).expect("valid");
            let symbols = bpe.byte_symbols();
            let mut scratch = Scratch::default();
            for word in words {
                let (mut fast, mut naive, mut mapped) = (Tokens::default(), Tokens::default(), String::new());
                if !bpe.encode_bytes(word.as_bytes(), &symbols, &mut mapped, &mut scratch, &mut fast) {
                    prop_assert!(fast.ids.is_empty());
                    prop_assert!(missing.is_some());
                    continue;
                }
                mapped.clear();
                push_mapped(word.as_bytes(), &mut mapped);
                bpe.encode_word(&mapped, &mut scratch, &mut naive).expect("no unknown token");
                prop_assert_eq!(&fast.ids, &naive.ids, "{:?}", word);
                if word.bytes().all(|byte| byte.is_ascii_graphic()) {
                    prop_assert_eq!(fast.lens, naive.lens, "{:?}", word);
                }
            }
        }
    }
}

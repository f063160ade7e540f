//! Tables of a byte-level tokenizer, indexed by raw bytes, which encode a pre-token without spelling it as characters.

use std::sync::Arc;

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
    /// By byte; `u32::MAX` where the vocabulary lacks the byte's character.
    ids: [u32; 256],
    /// By `left << 8 | right`.
    merges: Vec<u64>,
    longest_match: Arc<AmortizedLazy<LongestMatch>>,
}

/// Price of preparing one token for longest match, in bytes of long pre-tokens that are merged without it.
const BYTES_PER_ENTRY: usize = 6;

/// Shorter pre-tokens are faster to merge than to match: walks in the trie wait for memory more often.
const LONG: usize = 64;

impl ByteSymbols {
    pub(super) fn id(&self, byte: u8) -> u32 {
        self.ids[usize::from(byte)]
    }

    pub(super) fn merge(&self, left: u8, right: u8) -> u64 {
        self.merges[usize::from(left) << 8 | usize::from(right)]
    }

    /// The longest match, if `word` is long and the vocabulary proper.
    ///
    /// It is prepared as soon as enough bytes of long pre-tokens have been encoded without it.
    #[inline]
    pub(super) fn longest_match(&self, bpe: &Bpe, word: &[u8]) -> Option<&LongestMatch> {
        if word.len() < LONG {
            return None;
        }
        let price = bpe.vocab.len() * BYTES_PER_ENTRY;
        self.longest_match.get(word.len(), price, || bpe.longest_match())
    }
}

impl Bpe {
    /// Builds the tables for encoding raw bytes.
    pub fn byte_symbols(&self) -> ByteSymbols {
        let id = |c: char| self.vocab.id(c.encode_utf8(&mut [0; 4])).unwrap_or(u32::MAX);
        let ids = BYTE_TO_CHAR.map(id);
        let mut merges = vec![NO_MERGE; 1 << 16];
        for (left, &left_id) in ids.iter().enumerate() {
            for (right, &right_id) in ids.iter().enumerate() {
                merges[left << 8 | right] = self.pairs.merge(left_id, right_id);
            }
        }
        ByteSymbols { ids, merges, longest_match: Arc::default() }
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
        let is_spelled = self.has_plain_symbols() && !self.vocab.shares_ids();
        let are_apart = is_spelled && !symbols.ids.contains(&u32::MAX);
        are_apart.then(|| CutPoints::new(Spelled::new(&self.vocab).iter().map(|(bytes, _)| bytes)))
    }
}

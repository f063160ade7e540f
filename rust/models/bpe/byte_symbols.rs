//! The symbols of a byte-level tokenizer, by raw byte.

use std::sync::Arc;

use super::derivations::Derivations;
use super::longest_match::LongestMatch;
use super::pair_table::NO_MERGE;
use super::spelled::Spelled;
use super::{Bpe, CutPoints};
use crate::byte_level::BYTE_TO_CHAR;
use crate::structures::worthwhile::Worthwhile;

/// The id of each byte's character, and the merges of bytes that meet.
///
/// The first look at a pre-token asks for every pair of neighbouring bytes; a table by the bytes
/// themselves, half a megabyte, answers without hashing.
#[derive(Clone, Debug)]
pub struct ByteSymbols {
    /// `u32::MAX` where the vocabulary lacks the byte's character.
    ids: [u32; 256],
    /// By `left << 8 | right`.
    merges: Vec<u64>,
    longest_match: Arc<Worthwhile<LongestMatch>>,
}

/// Bytes of long pre-tokens that take as long to merge as an entry of the vocabulary takes to prepare.
const BYTES_PER_ENTRY: usize = 6;

/// Shorter pre-tokens are merged sooner than matched: their merges wait for memory less often than a walk in the trie.
const LONG: usize = 64;

impl ByteSymbols {
    pub(super) fn id(&self, byte: u8) -> u32 {
        self.ids[usize::from(byte)]
    }

    pub(super) fn merge(&self, left: u8, right: u8) -> u64 {
        self.merges[usize::from(left) << 8 | usize::from(right)]
    }

    /// The longest match for a long `word`, if the vocabulary is proper and enough has been encoded for its
    /// preparation to pay.
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
    /// Prepares encoding from raw bytes.
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
    /// Prepares encoding by longest match; `None` if the vocabulary is not proper.
    pub(super) fn longest_match(&self) -> Option<LongestMatch> {
        let mut byte_ids = [0; 256];
        for (id, c) in byte_ids.iter_mut().zip(BYTE_TO_CHAR) {
            *id = self.vocab.id(c.encode_utf8(&mut [0; 4]))?;
        }
        let bound = self.vocab.iter().map(|(_, id)| id as usize + 1).max()?;
        if bound > 4 * self.vocab.len() + (1 << 20) {
            return None;
        }
        let derivations = Derivations::new(bound, &byte_ids, &self.merges, &self.pairs)?;
        LongestMatch::new(derivations, &Spelled::new(&self.vocab), bound)
    }

    /// Where pre-tokens given as raw bytes may be cut; `None` if what is left and right of a cut may still matter.
    pub fn byte_cut_points(&self, symbols: &ByteSymbols) -> Option<CutPoints> {
        let is_spelled = self.has_plain_symbols() && !self.vocab.shares_ids();
        let are_apart = is_spelled && !symbols.ids.contains(&u32::MAX);
        are_apart.then(|| CutPoints::new(Spelled::new(&self.vocab).iter().map(|(bytes, _)| bytes)))
    }
}

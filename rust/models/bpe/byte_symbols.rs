//! The symbols of a byte-level tokenizer, by raw byte.

use super::Bpe;
use super::pair_table::NO_MERGE;
use crate::byte_level::BYTE_TO_CHAR;

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
}

impl ByteSymbols {
    pub(super) fn id(&self, byte: u8) -> u32 {
        self.ids[usize::from(byte)]
    }

    pub(super) fn merge(&self, left: u8, right: u8) -> u64 {
        self.merges[usize::from(left) << 8 | usize::from(right)]
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
        ByteSymbols { ids, merges }
    }
}

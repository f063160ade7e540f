//! Keys and hashes of chunks.

use std::ops::Range;

use crate::scan::unspaced::begins_unspaced;

/// Chunks of up to this many bytes fit into a 128-bit key.
pub const SHORT: usize = 15;

/// Chunks of up to this many bytes fit into a [`MediumKey`]; `long_keys` finds longer ones by hash.
pub const MEDIUM: usize = 31;

/// True if the chunk is better cut into fragments, where a model allows it, than looked up as a whole: it is too long for a key, or
/// has several words that no space separates.
#[inline]
pub fn is_cut(text: &[u8], Range { start, end }: Range<usize>) -> bool {
    end - start > MEDIUM || end - start > SHORT && begins_unspaced(text, start)
}

/// The bytes of `text[start..end]` and, in the top byte, their number: 1 to [`SHORT`], so no key is 0. The top three bits are left
/// free for the kind of the chunk.
#[inline]
pub fn key(text: &[u8], start: usize, end: usize) -> u128 {
    let len = end - start;
    debug_assert!((1..=SHORT).contains(&len), "a key holds 1 to 15 bytes, not {len}");
    let bytes = match text.get(start..).and_then(|rest| rest.first_chunk::<16>()) {
        // One unaligned load, then a mask from a table: no branch on the length and no shift of two words.
        Some(bytes) => u128::from_le_bytes(*bytes) & MASKS[len & 15],
        None => key_at_end(text, start, end),
    };
    bytes | (len as u128) << 120
}

#[cold]
#[inline(never)]
fn key_at_end(text: &[u8], start: usize, end: usize) -> u128 {
    naive_key(&text[start..end])
}

/// By length: ones in that many low bytes.
static MASKS: [u128; 16] = {
    let mut masks = [0; 16];
    let mut len = 0;
    while len < 16 {
        masks[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    masks
};

fn naive_key(word: &[u8]) -> u128 {
    word.iter().rev().fold(0, |key, &byte| key << 8 | u128::from(byte))
}

/// The bytes and the length that [`key`] was made of.
pub fn key_bytes(key: u128) -> ([u8; 16], usize) {
    (key.to_le_bytes(), (key >> 120) as usize)
}

/// The bytes of a chunk of up to [`MEDIUM`] bytes in two integers, the number of bytes in the top byte of the second. The
/// top three bits are left free for the kind of the chunk.
pub type MediumKey = [u128; 2];

/// The medium key of `text[start..end]`.
#[inline]
pub fn medium_key(text: &[u8], start: usize, end: usize) -> MediumKey {
    let len = end - start;
    debug_assert!((1..=MEDIUM).contains(&len), "a medium key holds 1 to 31 bytes, not {len}");
    let Some(bytes) = text.get(start..).and_then(|rest| rest.first_chunk::<32>()) else {
        return medium_key_at_end(text, start, end);
    };
    let [low, high] = bytes.as_chunks::<16>().0 else { return medium_key_at_end(text, start, end) };
    let (low, high) = (u128::from_le_bytes(*low), u128::from_le_bytes(*high));
    let low = if len < 16 { low & MASKS[len & 15] } else { low };
    let high = high & MASKS[len.saturating_sub(16) & 15];
    [low, high | (len as u128) << 120]
}

#[cold]
#[inline(never)]
fn medium_key_at_end(text: &[u8], start: usize, end: usize) -> MediumKey {
    naive_medium_key(&text[start..end])
}

fn naive_medium_key(word: &[u8]) -> MediumKey {
    let (low, high) = word.split_at(word.len().min(16));
    [naive_key(low), naive_key(high) | (word.len() as u128) << 120]
}

/// A hash of a medium key: all output bits depend on all bytes.
#[inline]
pub fn hash_medium([low, high]: MediumKey) -> u64 {
    hash_key(low ^ u128::from(hash_key(high)))
}

/// A hash of a key: all output bits depend on all bytes.
#[inline]
pub fn hash_key(key: u128) -> u64 {
    let (low, high) = (key as u64, (key >> 64) as u64);
    let product = u128::from(low ^ 0x9E37_79B9_7F4A_7C15) * u128::from(high ^ 0xC2B2_AE3D_27D4_EB4F);
    product as u64 ^ (product >> 64) as u64
}

/// A hash of a chunk of any length.
pub fn hash_long(word: &[u8]) -> u64 {
    use std::hash::BuildHasher;
    foldhash::fast::FixedState::default().hash_one(word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn key_matches_naive(text in prop::collection::vec(any::<u8>(), 1..40), at in 0..40usize, len in 1..=SHORT) {
            let start = at % text.len();
            let end = (start + len).min(text.len());
            let made = key(&text, start, end);
            prop_assert_eq!(made, naive_key(&text[start..end]) | ((end - start) as u128) << 120);
            let (bytes, len) = key_bytes(made);
            prop_assert_eq!(&bytes[..len], &text[start..end]);
        }

        #[test]
        fn medium_key_matches_naive(
            text in prop::collection::vec(any::<u8>(), 1..80),
            at in 0..80usize,
            len in 1..=MEDIUM,
        ) {
            let start = at % text.len();
            let end = (start + len).min(text.len());
            prop_assert_eq!(medium_key(&text, start, end), naive_medium_key(&text[start..end]));
        }
    }
}
